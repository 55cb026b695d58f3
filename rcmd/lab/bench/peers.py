"""``rcmd bench peers``: time to a certified gap, beside other people's packages.

A table for each problem, then the ratios with their targets.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rcmd import L1Ball, Logistic, Problem
from rcmd.lab.bench import workloads
from rcmd.lab.bench.ladder import Peer, Racer, Task, best, compete
from rcmd.lab.bench.large import large
from rcmd.lab.bench.others import others
from rcmd.lab.bench.packages import OWN_TARGETS, PEERS, SHARE
from rcmd.lab.bench.timing import Absent, add_timed, cells, threads
from rcmd.lab.racing import CORRECTED
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Report, Section, Target, about, nanoseconds
from rcmd.rows.validation import FileError

VERSIONS = ("cyanure", "scikit-learn", "skglm", "threadpoolctl")

REFERENCE_GAP = 1e-11
"""Certified gap of the solution from which λ of the penalised problem is taken."""

LOOSEST_REFERENCE = 1e-8
"""The largest such gap at which the penalised problem is still the ball's."""

REFERENCE_SECONDS = 60.0
"""What that solution may take at least: it may have to be compiled, and is not timed."""

OTHERS = "others"
"""The name under which the table of other problems is asked for."""

LARGE = "large"
"""And that of matrices, memory and processes."""

ZIPF = (20_000, 50_000, 50)
"""Rows, columns and nonzeros of a row of the generated problem."""

NOTES = (
    "seconds to a certified gap P(β) − D(w), which rcmd computes from scratch for everybody's β; "
    "best of the repeats, from scratch after a first call; set-up is putting the data into the "
    "package's format, with its import where that was the first; the first call may compile",
    "rcmd finds out itself when to stop, and its certificates are in its times; the others run "
    "without a stopping rule and are told the least number of passes, or the loosest tolerance of "
    "their own, that is enough",
    "scikit-learn and skglm solve the penalised problem at the ball's multiplier λ, which they "
    "are given; they are certified on it, w shrunk until ‖Xᵀw/n‖_∞ ≤ λ, or on the ball, whichever "
    "gap is smaller; all others are certified on the ball, β shrunk into it",
    "a dash: not reached within the budget",
)


@dataclass(frozen=True)
class Case:
    """A data set, and the targets for rcmd's times over cyanure's to 1e-6."""

    data: str  # the name of a LIBSVM file, or zipf
    radius: float  # of the l1 ball
    to_middle: float = 1.0  # for rcmd to 1e-6, at most
    to_high: float | None = None  # and to 1e-10
    dense: bool = False  # whether the rows are stored with their zeros

    @property
    def name(self) -> str:
        """The data set and the radius, such as ``a9a:5``."""
        return f"{self.data}:{self.radius:g}"

    def load(self, folder: str | None, seed: int) -> workloads.Data:
        """The data, read or generated."""
        if self.data == "zipf":
            return workloads.zipf(*ZIPF, np.random.default_rng(seed))
        data = workloads.load(self.data, folder)
        return workloads.Data(data.X.toarray(), data.y) if self.dense else data


CASES = (
    Case("a9a", 5.0, 0.25, 0.5),
    Case("w8a", 5.0, 0.25, 0.5),
    Case("mushrooms", 5.0, 0.25, 0.5),
    Case("a9a", 50.0),
    Case("w8a", 50.0),
    Case("gisette_scale.t", 5.0, dense=True),
    Case("zipf", 5.0),
)


def chosen(names: Sequence[str]) -> tuple[Case, ...]:
    """The cases of these names, such as ``a9a`` for both radii or ``a9a:5``.

    >>> [case.name for case in chosen(["a9a", "zipf:5"])]
    ['a9a:5', 'a9a:50', 'zipf:5']
    """
    for name in names:
        if not any(name in (case.data, case.name) for case in CASES):
            raise ValueError(
                f"problem is {name!r}; expected some of {', '.join(c.name for c in CASES)}, "
                "with or without the radius"
            )
    return tuple(case for case in CASES if {case.data, case.name} & set(names))


def make_task(data: workloads.Data, radius: float, seed: int, budget: float) -> tuple[Task, float]:
    """The task, and the certified gap of the solution whose multiplier ‖Xᵀw/n‖_∞ is its λ."""
    problem = Problem(data.X, data.y, Logistic(), L1Ball(radius))
    seconds = max(REFERENCE_SECONDS, 5 * budget)
    result = CORRECTED.solve(problem, SHARE, seed, tol=REFERENCE_GAP, max_seconds=seconds)
    if result.gap > LOOSEST_REFERENCE:
        raise Absent(
            f"λ is known from a solution with a gap of {result.gap:.1g} only, after {seconds:g} s; "
            f"expected at most {LOOSEST_REFERENCE:g}"
        )
    strength = float(abs(problem.gradient(result.w)).max())
    return Task(data.X, data.y, radius, strength, seed, budget), float(result.gap)


@dataclass(frozen=True)
class Settings:
    """How much to measure."""

    cases: tuple[Case, ...] = CASES
    data: str | None = None  # a folder with the LIBSVM files
    repeats: int = 7  # turns after the climb
    budget: float = 10.0  # seconds for a contender's ladder, and again for its repeats
    seed: int = 0  # of generated data and of batches
    others: bool = False  # whether to measure other problems than the l1 ball, too
    large: bool = False  # and matrices, memory and processes
    small: bool = False  # with a tenth of their rows

    def quick(self) -> Settings:
        """Less of everything: about half a minute for each problem."""
        return replace(self, repeats=2, budget=1.0, small=True)


