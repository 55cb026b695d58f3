"""The proofs, evaluated line by line along a run of your own.

``trace`` runs Algorithm 2 and returns a ``Trace``. The lines are in ``sublinear`` (Theorem 3.1) and
``linear`` (Theorem 3.2), written with the quantities of ``lines.Moment``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from rcmd.engine.sampling import Sampler, UniformSampler, drawn
from rcmd.model import truth
from rcmd.model.bounds import Bound, RunFacts, asked
from rcmd.model.problem import Problem, check_problem
from rcmd.model.prox import ConjugateProx
from rcmd.model.schedules import Schedule, default_schedule
from rcmd.rows.validation import Array, batch_size, check_kind
from rcmd.theory.proof_trace import linear, sublinear
from rcmd.theory.proof_trace.lines import Moment, ProofLine, Relation

__all__ = ["Entry", "Trace", "trace"]

ROUNDING = 1e-9
"""Relative rounding that a line may be off by; fractions have none."""

_PROOFS: dict[Any, tuple[str, tuple[ProofLine, ...], ProofLine]] = {
    "sublinear": ("The proof of Theorem 3.1", sublinear.LINES, sublinear.theorem),
    "linear": ("The proof of Theorem 3.2", linear.LINES, linear.theorem),
    None: ("What holds for all steps", sublinear.EVERY_SCHEDULE, sublinear.pathwise),
}
"""By whose schedule it is: a heading, its lines, and the one whose left side bounds are about."""

MOST_BATCHES = 10_000
"""Batches enumerated for one conditional expectation."""


def trace(
    problem: Problem,
    steps: int = 10,
    *,
    batch: int | float = 1,
    w: Any = None,
    seed: int | np.random.Generator = 0,
    sampler: Sampler | None = None,
    schedule: Schedule | None = None,
    bounds: Sequence[Bound | str] = (),
) -> Trace:
    """Run Algorithm 2 and evaluate every inequality of its convergence proof at each step.

    Conditional expectations are exact: all batches are enumerated. Printed, the trace shows
    which lines are tight on this instance (left/right near 1) and which are loose. Of a schedule
    of your own it shows the lines that hold for all steps and weights, and your bounds.

    Parameters
    ----------
    problem
        A small instance; fractions give exact slacks.
    steps
        Iterations.
    batch
        Rows per step, or a fraction of n.
    w
        The fixed dual point of the proofs; CVXPY's optimum by default.
    seed, sampler
        Where the batches of this run come from; a sampler has its own batch size.
    schedule
        Steps and weights; by default those of Theorem 3.2 where R is strongly convex, and of
        Theorem 3.1 where it is not.
    bounds
        Further bounds of the gap, your own or by name, each a last line of its name.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, trace
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> proof = trace(problem, 4, w=[-0.5, 0.25])
    >>> proof.broken(), bool(proof.line("repair F3")[-1].holds)
    ([], True)
    """
    check_problem(problem)
    if not problem.oracle.exact_atoms:
        raise ValueError(
            f"oracle {problem.oracle!r} has inexact minimizers; expected one with exact ones, as "
            "the proofs assume"
        )
    problem.oracle.reset()
    if not (isinstance(steps, Integral) and steps > 0):
        raise ValueError(f"steps is {steps!r}; expected a positive whole number of iterations")
    size = batch_size(batch, problem.n) if sampler is None else sampler.batch
    count = math.comb(problem.n, size)
    if count > MOST_BATCHES:
        raise ValueError(
            f"there are {count} batches of {size} out of n = {problem.n} rows; expected at most "
            f"{MOST_BATCHES}, all of which are run through at every step: trace a smaller problem"
        )
    check_kind("schedule", schedule, Schedule | None, "a Schedule, or None")
    if schedule is not None and schedule.sees_run:
        raise ValueError(
            f"schedule {type(schedule).__name__} sees the run, so that its steps depend on the "
            "batch; expected a schedule of i alone"
        )
    constants = problem.constants(size)
    printed = default_schedule(constants)
    whose = printed.theorem if schedule in (None, printed) else None
    schedule = schedule or printed
    fixed = _fixed_point(problem, w)
    sampler = sampler or UniformSampler(problem.n, size, np.random.default_rng(seed))
    moments: list[Moment] = []
    entries: list[Entry] = []
    heading, lines, last = _PROOFS[whose]
    if whose == "linear" and problem.loss.quadratic:
        lines = linear.QUADRATIC_LINES
    uniform = type(sampler) is UniformSampler
    parts = (type(schedule), ConjugateProx, type(sampler))
    facts = RunFacts.of(problem, constants, theorem=whose, own_sampler=uniform, parts=parts)
    lines = (*lines, *(_line_of(bound, facts, last) for bound in asked(bounds)))
    batches = [_mask(problem.n, rows) for rows in combinations(range(problem.n), size)]
    s = 0 * problem.losses.y
    first = 2 * constants.blocks if whose == "sublinear" else 1  # c_0, as the proof writes it
    for i in range(int(steps)):
        atom = problem.oracle.argmin(problem.gradient(problem.losses.derivative(s)))
        batch = _mask(problem.n, drawn(sampler, 1, problem.n)[0])
        weight = schedule.mixing(i) * schedule.growth(i, 0) / schedule.mixing(0) * first
        eta = schedule.step(i)
        moment = Moment(
            problem, constants, i, eta, weight, s, atom, fixed, batches, batch, tuple(moments)
        )
        entries += [Entry(line, i, *line.sides(moment)) for line in lines]
        moments.append(moment)
        s = moment.s_next
    title = f"{heading} along {steps} steps of {problem!r}, batch {size}"
    return Trace(title, lines, tuple(entries))


def _line_of(bound: Bound, facts: RunFacts, theorem: ProofLine) -> ProofLine:
    """The bound as a line, about the gap that the theorem's last line is about."""
    if why := bound.broken(facts):
        raise ValueError(
            f"bounds holds {bound.name!r}, which is not about this run: {why}; expected bounds of "
            "the run that is traced"
        )

    def sides(m: Moment) -> tuple[Any, Any]:
        return theorem.sides(m)[0], bound(m.constants, m.i + 1)

    statement = f"{bound.what} ≤ {bound.formula}, {bound.verdict.value}"
    return ProofLine(bound.name, statement, sides, Relation.ON_AVERAGE)


