"""How the three kinds of oracle take compiled steps and keep d and β's sum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.engine.base import checked_atom
from rcmd.engine.kernels.batch import predict_dense, predict_pairs, step_batch
from rcmd.engine.kernels.coordinatewise import CoordinateLoop
from rcmd.engine.kernels.tournament import (
    BOTH_SIGNS,
    POSITIVE,
    incremental_pays,
    level_offsets,
    tighten_all,
)
from rcmd.engine.kernels.vertex import run_vertex
from rcmd.jit.records import CannotCompile
from rcmd.model.problem import Problem
from rcmd.oracles.base import Coordinatewise, VertexRule
from rcmd.rows.atoms import DenseAtom, SparseAtom
from rcmd.rows.state import Stateful
from rcmd.rows.validation import warn_caller

Array = npt.NDArray[Any]

SMALLEST_MASS, LARGEST_MASS = 1e-250, 1e280
"""Between them a sum of masses neither overflows nor loses digits to subnormal numbers."""


class SummingLoop(Stateful):
    """Loops that keep d, and β's sum as a vector."""

    d: Array

    def __init__(self, p: int) -> None:
        self._sum = np.zeros(p)

    def refresh(self, d: Array) -> None:
        """Go on with ``d``, computed from scratch."""
        self.d = d

    def rescale(self, factor: float) -> None:
        """Count all weights so far ``factor`` times as much."""
        self._sum *= factor

    def primal_sum(self) -> Array:
        """Σ_i c_i β̃^i."""
        return self._sum


class VertexLoop(SummingLoop):
    """Oracles that are a ``VertexRule``; β's sum gains one entry a step."""

    changing = ("d", "_sum", "_bounds")

    def __init__(self, rule: VertexRule, p: int, touched: float, dense: bool) -> None:
        super().__init__(p)
        self._signs = POSITIVE if rule.positive else BOTH_SIGNS
        self._rule = (float(rule.size), *self._signs, float(rule.threshold))
        self._offsets = level_offsets(p)
        incremental = not dense and incremental_pays(p, touched)
        self._bounds = np.zeros(int(self._offsets[-1]) if incremental else 0)

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        """Take the steps; the answer is finite if all numbers were."""
        search = (self._rule, self._bounds, self._offsets)
        return float(run_vertex(rows, batches, numbers, *shared, self.d, self._sum, *search))

    def refresh(self, d: Array) -> None:
        super().refresh(d)
        if self._bounds.size:
            tighten_all(d, *self._signs, self._bounds, self._offsets)


class OracleLoop(SummingLoop):
    """Any other oracle: called from Python between compiled batch steps."""

    changing = ("d", "_sum")

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.p)
        self._problem = problem

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        health = 0.0
        for batch, eta, weight, total in zip(batches, *numbers, strict=True):
            atom = checked_atom(self._problem.oracle, self.d)
            predictions = self._predict(rows, batch, atom)
            health += step_batch(rows, batch, predictions, eta, total, *shared, self.d)
            atom.add_to(self._sum, weight)
            if not math.isfinite(health):  # before the oracle sees it
                break
        return health

    def _predict(self, rows: Any, batch: Array, atom: Any) -> Array:
        out = np.empty(len(batch))
        if isinstance(atom, DenseAtom):
            predict_dense(rows, batch, np.asarray(atom.vector, dtype=float), out)
        elif isinstance(atom, SparseAtom):
            indices = np.array(atom.indices, dtype=np.uint64)
            predict_pairs(rows, batch, indices, np.array(atom.values, dtype=float), out)
        else:
            out[:] = self._problem.rows.predict(batch.view(np.int64), atom)
        return out


Loop = VertexLoop | CoordinateLoop | OracleLoop


def loop_for(problem: Problem, batch: int, rows: Any) -> Loop:
    """The fastest loop that fits the oracle."""
    dense = len(rows) == 2
    oracle = problem.oracle
    rule = oracle.vertex_rule()
    if rule is not None and describes_argmin(oracle, "vertex_rule"):
        return VertexLoop(rule, problem.p, batch * rows[0].size / problem.n, dense)
    if (
        isinstance(oracle, Coordinatewise)
        and describes_argmin(oracle, "shape", "mass", "scale")
        and masses_fit(problem, oracle)
    ):
        try:
            return CoordinateLoop(oracle, problem.p, dense)
        except CannotCompile as reason:
            if not any(isinstance(value, np.ndarray) for value in vars(oracle).values()):
                warn_caller(f"calling the oracle from Python, because {reason}")
    return OracleLoop(problem)


def masses_fit(problem: Problem, oracle: Coordinatewise) -> bool:
    """Whether running sums of ``mass``, squares of slopes as a rule, keep their digits."""
    low, high = problem.losses.domain
    start = abs(problem.losses.derivative(0 * problem.losses.y))
    reached = start + problem.losses.gammas * problem.prediction_bounds
    steepest = np.minimum(reached, np.maximum(abs(low), abs(high))).max()
    largest = problem.rows.max_norms().max()
    sizes = (float(largest * steepest), float(largest * start.max()) / problem.n)
    masses = [float(oracle.mass(size)) for size in sizes if size > 0]
    return all(mass == 0.0 or SMALLEST_MASS < mass < LARGEST_MASS for mass in masses)


def describes_argmin(oracle: Any, *names: str) -> bool:
    """Whether one of these methods belongs to the class that defines ``argmin`` or to a newer one.

    A subclass that gives another ``argmin`` alone leaves the older ones behind.
    """
    order = [vars(base) for base in type(oracle).__mro__]
    newest = min(next(i for i, own in enumerate(order) if name in own) for name in names)
    return newest <= next(i for i, own in enumerate(order) if "argmin" in own)
