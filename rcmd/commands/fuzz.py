"""``rcmd fuzz``: its options; the work is in ``rcmd.fuzzing.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """\
Solve random small problems, every named loss with every named regularizer, and compare with
CVXPY: certificates must hold, tolerances must be kept, both engines must agree, nothing may be
NaN, warn or hang. The status is 1 if anything is found; each finding comes with the command that
repeats it and with the smallest problem that shows it.

    rcmd fuzz --seconds 60 --seed 0
    rcmd fuzz --seed 0 --case 17
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    fuzz = add_command(commands, "fuzz", _fuzz, "random problems, compared with CVXPY", HELP)
    fuzz.add_argument("--seconds", type=float, default=60.0, help="(default: %(default)g)")
    fuzz.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    fuzz.add_argument("--case", type=int, metavar="NUMBER", help="this case of the seed alone")
    add_json_option(fuzz)


def _fuzz(options: argparse.Namespace) -> int:
    from rcmd.fuzzing.command import run_fuzz

    return run_fuzz(options)
