"""Both algorithms of the paper, word for word, in any number type.

Algorithm 2 is randomized coordinate mirror descent on the dual, ``ReferenceEngine``; Algorithm 1 is
generalized stochastic Frank-Wolfe on the primal, ``gsfw``.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from rcmd.engine.accounting import Accounting, DualAverage, PrimalAverage, Step
from rcmd.engine.base import checked_atom, next_refresh, not_finite, step_size
from rcmd.engine.sampling import Sampler, drawn
from rcmd.engine.state import Stateful
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx, ConjugateProx
from rcmd.model.schedules import Schedule, StepState
from rcmd.rows.validation import Array


class ReferenceEngine(Stateful):
    """The dual method, one step at a time; it never uses β, whose average is accounting.

    s is the mirror variable, w = ∇L(s) the dual one, d = Xᵀw/n the substitute gradient. It starts
    from the prox centre, or from the predictions of a given β, ``start``. A step costs a batch of
    gradients and one oracle call.
    """

    changing = ("s", "w", "d", "iteration", "sampler", "accounting", "_refresh_at")

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        sampler: Sampler,
        prox: BregmanProx | None = None,
        start: Any = None,
        accounting: Sequence[Accounting] = (),
    ) -> None:
        self.problem, self.schedule, self.sampler = problem, schedule, sampler
        self.prox = prox or ConjugateProx()
        self._prox_losses, self._bounds = self.prox.losses(problem), self.prox.bounds(problem)
        past = problem.rows.zero() if start is None else start.copy()
        self._beta = PrimalAverage(schedule, past)
        self._w = DualAverage(schedule, np.zeros(problem.n, problem.rows.number_type))
        self.accounting: tuple[Accounting, ...] = (self._beta, self._w, *accounting)
        if start is None:
            self.s = self.prox.centre(self._prox_losses, self._bounds)
        else:
            self.s = problem.rows.matvec(start)
        self.w = problem.losses.derivative(self.s, slice(None))
        self.d = problem.gradient(self.w)
        self.iteration = 0
        problem.oracle.reset()
        self._refresh_at = next_refresh(0, problem.n, sampler.batch)

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations."""
        for _ in range(steps):
            self.step()

    def step(self) -> None:
        """One iteration of Algorithm 2 on a batch."""
        losses, rows, i = self.problem.losses, self.problem.rows, self.iteration
        atom = checked_atom(self.problem.oracle, self.d)
        (batch,) = drawn(self.sampler, 1, self.problem.n)

        # n times the batch's coordinates of a subgradient of D at w.
        before, predictions = self.s[batch], rows.predict(batch, atom)
        gap = predictions - before
        seen = self.problem, self.d, atom, batch, before, self.w[batch], predictions, self.w.copy
        eta = step_size(self.schedule, i, partial(StepState, *seen))
        s = self.prox.step(self._prox_losses, self._bounds, batch, before, gap, eta)
        w = losses.derivative(s, batch)
        change = w - self.w[batch]
        if not self.problem.exact and not np.isfinite(change).all():
            raise FloatingPointError(not_finite(self.problem, i + 1))

        self.s[batch] = s
        self.w[batch] = w
        rows.scatter(batch, change / self.problem.n, self.d)
        self.iteration += 1
        if self.iteration == self._refresh_at:
            self.d = self.problem.gradient(self.w)
            self._refresh_at = next_refresh(self.iteration, self.problem.n, len(batch))
        step = Step(i, atom, batch, change)
        for listener in self.accounting:
            listener.record(step)

    def averages(self) -> tuple[Array, Array]:
        """β̄ and w̄."""
        return self._beta.value(), self._w.value(self.w)


def gsfw(
    problem: Problem, schedule: Schedule, sampler: Sampler
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield β̄^i, s^{i+1} and d^{i+1} of Algorithm 1 for i = 0, 1, …, without end.

    It averages predictions and atoms and never forms a dual variable; Lemma 2.1 says that
    its s and d are those of the dual engine on the same batches.
    """
    losses, rows, n = problem.losses, problem.rows, problem.n
    beta = np.zeros(problem.p, dtype=rows.number_type)
    s = np.zeros(n, dtype=rows.number_type)
    d = problem.gradient(losses.derivative(s))
    for i in count():
        alpha, eta = schedule.mixing(i), schedule.step(i)
        atom = problem.oracle.argmin(d)
        (batch,) = drawn(sampler, 1, n)
        s_batch = (1 - eta) * s[batch] + eta * rows.predict(batch, atom)
        change = losses.derivative(s_batch, batch) - losses.derivative(s[batch], batch)
        s[batch] = s_batch
        rows.scatter(batch, change / n, d)
        beta = (1 - alpha) * beta + alpha * atom.dense(beta)
        yield beta.copy(), s.copy(), d.copy()
