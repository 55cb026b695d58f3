"""The same run with many seeds, and what their gaps say about the theorem's bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from numbers import Integral
from typing import Any

import numpy as np

from rcmd.model.problem import Problem
from rcmd.reporting.progress import tell_on_terminal
from rcmd.rows.validation import Array
from rcmd.solver.history import StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import iterate, solve
from rcmd.theory.parallel import run_each

__all__ = ["AgainstBound", "Replicates", "Sweep", "replicate", "sweep"]


def replicate(
    problem: Problem,
    seeds: Iterable[int] = range(10),
    *,
    n_jobs: int = 1,
    tell: Callable[[str], None] = tell_on_terminal,
    **options: Any,
) -> Replicates:
    """Run the paper's algorithm, or another ``method``, once for each seed, ``n_jobs`` at a time.

    It runs without corrections, ``method="rcmd"``, by default: they would hide what the seed does.

    Parameters
    ----------
    problem
        What to solve. Processes share its data; rows on disk stay there.
    seeds
        Whole numbers, all different.
    n_jobs
        Processes, −1 for as many as there are cores; more than one need joblib
        (``pip install 'rcmd-opt[parallel]'``). Each run has one thread, so that results do not
        depend on their number.
    tell
        Called with the progress; by default it is shown on the terminal's last line.
    options
        Those of ``rcmd.solve`` but for ``seed``, ``checkpoint`` and ``every``.

    Returns
    -------
    Replicates
        The results in the order of the seeds, their statistics, and the mean gap beside the
        theorem's bound.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem(np.eye(20), np.ones(20), LeastSquares(), L1Ball(1.0))
    >>> runs = replicate(problem, range(6), tol=0.0, max_iterations=200, record_at=[50, 200])
    >>> runs.column("gap").shape, bool((np.diff(runs.mean()) < 0).all())
    ((6, 2), True)
    >>> runs.against_bound().holds
    True
    """
    return sweep({"": problem}, seeds, n_jobs=n_jobs, tell=tell, **options)[""]


def sweep(
    cases: Mapping[str, Problem | tuple[Problem, dict[str, Any]]],
    seeds: Iterable[int] = range(10),
    *,
    n_jobs: int = 1,
    tell: Callable[[str], None] = tell_on_terminal,
    **options: Any,
) -> Sweep:
    """``replicate`` for several cases, such as batch sizes or schedules, all runs in one queue.

    ``cases`` are problems by name, or pairs of a problem and options that are its own. The runs
    are the paper's algorithm without corrections, unless a ``method`` is given. The answer is a
    ``dict`` of ``Replicates`` whose ``plot`` draws all of them.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem(np.eye(9), np.ones(9), LeastSquares(), L1Ball(1.0))
    >>> found = sweep({f"batch {b}": (problem, {"batch": b}) for b in (1, 3)}, range(2), tol=0.1)
    >>> [(name, len(runs)) for name, runs in found.items()]
    [('batch 1', 2), ('batch 3', 2)]
    >>> figure = found.plot()
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['batch 1', 'batch 3']
    """
    numbers = _checked_seeds(seeds)
    wanted = "expected problems by name, such as {'l1': problem}"
    if not isinstance(cases, Mapping):
        raise TypeError(f"cases is of type {type(cases).__name__}; {wanted}")
    if not cases:
        raise ValueError(f"cases is empty; {wanted}")
    every = {name: _checked_case(name, case, options) for name, case in cases.items()}
    tasks = [(*case, seed) for case in every.values() for seed in numbers]
    names = [f"{name} seed {seed}".strip() for name in every for seed in numbers]
    runs = run_each(_run, tasks, names, jobs=n_jobs, tell=tell)
    size = len(numbers)
    each = (tuple(runs[k * size : (k + 1) * size]) for k in range(len(every)))
    return Sweep({name: Replicates(numbers, own) for name, own in zip(every, each, strict=True)})


class Sweep(dict[str, "Replicates"]):
    """The ``Replicates`` of each case by its name."""

    def plot(self, axes: Any = None) -> Any:
        """The mean gap of every case over the passes, and where one applies its bound, dashed.

        It is the gap of the theorem's pair where a bound is about it in all cases, else the
        certified one. ``axes`` are matplotlib's, to draw into.
        """
        from rcmd.plotting.panels import Line, Panel, plain, shown

        bounded = all(runs.bounded for runs in self.values())
        of, name = ("pair_gap", "gap of theorem's pair") if bounded else ("gap", "certified gap")
        lines = []
        for case, runs in self.items():
            passes = runs.mean("gradients") / len(runs[0].w)
            lines.append(Line(plain(case), passes, runs.mean(of)))
            if bounded:
                dashed = {"linestyle": "--", "linewidth": 1.0, "alpha": 0.8}
                lines.append(Line(plain(case), passes, runs.mean("bound"), dashed))
        runs = next(iter(self.values()))
        note = "dashed: the theorem's bounds on the means" if bounded else ""
        y_label = f"{name}, mean of {len(runs)} runs"
        return shown([Panel("", "passes", lines, y_label, note=note)], axes)

    def __repr__(self) -> str:
        return f"Sweep({', '.join(map(repr, self))})"

    def __str__(self) -> str:
        return "\n".join(f"{name}: {runs}" for name, runs in self.items())

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import text_html

        return text_html(str(self))


@dataclass(frozen=True, eq=False)
class Replicates(Sequence[Result]):
    """Results in the order of their seeds.

    Statistics are over the records of the algorithm's own steps that every run reached:
    past the end of the first one, the others would be a selection.

    Attributes
    ----------
    seeds, results
        The seeds and what each gave.
    """

    seeds: tuple[int, ...]
    results: tuple[Result, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: Any) -> Any:
        return self.results[index]

    @property
    def iterations(self) -> Array:
        """The records that every run reached."""
        return np.array([row.iteration for row in self.results[0].history[: self._common]])

    @property
    def _common(self) -> int:
        plain = [[row.iteration for row in r.history if row.phase == "plain"] for r in self.results]
        # A budget of seconds ends each run at a record of its own.
        same = takewhile(lambda reached: len(set(reached)) == 1, zip(*plain, strict=False))
        return len(list(same))

    def column(self, name: str = "gap") -> Array:
        """A column of the histories, such as ``"gap"``: a row for each run."""
        return np.array([result.history.column(name)[: self._common] for result in self.results])

    def mean(self, name: str = "gap") -> Array:
        """The mean over the runs at every record."""
        return self.column(name).mean(axis=0)

    def quantiles(self, levels: Sequence[float] = (0.1, 0.5, 0.9), name: str = "gap") -> Array:
        """Quantiles over the runs at every record, a row for each level."""
        return np.quantile(self.column(name), levels, axis=0)

    @property
    def bounded(self) -> bool:
        """Whether a theorem bounds the mean gap of these runs."""
        return not np.isnan(
            (self.column("pair_gap") + self.column("bound"))[:, 0].astype(float)
        ).any()

    def against_bound(self, confidence: float = 0.95, name: str = "bound") -> AgainstBound:
        """The mean gap of the theorem's pair beside a bound of its expectation.

        The theorem's bound, or one of the ``bounds`` that the runs were given, by its name. Runs
        for this have ``tol=0`` and a budget of iterations, so that all of them reach all records.
        """
        verdicts = {"bound": "proved", **self.results[0].options.get("bounds", {})}
        if name not in verdicts:
            raise ValueError(
                f"no bound of these runs is named {name!r}; expected one of {', '.join(verdicts)}. "
                f"Of them holds: {self.results[0].note}"
            )
        gaps, bounds = (self.column(column).astype(float) for column in ("pair_gap", name))
        known = ~np.isnan(gaps + bounds).any(axis=0)
        count = int(np.cumprod(known).sum())
        if count == 0:
            raise ValueError(
                "no theorem bounds these runs; expected the paper's own algorithm with all "
                f"hypotheses of its bounds, while of these holds: {self.results[0].note}"
            )
        # Where rounding has reached it, the bound differs from run to run.
        bound = bounds[:, :count].max(axis=0)
        found = student_intervals(self.iterations[:count], gaps[:, :count], bound, confidence)
        return replace(found, runs=len(self), name=name, verdict=verdicts[name])

    def plot(self, axes: Any = None) -> Any:
        """Over the passes: the gap of the theorem's pair in every run, its mean and quantiles.

        Beside them the theorem's bound, and the ``bounds`` that the runs were given; where none
        applies, the certified gaps instead. ``axes`` are matplotlib's, to draw into; without them
        the figure is as wide as a journal's column.

        Examples
        --------
        >>> from rcmd import L1Ball, LeastSquares, Problem
        >>> problem = Problem(np.eye(9), np.ones(9), LeastSquares(), L1Ball(1.0))
        >>> figure = replicate(problem, range(3), tol=0.0, max_iterations=90).plot()
        >>> [text.get_text() for text in figure.legends[0].get_texts()]
        ['mean', '10 % and 90 %', 'bound on the mean']
        """
        from rcmd.plotting.panels import Line, Panel, plain, shown

        of, name = "pair_gap", "gap of theorem's pair"
        if np.isnan(self.column(of).astype(float)).any():
            of, name = "gap", "certified gap"
        passes = self.mean("gradients") / len(self[0].w)
        low, high = self.quantiles((0.1, 0.9), of)
        thin, dashed = {"marker": "", "linewidth": 0.9}, {"linestyle": "--"}
        lines = [Line("", passes, gaps) for gaps in self.column(of)]
        lines += [Line("mean", passes, self.mean(of))]
        lines += [Line("10 % and 90 %", passes, level, thin) for level in (low, high)]
        if of == "pair_gap":
            lines.append(Line("bound on the mean", passes, self.mean("bound"), dashed))
            for own, verdict in self[0].options.get("bounds", {}).items():
                lines.append(Line(f"{plain(own)}, {verdict}", passes, self.mean(own), dashed))
        return shown([Panel("", "passes", lines, f"{name}, {len(self)} runs")], axes)

    def __repr__(self) -> str:
        return f"Replicates({self})"

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import text_html

        summary = [self.against_bound().summary()] if self.bounded and len(self) > 1 else []
        return text_html("\n".join([str(self), *summary]))

    def __str__(self) -> str:
        gaps = np.array([float(result.gap) for result in self.results])
        passes = np.array([result.passes for result in self.results])
        reached = sum(result.success for result in self.results)
        return (
            f"{len(self)} runs, {reached} of them to the tolerance; certified gap "
            f"{np.median(gaps):.3g} (from {gaps.min():.3g} to {gaps.max():.3g}) after "
            f"{np.median(passes):.3g} passes (from {passes.min():.3g} to {passes.max():.3g})"
        )


@dataclass(frozen=True, eq=False)
class AgainstBound:
    """Student's intervals for E[gap], simultaneous over the records (Bonferroni).

    With m runs, k records and t the (1 − (1 − confidence)/2k)-quantile of Student's distribution
    with m − 1 degrees of freedom, the interval is mean ± t·deviation/√m. It is exact for normal
    gaps and an approximation for others; runs of different seeds are independent, as it needs.

    Attributes
    ----------
    iterations
        The records.
    mean, lower, upper, bound
        The mean gap of the theorem's own pair of points, the interval around it, and the
        theorem's bound of its expectation.
    confidence
        That of all intervals together.
    runs, name, verdict
        How many there were, the bound's column in their histories, and what is known of it.
    """

    iterations: Array
    mean: Array
    lower: Array
    upper: Array
    bound: Array
    confidence: float
    runs: int = 0
    name: str = "bound"
    verdict: str = "proved"

    @property
    def verdicts(self) -> list[str]:
        """``"below"``, ``"above"`` or, where the interval contains the bound, ``"open"``."""
        above = np.where(self.lower > self.bound, "above", "open")
        verdicts: list[str] = np.where(self.upper <= self.bound, "below", above).tolist()
        return verdicts

    @property
    def holds(self) -> bool:
        """Whether the expected gap is below the bound everywhere, at this confidence."""
        return set(self.verdicts) == {"below"}

    @property
    def violated(self) -> bool:
        """Whether it is above the bound somewhere, at this confidence."""
        return "above" in self.verdicts

    def __str__(self) -> str:
        lines = [f"{'steps':>10} {'mean gap':>11} {'interval':>23} {'bound':>11}"]
        columns = (self.iterations, self.mean, self.lower, self.upper, self.bound, self.verdicts)
        for steps, mean, lower, upper, bound, verdict in zip(*columns, strict=True):
            interval = f"{lower:.3e}…{upper:.3e}"
            lines.append(f"{steps:>10,} {mean:>11.3e} {interval:>23} {bound:>11.3e} {verdict}")
        lines += [f"(all intervals together: {self.confidence:.0%})", self.summary()]
        return "\n".join(lines)

    def summary(self) -> str:
        """The outcome in one sentence, with the numbers of the worst record."""
        edge = self.lower if self.violated else self.upper
        with np.errstate(divide="ignore"):
            worst = int(np.argmax(edge / self.bound))
        outcome = "is broken" if self.violated else "holds" if self.holds else "stays open"
        return (
            f"{self.name!r}, {self.verdict}, {outcome} at {self.confidence:.0%}: in {self.runs} "
            f"runs the mean gap after {self.iterations[worst]:,} steps is {self.mean[worst]:.3e}, "
            f"interval {self.lower[worst]:.3e}…{self.upper[worst]:.3e}, bound "
            f"{self.bound[worst]:.3e}"
        )


def check_confidence(confidence: float) -> None:
    """Refuse what is no probability."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; expected a number between 0 and 1")


