"""``rcmd solve``: its options; the work is in ``rcmd.solving``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import (
    add_command,
    add_data_option,
    add_json_option,
    add_plot_option,
    limit,
    word,
)
from rcmd.launched import launched_ranks

HELP = """\
Solve a problem to a certified gap and show how it went.

With no FILE: l1-constrained logistic regression on built-in generated data, compared
with the CVXPY optimum. With a LIBSVM file (plain, .gz, .bz2 or .xz), or the name of a data set:

    rcmd solve a9a.bz2 --loss logistic --oracle l1:5 --batch 1% --tol 1e-2
    rcmd solve a9a --data ~/libsvm --tol 1e-6 --save a9a.rcmd --plot a9a.pdf

A loss of your own is a class in a file, or a formula in s and y:

    rcmd solve a9a --loss my_losses.py:Tilted
    rcmd solve a9a --loss 'expression:log(1 + exp(-y*s))'

--rows entries completes a matrix from lines "row column value"; --rows cur chooses columns
and rows of a matrix (text or .npy):

    rcmd solve ratings.txt --rows entries --oracle nuclear:auto:100 --held-out 0.2
    rcmd solve matrix.csv --rows cur --oracle cur:auto:0.5

With mpirun the rows are spread over processes, here or on several machines, and the plain
algorithm takes the same steps whatever their number (pip install 'rcmd[mpi]'):

    mpirun -n 4 rcmd solve a9a.bz2 --batch 10% --tol 1e-2

All losses and oracles, and how they are written: rcmd list.
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    solve = add_command(commands, "solve", _solve, "solve a problem to a certified gap", HELP)
    solve.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in ones if none")
    add_data_option(solve)
    solve.add_argument(
        "--rows",
        choices=("libsvm", "entries", "cur"),
        default="libsvm",
        help="what FILE holds (default: %(default)s)",
    )
    solve.add_argument(
        "--loss", type=word, help="the loss (default: logistic, for matrices least-squares)"
    )
    solve.add_argument("--oracle", type=word, help="the set or the regularizer (default: l1:5)")
    solve.add_argument(
        "--intercept", type=float, metavar="B", help="add an intercept between -B and B"
    )
    solve.add_argument(
        "--batch",
        type=word,
        help="rows per step, or a percentage (default: 1%%, for matrices 100%%)",
    )
    solve.add_argument(
        "--tol",
        type=float,
        help="certified gap to reach (default: 0.001, for matrices times the mean loss at β = 0)",
    )
    solve.add_argument(
        "--seed", type=int, default=0, help="seed of the batches (default: %(default)s)"
    )
    solve.add_argument("--max-seconds", type=limit(float), metavar="S", help="time budget")
    solve.add_argument(
        "--max-gradients",
        type=limit(int),
        metavar="G",
        help="budget of stochastic gradients (default: 1000 passes, at least 10 million)",
    )
    solve.add_argument(
        "--truth", action="store_true", help="compare with the CVXPY optimum (slow on large files)"
    )
    solve.add_argument(
        "--held-out",
        type=float,
        metavar="SHARE",
        help="entries: leave out this share of them and report the error there",
    )
    solve.add_argument(
        "--keep",
        metavar="CxR",
        help="cur: columns and rows to keep (default: those with 90%% of the weight)",
    )
    solve.add_argument("--save", metavar="FILE", help="keep the result, for rcmd show")
    solve.add_argument("--checkpoint", metavar="FILE", help="keep the run, for rcmd resume")
    solve.add_argument(
        "--every",
        type=float,
        default=30.0,
        metavar="S",
        help="seconds between two checkpoints (default: %(default)s)",
    )
    add_plot_option(solve)
    add_json_option(solve)


def _solve(options: argparse.Namespace) -> int:
    if launched_ranks() > 1:
        from rcmd.distributed.command import run_solve_sharded

        return run_solve_sharded(options)
    from rcmd.solving.command import run_solve

    return run_solve(options)
