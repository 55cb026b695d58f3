"""The command line; its commands are the modules of ``rcmd.commands``."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from rcmd import __version__
from rcmd.exit_status import EXIT_BAD_INPUT, EXIT_INTERRUPTED, MEANINGS

COMMANDS = (
    "solve", "resume", "path", "compare", "replicate", "show", "list", "check", "demo", "fuzz",
    "convert", "reproduce", "bench",
)  # fmt: skip
"""The modules of ``rcmd.commands``, in the order in which the help shows them."""


OVERVIEW = """\
Convex optimization seen from the dual: min over β of (1/n) Σ_j l(x_jᵀβ; y_j) + R(β), with a
certified gap.

    rcmd solve                                  a built-in problem
    rcmd solve a9a.bz2 --oracle l1:5            a LIBSVM file
    rcmd solve a9a.bz2 --save a.rcmd --plot a.pdf
    rcmd list                                   all losses and oracles
    rcmd COMMAND --help                         options, with an example
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options; one that is none of this command's is refused, with the nearest that is."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = self._option_string_actions
            begun = [name for name in known if unknown[0].startswith(name)]
            near = begun or get_close_matches(unknown[0], known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with status 2."""
        self.exit(EXIT_BAD_INPUT, f"rcmd: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status, as ``exit_status.MEANINGS`` says."""
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
    parser = OneLineParser(
        prog="rcmd",
        description=OVERVIEW,
        epilog=MEANINGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rcmd {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        import_module(f"rcmd.commands.{command}").add(subparsers)
    return parser
