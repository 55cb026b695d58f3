"""``rcmd compare``: its options; the work is in ``rcmd.comparing.command``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import (
    add_command,
    add_data_option,
    add_json_option,
    add_plot_option,
    limit,
)

HELP = """\
Run methods side by side on one problem, each with the same number of gradients, and show what
they reached against gradients, oracle calls and seconds, with fitted log-log slopes.

    rcmd compare a9a --data ~/libsvm --methods gsfw,fw,scgm --passes 50 --plot a9a.png

FILE is a LIBSVM file or the name of a data set; generated data if there is none. --methods:
gsfw (the algorithm of the paper), rcmd (with corrections), fw, away, pairwise, bpcg, sfw, svrf,
storc, scgm, scgs, sag, sarah, online, sdca, apcg; fw, away, pairwise and bpcg take a step rule,
as in fw:exact. By default all that the problem allows.
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    compare = add_command(
        commands, "compare", _compare, "methods side by side on one problem", HELP
    )
    compare.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in if none")
    add_data_option(compare)
    compare.add_argument("--methods", metavar="NAMES", help="with commas (default: all that fit)")
    compare.add_argument("--loss", default="logistic", help="(default: %(default)s)")
    compare.add_argument("--oracle", default="l1:5", help="(default: %(default)s)")
    compare.add_argument(
        "--batch",
        default="1%",
        help="rows per step, or a percentage, where a method leaves it open (default: 1%%)",
    )
    compare.add_argument(
        "--passes", type=float, default=20.0, help="gradients per row (default: %(default)s)"
    )
    compare.add_argument(
        "--tol", type=float, default=1e-10, help="certified gap that ends a run (default: 1e-10)"
    )
    compare.add_argument("--max-seconds", type=limit(float), metavar="S", help="limit of each run")
    compare.add_argument("--seeds", type=int, default=3, help="runs (default: %(default)s)")
    compare.add_argument("--seed", type=int, default=0, help="the first (default: %(default)s)")
    add_json_option(compare)
    add_plot_option(compare)


def _compare(options: argparse.Namespace) -> int:
    from rcmd.comparing.command import run_compare

    return run_compare(options)
