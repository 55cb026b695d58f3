"""Random small problems, with random options for a run.

All numbers come from ``random.Random``, by ``randint`` and ``choice`` alone: Hypothesis has a
``Random`` of its own, whose draws of these two it spreads evenly and makes smaller afterwards.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates import SeparableConjugate
from rcmd.conjugates.base import COUNTS, POSITIVE, SHARES, SIGNS, has_curvature_bound
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model import specs
from rcmd.model.problem import Problem
from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles import LinearMinOracle
from rcmd.oracles.cvxpy_oracle import Unsolved
from rcmd.rows.validation import Array

MOST_ROWS, MOST_COLUMNS, MOST_ITERATIONS = 12, 6, 300

MOST_STEEP, MOST_DIVISIONS = 1e6, 12
"""γ of a loss that is smooth on bounded sets only, and divisions of X by 8 for it, at most."""

LAYOUTS: dict[str, Any] = {
    "dense": np.array,
    "csr": sp.csr_array,
    "float32": np.float32,  # drawn in single precision before, so that nothing is rounded
    "fortran": np.asfortranarray,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}
"""How the same numbers may be given."""

INNER = ("l1", "l2", "box", "ridge", "l1-penalty")
"""Oracles that are drawn inside others."""

HEADER = """\
from math import inf
from numpy import array
from rcmd.conjugates import *
from rcmd.oracles import *
from rcmd.oracles.cvxpy_oracle import HalfDisc
from rcmd.testing.fuzzing import Case, Planted, judge
from rcmd.testing.fuzzing.planted import *
"""


@dataclass(frozen=True)
class Draw:
    """Random numbers for the ``example`` of a class, with ``p`` variables if it is an oracle."""

    rng: Random
    p: int = 1

    def chance(self, percent: int) -> bool:
        """True in that many of a hundred draws."""
        return self.rng.randint(1, 100) > 100 - percent

    def magnitude(self, spread: float = 1.5) -> float:
        """A positive number within ``spread`` powers of ten around 1."""
        return float(10 ** (spread * self.rng.randint(-1000, 1000) / 1000))

    def whole(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def whole_numbers(self, low: int, high: int, *shape: int) -> Array:
        """Whole numbers from ``low`` to ``high``, both included."""
        count = int(np.prod(shape))
        return np.array([self.whole(low, high) for _ in range(count)]).reshape(shape)

    def numbers(self, *shape: int) -> Array:
        """Numbers between −3 and 3 with three decimals; none is tiny but not zero."""
        return self.whole_numbers(-3000, 3000, *shape) / 1000

    def inner(self, p: int) -> LinearMinOracle:
        makes = ORACLES[self.rng.choice(INNER)].makes
        oracle: LinearMinOracle = makes.example(replace(self, p=p))
        return oracle

    def fields(self, makes: Any, spread: float = 1.5) -> Any:
        """An object of the class with a random value for each parameter of its spec.

        Numbers are positive, or ``None`` where a class has that by default.
        """
        p, arguments = self.p, dict[str, Any]()
        random_values: dict[specs.Kind, Callable[[], Any]] = {
            specs.NUMBER: lambda: self.magnitude(spread),
            specs.WHOLE: lambda: math.isqrt(p) if makes.square else self.whole(1, p),
            specs.VECTOR: lambda: self.numbers(p),
            specs.SHAPE: lambda: self.rng.choice(
                [(k, p // k) for k in range(1, p + 1) if p % k == 0]
            ),
            specs.GROUPS: lambda: self.whole_numbers(0, 2, p).tolist(),
            specs.ORACLE: lambda: self.inner(p),
        }
        for name, kind in specs.Spec(makes).parameters.items():
            if kind not in random_values:
                raise TypeError(
                    f"{name} of {makes.__name__} is {kind.expected}, which has no random value; "
                    f"define the classmethod example(cls, draw) of {makes.__name__}"
                )
            optional = inspect.signature(makes).parameters[name].default is None
            left_out = optional and not self.chance(50)
            arguments[name] = None if left_out else random_values[kind]()
        return makes(**arguments)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, how its data are given, and how it is run."""

    X: Array
    y: Array
    loss: SeparableConjugate
    oracle: LinearMinOracle
    weights: Array | None = None
    intercept: float | None = None
    layout: str = "dense"
    batch: int = 1
    tol: float = 1e-3
    seed: int = 0
    engine: str = "reference"
    corrected: bool = False
    warm: bool = False
    offset: Array | None = None

    def problem(self) -> Problem:
        X = LAYOUTS[self.layout](self.X)
        own: dict[str, Any] = {"weights": self.weights, "offset": self.offset}
        return Problem(X, self.y, self.loss, self.oracle, intercept=self.intercept, **own)

    def options(self) -> dict[str, Any]:
        plain = RCMD(engine=self.engine)  # type: ignore[arg-type]
        return {
            "batch": self.batch,
            "tol": self.tol,
            "seed": self.seed,
            "method": Corrected(plain) if self.corrected else plain,
            "max_iterations": MOST_ITERATIONS,
        }

    def code(self) -> str:
        """Python that makes the case again and judges it (only a ``Polytope`` shows no matrix)."""
        changed = (f.name for f in fields(self) if getattr(self, f.name) is not f.default)
        lines = (f"    {name}={_expression(getattr(self, name))}," for name in changed)
        return "\n".join(
            [f"{HEADER}\ncase = {type(self).__name__}(", *lines, ")", "print(judge(case))"]
        )


