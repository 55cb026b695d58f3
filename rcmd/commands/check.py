"""``rcmd check``: its options; the work is in ``rcmd.testing.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command

HELP = """\
Check the contract of a loss, an oracle or a prox of your own, identity by identity.

    rcmd check my_losses:Tilted
    rcmd check 'my_losses.py:Tilted(0.3)'
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    check = add_command(
        commands, "check", _check, "check the contract of a loss, an oracle or a prox", HELP
    )
    check.add_argument("target", metavar="MODULE:CLASS", help="what to check, as module or file")


def _check(options: argparse.Namespace) -> int:
    from rcmd.testing import run_check

    return run_check(options.target)
