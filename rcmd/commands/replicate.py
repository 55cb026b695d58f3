"""``rcmd replicate``: its options; the work is in ``rcmd.replicates.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_data_option, add_json_option

HELP = """\
Run the algorithm of the paper once for each seed and set the mean gap, with confidence
intervals, beside the theorem's bound of its expectation. Status 1 where a mean is above it.

    rcmd replicate a9a.bz2 --oracle l1:5 --batch 1% --seeds 20 --jobs 2
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = add_command(
        commands, "replicate", _replicate, "many seeds beside the theorem's bound", HELP
    )
    parser.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in if none")
    add_data_option(parser)
    parser.add_argument("--loss", default="logistic", help="(default: %(default)s)")
    parser.add_argument("--oracle", default="l1:5", help="(default: %(default)s)")
    parser.add_argument("--batch", default="1%", help="rows per step, or a share (default: 1%%)")
    parser.add_argument(
        "--passes", type=float, default=10.0, help="gradients per row (default: %(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=20, help="runs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first (default: %(default)s)")
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes, -1 for all cores (default: %(default)s)"
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    add_json_option(parser)


def _replicate(options: argparse.Namespace) -> int:
    from rcmd.replicates.command import run_replicate

    return run_replicate(options)
