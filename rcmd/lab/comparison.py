"""Methods side by side on one problem, each with the same number of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np

from rcmd.lab.racing import CORRECTED, FIELD, Entrant, entrants_of, fitting, value
from rcmd.methods.base import BATCH, Batches, Method
from rcmd.model.problem import Problem, check_problem
from rcmd.plotting.panels import Line, Panel, drawn, shown
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import Section
from rcmd.rows.validation import batch_size
from rcmd.solver.history import History
from rcmd.theory.parallel import run_each

AXES = {"gradients": "gradients", "oracle_calls": "oracle calls", "seconds": "seconds"}
"""What a method spends, with its label."""

STORED = "iteration", *AXES, "primal", "dual", "gap"
"""What a JSON file has of each record, beside the P of its iterate."""

DECADE, FEWEST_POINTS = 10.0, 4
ABOVE_NOISE = 10.0
"""Times the uncertainty of P*, below which P − P* is not known well enough to be fitted."""

FEW = 6
"""Methods that one pair of axes shows with colours and names; of more, each has a panel."""

ACROSS = 4
"""Panels side by side where each method has its own."""

BELOW = 1e-3
"""Share of what the median method leaves, down to which a figure goes: one that is far ahead leaves
it at the bottom instead of flattening the others."""

HEADER = (
    "method", "passes", "calls", "seconds", "gap", "P − best", "/pass", "/call", "/sec.",
)  # fmt: skip

NOTES = (
    "medians over the seeds at the end of the runs; passes: gradients per row; calls: of the "
    "oracle; gap: certified, P(β) − D(w) of the best pair; certificates are in the seconds, not in "
    "the counts",
    "/pass, /call, /sec.: the slope a where P − best ≈ c·xᵃ, by least squares over the last decade "
    "of x in which P − best is above ten times what the best known P may be off; exact ranges are "
    "in the JSON file",
)


class Slope(NamedTuple):
    """The exponent a of y ≈ c·x^a, fitted to ``points`` points with low ≤ x ≤ high."""

    exponent: float
    low: float
    high: float
    points: int


@dataclass(frozen=True)
class Standing:
    """An entrant's curves, one for each seed."""

    entrant: Entrant
    curves: list[History]

    def end(self, column: str) -> float:
        """The median over the seeds of a column at the end."""
        return median(getattr(curve[-1], column) for curve in self.curves)

    def slope(self, axis: str, best: float, noise: float) -> Slope | None:
        """The slope of P − best against ``axis``, over all seeds."""
        x, y = (np.concatenate([c.column(name) for c in self.curves]) for name in (axis, "value"))
        return fit_slope(x, y - best, noise)


