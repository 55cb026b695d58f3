"""``rcmd bench engine``: the compiled engine in numbers.

Times are the best of several repeats. What is compared is timed by turns in one run (see
``clock``), and ``advance`` is timed as a whole: drawing batches, tabulating the schedule,
refreshing sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

from rcmd.bench import yardstick
from rcmd.bench.costs import drift, memory, starting
from rcmd.bench.report import Report, Section, about
from rcmd.bench.settings import Settings
from rcmd.bench.speed import dense, gradients, growth, ridge
from rcmd.json_output import check_json, say, write_json
from rcmd.telling import tell_on_terminal


def bench_engine(
    settings: Settings,
    tell: Callable[[str], None] | None = None,
    show: Callable[[Section], None] = lambda section: None,
) -> Report:
    """Measure what ``settings`` ask for.

    ``tell`` hears what is being measured, and ``show`` gets each table when it is done.
    """
    hear = tell or (lambda text: None)
    sections = []
    for name in settings.sections:
        hear(name)
        sections.append(SECTIONS[name](settings, _prefixed(name, hear)))
        hear("")
        show(sections[-1])
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
    check_json(json_path)
    # Minutes of work: whoever reads a pipe sees each table as soon as it is there.
    report = bench_engine(
        settings, tell_on_terminal, lambda section: say(f"{section.text()}\n", json_path)
    )
    say(report.head(), json_path)
    write_json(report.as_dict(), json_path)
    return 0


SECTIONS: dict[str, Callable[[Settings, Callable[[str], None]], Section]] = {
    "gradients": gradients,
    "growth": growth,
    "ridge": ridge,
    "dense": dense,
    "start": starting,
    "memory": memory,
    "drift": drift,
}
