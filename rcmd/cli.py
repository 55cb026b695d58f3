"""The command line; its commands are the modules of ``rcmd.commands``."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from rcmd import __version__
from rcmd.exit_status import EXIT_BAD_INPUT, EXIT_INTERRUPTED

COMMANDS = ("solve", "list", "check", "compare", "reproduce", "bench")
"""The modules of ``rcmd.commands``, in the order in which the help shows them."""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with status 2."""
        self.exit(EXIT_BAD_INPUT, f"rcmd: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    0: the tolerance was reached, the contract holds; 1: a budget ended first, an identity
    fails; 2: bad input; 130: interrupted.
    """
    # A terminal without these letters gets question marks, not a crash.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("rcmd: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has seen enough; nothing more can be written.
        sys.stdout = None
        return 0
    return status


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="rcmd", description="Convex optimization seen from the dual.")
    parser.add_argument("--version", action="version", version=f"rcmd {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        import_module(f"rcmd.commands.{command}").add(subparsers)
    return parser