@dataclass(frozen=True, repr=False)
class Comparison(Mapping[str, Standing]):
    """What methods reached: by name a ``Standing``; printed a table, and ``plot`` draws it.

    Attributes
    ----------
    standings
        The methods that ran, with a curve for each seed.
    best, lower
        The least P and the largest D of all runs.
    left_out
        Why the others did not run, by name.
    about
        The problem and the runs, in words.
    """

    standings: list[Standing]
    best: float
    lower: float
    n: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    about: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Standing:
        return {standing.entrant.name: standing for standing in self.standings}[name]

    def __iter__(self) -> Any:
        return (standing.entrant.name for standing in self.standings)

    def __len__(self) -> int:
        return len(self.standings)

    @property
    def noise(self) -> float:
        """How far ``best`` may be above P*."""
        return max(self.best - self.lower, 0.0)

    def section(self) -> Section:
        """The table, with all curves for a JSON file."""
        title, *about = self.about
        section = Section("comparison", title, HEADER)
        for standing in self.standings:
            self._add(section, standing)
        best = f"best known P {self.best:.12g}, at most {self.noise:.1e} above P*"
        section.notes += [best, *about, *NOTES]
        section.notes += [f"left out, {name}: {why}" for name, why in self.left_out.items()]
        return section

    def _add(self, section: Section, standing: Standing) -> None:
        slopes = {axis: standing.slope(axis, self.best, self.noise) for axis in AXES}
        behind = standing.end("primal") - self.best
        cells = (
            standing.entrant.name,
            f"{standing.end('gradients') / self.n:.3g}",
            f"{standing.end('oracle_calls'):,.0f}",
            f"{standing.end('seconds'):.2g}",
            f"{standing.end('gap'):.2e}",
            f"{behind:.2e}",
            *("–" if slope is None else f"{slope.exponent:.2f}" for slope in slopes.values()),
        )
        row: dict[str, Any] = {
            "method": standing.entrant.name,
            "parameters": repr(standing.entrant.method),
            "excess": behind,
            **{name: standing.end(name) for name in STORED},
            "slopes": {axis: slope and slope._asdict() for axis, slope in slopes.items()},
            "curves": [
                [{name: getattr(one, name) for name in STORED} | dict(one.own) for one in curve]
                for curve in standing.curves
            ],
        }
        section.add(cells, **row)

    def plot(
        self, x: Literal["gradients", "oracle_calls", "seconds"] | None = None, axes: Any = None
    ) -> Any:
        """P of the best point so far minus the best known P, against what was spent.

        Up to six methods are side by side against gradients, oracle calls and seconds, or in one
        panel against ``x``. Of more, each has a panel, in which the others are grey: against
        gradients, or against ``x``. With ``axes``, matplotlib's, all are drawn into these.
        """
        if x is not None and x not in AXES:
            raise ValueError(f"x is {x!r}; expected one of {', '.join(map(repr, AXES))}, or None")
        if len(self) > FEW and axes is None:
            panels = [self._panel(x or "gradients", name) for name in self]
            upper = (replace(panel, x_label="") for panel in panels[:-ACROSS])
            return drawn([*upper, *panels[-ACROSS:]], ACROSS)
        panels = [self._panel(axis) for axis in (AXES if x is None else (x,))]
        return shown(panels, axes)

    def _panel(self, axis: str, alone: str | None = None) -> Panel:
        """All curves, or one method in front of the others."""
        lines, limits = [], self._limits()
        floor = 0.0 if limits is None else limits[0] / 10  # a curve that reaches 0 leaves the panel
        for standing in sorted(self.standings, key=lambda one: one.entrant.name == alone):
            name = standing.entrant.name
            front = {"color": "#0072B2", "linewidth": 1.6, "zorder": 3}
            look = front if name == alone else {}
            for curve in standing.curves if name == alone or alone is None else standing.curves[:1]:
                xs = [getattr(point, axis) for point in curve]
                ys = [max(point.primal - self.best, floor) for point in curve]
                lines.append(Line(name if alone is None else "", xs, ys, look))
        return Panel(alone or "", AXES[axis], lines, "P − best known", limits=limits)

    def _limits(self) -> tuple[float, float] | None:
        """From above the best start down to a thousandth of what the median method leaves."""
        starts = [curve[0].primal - self.best for one in self.standings for curve in one.curves]
        ends = median(one.end("primal") - self.best for one in self.standings)
        low = max(BELOW * ends, self.noise)
        high = 2 * max(starts)
        return (low, high) if 0 < low < high else None

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self)}; best known P {self.best:.9g})"

    def __str__(self) -> str:
        return self.section().text()

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import text_html

        return text_html(str(self))


