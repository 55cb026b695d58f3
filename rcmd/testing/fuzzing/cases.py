"""Random small problems with all that can be asked of a run."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, is_dataclass
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates import SeparableConjugate
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.problem import Problem
from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles import LinearMinOracle
from rcmd.testing.fuzzing.examples import Array, Draw

MOST_ROWS, MOST_COLUMNS, MOST_ITERATIONS = 12, 6, 300

LAYOUTS: dict[str, Any] = {
    "dense": np.array,
    "csr": sp.csr_array,
    "float32": np.float32,  # drawn in single precision before, so that nothing is rounded
    "fortran": np.asfortranarray,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}
"""How the same numbers may be handed over."""

HEADER = """\
from math import inf
from numpy import array
from rcmd.conjugates import *
from rcmd.oracles import *
from rcmd.testing.fuzzing import Case, HalfDisc, judge
"""


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, how it is handed over, and how it is run."""

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

    def problem(self) -> Problem:
        """The problem itself."""
        X = LAYOUTS[self.layout](self.X)
        return Problem(
            X, self.y, self.loss, self.oracle, weights=self.weights, intercept=self.intercept
        )

    def options(self) -> dict[str, Any]:
        """What ``solve`` is told."""
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
        return "\n".join([f"{HEADER}\ncase = Case(", *lines, ")", "print(judge(case))"])


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
    return Case(
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
    )


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
    """±1 where the loss asks for them, else numbers near predictions, at times far from them."""
    noisy = X @ draw.numbers(X.shape[1]) + draw.numbers(len(X)) * draw.magnitude()
    if loss.label_fault(noisy):
        return np.where(noisy >= 0, 1.0, -1.0)
    kind = draw.whole(0, 3)
    return np.asarray([0 * noisy, np.round(noisy), noisy, draw.magnitude(2.0) * noisy][kind])
