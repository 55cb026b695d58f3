"""Expectations without sampling: every sequence of batches is run, in the problem's own numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, repeat
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from rcmd.conjugates.samples import COMPILE_FROM
from rcmd.engine.base import EngineName, checked_atom, step_size
from rcmd.engine.sampling import ImportanceSampler, Sampler, UniformSampler
from rcmd.methods.dual_ascent import Quartz, QuartzProgress
from rcmd.methods.rcmd import RCMD
from rcmd.model.problem import Problem, check_problem
from rcmd.model.schedules import StepState
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array, batch_size, check_kind

MOST_SEQUENCES = 10**6
"""Sequences of batches that one expectation may run through."""


def expected_gap(
    problem: Problem,
    iterations: int,
    *,
    method: RCMD | Quartz | None = None,
    batch: int | float | None = None,
    last: bool | None = None,
) -> Any:
    """E[pair_gap] after ``iterations`` steps, the mean over all sequences of batches.

    That is E[P(β̄) − D(w̄)], or E[P(β̄) − D(w)] with the last w for the schedules of Theorems 3.2
    and I, and for Quartz E[P(β) − D(w)]: the left sides of the bounds. Nothing is sampled, and
    fractions stay fractions.

    Parameters
    ----------
    problem
        A small instance: C(n, b)^iterations is at most 10⁶.
    iterations
        Steps done.
    method
        Batch, schedule, prox and sampler, ``RCMD()`` by default, or ``Quartz()``; batches are
        drawn uniformly, or rows by an ``ImportanceSampler``.
    batch
        Rows per step, as in ``solve``: 1 by default, or what the method says.
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
    run = started(problem, iterations, method, batch, engine="reference")
    return mean_gap(ends(problem, run, int(iterations), last))


def started(
    problem: Problem,
    iterations: int,
    method: RCMD | Quartz | None,
    batch: int | float | None,
    engine: EngineName | None = None,
) -> Any:
    """A run that has not begun, its arguments looked at; of RCMD on that engine."""
    check_problem(problem)
    check_kind("method", method, RCMD | Quartz | None, "RCMD(batch=2), Quartz() or None")
    if isinstance(iterations, bool) or not (isinstance(iterations, Integral) and iterations > 0):
        raise ValueError(f"iterations is {iterations!r}; expected a whole number from 1 on")
    chosen = method or RCMD()
    if engine and isinstance(chosen, RCMD):
        chosen = replace(chosen, engine=engine)
    rows = None if batch is None else batch_size(batch, problem.n)
    return chosen.start(problem, rows, np.random.default_rng(0))


class Ends(NamedTuple):
    """What runs came to, a line for each: its probability, β̄, P(β̄), and D of the w that counts."""

    chance: Array
    beta: Array
    primal: Array
    dual: Array


def mean_gap(parts: Iterable[Ends]) -> Any:
    """E[P − D] over all of them."""
    return sum(part.chance @ (part.primal - part.dual) for part in parts)


def ends(problem: Problem, run: Any, iterations: int, last: bool | None = None) -> Iterator[Ends]:
    """The ends of all runs like this one, which has not begun."""
    quartz = isinstance(run, QuartzProgress)
    last = (quartz or run.theorem in ("linear", "exact")) if last is None else last
    draws = _draws(sampler_of(run), problem)
    if not quartz and hasattr(run.engine.schedule, "load_state"):
        raise ValueError(
            f"method has a {type(run.engine.schedule).__name__}, which remembers the steps of one "
            "run; expected a schedule of i and the state alone, or sample with rcmd.theory.verify"
        )
    sequences = len(draws) ** (iterations - (not last))
    if sequences > MOST_SEQUENCES:
        raise ValueError(
            f"iterations is {iterations}, for which there are {sequences} sequences of batches; "
            f"expected at most {MOST_SEQUENCES}: take fewer steps or rows, or sample with "
            "rcmd.theory.verify"
        )
    rows = problem.rows
    if not isinstance(rows.zero(), np.ndarray):
        raise ValueError("the rows are entries of a matrix; expected X with a row for each sample")
    X = np.array([rows.row(j) for j in range(problem.n)], rows.number_type)
    runs = (_QuartzRuns if quartz else _Runs)(problem, run, X, draws, last, iterations)
    chance = np.array([Fraction(1) if problem.exact else 1.0])
    beta = run.beta if quartz else rows.zero()
    yield from runs.ends(0, chance, run.s[None], run.w[None], beta[None], run.w[None])


def sampler_of(run: Any) -> Any:
    """Where a run of RCMD or of Quartz gets its batches."""
    return run.sampler if isinstance(run, QuartzProgress) else run.engine.sampler


