"""How the three kinds of oracle take compiled steps and keep d and β's sum."""

from __future__ import annotations

import math
import warnings
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rcmd.compiling.records import CannotCompile
from rcmd.engine.faults import checked_atom
from rcmd.engine.kernels.batch import predict_dense, predict_pairs, step_batch
from rcmd.engine.kernels.coordinatewise import SLOPE, Coordinates
from rcmd.engine.kernels.summit import (
    BOTH_SIGNS,
    POSITIVE,
    incremental_pays,
    level_offsets,
    tighten_all,
)
from rcmd.engine.kernels.vertex import run_vertex
from rcmd.oracles.atoms import DenseAtom, SparseAtom
from rcmd.oracles.base import VertexRule
from rcmd.oracles.coordinatewise import Coordinatewise
from rcmd.problem import Problem

Array = npt.NDArray[Any]

SMALLEST_MASS, LARGEST_MASS = 1e-250, 1e280
"""Between them a sum of masses neither overflows nor loses digits to subnormal numbers."""


class Loop(Protocol):
    """How one kind of oracle takes compiled steps and keeps d and β's sum."""

    @property
    def d(self) -> Array:
        """The substitute gradient."""

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        """Take the steps; the answer is finite if all numbers were."""

    def refresh(self, d: Array) -> None:
        """Go on with ``d``, computed from scratch."""

    def rescale(self, factor: float) -> None:
        """Count all weights so far ``factor`` times as much."""

    def primal_sum(self) -> Array:
        """Σ_i c_i β̃^i."""


class VertexLoop:
    """Oracles that are a ``VertexRule``; β's sum gains one entry a step."""

    def __init__(self, rule: VertexRule, p: int, touched: float, dense: bool) -> None:
        self._signs = POSITIVE if rule.positive else BOTH_SIGNS
        self._rule = (float(rule.size), *self._signs, float(rule.threshold))
        self._sum = np.zeros(p)
        self._offsets = level_offsets(p)
        incremental = not dense and incremental_pays(p, touched)
        self._bounds = np.zeros(int(self._offsets[-1]) if incremental else 0)

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        search = (self._rule, self._bounds, self._offsets)
        return float(run_vertex(rows, batches, numbers, *shared, self.d, self._sum, *search))

    def refresh(self, d: Array) -> None:
        self.d = d
        if self._bounds.size:
            tighten_all(d, *self._signs, self._bounds, self._offsets)

    def rescale(self, factor: float) -> None:
        self._sum *= factor

    def primal_sum(self) -> Array:
        return self._sum


class CoordinateLoop:
    """Oracles that are ``Coordinatewise``; d and β's sum lie beside each other."""

    def __init__(self, oracle: Coordinatewise, p: int, dense: bool) -> None:
        self._coordinates = Coordinates(oracle, p, dense)
        self.run = self._coordinates.run
        self.refresh = self._coordinates.settle
        self.rescale = self._coordinates.rescale
        self.primal_sum = self._coordinates.primal_sum

    @property
    def d(self) -> Array:
        return self._coordinates.columns[:, SLOPE]


class OracleLoop:
    """Any other oracle: called from Python between compiled batch steps."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sum = np.zeros(problem.p)

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

    def refresh(self, d: Array) -> None:
        self.d = d

    def rescale(self, factor: float) -> None:
        self._sum *= factor

    def primal_sum(self) -> Array:
        return self._sum


def loop_for(problem: Problem, batch: int, rows: Any) -> Loop:
    """The fastest loop that fits the oracle."""
    dense = len(rows) == 2
    oracle = problem.oracle
    rule = oracle.vertex_rule()
    if rule is not None and speaks_for_argmin(oracle, "vertex_rule"):
        return VertexLoop(rule, problem.p, batch * rows[0].size / problem.n, dense)
    if (
        isinstance(oracle, Coordinatewise)
        and speaks_for_argmin(oracle, "shape", "mass", "scale")
        and masses_fit(problem, oracle)
    ):
        try:
            return CoordinateLoop(oracle, problem.p, dense)
        except CannotCompile as reason:
            if not any(isinstance(value, np.ndarray) for value in vars(oracle).values()):
                warnings.warn(
                    f"calling the oracle from Python, because {reason}",
                    RuntimeWarning,
                    stacklevel=7,
                )
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


def speaks_for_argmin(oracle: Any, *names: str) -> bool:
    """Whether one of these methods is as new as ``argmin``, not what a subclass left behind."""
    order = [vars(base) for base in type(oracle).__mro__]
    newest = min(next(i for i, own in enumerate(order) if name in own) for name in names)
    return newest <= next(i for i, own in enumerate(order) if "argmin" in own)
