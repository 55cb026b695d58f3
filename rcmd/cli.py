"""The command line: ``rcmd solve``, ``list``, ``check``, ``compare``, ``reproduce``, ``bench``."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rcmd import __version__
from rcmd.exit_status import EXIT_BAD_INPUT, EXIT_INTERRUPTED

SOLVE_HELP = """\
Solve a problem to a certified gap and show how it went.

With no FILE: l1-constrained logistic regression on built-in generated data, compared
with the CVXPY optimum. With a LIBSVM file (plain, .gz, .bz2 or .xz), for example:

    rcmd solve a9a.bz2 --loss logistic --oracle l1:5 --batch 1% --tol 1e-2

--rows entries completes a matrix from lines "row column value"; --rows cur chooses columns
and rows of a matrix (text or .npy):

    rcmd solve ratings.txt --rows entries --oracle nuclear:auto:100 --held-out 0.2
    rcmd solve matrix.csv --rows cur --oracle cur:auto:0.5

All losses and oracles, and how they are written: rcmd list.
"""

LIST_HELP = """Losses and oracles: how they are written, formula, constants, cost of a call.

    rcmd list oracles
"""

CHECK_HELP = """\
Check the contract of a loss, an oracle or a prox of your own, identity by identity.

    rcmd check my_losses:Tilted
    rcmd check 'my_losses.py:Tilted(0.3)'
"""

COMPARE_HELP = """\
Run methods side by side on one problem, each with the same number of gradients, and show what
they reached against gradients, oracle calls and seconds, with fitted log-log slopes.

    rcmd compare a9a --data ~/libsvm --methods gsfw,fw,scgm --passes 50 --plot a9a.png

FILE is a LIBSVM file or the name of a data set; generated data if there is none. --methods:
gsfw (the algorithm of the paper), rcmd (with corrections), fw, away, pairwise, bpcg, sfw, svrf,
storc, scgm, scgs, sag, sarah, online, sdca, apcg; fw, away, pairwise and bpcg take a step rule,
as in fw:exact. By default all that the problem allows.
"""

REPRODUCE_HELP = """\
The paper's Table 3 and its two figures, our numbers beside the published ones. Some twenty
minutes on two cores; runs that are finished are kept in the folder and not repeated.

    rcmd reproduce --data ~/libsvm --out reproduction --only a9a mushrooms
"""

BENCH_HELP = """\
Nanoseconds per stochastic gradient and per step, beside a plain C loop and COPT's LF variant
where they can be had; cost as n and p grow; start, memory, drift. Ratios of one run.

    rcmd bench engine --data ~/libsvm --json engine.json
"""

BENCH_ORACLES_HELP = """\
Time of argmin and minimum over that of one NumPy pass over c, which the formula cannot avoid
and which is printed beside them. About a minute.

    rcmd bench oracles --p 1000000 --json oracles.json
"""

BENCH_PEERS_HELP = """\
Time to a certified gap of l1-constrained logistic regression, beside cyanure, COPT, scikit-learn
and skglm where they are installed. Half an hour; one problem takes minutes.

    rcmd bench peers --data ~/libsvm --problem a9a mushrooms:5 --json peers.json
