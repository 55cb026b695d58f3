"""``rcmd check``: its options; the work is in ``rcmd.testing.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """\
Check the contract of a loss, an oracle or a prox, identity by identity: one of your own, in a
module or a file, or one that `rcmd list` shows.

    rcmd check 'my_losses.py:Tilted(0.3)'
    rcmd check my_losses:Tilted
    rcmd check logistic
    rcmd check l1:5
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    check = add_command(
        commands, "check", _check, "check the contract of a loss, an oracle or a prox", HELP
    )
    check.add_argument("target", metavar="MODULE:CLASS|NAME", help="what to check")
    add_json_option(check)


def _check(options: argparse.Namespace) -> int:
    from rcmd.testing import run_check

    return run_check(options.target, options.json)
