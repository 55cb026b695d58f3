"""A command: its help keeps its line breaks, and what it refuses is one sentence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from rcmd.exit_status import EXIT_BAD_INPUT


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
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=refusing)
    return parser
