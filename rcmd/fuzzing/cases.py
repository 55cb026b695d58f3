"""Random small problems with all that can be asked of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.conjugates import SeparableConjugate
from rcmd.fuzzing.parts import MAKERS, magnitude, random_columns, random_loss, random_oracle
from rcmd.oracles import LinearMinOracle
from rcmd.problem import Problem
from rcmd.run import Options

Array = npt.NDArray[Any]
Rng = np.random.Generator

MOST_ROWS, MOST_ITERATIONS = 12, 300

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
    engine: str = "auto"
    corrective: bool | None = None
    warm: bool = False

    def problem(self) -> Problem:
        """The problem itself."""
        X = LAYOUTS[self.layout](self.X)
        return Problem(
            X, self.y, self.loss, self.oracle, weights=self.weights, intercept=self.intercept
        )

    def options(self) -> Options:
        """What ``solve`` is told."""
        return {
            "batch": self.batch,
            "tol": self.tol,
            "seed": self.seed,
            "engine": self.engine,  # type: ignore[typeddict-item]
            "corrective": self.corrective,
            "max_iterations": MOST_ITERATIONS,
        }

    def __str__(self) -> str:
        """Python that makes the problem and runs it, in one piece."""
        with np.printoptions(threshold=np.inf, floatmode="unique", linewidth=1000):  # type: ignore[arg-type]
            numbers = {"X": self.X, "y": self.y, "weights": self.weights}
            shown = [
                f"{name} = {np.array2string(value, separator=', ')}"
                for name, value in numbers.items()
                if value is not None
            ]
            oracle = repr(self.oracle)
        run = ", ".join(f"{name}={value!r}" for name, value in self.options().items())
        return "\n".join(
            [
                *shown,
                f"loss = {self.loss!r}, oracle = {oracle}, intercept = {self.intercept}",
                f"X as {self.layout}, solve(…, {run}){', then again from there' * self.warm}",
            ]
        )


def random_case(rng: Rng) -> Case:
    """A case with nothing wrong about it."""
    name = str(rng.choice(list(MAKERS)))
    loss, p = random_loss(rng), random_columns(name, rng)
    n = int(rng.integers(1, MOST_ROWS + 1))
    layout = str(rng.choice(list(LAYOUTS)))
    X = _features(n, p, rng)
    if layout == "float32":
        X = X.astype(np.float32).astype(float)
    y = _labels(loss, X, rng)
    weights = rng.choice([0.1, 1.0, 3.0, 100.0], size=n) if rng.random() < 0.3 else None
    start = np.asarray([loss.value(0.0, label) for label in y])
    scale = float((start if weights is None else weights * start).mean())
    return Case(
        X=X,
        y=y,
        loss=loss,
        oracle=random_oracle(name, p, rng),
        weights=weights,
        intercept=magnitude(rng) if rng.random() < 0.2 else None,
        layout=layout,
        batch=int(rng.integers(1, n + 1)) if rng.random() < 0.7 else n,
        tol=float(10 ** rng.uniform(-9, -1)) * (scale or 1.0),
        seed=int(rng.integers(0, 100)),
        engine=str(rng.choice(["compiled", "reference"])),
        corrective=None if rng.random() < 0.7 else False,
        warm=bool(rng.random() < 0.2),
    )


def _features(n: int, p: int, rng: Rng) -> Array:
    """Gaussian or small whole numbers, scaled; some zero, some repeated."""
    X = rng.normal(size=(n, p)) if rng.random() < 0.6 else rng.integers(-2, 3, size=(n, p)) * 1.0
    X *= magnitude(rng)
    habits = rng.random(6) < 0.2
    if habits[0]:
        X *= 10 ** rng.uniform(-2, 2, size=p)
    if habits[1]:
        X *= 10 ** rng.uniform(-2, 2, size=(n, 1))
    if habits[2]:
        X *= rng.random((n, p)) < 0.5
    if habits[3]:
        X = X[rng.integers(0, n, size=n)]
    if habits[4]:
        X = X[:, rng.integers(0, p, size=p)]
    if habits[5]:
        X[rng.random(n) < 0.3] = rng.choice([0.0, 1.0])
    return X


def _labels(loss: SeparableConjugate, X: Array, rng: Rng) -> Array:
    """±1 where the loss asks for them, else numbers near predictions, at times far from them."""
    planted = X @ rng.normal(size=X.shape[1])
    noisy = planted + rng.normal(size=len(X)) * magnitude(rng)
    if loss.label_fault(noisy):
        return np.where(noisy >= 0, 1.0, -1.0)
    kind = rng.integers(0, 4)
    return np.asarray([noisy, np.round(noisy), 0 * noisy, magnitude(rng, 2.0) * noisy][kind])
