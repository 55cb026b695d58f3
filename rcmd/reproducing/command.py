"""``rcmd reproduce``: the table and the figures of Section 4 in one go."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path

from rcmd.bench.report import Report, about
from rcmd.json_output import check_json, say, write_json
from rcmd.plotting import check_plot
from rcmd.reproducing.cells import write_whole
from rcmd.reproducing.published import EXPERIMENTS
from rcmd.reproducing.report import figures, table
from rcmd.reproducing.running import Settings, run_all
from rcmd.telling import tell_on_terminal


def run_reproduce(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    folder = Path(options.out)
    settings = _settings(options)
    check_json(options.json)
    folder.mkdir(parents=True, exist_ok=True)
    check_plot(folder / "figure.png")
    found = run_all(settings, folder / "cells", tell_on_terminal)
    report = Report([table(found)], about(0, None, **asdict(settings)))
    report.write(folder / "report.json")
    write_whole(folder / "table.txt", report.text())
    drawn = figures(found, folder)
    written = f"written: {folder / 'report.json'}, {', '.join(map(str, drawn))}"
    say(f"{report.text()}\n\n{written}", options.json)
    write_json(report.as_dict(), options.json)
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    for name in options.only:
        if name not in EXPERIMENTS:
            near = get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.5)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"--only names {name!r}; expected some of {', '.join(EXPERIMENTS)}{meant}"
            )
    settings = Settings(data=options.data)
    if options.quick:
        settings = settings.quick()
    if options.only:
        settings = replace(settings, names=tuple(dict.fromkeys(options.only)))
    for name in ("seeds", "jobs"):
        value = getattr(options, name)
        if value is not None:
            if value < 1:
                raise ValueError(f"--{name} is {value}; expected at least 1")
            settings = replace(settings, **{name: value})
    return settings
