"""Algorithm 2 with the rows of a batch on several ranks.

All ranks draw the same batches from generators in the same state, so that none is sent. In a
step, rank 0's atom is broadcast, each rank moves the samples of the batch that it has, and the
change of d is exchanged. d and the primal sum are everyone's, s and w each rank's own.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.distributed.exchange import Exchange, chosen_exchange
from rcmd.engine.compiled import CompiledEngine, OracleLoop
from rcmd.engine.kernels.batch import move_batch
from rcmd.engine.kernels.layout import DUAL, LAG, MIRROR
from rcmd.engine.sampling import Sampler
from rcmd.model.prox import ConjugateProx
from rcmd.model.schedules import Schedule
from rcmd.rows.processes import Group, SharedError
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.distributed.problem import ShardedProblem

ROW_STATE = [MIRROR, DUAL, LAG]
"""The columns of the samples' records that change in a run."""

LOST = 1e-9
"""Share of the largest sum a column can have by which d may differ from Xᵀw/n: rounding is less."""


class ShardedEngine(CompiledEngine):
    """The contract of the other engines; ``s``, ``w`` and ``averages()[1]`` of this rank's rows."""

    problem: ShardedProblem
    changing = ("iteration", "sampler", "_loop", "_base", "_total", "_refresh_at", "_peaks")

    def __init__(self, problem: ShardedProblem, schedule: Schedule, sampler: Sampler) -> None:
        self._batches_seen = 0
        self._peaks = np.zeros(problem.p)
        super().__init__(problem, schedule, sampler, ConjugateProx())
        entries = problem.group.sum(np.array([self._rows[0].size]))[0] / problem.n
        self.exchange = chosen_exchange(problem.exchange, problem, sampler.batch, float(entries))
        self._loop = ShardLoop(problem, self.exchange, self._loop.d)
        # All ranks must take the same steps in one go.
        self._chunk = int(-problem.group.largest(np.array([-self._chunk]))[0])

    def averages(self) -> tuple[Array, Array]:
        """β̄ and w̄ of the last step, once it is sure that all ranks have taken the same steps."""
        confirm_lockstep(self.problem.group, self)
        return super().averages()

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps, of all rows: any number of ranks can go on from it."""
        rows = self.problem.gathered(self._samples[:, ROW_STATE])
        return {**super().state(), "rows": rows}

    def load_state(self, state: dict[str, Any]) -> None:
        super().load_state(state)
        self._samples[:, ROW_STATE] = self.problem.own_part(state["rows"])

    def _draw(self, steps: int) -> Array:
        batches = super()._draw(steps)
        drawn = np.array([batches.sum(), np.bitwise_xor.reduce(batches, axis=None)])
        self._batches_seen = zlib.crc32(drawn.tobytes(), self._batches_seen)
        return batches

    def _take(self, batches: Array, numbers: tuple[Array, Array, Array]) -> None:
        try:
            super()._take(batches, numbers)
        except FloatingPointError as error:  # the health was everyone's
            raise SharedError(str(error)) from error

    def _gradient(self) -> Array:
        """d from scratch; a running d far from it has lost some rank's part."""
        fresh, peaks = self.problem.slope_and_peaks(self.w)
        self._peaks = np.maximum(self._peaks, peaks)
        if isinstance(self._loop, ShardLoop):
            far = abs(fresh - self._loop.d) > LOST * self.problem.n * self._peaks
            if far.any():
                k = int(far.argmax())
                raise SharedError(
                    f"the running d is {self._loop.d[k]:.6g} in column {k} at iteration "
                    f"{self.iteration} while Xᵀw/n is {fresh[k]:.6g}; expected the same number: "
                    "a part of some rank was lost or counted twice"
                )
        return fresh


class ShardLoop(OracleLoop):
    """Steps whose batch is spread over the ranks."""

    def __init__(self, problem: ShardedProblem, exchange: Exchange, d: Array) -> None:
        super().__init__(problem)
        self.d = d
        self._exchange = exchange
        self._ends = problem.starts[problem.group.rank :][:2].astype(np.uint64)

    def run(self, rows: Any, batches: Array, *rest: Any) -> float:
        self._shares = [self._share(batch) for batch in batches]
        self._exchange.plan(rows, self._shares)
        return super().run(rows, batches, *rest)

    def _move(self, rows: Any, t: int, batch: Array, eta: Any, total: Any, *shared: Any) -> float:
        mine = self._shares[t]
        predictions, pulls = self._predict(rows, mine), np.empty(len(mine))
        own = move_batch(rows, mine, predictions, eta, total, *shared, pulls)
        return self._exchange.add(rows, mine, pulls, own, batch, self.d)

    def _share(self, batch: Array) -> Array:
        """The rows of the batch that this rank has, by their place among its own."""
        first, last = self._ends
        return batch[(batch >= first) & (batch < last)] - first


def confirm_lockstep(group: Group, engine: ShardedEngine) -> None:
    """Refuse to go on where the ranks' batches, d or β differ in a bit."""
    own = zlib.crc32(engine.d.tobytes(), engine._batches_seen)
    own = zlib.crc32(engine._loop.primal_sum().tobytes(), own)
    sums = [int(part[0]) for part in group.gather(np.array([own]))]
    strays = [str(rank) for rank, number in enumerate(sums) if number != sums[0]]
    if strays:
        raise SharedError(
            f"rank {', '.join(strays)} is out of step with rank 0 at iteration {engine.iteration}: "
            "its batches, its d or its β are other ones; expected the same on all ranks, which "
            "need the same program and the same numbers"
        )