def _fixed_point(problem: Problem, w: Any) -> Array:
    if w is None:
        w = truth.solve(problem).w
    fixed = np.asarray(w, dtype=problem.rows.number_type)
    if fixed.shape != (problem.n,):
        raise ValueError(f"w has shape {fixed.shape}; expected ({problem.n},), one number per row")
    return problem.losses.clip(fixed)


def _mask(n: int, rows: Any) -> Array:
    mask = np.zeros(n, dtype=bool)
    mask[list(rows)] = True
    return mask


@dataclass(frozen=True)
class Entry:
    """A line of the proof at iteration i: left ≤ right, or left = right."""

    line: ProofLine
    i: int
    left: Any
    right: Any

    @property
    def slack(self) -> Any:
        """Right minus left; for an identity the distance of the two, with a minus sign."""
        if self.line.relation is Relation.EQUAL:
            return -abs(self.right - self.left)
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether the two sides compare as they must, but for rounding."""
        size = abs(self.left) + abs(self.right)
        return bool(self.slack >= (-ROUNDING * (1 + size) if isinstance(size, float) else 0))


@dataclass(frozen=True, eq=False)
class Trace(Sequence[Entry]):
    """The entries of a run; printed, one row per line of the proof.

    Left/right near 1 is tight, near 0 loose; a dash stands where the sides are not positive.
    ``trace.line("one step")`` gives the entries of one line, ``trace.broken()`` those that fail.
    """

    title: str
    lines: tuple[ProofLine, ...]
    entries: tuple[Entry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        return self.entries[index]

    def line(self, name: str) -> list[Entry]:
        """The entries of the line with this name, one per step."""
        found = [entry for entry in self if entry.line.name == name]
        if not found:
            names = ", ".join(repr(line.name) for line in self.lines)
            raise ValueError(f"the proof has no line {name!r}; expected one of {names}")
        return found

    def broken(self) -> list[Entry]:
        """The entries that fail although their line is proved for every run."""
        sure = (Relation.AT_MOST, Relation.EQUAL)
        return [entry for entry in self if entry.line.relation in sure and not entry.holds]

    def __repr__(self) -> str:
        steps, broken = len(self) // len(self.lines), len(self.broken())
        return f"Trace({len(self.lines)} lines of the proof, {steps} steps, {broken} broken)"

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import text_html

        return text_html(str(self))

    def plot(self, axes: Any = None) -> Any:
        """Left over right of every line at every step, where both are positive: 1 is tight.

        ``axes`` are matplotlib's, to draw into; without them the figure is as wide as a column.
        """
        from rcmd.plotting.panels import Line, Panel, shown

        lines = []
        for line in self.lines:
            found = [e for e in self.line(line.name) if e.left > 0 and e.right > 0]
            ratios = [float(e.left / e.right) for e in found]
            lines.append(Line(line.name, [e.i + 1 for e in found], ratios))
        return shown([Panel("", "steps", lines, "left / right", levels=(1.0,), log="")], axes)

    def __str__(self) -> str:
        rows = [("line", "statement", "must be", "holds", "left/right, median", "least slack")]
        rows += [self._row(line) for line in self.lines]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        text = ("  ".join(map(_padded, row, widths)).rstrip() for row in rows)
        return "\n".join([self.title, "", *text])

    def _row(self, line: ProofLine) -> tuple[str, str, str, str, str, str]:
        entries = self.line(line.name)
        held = f"{sum(entry.holds for entry in entries)}/{len(entries)}"
        ratios = sorted(float(e.left / e.right) for e in entries if e.left >= 0 and e.right > 0)
        median = f"{ratios[len(ratios) // 2]:.3f}" if ratios else "–"
        least = f"{min(float(entry.slack) for entry in entries):.2e}"
        return line.name, line.statement, line.relation.value, held, median, least


def _padded(text: str, width: int) -> str:
    """Text of this width on a terminal, where combining accents take no column."""
    return text.ljust(width + sum(map(bool, map(unicodedata.combining, text))))