def bench_peers(settings: Settings, peers: Sequence[Peer] = PEERS) -> Report:
    """Race on every problem of ``settings``."""
    sections = []
    header = cells("problem | rcmd/best | rcmd/cyanure |  | 1e-10/cyanure |  | 1e-3/plain | ")
    ratios = Section("ratios", "Ratios of the times", header)
    ratios.notes = [
        "rcmd/best: to 1e-6, beside the best of all other packages; rcmd/cyanure: to 1e-6; "
        "1e-10/cyanure: rcmd to 1e-10, cyanure to 1e-6; 1e-3/plain: to 1e-3, with and without "
        "corrections",
    ]
    for case in settings.cases:
        tell(f"{case.name}: reading data")
        try:
            data = case.load(settings.data, settings.seed)
            tell(f"{case.name}: λ")
            task, gap = make_task(data, case.radius, settings.seed, settings.budget)
        except (Absent, FileError) as reason:
            ratios.notes.append(f"{case.name} is left out: {reason}")
            continue
        racers = compete(task, peers, settings.repeats)
        n, p = data.X.shape
        title = f"{case.data}, δ = {case.radius:g}: n = {n:,}, p = {p:,}, λ = {task.strength:.3g}"
        reached = [f"{target:.0e}" for target in OWN_TARGETS]
        header = ["contender", "set-up", "first call", *reached]
        section = Section(case.name, f"{title} from a gap of {gap:.1g}", header)
        _fill(section, racers)
        sections.append(section)
        _compare(ratios, case, racers)
    tell("")
    if settings.others:
        budget = settings.seed, settings.repeats
        sections.append(others(*budget, settings.data, small=settings.small))
        tell("")
    if settings.large:
        found = large(settings.seed, settings.repeats, settings.data, small=settings.small)
        sections.append(found)
        tell("")
    ratios.notes += [*NOTES, threads()]
    settings_used = asdict(settings)
    settings_used["cases"] = [case.name for case in settings.cases]
    description = about(settings_used.pop("seed"), None, **settings_used)
    for name in VERSIONS:
        installed = importlib.metadata.distributions(name=name)
        description["versions"][name] = next((one.version for one in installed), None)
    return Report([*sections, ratios], description)


def run(data: str | None, quick: bool, problem: Sequence[str]) -> Report:
    """Race on the problems of these names, or on all."""
    balls = [name for name in problem if name not in (OTHERS, LARGE)]
    cases = chosen(balls) if problem else CASES
    tables = {name: not problem or name in problem for name in (OTHERS, LARGE)}
    settings = Settings(data=data, cases=cases, **tables)
    return bench_peers(settings.quick() if quick else settings)


def _fill(section: Section, racers: Sequence[Racer]) -> None:
    """A line for each team; all members and their ladders go to the rows."""
    section.rows += [racer.as_dict() for racer in racers]
    for line in dict.fromkeys(racer.peer.line for racer in racers):
        members = [racer for racer in racers if racer.peer.line == line]
        present = [racer for racer in members if racer.absent is None]
        if not present:
            section.cells.append([line, *["–"] * (2 + len(OWN_TARGETS))])
            section.notes.append(f"no {line}: {members[0].absent}")
            continue
        seconds = [min(r.setup for r in present), max(r.first_call for r in present)]
        shown = [nanoseconds(1e9 * time) for time in seconds]
        winners = []
        for target in OWN_TARGETS:
            fastest = best(members, target)
            if fastest is not None:
                shown.append(nanoseconds(min(fastest.times(target))))
                winners.append(f"{target:.0e} by {fastest.peer.name}")
            else:
                shown.append("–" if target in members[0].peer.targets else "")
        section.cells.append([line, *shown])
        if len(members) > 1:
            section.notes.append(f"{line}: {', '.join(winners) or 'no gap was reached'}")
        section.notes += [f"{r.peer.name} {r.fault}" for r in present if r.fault]


def _compare(section: Section, case: Case, racers: Sequence[Racer]) -> None:
    """rcmd's times over those of the best other, of cyanure, and its own without corrections."""
    lines = {racer.peer.line for racer in racers}
    asked = {
        "rcmd": ({"rcmd"}, 1e-6),
        "1e-10": ({"rcmd"}, 1e-10),
        "1e-3": ({"rcmd"}, 1e-3),
        "plain": ({"rcmd plain"}, 1e-3),
        "cyanure": ({"cyanure"}, 1e-6),
        "best": (lines - {"rcmd", "rcmd plain"}, 1e-6),
    }
    times = {
        name: fastest.times(gap)
        for name, (some, gap) in asked.items()
        if (fastest := best([racer for racer in racers if racer.peer.line in some], gap))
    }
    targets = {"rcmd/cyanure": Target(case.to_middle), "1e-3/plain": Target(1.2)}
    if case.to_high is not None:
        targets["1e-10/cyanure"] = Target(case.to_high)
    row = {"problem": case.name}
    add_timed(section, [case.name], section.header[1:], row, times, targets)