def _expression(value: Any) -> str:
    """Python that makes a value again."""
    if isinstance(value, np.ndarray):
        return f"array({value.tolist()})"
    if isinstance(value, tuple):
        return f"({''.join(f'{_expression(part)}, ' for part in value)})"
    if is_dataclass(value):
        given = (f.name for f in fields(value) if f.init and f.default_factory is MISSING)
        inside = ", ".join(f"{name}={_expression(getattr(value, name))}" for name in given)
        return f"{type(value).__name__}({inside})"
    return repr(value)


def random_case(rng: Random) -> Case:
    """A case with nothing wrong about it; simple where the draws of ``rng`` are small."""
    draw, makes = Draw(rng), ORACLES[rng.choice(list(ORACLES))].makes
    loss = LOSSES[rng.choice(list(LOSSES))].makes.example(draw)
    p = rng.randint(1, 2) ** 2 if makes.square else rng.randint(1, MOST_COLUMNS)
    n = rng.randint(1, MOST_ROWS)
    layout = rng.choice(list(LAYOUTS))
    X = _features(n, p, draw)
    if layout == "float32":
        X = X.astype(np.float32).astype(float)
    y = _labels(loss, X, draw)
    weights = None
    if draw.chance(30):
        weights = np.array([rng.choice([1.0, 0.1, 3.0, 100.0]) for _ in range(n)])
    start = np.asarray([loss.value(0.0, label) for label in y])
    scale = float((start if weights is None else weights * start).mean())
    case = Case(
        X=X,
        y=y,
        loss=loss,
        oracle=makes.example(Draw(rng, p)),
        weights=weights,
        intercept=draw.magnitude() if draw.chance(20) else None,
        layout=layout,
        batch=rng.randint(1, n) if draw.chance(70) else n,
        tol=10.0 ** (rng.randint(-90, -10) / 10) * (scale or 1.0),
        seed=rng.randint(0, 99),
        engine=rng.choice(["reference", "compiled"]),
        corrected=draw.chance(70),
        warm=draw.chance(20),
        offset=draw.numbers(n) if draw.chance(20) else None,
    )
    return _tamed(case) if has_curvature_bound(type(loss)) else case


def _tamed(case: Case) -> Case:
    """The case with predictions that are small enough for exponentials, if labels are, too."""
    for _ in range(MOST_DIVISIONS):
        try:
            if case.problem().losses.gammas.max() < MOST_STEEP:
                break
        except Unsolved:  # as whoever judges the case is told
            break
        except ValueError as refusal:
            if "too steep" not in str(refusal):
                raise
        X = (case.X / 8).astype(np.float32).astype(float)
        case = replace(case, X=X, intercept=None)
    return case


def _features(n: int, p: int, draw: Draw) -> Array:
    """Fractions or small whole numbers, scaled; some zero, some repeated."""
    scale, fractions = draw.magnitude(), draw.chance(60)
    # As many draws for any n and p: with fewer rows, all later draws are still the same.
    X = draw.numbers(MOST_ROWS, MOST_COLUMNS)[:n, :p]
    X = scale * (X if fractions else np.round(X))
    if draw.chance(20):
        X *= [draw.magnitude(2.0) for _ in range(p)]
    if draw.chance(20):
        X *= [[draw.magnitude(2.0)] for _ in range(n)]
    if draw.chance(20):
        X *= draw.whole_numbers(0, 1, n, p)
    if draw.chance(20):
        X = X[draw.whole_numbers(0, n - 1, n)]
    if draw.chance(20):
        X = X[:, draw.whole_numbers(0, p - 1, p)]
    if draw.chance(20):
        X[draw.whole_numbers(0, 2, n) == 2] = draw.rng.choice([0.0, 1.0])
    return X


def _labels(loss: SeparableConjugate, X: Array, draw: Draw) -> Array:
    """Labels of the loss's kind; real ones near predictions, at times far from them."""
    noisy = X @ draw.numbers(X.shape[1]) + draw.numbers(len(X)) * draw.magnitude()
    kinds = {
        SIGNS: np.where(noisy >= 0, 1.0, -1.0),
        COUNTS: np.round(abs(noisy)),
        POSITIVE: abs(noisy) + 0.01,
        SHARES: np.clip(abs(noisy), 0.0, 1.0),
    }
    if loss.labels in kinds:
        return kinds[loss.labels]
    kind = draw.whole(0, 3)
    return np.asarray([0 * noisy, np.round(noisy), noisy, draw.magnitude(2.0) * noisy][kind])