def compare(
    problem: Problem,
    methods: Iterable[str | Method] | Mapping[str, str | Method] | None = None,
    *,
    batch: int | float = BATCH,
    passes: float = 20.0,
    seeds: Iterable[int] = range(3),
    tol: float = 1e-10,
    max_seconds: float | None = None,
    skip: bool | None = None,
    tell: Callable[[str], None] = tell_on_terminal,
) -> Comparison:
    """Run methods side by side, each with the same number of gradients, as `rcmd compare` does.

    Parameters
    ----------
    problem
        What to solve.
    methods
        Names such as ``"rcmd"``, ``"corrected"`` or ``"fw:exact"``, methods, or either by a name of
        your own. By default all that the problem allows, those with a step rule with an exact line
        search.
    batch
        Rows per step, or a fraction of n, for the methods that take any.
    passes
        Gradients per row.
    seeds
        A run for each, of the methods that are random.
    tol, max_seconds
        Where a run may end earlier.
    skip
        Whether methods that the problem does not allow are left out, with their reasons, instead of
        refused; by default where no methods are given.
    tell
        Called with the progress; by default it is shown on the terminal's last line.

    Returns
    -------
    Comparison
        By name each method's curves; printed the table, with fitted slopes, and ``plot`` draws it.
        The best known P is the least of all runs and of a solution that may use ten budgets. All
        runs have one thread.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem, compare
    >>> problem = Problem(np.eye(20), np.ones(20), LeastSquares(), L1Ball(1.0))
    >>> found = compare(problem, ["rcmd", "fw:exact"], passes=5, seeds=[0])
    >>> list(found), bool(found["rcmd"].end("gap") > 0), len(found.plot().axes)
    (['rcmd', 'fw:exact'], True, 3)
    """
    check_problem(problem)
    if not 0 < passes < math.inf:
        raise ValueError(f"passes is {passes!r}; expected a number above 0")
    numbers = list(seeds)
    if not numbers:
        raise ValueError("seeds is empty; expected at least one")
    entrants = entrants_of(FIELD if methods is None else methods)
    size, budget = batch_size(batch, problem.n), math.ceil(passes * problem.n)
    limits: dict[str, Any] = {"tol": tol, "max_gradients": budget, "max_seconds": max_seconds}
    CORRECTED.check(problem, size, **limits)  # the limits, before any work
    entrants, refused = fitting(problem, entrants, size, budget)
    if not entrants or (refused and not (methods is None if skip is None else skip)):
        raise ValueError("; ".join(f"{name}: {reason}" for name, reason in refused.items()))
    tell("the best known P")
    reference = CORRECTED.solve(problem, size, numbers[0], tol=tol, max_gradients=10 * budget)
    if any(entrant.method.random for entrant in entrants):
        Batches(problem)  # compiled here, and not by whoever comes first
    runs = [(e, seed) for e in entrants for seed in (numbers if e.method.random else numbers[:1])]

    def work(entrant: Entrant, seed: int) -> History:
        return entrant.solve(problem, size, seed, callbacks=[value], **limits).history

    curves = run_each(work, runs, [f"{e.name}, seed {seed}" for e, seed in runs], tell=tell)
    ends = [curve[-1] for curve in curves]
    best = min([float(reference.primal), *(point.primal for point in ends)])
    lower = max([float(reference.dual), *(point.dual for point in ends)])
    own = [[c for (e, _), c in zip(runs, curves, strict=True) if e is mine] for mine in entrants]
    words = f"{len(numbers)} seed{'s' if len(numbers) > 1 else ''} from {numbers[0]}, batch {size}"
    about = (
        f"n = {problem.n:,}, p = {problem.p:,}, {problem.loss!r}, {problem.regularizer!r}; at most "
        f"{budget:,} gradients",
        words,
        f"ground of the gaps and of the best known P: {problem.ground_text}",
    )
    return Comparison(list(map(Standing, entrants, own)), best, lower, problem.n, refused, about)


def fit_slope(x: Any, y: Any, noise: float) -> Slope | None:
    """The slope of the points (x, y) over the last decade of x in which y > 10·noise.

    ``None`` where fewer than four points, or only one x, are left.

    >>> slope = fit_slope([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625], noise=0.0)
    >>> round(slope.exponent, 6), slope.low, slope.high
    (-1.0, 2.0, 16.0)
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    usable = (y > ABOVE_NOISE * noise) & (y > 0) & (x > 0)
    usable &= x >= x.max(initial=0.0, where=usable) / DECADE
    x, y = x[usable], y[usable]
    if len(x) < FEWEST_POINTS or x.min() == x.max():
        return None
    exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
    return Slope(exponent, float(x.min()), float(x.max()), len(x))
