"""The command: a table for each problem, then the ratios with their targets."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rcmd.bench import workloads
from rcmd.bench.contenders import shown_ratio, verdicts
from rcmd.bench.race.cases import CASES, Case, NoReference, chosen, make_task
from rcmd.bench.race.entrants import ENTRANTS, OWN_TARGETS, Entrant
from rcmd.bench.race.racing import Best, Racer, at_least, best, compete
from rcmd.bench.report import Report, Section, Target, about, nanoseconds
from rcmd.json_output import check_json
from rcmd.telling import tell_on_terminal

EASY, MIDDLE, HIGH = 1e-3, 1e-6, 1e-10
CORRECTIONS_COST = Target(1.2)
PEERS = ("cyanure", "scikit-learn", "skglm", "threadpoolctl")

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
class Settings:
    """How much to measure.

    Attributes
    ----------
    cases
        The problems.
    data
        Folder with the LIBSVM files.
    repeats
        Turns after the climb.
    budget
        Seconds that a contender may spend on one problem's ladder, and again on its repeats.
    seed
        Of generated data and of batches.
    """

    cases: tuple[Case, ...] = CASES
    data: str | None = None
    repeats: int = 7
    budget: float = 10.0
    seed: int = 0

    def quick(self) -> Settings:
        """Less of everything: about half a minute for each problem."""
        return replace(self, repeats=2, budget=1.0)


def bench_peers(
    settings: Settings,
    tell: Callable[[str], None] = lambda text: None,
    entrants: Sequence[Entrant] = ENTRANTS,
) -> Report:
    """Race on every problem of ``settings``; ``tell`` hears what is being measured."""
    sections = []
    ratios = Section(
        "ratios",
        "Ratios of the times",
        ("problem", "rcmd/cyanure", "", "1e-10/cyanure", "", "rcmd/plain", ""),
        notes=[
            "rcmd/cyanure: to 1e-6; 1e-10/cyanure: rcmd to 1e-10, cyanure to 1e-6; rcmd/plain: to "
            "1e-3, with and without corrections",
            "‘<’: the other did not get there within its budget, and took at least so long",
        ],
    )
    for case in settings.cases:
        tell(f"{case.name}: reading data")
        try:
            data = case.load(settings.data, settings.seed)
            tell(f"{case.name}: λ")
            task, gap = make_task(data, case.radius, settings.seed, settings.budget)
        except (workloads.NotFound, NoReference) as reason:
            ratios.notes.append(f"{case.name} is left out: {reason}")
            continue
        racers = compete(task, entrants, settings.repeats, _prefixed(case.name, tell))
        n, p = data.X.shape
        section = Section(
            case.name,
            f"{case.data}, δ = {case.radius:g}: n = {n:,}, p = {p:,}, λ = {task.strength:.3g} "
            f"from a gap of {gap:.1g}",
            ("contender", "set-up", "first call", *(f"{target:.0e}" for target in OWN_TARGETS)),
        )
        _fill(section, racers)
        section.notes += _beside_the_best(racers)
        sections.append(section)
        _compare(ratios, case, racers)
    tell("")
    ratios.notes += [*NOTES, _threads()]
    settings_used = asdict(settings)
    settings_used["cases"] = [case.name for case in settings.cases]
    made = about(settings_used.pop("seed"), None, **settings_used)
    made["versions"] |= {name: _version(name) for name in PEERS}
    return Report([*sections, ratios], made)


def run_peers(data: str | None, json_path: str | None, quick: bool, problems: Sequence[str]) -> int:
    """The command: print the tables and write the JSON file; returns the exit status."""
    settings = Settings(data=data, cases=chosen(problems) if problems else CASES)
    check_json(json_path)
    bench_peers(settings.quick() if quick else settings, tell_on_terminal).tell(json_path)
    return 0


def _fill(section: Section, racers: Sequence[Racer]) -> None:
    """A line for each team; all members and their ladders go to the rows."""
    section.rows += [racer.as_dict() for racer in racers]
    for line in dict.fromkeys(racer.entrant.line for racer in racers):
        members = [racer for racer in racers if racer.entrant.line == line]
        present = [racer for racer in members if racer.climber is not None]
        if not present:
            section.cells.append([line, *["–"] * (2 + len(OWN_TARGETS))])
            section.notes.append(f"no {line}: {members[0].absent}")
            continue
        times = {target: best(members, line, target) for target in OWN_TARGETS}
        asked = members[0].entrant.targets
        section.cells.append(
            [
                line,
                nanoseconds(min(racer.setup for racer in present) * 1e9),
                nanoseconds(max(racer.first_call for racer in present) * 1e9),
                *(_shown(times[target]) if target in asked else "" for target in OWN_TARGETS),
            ]
        )
        if len(members) > 1:
            winners = [f"{t:.0e} by {b.name}" for t, b in times.items() if b is not None]
            section.notes.append(f"{line}: {', '.join(winners) or 'no gap was reached'}")
        section.notes += [
            f"{racer.entrant.name} {racer.climber.fault}"
            for racer in present
            if racer.climber is not None and racer.climber.fault
        ]


def _shown(time: Best | None) -> str:
    return "–" if time is None else nanoseconds(time.seconds * 1e9)


def _compare(section: Section, case: Case, racers: Sequence[Racer]) -> None:
    """rcmd's times over cyanure's, and over its own without corrections."""
    pairs = {
        "rcmd/cyanure": (MIDDLE, "cyanure", MIDDLE),
        "1e-10/cyanure": (HIGH, "cyanure", MIDDLE),
        "rcmd/plain": (EASY, "rcmd plain", EASY),
    }
    targets = {"rcmd/cyanure": Target(case.to_middle), "rcmd/plain": CORRECTIONS_COST}
    if case.to_high is not None:
        targets["1e-10/cyanure"] = Target(case.to_high)
    ratios, bounds = {}, []
    for name, (own_gap, line, gap) in pairs.items():
        mine, theirs = best(racers, "rcmd", own_gap), best(racers, line, gap)
        seconds = theirs.seconds if theirs is not None else at_least(racers, line)
        if mine is not None and seconds:
            ratios[name] = mine.seconds / seconds
            bounds += [name] if theirs is None else []
    # An upper bound on a ratio can show that a target is met, never that it is missed.
    judged = {
        name: target
        for name, target in targets.items()
        if name in ratios and (name not in bounds or target.met(ratios[name]))
    }
    cells = [case.name]
    for name in pairs:
        value, verdict = shown_ratio(ratios, name, judged)
        cells += [f"<{value}" if name in bounds else value, verdict]
    section.add(
        cells,
        problem=case.name,
        ratios=ratios,
        bounds=bounds,
        targets=verdicts(judged, ratios),
    )


def _beside_the_best(racers: Sequence[Racer]) -> list[str]:
    """How rcmd compares with the best of all others, whoever that is."""
    lines = {racer.entrant.line for racer in racers} - {"rcmd", "rcmd plain"}
    mine = best(racers, "rcmd", MIDDLE)
    fastest = min(filter(None, (best(racers, line, MIDDLE) for line in lines)), default=None)
    if mine is None or fastest is None:
        return []
    return [
        f"rcmd takes {mine.seconds / fastest.seconds:.2f} times as long to 1e-6 as the best of the "
        f"others, {fastest.name}"
    ]


def _threads() -> str:
    if importlib.util.find_spec("threadpoolctl") is None:
        return (
            "threadpoolctl is not installed: products with dense matrices, rcmd's and those of "
            "COPT and scikit-learn, use as many threads as BLAS takes; cyanure has one"
        )
    return "every contender has one thread; a time is the smaller of wall-clock and processor time"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _prefixed(name: str, tell: Callable[[str], None]) -> Callable[[str], Any]:
    return lambda text: tell(f"{name}: {text}")
