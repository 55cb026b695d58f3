"""``rcmd list``: its options; the work is in ``rcmd.listing``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """Losses and oracles: how they are written, formula, constants, cost of a call.

    rcmd list oracles
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    listing = add_command(
        commands, "list", _list, "losses and oracles, and how they are written", HELP
    )
    listing.add_argument(
        "what", nargs="?", choices=("losses", "oracles"), metavar="losses|oracles", help="one only"
    )
    add_json_option(listing)


def _list(options: argparse.Namespace) -> int:
    from rcmd.listing import run_list

    return run_list(options.what, options.json)
