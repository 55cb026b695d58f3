"""Algorithm 1, generalized stochastic Frank-Wolfe, in its own primal words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.engine.sampling import Sampler
from rcmd.model.problem import Problem
from rcmd.model.schedules import Schedule

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class GSFWIterate:
    """β̄^i, and s^{i+1}, d^{i+1} after iteration i."""

    beta: Array
    s: Array
    d: Array


def gsfw(problem: Problem, schedule: Schedule, sampler: Sampler) -> Iterator[GSFWIterate]:
    """Yield the iterates of Algorithm 1, without end.

    It averages predictions and atoms and never forms a dual variable; Lemma 2.1 says that
    its s and d are those of the dual engine on the same batches.
    """
    losses, rows, n = problem.losses, problem.rows, problem.n
    beta = np.zeros(problem.p, dtype=rows.number_type)
    s = np.zeros(n, dtype=rows.number_type)
    d = problem.gradient(losses.derivative(s))
    i = 0
    while True:
        alpha, eta = schedule.mixing(i), schedule.step(i)
        atom = problem.oracle.argmin(d)
        batch = sampler.draw(1)[0]
        s_batch = (1 - eta) * s[batch] + eta * rows.predict(batch, atom)
        change = losses.derivative(s_batch, batch) - losses.derivative(s[batch], batch)
        s[batch] = s_batch
        rows.scatter(batch, change / n, d)
        beta = (1 - alpha) * beta + alpha * atom.dense(beta)
        yield GSFWIterate(beta.copy(), s.copy(), d.copy())
        i += 1
