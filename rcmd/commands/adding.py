"""A command: its help keeps its line breaks, and what it refuses is one sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from rcmd.exit_status import EXIT_BAD_INPUT, IN_SHORT


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
) -> argparse.ArgumentParser:
    """A parser for ``name``, which ``run`` carries out.

    What ``run`` refuses by an exception is printed as one sentence, and the status is 2.
    """

    def refusing(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except (ValueError, TypeError, OSError, ImportError) as fault:
            if isinstance(fault, BrokenPipeError):
                raise
            print(f"rcmd: {fault}", file=sys.stderr)
            return EXIT_BAD_INPUT

    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=IN_SHORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=refusing)
    return parser


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


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """The option ``--json`` of every command."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write everything as JSON; - is standard output, in the place of the text",
    )


def add_plot_option(parser: argparse.ArgumentParser) -> None:
    """The option ``--plot`` of every command that has a figure to draw."""
    parser.add_argument("--plot", metavar="FILE", help="draw a figure: .pdf, .svg or .png")


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """The option ``--data`` of every command that takes the name of a data set."""
    parser.add_argument(
        "--data", metavar="DIR", help="folder in which NAME is looked for (or set RCMD_DATA)"
    )
