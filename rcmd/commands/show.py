"""``rcmd show``: its options; the work is in ``rcmd.show_command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option, add_plot_option

HELP = """\
Show a result that `rcmd solve --save` or `result.save(…)` kept: what was solved, how it went, and
what its certificate says.

    rcmd show a9a.rcmd --plot a9a.pdf

The status is that of the run: 1 where a budget ended it first.
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    show = add_command(commands, "show", _show, "show a saved result", HELP)
    show.add_argument("file", metavar="FILE", help="the saved result")
    show.add_argument(
        "--against",
        choices=("gradients", "iterations", "oracle_calls", "seconds"),
        default="gradients",
        help="what the figure has on its horizontal axis (default: %(default)s)",
    )
    add_plot_option(show)
    add_json_option(show)


def _show(options: argparse.Namespace) -> int:
    from rcmd.show_command import run_show

    return run_show(options)