@dataclass(frozen=True, eq=False)
class _Runs:
    """All runs of ``iterations`` steps, their common beginnings shared, many of them at a time.

    ``draws`` are the batches and their probabilities; ``last`` says which w the gap is taken at.
    """

    problem: Problem
    run: Any
    X: Array
    draws: list[tuple[Array, Any]]
    last: bool
    iterations: int

    def ends(
        self, i: int, chance: Array, s: Array, w: Array, beta: Array, average: Array
    ) -> Iterator[Ends]:
        """Those of the runs that go on from beginnings of i steps, one a line."""
        problem, n, zero = self.problem, self.problem.n, self.problem.rows.zero()
        d = w @ self.X / n
        atoms = [checked_atom(problem.oracle, one) for one in d]
        points = np.array([atom.dense(zero) for atom in atoms])
        share = self.share(i)
        beta, average = beta + share * (points - beta), average + share * (w - average)
        end, primal = i + 1 == self.iterations, chance
        if end:  # β̄ is a mean of atoms: that dom R has it needs no look
            values = self.on_lines("value", beta @ self.X.T).sum(axis=1) / n
            primal = values + [problem.oracle.penalty(one) for one in beta]
            if not self.last:
                yield Ends(chance, beta, primal, self.dual(average))
                return
        moved = partial(self.moved, i, s, w, beta, points @ self.X.T, d, atoms)
        whole = None if self.sees_run else moved(np.arange(n))
        parts: list[Any] = []
        for batch, probability in self.draws:
            s_next, w_next = s.copy(), w.copy()
            there = moved(batch) if whole is None else [part[:, batch] for part in whole]
            s_next[:, batch], w_next[:, batch] = there
            parts.append((probability * chance, s_next, w_next, beta, average, primal))
        if len(parts) * w.size < COMPILE_FROM:
            parts = [tuple(map(np.concatenate, zip(*parts, strict=True)))]
        for *part, primal in parts:
            if end:
                yield Ends(part[0], part[3], primal, self.dual(part[2]))
            else:
                yield from self.ends(i + 1, *part)

    @property
    def sees_run(self) -> bool:
        """Whether a step depends on the batch that it is for."""
        return bool(self.run.engine.schedule.sees_run)

    def share(self, i: int) -> Any:
        """Of the atom in β̄ after step i."""
        return self.run.engine.schedule.mixing(i)

    def moved(
        self, i: int, s: Array, w: Array, beta: Array, predictions: Array, d: Array,
        atoms: list[Atom], rows: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """s and w of these rows after step i, where they move."""
        prox, schedule = self.run.engine.prox, self.run.engine.schedule
        every = [one.copy for one in w]
        s, w, predictions = s[:, rows], w[:, rows], predictions[:, rows]
        if self.sees_run:
            states = zip(d, atoms, repeat(rows), s, w, predictions, every)
            steps = [step_size(schedule, i, partial(StepState, self.problem, *at)) for at in states]
            eta = np.concatenate([np.broadcast_to(step, rows.shape) for step in steps])
        else:
            eta = schedule.step(i)
        places, gap = np.tile(rows, len(s)), (predictions - s).ravel()
        losses, bounds = prox.losses(self.problem), prox.bounds(self.problem)
        there = prox.step(losses, bounds, places, s.ravel(), gap, eta).reshape(s.shape)
        return there, self.on_lines("derivative", there, rows)

    def dual(self, w: Array) -> Array:
        """D(w), line by line."""
        minima = [self.problem.oracle.minimum(d) for d in w @ self.X / self.problem.n]
        return minima - self.on_lines("conjugate", w).sum(axis=1) / self.problem.n

    def on_lines(self, name: str, points: Array, rows: Array | None = None) -> Array:
        """``value``, ``derivative`` or ``conjugate`` of the losses of ``rows``, line by line."""
        rows = np.arange(self.problem.n) if rows is None else rows
        losses = self.problem.losses.some(np.tile(rows, len(points)))
        found: Array = getattr(losses, name)(points.ravel())
        return found.reshape(points.shape)


class _QuartzRuns(_Runs):
    sees_run = False

    def share(self, i: int) -> Any:
        return self.run.theta

    def moved(
        self, i: int, s: Array, w: Array, beta: Array, predictions: Array, d: Array,
        atoms: list[Atom], rows: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        slopes = self.on_lines("derivative", beta @ self.X[rows].T, rows)
        return s[:, rows], w[:, rows] + self.run.share * (slopes - w[:, rows])


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
