"""``rcmd bench engine``: the compiled engine in numbers.

Times are the best of several repeats. What is compared is timed by turns in one run (see
``clock``), and ``advance`` is timed as a whole: drawing batches, tabulating the schedule,
refreshing sums.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, replace

from rcmd.bench import yardstick
from rcmd.bench.costs import drift, memory, starting
from rcmd.bench.report import Report, Section, about
from rcmd.bench.settings import Settings
from rcmd.bench.speed import dense, gradients, growth, ridge


def bench_engine(settings: Settings, tell: Callable[[str], None] | None = None) -> Report:
    """Measure what ``settings`` ask for; ``tell`` hears what is being measured."""
    hear = tell or (lambda text: None)
    sections = []
    for name in settings.sections:
        hear(name)
        sections.append(SECTIONS[name](settings, _prefixed(name, hear)))
    hear("")
    settings_used = asdict(settings)
    seed = settings_used.pop("seed")
    return Report(sections, about(seed, yardstick.compiler_version(), **settings_used))


def _prefixed(name: str, hear: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: hear(f"{name}: {text}")


def run_bench(
    data: str | None, json_path: str | None, quick: bool, drift: float | None, seed: int = 0
) -> int:
    """The command: print the tables and write the JSON file; returns the exit status."""
    settings = Settings(data=data, seed=seed)
    settings = settings.quick() if quick else settings
    if drift is not None:
        settings = replace(settings, drift=drift)
    report = bench_engine(settings, _tell_on_terminal)
    if json_path is not None:
        report.write(json_path)
    print(report.text())
    return 0


def _tell_on_terminal(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


SECTIONS: dict[str, Callable[[Settings, Callable[[str], None]], Section]] = {
    "gradients": gradients,
    "growth": growth,
    "ridge": ridge,
    "dense": dense,
    "start": starting,
    "memory": memory,
    "drift": drift,
}
