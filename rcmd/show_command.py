"""``rcmd show``: a saved result in words, as JSON or as a figure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rcmd.exit_status import status_of
from rcmd.json_output import check_json, say, write_json
from rcmd.plotting import check_plot
from rcmd.result import Result
from rcmd.saved_results import load_result, load_versions
from rcmd.solving.report import HEADER, as_data, doublings, ending, row


def run_show(options: argparse.Namespace) -> int:
    """The command; returns the exit status of the run that is shown."""
    check_json(options.json)
    if options.plot is not None:
        check_plot(options.plot)
    result, versions = load_result(options.file), load_versions(options.file)
    say("\n".join(_lines(result, versions)), options.json)
    if options.plot is not None:
        result.plot(options.against).savefig(options.plot)
    write_json(as_data(result) | {"versions": versions}, options.json)
    return status_of(result)


def _lines(result: Result, versions: dict[str, str | None]) -> Iterator[str]:
    if result.about is not None:
        yield from result.about.formulas()
        for letter, meaning, value in result.about.constants:
            yield f"  {letter:<6}{value:<12.6g}{meaning}"
    yield ", ".join(f"{name} {value}" for name, value in result.options.items())
    yield "made with " + ", ".join(f"{name} {v}" for name, v in versions.items() if v)
    yield from ("", HEADER)
    yield from map(row, doublings(result.history))
    yield ""
    yield from ending(result)
    if result.note:
        yield result.note