"""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with status 2."""
        self.exit(EXIT_BAD_INPUT, f"rcmd: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    0: the tolerance was reached, the contract holds; 1: a budget ended first, an identity
    fails; 2: bad input; 130: interrupted.
    """
    # A terminal without these letters gets question marks, not a crash.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        options = _parser().parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("rcmd: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has seen enough; nothing more can be written.
        sys.stdout = None
        return 0
    return status


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="rcmd", description="Convex optimization seen from the dual.")
    parser.add_argument("--version", action="version", version=f"rcmd {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_solve(commands)
    _add_list(commands)
    check = commands.add_parser(
        "check",
        help="check the contract of a loss, an oracle or a prox",
        description=CHECK_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("target", metavar="MODULE:CLASS", help="what to check, as module or file")
    check.set_defaults(run=_check)
    _add_compare(commands)
    _add_reproduce(commands)
    _add_bench(commands)
    return parser


def _add_compare(commands: Any) -> None:
    compare = commands.add_parser(
        "compare",
        help="methods side by side on one problem",
        description=COMPARE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument("file", nargs="?", metavar="FILE|NAME", help="data; built-in if none")
    compare.add_argument("--data", metavar="DIR", help="folder in which NAME is looked for")
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
    compare.add_argument("--max-seconds", type=float, metavar="S", help="limit of each run")
    compare.add_argument("--seeds", type=int, default=3, help="runs (default: %(default)s)")
    compare.add_argument("--seed", type=int, default=0, help="the first (default: %(default)s)")
    compare.add_argument("--json", metavar="FILE", help="write all curves")
    compare.add_argument("--plot", metavar="FILE", help="draw them: .png, .pdf or .svg")
    compare.set_defaults(run=_compare)


def _add_reproduce(commands: Any) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="the experiments of the paper, beside the published numbers",
        description=REPRODUCE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    reproduce.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …")
    reproduce.add_argument(
        "--out", metavar="DIR", default="reproduction", help="(default: %(default)s)"
    )
    reproduce.add_argument("--only", nargs="+", default=[], metavar="NAME", help="a9a, w8a, …")
    reproduce.add_argument("--seeds", type=int, help="runs of each random method (default: 3)")
    reproduce.add_argument("--jobs", type=int, help="processes (default: 2)")
    reproduce.add_argument("--quick", action="store_true", help="one seed, small budgets")
    reproduce.set_defaults(run=_reproduce)


def _add_bench(commands: Any) -> None:
    bench = commands.add_parser("bench", help="measure the engine or the oracles on this machine")
    what = bench.add_subparsers(title="benchmarks", required=True, metavar="WHAT")
    engine = what.add_parser(
        "engine",
        help="time per gradient and per step, start, memory, drift",
        description=BENCH_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    engine.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, mushrooms")
    engine.add_argument("--json", metavar="FILE", help="write all measurements")
    engine.add_argument("--quick", action="store_true", help="a reduced set, about a minute")
    engine.add_argument("--drift", type=float, metavar="UPDATES", help="for example 1e9")
    engine.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    engine.set_defaults(run=_bench)
    oracles = what.add_parser(
        "oracles",
        help="argmin and minimum of every closed-form oracle beside a pass of NumPy",
        description=BENCH_ORACLES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    oracles.add_argument("--p", type=int, default=10**5, help="variables (default: %(default)s)")
    oracles.add_argument(
        "--calls", type=int, default=10**4, help="at most so many of each (default: %(default)s)"
    )
    oracles.add_argument("--json", metavar="FILE", help="write all measurements")
    oracles.set_defaults(run=_bench_oracles)
    peers = what.add_parser(
        "peers",
        help="time to a certified gap beside other packages",
        description=BENCH_PEERS_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    peers.add_argument("--data", metavar="DIR", help="folder with a9a, w8a, …, gisette_scale.t")
    peers.add_argument("--json", metavar="FILE", help="write all measurements")
    peers.add_argument("--quick", action="store_true", help="small budgets: a few minutes")
    peers.add_argument("--problem", nargs="+", default=[], metavar="NAME", help="a9a, a9a:5, …")
    peers.set_defaults(run=_bench_peers)


def _add_solve(commands: Any) -> None:
    solve = commands.add_parser(
        "solve",
        help="solve a problem to a certified gap",
        description=SOLVE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    solve.add_argument("file", nargs="?", metavar="FILE", help="data; built-in ones if none")
    solve.add_argument(
        "--rows",
        choices=("libsvm", "entries", "cur"),
        default="libsvm",
        help="what FILE holds (default: %(default)s)",
    )
    solve.add_argument("--loss", help="the loss (default: logistic, for matrices least-squares)")
    solve.add_argument("--oracle", help="the set or the regularizer (default: l1:5)")
    solve.add_argument(
        "--intercept", type=float, metavar="B", help="add an intercept between -B and B"
    )
    solve.add_argument(
        "--batch", help="rows per step, or a percentage (default: 1%%, for matrices 100%%)"
    )
    solve.add_argument(
        "--tol",
        type=float,
        help="certified gap to reach (default: 0.001, for matrices times the mean loss at β = 0)",
    )
    solve.add_argument(
        "--seed", type=int, default=0, help="seed of the batches (default: %(default)s)"
    )
    solve.add_argument("--max-seconds", type=float, metavar="S", help="time budget")
    solve.add_argument(
        "--max-gradients",
        type=int,
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
    solve.set_defaults(run=_solve)


def _add_list(commands: Any) -> None:
    listing = commands.add_parser(
        "list",
        help="losses and oracles, and how they are written",
        description=LIST_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    listing.add_argument(
        "what", nargs="?", choices=("losses", "oracles"), metavar="losses|oracles", help="one only"
    )
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=_list)


def _solve(options: argparse.Namespace) -> int:
    from rcmd.solve_command import run_solve

    return run_solve(options)


def _list(options: argparse.Namespace) -> int:
    from rcmd.listing import run_list

    return run_list(options.what, options.json)


def _compare(options: argparse.Namespace) -> int:
    from rcmd.comparing.command import run_compare

    return run_compare(options)


def _reproduce(options: argparse.Namespace) -> int:
    from rcmd.reproducing.command import run_reproduce

    return run_reproduce(options)


def _bench(options: argparse.Namespace) -> int:
    from rcmd.bench.engine import run_bench

    return run_bench(options.data, options.json, options.quick, options.drift, options.seed)


def _bench_oracles(options: argparse.Namespace) -> int:
    from rcmd.bench.oracles import run_oracles

    try:
        return run_oracles(options.p, options.calls, options.json)
    except (ValueError, OSError) as fault:
        print(f"rcmd: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT


def _bench_peers(options: argparse.Namespace) -> int:
    from rcmd.bench.race.running import run_peers

    try:
        return run_peers(options.data, options.json, options.quick, options.problem)
    except (ValueError, OSError) as fault:
        print(f"rcmd: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT


def _check(options: argparse.Namespace) -> int:
    from rcmd.testing import run_check

    try:
        return run_check(options.target)
    except ValueError as fault:
        print(f"rcmd: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT
