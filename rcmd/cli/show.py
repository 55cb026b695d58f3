"""Show a result that `rcmd solve --save` or `result.save(…)` wrote: what was
solved, how it went, and what its certificate says.

    rcmd show a9a.rcmd --plot a9a.pdf

The status is that of the run: 1 where a budget ended it first.
"""

import argparse
from collections.abc import Iterator

from rcmd.cli.options import add_plot_option
from rcmd.cli.solve import HEADER, SPACING, ending, picture, row
from rcmd.reporting.progress import exit_status
from rcmd.reporting.tables import say, write_json
from rcmd.solver.result import Result
from rcmd.solver.saved_results import as_data, load_with_versions


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the saved result")
    parser.add_argument(
        "--against",
        choices=("gradients", "iterations", "oracle_calls", "seconds"),
        default="gradients",
        help="what the figure has on its horizontal axis (default: %(default)s)",
    )
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    result, versions = load_with_versions(options.file)
    say("\n".join(_lines(result, versions)), options.json)
    if options.plot is not None:
        result.plot(options.against).savefig(options.plot)
    write_json(as_data(result) | {"versions": versions}, options.json)
    return exit_status(result)


def _lines(result: Result, versions: dict[str, str | None]) -> Iterator[str]:
    if result.about is not None:
        yield from result.about.formulas()
        for letter, meaning, value in result.about.constants:
            yield f"  {letter:<6}{value:<12.6g}{meaning}"
    yield ", ".join(f"{name} {value}" for name, value in result.options.items())
    yield "made with " + ", ".join(f"{name} {v}" for name, v in versions.items() if v)
    own = result.history.own
    yield from ("", " ".join([HEADER, *(f"{name:>14}" for name in own)]))
    shown, n = 0, len(result.w)
    for record in result.history:
        if record.gradients >= SPACING * shown or record is result.history[-1]:
            shown = record.gradients
            yield row(record, n, own)
    yield from picture(result.history, n)
    yield ""
    yield from ending(result)
