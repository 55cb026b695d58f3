"""The compiled loop for oracles that act on every coordinate alike.

The atom is ``scale(T) · shape(d_k)`` in coordinate k, with the one running sum
T = Σ_k mass(d_k): the box, the l2 ball, ridge (see ``rcmd.oracles.base``).
Nothing of length p is ever walked:

- a prediction looks at d only where the row has entries;
- T changes only where d does;
- with c_i·scale_i as weights of the vector shape(d^i), and G_i their cumulative sums, Abel
  summation gives Σ_{i≤k} c_i β̃^i = G_k shape(d^{k+1}) − Σ_{i≤k} G_i (shape(d^{i+1}) − shape(d^i)),
  so β's sum, too, changes only where d does.

The three methods are compiled into the loop: a kernel per oracle class, for all losses and
all parameters.
"""

import functools
from typing import Any

import numpy as np

from rcmd.engine.kernels.layout import (
    add,
    column,
    look_ahead,
    mirror_step,
    row_length,
    row_start,
    value,
)
from rcmd.engine.state import Stateful
from rcmd.jit.caching import kernel
from rcmd.jit.scalars import RecordType, jittable, method_scalar, record_of

SLOPE, LAG, PAST = 0, 1, 2  # d_k, Σ_i G_i (shape(d^{i+1}) − shape(d^i))_k, a past part of β's sum
MASS, GROWTH, PEAK, SCALE = 0, 1, 2, 3  # T, G, the largest T since it was summed, a past factor

CANCELLED = 1e-3
"""Where T falls below this share of its peak, its last digits are gone, and it is summed anew."""

STEEPER = 1e3
"""Where the factor outgrows its past by this much, lazy sums would cancel: they become past."""


class CoordinateLoop(Stateful):
    """How an oracle that acts coordinatewise takes steps; d and β's sum lie beside each other."""

    changing = ("columns", "running")

    def __init__(self, oracle: Any, p: int, dense: bool) -> None:
        kind, numbers, self._arrays = record = record_of(oracle)
        self._kernel = _compiled(kind)
        self._parameters = np.array([*numbers, 0.0])
        # The scale, too, so that what does not compile shows here, not in a run.
        names = ("shape", "mass", "scale")
        self._shape, self._mass, _ = (method_scalar(oracle, name, record) for name in names)
        # Records of the columns: beside each other for sparse rows, apart for dense ones.
        self.columns = np.zeros((3, p)).T if dense else np.zeros((p, 3))
        self.running = np.zeros(4)

    @property
    def d(self) -> Any:
        """The substitute gradient."""
        return self.columns[:, SLOPE]

    def run(self, *arguments: Any) -> float:
        """Take the steps of ``arguments`` (see ``run`` below)."""
        health: float = self._kernel(*arguments, self.columns, self.running, self._parameters)
        return health

    def refresh(self, d: Any) -> None:
        """Put a freshly computed ``d`` in place of the running one, averages kept exact."""
        if self.running[GROWTH]:  # not at the start, where nothing is averaged yet
            moved = self._shape(d) - self._shape(self.columns[:, SLOPE])
            self.columns[:, LAG] += self.running[GROWTH] * moved
        self.columns[:, SLOPE] = d
        self.running[MASS] = self.running[PEAK] = self._mass(d).sum()

    def rescale(self, factor: float) -> None:
        """Count all weights so far ``factor`` times as much."""
        self.columns[:, LAG:] *= factor
        self.running[GROWTH] *= factor

    def primal_sum(self) -> Any:
        """Σ_{i≤k} c_i β̃^i."""
        shape = self._shape(self.columns[:, SLOPE])
        lazy = self.running[GROWTH] * shape - self.columns[:, LAG]
        return self.columns[:, PAST] + lazy


@functools.cache
def _compiled(kind: RecordType) -> Any:
    methods = (jittable(kind.methods[name]) for name in ("shape", "mass", "scale"))
    return _make_run(kind.reader(0), *methods)


def _make_dot(shape):  # apart from ``run``: inside, its sums would run in another order
    def dot(rows, j, columns, oracle):
        """``Σ_k x_jk shape(d_k)``."""
        base, total = row_start(rows, j), 0.0
        for t in range(row_length(rows, j)):
            slope = columns[column(rows, base, t), SLOPE]
            total = add(total, value(rows, base, t) * shape(oracle, slope))
        return total

    return dot


def _make_run(read, shape, mass, scale):
    dot = jittable(_make_dot(shape))

    @kernel
    def run(
        rows, batches, numbers, samples, gain, gain_mask, functions, columns, running, parameters
    ):
        """Take ``len(batches)`` steps of Algorithm 2.

        As in ``vertex.run_vertex``, but for the oracle's: ``columns`` and ``running`` are
        laid out as above, ``parameters`` are the oracle's numbers.
        """
        eta, weights, cumulative = numbers
        oracle, health = read(parameters), 0.0
        predictions = np.empty(batches.shape[1])
        order, position = batches.reshape(-1), np.uint64(0)
        for i in range(batches.shape[0]):
            factor = scale(oracle, running[MASS])
            growth = running[GROWTH] + weights[i] * factor
            if factor > STEEPER * running[SCALE]:
                for k in range(columns.shape[0]):
                    columns[k, PAST] += growth * shape(oracle, columns[k, SLOPE])
                    columns[k, PAST] -= columns[k, LAG]
                    columns[k, LAG] = 0.0
                growth = 0.0
                running[SCALE] = factor
            running[GROWTH] = growth
            for t in range(batches.shape[1]):  # all at the atom of d^i, before d moves
                look_ahead(rows, samples, functions, order, position)
                predictions[t] = factor * dot(rows, np.uint64(order[position]), columns, oracle)
                position += np.uint64(1)
            moved = 0.0
            for t in range(batches.shape[1]):
                j = np.uint64(batches[i, t])
                target = predictions[t]
                change = mirror_step(samples, j, target, eta[i], cumulative[i], functions)
                health += change
                pull = gain[j & gain_mask] * change
                base = row_start(rows, j)
                for e in range(row_length(rows, j)):
                    k = column(rows, base, e)
                    old = columns[k, SLOPE]
                    new = old + pull * value(rows, base, e)
                    columns[k, SLOPE] = new
                    columns[k, LAG] += growth * (shape(oracle, new) - shape(oracle, old))
                    moved = add(moved, mass(oracle, new) - mass(oracle, old))
            running[MASS] += moved
            running[PEAK] = max(running[PEAK], running[MASS])
            if running[MASS] < CANCELLED * running[PEAK]:
                total = 0.0
                for k in range(columns.shape[0]):
                    total += mass(oracle, columns[k, SLOPE])
                running[MASS] = running[PEAK] = total
        return health

    return run
