"""The paper's Table 3 and its two figures, our numbers beside the published ones.
About ten minutes on two cores; runs that are finished are kept in the folder
and not repeated.

    rcmd reproduce --data ~/libsvm --out reproduction --only a9a mushrooms
"""

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from rcmd.cli.options import given, limit
from rcmd.lab.reproduce.cells import Settings, run_all
from rcmd.lab.reproduce.published import EXPERIMENTS
from rcmd.lab.reproduce.table3 import figures, table
from rcmd.plotting import check_plot
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import Report, about, say, write_json


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …")
    parser.add_argument(
        "--out", metavar="DIR", default="reproduction", help="(default: %(default)s)"
    )
    names = tuple(EXPERIMENTS)
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="NAME", help="a9a, w8a, …"
    )
    parser.add_argument("--seeds", type=limit(int), help="runs of each random method (default: 3)")
    parser.add_argument("--jobs", type=limit(int), help="processes (default: 2)")
    parser.add_argument("--quick", action="store_true", help="one seed, small budgets")


def run(options: argparse.Namespace) -> int:
    folder = Path(options.out)
    settings = Settings(data=options.data)
    settings = settings.quick() if options.quick else settings
    names = tuple(dict.fromkeys(options.only))
    settings = replace(settings, names=names, **given(options, ("seeds", "jobs")))
    folder.mkdir(parents=True, exist_ok=True)
    check_plot(folder / "figure.png")
    found = run_all(settings, folder / "cells", tell_on_terminal)
    report = Report([table(found)], about(0, None, **asdict(settings)))
    write_json(report.as_dict(), folder / "report.json")
    (folder / "table.txt").write_text(report.text() + "\n", encoding="utf-8")
    drawn = figures(found, folder)
    written = f"written: {folder / 'report.json'}, {', '.join(map(str, drawn))}"
    say(f"{report.text()}\n\n{written}", options.json)
    write_json(report.as_dict(), options.json)
    return 0