def student_intervals(
    iterations: Array, gaps: Array, bound: Array, confidence: float
) -> AgainstBound:
    """The intervals of ``gaps``, a row for each run and a column for each record."""
    from scipy.special import stdtrit

    check_confidence(confidence)
    runs, records = gaps.shape
    if runs < 2:
        raise ValueError(f"there is {runs} run; expected at least 2 to estimate their spread")
    level = 1 - (1 - confidence) / (2 * records)
    mean = gaps.mean(axis=0)
    reach = stdtrit(runs - 1, level) * gaps.std(axis=0, ddof=1) / math.sqrt(runs)
    lower, upper = np.maximum(mean - reach, 0), mean + reach
    return AgainstBound(iterations, mean, lower, upper, bound, confidence)


def _run(problem: Problem, options: dict[str, Any], seed: int) -> Result:
    result = solve(problem, **options, seed=seed)
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _checked_seeds(seeds: Iterable[Any]) -> tuple[int, ...]:
    if not isinstance(seeds, Iterable):
        raise TypeError(f"seeds is {seeds!r}; expected several whole numbers, such as range(10)")
    numbers = tuple(seeds)
    odd = [s for s in numbers if isinstance(s, bool) or not isinstance(s, Integral) or s < 0]
    if odd or not numbers or len(set(numbers)) < len(numbers):
        what = f"hold {odd[0]!r}" if odd else "repeat each other" if numbers else "are empty"
        raise ValueError(f"seeds {what}; expected different whole numbers from 0 on, at least one")
    return tuple(map(int, numbers))


def _checked_case(name: str, case: Any, options: dict[str, Any]) -> tuple[Problem, dict[str, Any]]:
    """The problem and its options, checked by a run that takes no step."""
    problem, own = case if isinstance(case, tuple) else (case, {})
    merged = {"method": "rcmd", **options, **own}
    taken = [word for word in ("seed", "checkpoint", "every") if word in merged]
    if getattr(merged.get("method"), "sampler", None) is not None:
        taken.append("sampler")
    if taken:
        raise ValueError(
            f"{' and '.join(taken)} given for all runs together; expected none of them, as each "
            "run has a seed of its own out of seeds"
        )
    planned = merged.get("record_at")
    if planned is not None and not isinstance(planned, Sequence | np.ndarray):
        raise ValueError(
            f"record_at is {planned!r}, which one run would use up; expected a list or a range"
        )
    iterate(problem, **merged)
    return problem, merged
