"""Options that several commands have, and the check that their files can be written."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from rcmd.model.specs import parse_batch
from rcmd.plotting import check_plot
from rcmd.reporting.json_output import check_json
from rcmd.solver.saved_results import check_folder
from rcmd.solver.solve import Options


def add_command(
    subparsers: Any, name: str, summary: str, description: str = ""
) -> argparse.ArgumentParser:
    """A parser for ``name`` whose help keeps its line breaks."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog="exit status: 0 done, 1 not reached or broken, 2 bad input, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """``FILE`` and ``--data``, for samples."""
    parser.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in ones if none")
    parser.add_argument(
        "--data", metavar="DIR", help="folder in which NAME is looked for (or set RCMD_DATA)"
    )


def add_problem_options(parser: argparse.ArgumentParser, oracle: str) -> None:
    """Data, loss, oracle, batch and seed, all with defaults."""
    add_data_options(parser)
    add = parser.add_argument
    add("--loss", default="logistic", help="(default: %(default)s)")
    add("--oracle", default=oracle, help="(default: %(default)s)")
    add("--batch", default="1%", help="rows per step, or a percentage (default: 1%%)")
    add("--seed", type=int, default=0, help="of the batches (default: %(default)s)")


def add_run_options(parser: argparse.ArgumentParser, **defaults: str) -> None:
    """The options of a run that have a flag; ``defaults`` are told where a command has others."""
    for option in fields(Options):
        if option.metadata:
            kind = option.metadata["type"]
            positive = kind in (int, float) and option.default is None
            told = f" (default: {defaults[option.name]})" if option.name in defaults else ""
            parser.add_argument(
                f"--{option.name.replace('_', '-')}",
                type=limit(kind) if positive else word if kind is str else kind,
                metavar=option.metadata["metavar"],
                help=(option.metadata["help"] + told).replace("%", "%%"),
            )


def run_options(options: argparse.Namespace, **defaults: Any) -> dict[str, Any]:
    """What ``rcmd.iterate`` is told, where nothing is given what the command has by itself."""
    given = {o.name: vars(options)[o.name] for o in fields(Options) if o.metadata}
    chosen = defaults | {name: value for name, value in given.items() if value is not None}
    if isinstance(chosen.get("batch"), str):
        chosen["batch"] = parse_batch(chosen["batch"])
    return chosen


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """``--json``, which every command has."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write everything as JSON; - is standard output, in the place of the text",
    )


def add_plot_and_json_options(parser: argparse.ArgumentParser) -> None:
    """For commands that have a figure to draw."""
    parser.add_argument("--plot", metavar="FILE", help="draw a figure: .pdf, .svg or .png")
    add_json_option(parser)


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """For commands that end with one result: ``--truth``, ``--save``, ``--plot``, ``--json``."""
    parser.add_argument(
        "--truth", action="store_true", help="compare with the CVXPY optimum (slow on large files)"
    )
    parser.add_argument("--save", metavar="FILE", help="keep the result, for rcmd show")
    add_plot_and_json_options(parser)


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse, before any work, files of ``--json``, ``--plot`` and ``--save`` that cannot be."""
    check_json(options.json)
    given = vars(options)
    if given.get("plot") is not None:
        check_plot(options.plot)
    if given.get("save") is not None:
        check_folder(options.save)


def limit(kind: type[int] | type[float]) -> Callable[[str], float]:
    """How a limit is read, a number of this kind above 0."""

    def read(text: str) -> float:
        number = kind(text)
        if not number > 0:
            raise argparse.ArgumentTypeError(f"{text} allows no step; expected a number above 0")
        return number

    read.__name__ = kind.__name__  # as argparse calls what it cannot read
    return read


def word(text: str) -> str:
    """A word that is not empty."""
    if not text:
        raise argparse.ArgumentTypeError("nothing is given; expected a word, or no such option")
    return text
