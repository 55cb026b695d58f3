"""Random losses and regularizers, every one that has a name on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import oracles as sets
from rcmd.conjugates import SeparableConjugate
from rcmd.oracles import LinearMinOracle
from rcmd.specs import LOSSES

Array = npt.NDArray[Any]
Rng = np.random.Generator

MOST_COLUMNS = 6
SQUARE_SIDES = {"spectrahedron": (1, 2), "birkhoff": (1, 2)}
"""Oracles about square matrices, and the sides they are tried with."""


def magnitude(rng: Rng, spread: float = 1.5) -> float:
    """A positive number within ``spread`` powers of ten around 1."""
    return float(10 ** rng.uniform(-spread, spread))


LOSS_NUMBERS: dict[str, Callable[[Rng], float]] = {
    "width": lambda rng: magnitude(rng, 1.0),
    "level": lambda rng: float(rng.uniform(0.05, 0.95)),
    "tolerance": lambda rng: magnitude(rng, 1.0),
}
"""What each parameter of a loss may be."""


def random_loss(rng: Rng) -> SeparableConjugate:
    """A loss by name, with parameters that are drawn."""
    form = LOSSES[str(rng.choice(list(LOSSES)))]
    loss: SeparableConjugate = form.build(
        **{name: LOSS_NUMBERS[name](rng) for name in form.parameters}
    )
    return loss


def random_columns(name: str, rng: Rng) -> int:
    """How many variables a problem with the oracle of that name gets."""
    if name in SQUARE_SIDES:
        return int(rng.choice(SQUARE_SIDES[name])) ** 2
    return int(rng.integers(1, MOST_COLUMNS + 1))


def random_oracle(name: str, p: int, rng: Rng) -> LinearMinOracle:
    """The oracle of that name for p variables, with parameters that are drawn."""
    return MAKERS[name](p, rng)


def _box(p: int, rng: Rng) -> LinearMinOracle:
    middle, reach = rng.normal(size=p) * magnitude(rng), magnitude(rng)
    if rng.random() < 0.5:
        return sets.Box(-reach, reach * magnitude(rng))
    widths = reach * rng.random(p) * rng.integers(0, 2, size=p)
    return sets.Box(middle, middle + widths)


def _capped_simplex(p: int, rng: Rng) -> LinearMinOracle:
    cap = magnitude(rng)
    return sets.CappedSimplex(cap * p * float(rng.uniform(0.05, 1.0)), cap)


def _groups(p: int, rng: Rng) -> list[int]:
    return [int(g) for g in rng.integers(0, 3, size=p)]


def _ellipsoid(p: int, rng: Rng) -> LinearMinOracle:
    root = rng.normal(size=(p, p))
    matrix = root @ root.T + 0.1 * np.eye(p)
    return sets.Ellipsoid(np.diag(matrix) if rng.random() < 0.5 else matrix, magnitude(rng))


def _owl(p: int, rng: Rng) -> LinearMinOracle:
    weights = np.sort(rng.integers(0, 4, size=p) * magnitude(rng))[::-1]
    weights[0] = max(weights[0], 1.0)
    return sets.OWLBall(weights, magnitude(rng))


def _hull(p: int, rng: Rng) -> LinearMinOracle:
    return sets.Hull(rng.integers(-2, 3, size=(int(rng.integers(1, 8)), p)) * magnitude(rng))


def _polytope(p: int, rng: Rng) -> LinearMinOracle:
    """Some half-spaces around a point, within a box."""
    sides, inside = rng.normal(size=(int(rng.integers(1, 5)), p)), rng.normal(size=p)
    reach = magnitude(rng)
    offsets = sides @ inside + rng.random(len(sides)) * reach
    return sets.Polytope(sides, offsets, lower=inside - reach, upper=inside + reach)


def _flow(p: int, rng: Rng) -> LinearMinOracle:
    """Paths of two edges beside each other, and one of one edge where p is odd."""
    middles = range(2, 2 + p // 2)
    edges = [edge for middle in middles for edge in ((0, middle), (middle, 1))]
    return sets.FlowPolytope(edges + [(0, 1)] * (p % 2), 0, 1, magnitude(rng))


def _cvxpy(p: int, rng: Rng) -> LinearMinOracle:
    import cvxpy as cp

    radius, strength = magnitude(rng), magnitude(rng)
    return sets.CvxpyOracle(
        lambda beta: (strength * cp.norm1(beta), [cp.norm2(beta) <= radius, beta[0] >= 0]), p
    )


def _shape(p: int, rng: Rng) -> tuple[int, int]:
    sides = [side for side in range(1, p + 1) if p % side == 0]
    rows = int(rng.choice(sides))
    return rows, p // rows


def _product(p: int, rng: Rng) -> LinearMinOracle:
    first = int(rng.integers(1, p)) if p > 1 else 0
    sizes = tuple(size for size in (first, p - first) if size)
    return sets.Product(tuple(_inner(size, rng) for size in sizes), sizes)


def _inner(p: int, rng: Rng) -> LinearMinOracle:
    """An oracle inside another one."""
    return random_oracle(str(rng.choice(["l1", "l2", "box", "ridge", "l1-penalty"])), p, rng)


def _radius_or_none(rng: Rng) -> float | None:
    return None if rng.random() < 0.5 else magnitude(rng)


MAKERS: dict[str, Callable[[int, Rng], LinearMinOracle]] = {
    "l1": lambda p, rng: sets.L1Ball(magnitude(rng)),
    "l2": lambda p, rng: sets.L2Ball(magnitude(rng)),
    "linf": lambda p, rng: sets.LInfBall(magnitude(rng)),
    "lp": lambda p, rng: sets.LpBall(magnitude(rng), 1.0 + magnitude(rng, 1.0)),
    "box": _box,
    "simplex": lambda p, rng: sets.Simplex(magnitude(rng)),
    "capped-simplex": _capped_simplex,
    "k-sparse": lambda p, rng: sets.KSparseBall(int(rng.integers(1, p + 1)), magnitude(rng)),
    "k-support": lambda p, rng: sets.KSupportBall(int(rng.integers(1, p + 1)), magnitude(rng)),
    "group-l2": lambda p, rng: sets.GroupL2Ball(_groups(p, rng), magnitude(rng)),
    "owl": _owl,
    "ellipsoid": _ellipsoid,
    "ridge": lambda p, rng: sets.Ridge(magnitude(rng), _radius_or_none(rng)),
    "l1-penalty": lambda p, rng: sets.L1Penalty(magnitude(rng), _radius_or_none(rng)),
    "elastic-net": lambda p, rng: sets.ElasticNet(
        magnitude(rng), magnitude(rng), _radius_or_none(rng)
    ),
    "group-lasso": lambda p, rng: sets.GroupLasso(
        _groups(p, rng), magnitude(rng), _radius_or_none(rng)
    ),
    "entropy": lambda p, rng: sets.EntropySimplex(magnitude(rng), magnitude(rng)),
    "hull": _hull,
    "polytope": _polytope,
    "flow": _flow,
    "cvxpy": _cvxpy,
    "nuclear": lambda p, rng: sets.NuclearBall(_shape(p, rng), magnitude(rng)),
    "nuclear-penalty": lambda p, rng: sets.NuclearPenalty(
        magnitude(rng), _shape(p, rng), _radius_or_none(rng)
    ),
    "spectrahedron": lambda p, rng: sets.Spectrahedron(int(np.sqrt(p)), magnitude(rng)),
    "birkhoff": lambda p, rng: sets.Birkhoff(int(np.sqrt(p))),
    "cur": lambda p, rng: sets.CurSet(_shape(p, rng), magnitude(rng)),
    "scaled": lambda p, rng: sets.Scaled(_inner(p, rng), magnitude(rng)),
    "translated": lambda p, rng: sets.Translated(_inner(p, rng), rng.normal(size=p)),
    "product": _product,
    "caching": lambda p, rng: sets.Caching(_inner(p, rng), magnitude(rng) / 100),
    "counting": lambda p, rng: sets.Counting(_inner(p, rng)),
}
