"""``rcmd reproduce``: its options; the work is in ``rcmd.reproducing.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """\
The paper's Table 3 and its two figures, our numbers beside the published ones. About ten
minutes on two cores; runs that are finished are kept in the folder and not repeated.

    rcmd reproduce --data ~/libsvm --out reproduction --only a9a mushrooms
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    reproduce = add_command(
        commands,
        "reproduce",
        _reproduce,
        "the experiments of the paper, beside the published numbers",
        HELP,
    )
    reproduce.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …")
    reproduce.add_argument(
        "--out", metavar="DIR", default="reproduction", help="(default: %(default)s)"
    )
    reproduce.add_argument("--only", nargs="+", default=[], metavar="NAME", help="a9a, w8a, …")
    reproduce.add_argument("--seeds", type=int, help="runs of each random method (default: 3)")
    reproduce.add_argument("--jobs", type=int, help="processes (default: 2)")
    reproduce.add_argument("--quick", action="store_true", help="one seed, small budgets")
    add_json_option(reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    from rcmd.reproducing.command import run_reproduce

    return run_reproduce(options)
