"""``rcmd path``: its options; the work is in ``rcmd.path_command``."""

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
Solve one problem for many radii (or strengths) of its oracle, each to a certified gap and from
the solution before, and show how the solution grows.

    rcmd path a9a.bz2 --oracle l1 --radii 1:10:5 --tol 1e-6 --plot path.pdf
    rcmd path a9a.bz2 --oracle ridge --strengths 0.001:1:7:log

Values are FIRST:LAST:COUNT in even steps, FIRST:LAST:COUNT:log in even ratios, or a list with
commas.
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    path = add_command(commands, "path", _path, "solutions for many radii or strengths", HELP)
    path.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in ones if none")
    add_data_option(path)
    path.add_argument("--loss", default="logistic", help="(default: %(default)s)")
    path.add_argument(
        "--oracle", default="l1", help="its radius or strength may be left out (default: l1)"
    )
    values = path.add_mutually_exclusive_group(required=True)
    values.add_argument("--radii", metavar="VALUES", help="1:10:5, 0.1:10:5:log or 1,2,5")
    values.add_argument("--strengths", metavar="VALUES", help="the same for a strength")
    path.add_argument("--intercept", type=float, metavar="B", help="an intercept within ±B")
    path.add_argument("--batch", default="1%", help="rows per step (default: 1%%)")
    path.add_argument(
        "--tol", type=float, default=1e-3, help="certified gap of each (default: %(default)s)"
    )
    path.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    path.add_argument("--max-seconds", type=limit(float), metavar="S", help="limit of each run")
    path.add_argument("--max-gradients", type=limit(int), metavar="G", help="limit of each run")
    add_plot_option(path)
    add_json_option(path)


def _path(options: argparse.Namespace) -> int:
    from rcmd.path_command import run_path

    return run_path(options)
