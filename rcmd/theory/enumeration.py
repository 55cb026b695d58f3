"""Expectations without sampling: every sequence of batches is run, in the problem's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from rcmd.engine.base import checked_atom, step_size
from rcmd.engine.sampling import ImportanceSampler, Sampler, UniformSampler
from rcmd.methods.rcmd import RCMD, RCMDProgress
from rcmd.model.problem import Problem, check_problem
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule, StepState
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array, check_kind

MOST_SEQUENCES = 10**6
"""Sequences of batches that one expectation may run through."""


def expected_gap(
    problem: Problem, iterations: int, *, method: RCMD | None = None, last: bool | None = None
) -> Any:
    """E[pair_gap] after ``iterations`` steps, the mean over all sequences of batches.

    That is E[P(β̄) − D(w̄)], or E[P(β̄) − D(w)] with the last w for the schedules of Theorems 3.2
    and I: the left sides of the bounds. Nothing is sampled, and fractions stay fractions.

    Parameters
    ----------
    problem
        A small instance: C(n, b)^iterations is at most 10⁶.
    iterations
        Steps done.
    method
        Batch, schedule, prox and sampler, ``RCMD()`` by default; batches are drawn uniformly, or
        rows by an ``ImportanceSampler``.
    last
        Whether the gap is that of the last w, or of the average w̄; by default as above.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> from rcmd import Box, LeastSquares, Problem
    >>> X, y = [[F(1)], [F(2)]], [F(1), F(0)]
    >>> problem = Problem(X, y, LeastSquares(), Box(F(-1), F(1)))
    >>> expected_gap(problem, 3)
    Fraction(393, 500)
    """
    check_problem(problem)
    check_kind("method", method, RCMD | None, "an RCMD, such as RCMD(batch=2), or None")
    if isinstance(iterations, bool) or not (isinstance(iterations, Integral) and iterations > 0):
        raise ValueError(f"iterations is {iterations!r}; expected a whole number from 1 on")
    run = replace(method or RCMD(), engine="reference").start(
        problem, None, np.random.default_rng(0)
    )
    return expectation(problem, run, int(iterations), last)


def expectation(
    problem: Problem, run: RCMDProgress, iterations: int, last: bool | None = None
) -> Any:
    """The expected gap of a run of the reference engine that has not begun."""
    engine: Any = run.engine
    last = run.theorem in ("linear", "exact") if last is None else last
    draws = _draws(engine.sampler, problem)
    if hasattr(engine.schedule, "load_state"):
        raise ValueError(
            f"method has a {type(engine.schedule).__name__}, which remembers the steps of one run; "
            "expected a schedule of i and the state alone, or sample with rcmd.theory.verify"
        )
    sequences = len(draws) ** (iterations - (not last))
    if sequences > MOST_SEQUENCES:
        raise ValueError(
            f"iterations is {iterations}, for which there are {sequences} sequences of batches; "
            f"expected at most {MOST_SEQUENCES}: take fewer steps or rows, or sample with "
            "rcmd.theory.verify"
        )
    runs = _Runs(problem, engine.schedule, engine.prox, draws, last, iterations)
    return runs.mean(0, engine.s, engine.w, problem.rows.zero(), engine.w)


@dataclass(frozen=True, eq=False)
class _Runs:
    """All runs of ``iterations`` steps, their common beginnings shared.

    ``draws`` are the batches and their probabilities; ``last`` says which w the gap is taken at.
    """

    problem: Problem
    schedule: Schedule
    prox: BregmanProx
    draws: list[tuple[Array, Any]]
    last: bool
    iterations: int

    def mean(self, i: int, s: Array, w: Array, beta: Array, w_average: Array) -> Any:
        """The expected gap of the runs that have s, w, β̄ and w̄ after i steps."""
        problem = self.problem
        d = problem.gradient(w)
        atom, share = checked_atom(problem.oracle, d), self.schedule.mixing(i)
        beta = beta + share * (atom.dense(beta) - beta)
        w_average = w_average + share * (w - w_average)
        end = i + 1 == self.iterations
        if end:  # β̄ is a mean of atoms: that dom R has it needs no look
            values = problem.losses.value(problem.rows.matvec(beta))
            primal = problem.mean(values) + problem.oracle.penalty(beta)
        if end and not self.last:
            return primal - problem.dual(w_average)
        gaps = 0
        for batch, probability, s_batch, w_batch in self._moves(i, s, w, d, atom):
            s_next, w_next = s.copy(), w.copy()
            s_next[batch], w_next[batch] = s_batch, w_batch
            if end:
                gaps -= probability * problem.dual(w_next)
            else:
                gaps += probability * self.mean(i + 1, s_next, w_next, beta, w_average)
        return primal + gaps if end else gaps

    def _moves(self, i: int, s: Array, w: Array, d: Array, atom: Atom) -> Iterator[Any]:
        """Each batch, its probability, and where its s and w go."""
        problem = self.problem
        every = np.arange(problem.n)
        predictions = problem.rows.predict(every, atom)

        def moved(rows: Array) -> tuple[Array, Array]:
            seen = problem, d, atom, rows, s[rows], w[rows], predictions[rows], w.copy
            eta = step_size(self.schedule, i, partial(StepState, *seen))
            gap = predictions[rows] - s[rows]
            losses, bounds = self.prox.losses(problem), self.prox.bounds(problem)
            there = self.prox.step(losses, bounds, rows, s[rows], gap, eta)
            return there, problem.losses.derivative(there, rows)

        if self.schedule.sees_run:  # its step may depend on the batch
            for batch, probability in self.draws:
                yield batch, probability, *moved(batch)
        else:
            s_all, w_all = moved(every)
            for batch, probability in self.draws:
                yield batch, probability, s_all[batch], w_all[batch]


def _draws(sampler: Sampler, problem: Problem) -> list[tuple[Array, Any]]:
    """The batches that may be drawn, and their probabilities."""
    if type(sampler) is ImportanceSampler:
        return [(np.array([j]), p) for j, p in enumerate(sampler.probabilities.tolist()) if p]
    if type(sampler) is not UniformSampler:
        raise ValueError(
            f"method has a {type(sampler).__name__}, whose probabilities are not known; expected a "
            "UniformSampler, which batch= gives, or an ImportanceSampler"
        )
    batches = [np.array(rows) for rows in combinations(range(problem.n), sampler.batch)]
    one = Fraction(1) if problem.exact else 1.0
    return [(batch, one / len(batches)) for batch in batches]
