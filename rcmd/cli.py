"""The command line: ``rcmd solve``, ``rcmd check`` and ``rcmd bench``."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rcmd import __version__
from rcmd.result import Result, State, StopReason

SOLVE_HELP = """\
Solve a problem to a certified gap and show how it went.

With no FILE: l1-constrained logistic regression on built-in generated data, compared
with the CVXPY optimum. With a LIBSVM file (plain, .gz, .bz2 or .xz), for example:

    rcmd solve a9a.bz2 --loss logistic --oracle l1:5 --batch 1% --tol 1e-2
"""

CHECK_HELP = """\
Check the contract of a loss, an oracle or a prox of your own, identity by identity.

    rcmd check my_losses:Tilted
    rcmd check 'my_losses.py:Tilted(0.3)'
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

EXIT_BUDGET, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130


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
    check = commands.add_parser(
        "check",
        help="check the contract of a loss, an oracle or a prox",
        description=CHECK_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("target", metavar="MODULE:CLASS", help="what to check, as module or file")
    check.set_defaults(run=_check)
    _add_bench(commands)
    return parser


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


def _add_solve(commands: Any) -> None:
    from rcmd.specs import LOSSES, ORACLES, loss_form, oracle_form

    solve = commands.add_parser(
        "solve",
        help="solve a problem to a certified gap",
        description=SOLVE_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    solve.add_argument("file", nargs="?", metavar="FILE", help="LIBSVM file; built-in data if none")
    losses, oracles = ", ".join(map(loss_form, LOSSES)), ", ".join(map(oracle_form, ORACLES))
    solve.add_argument("--loss", default="logistic", help=f"{losses} (default: %(default)s)")
    solve.add_argument("--oracle", default="l1:5", help=f"{oracles} (default: %(default)s)")
    solve.add_argument(
        "--batch", default="1%", help="rows per step, or a percentage (default: 1%%)"
    )
    solve.add_argument(
        "--tol", type=float, default=1e-3, help="certified gap to reach (default: %(default)s)"
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
    solve.set_defaults(run=_solve)


def _solve(options: argparse.Namespace) -> int:
    from rcmd.run import iterate
    from rcmd.specs import parse_batch
    from rcmd.validation import batch_size

    try:
        problem, remark = _problem(options)
        size = batch_size(parse_batch(options.batch), problem.n)
        run = iterate(
            problem,
            batch=size,
            tol=options.tol,
            seed=options.seed,
            max_seconds=options.max_seconds,
            max_gradients=options.max_gradients,
        )
    except (ValueError, TypeError, OSError) as fault:
        print(f"rcmd: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT
    print("\n".join(filter(None, (remark, problem.describe(size), ""))))
    print(
        f"{'gradients':>12} {'P(β)':>14} {'D(w)':>14} {'certified gap':>14} {'bound on E gap':>15}"
    )
    shown = 0
    for state in run:
        # A line for each doubling: certificates are closer together than people can read.
        if state.gradients >= 2 * shown or run.stop is not None:
            print(_row(state), flush=True)
            shown = state.gradients
    result = run.result()
    _report(result)
    if options.truth or options.file is None:
        _compare(problem, result)
    return _status(result)


def _problem(options: argparse.Namespace) -> tuple[Any, str | None]:
    """The problem the options ask for, and what was done to its labels, if anything."""
    from rcmd import datasets
    from rcmd.problem import Problem
    from rcmd.specs import parse_loss, parse_oracle

    loss, oracle = parse_loss(options.loss), parse_oracle(options.oracle)
    remark = None
    if options.file is None:
        signs_only = loss.label_fault([0.5]) is not None
        make = datasets.make_classification if signs_only else datasets.make_regression
        X, y = make(rng=options.seed)
    else:
        X, y = datasets.read_libsvm(options.file)
        if loss.label_fault(y):
            y, remark = datasets.map_labels(y)
    return Problem(X, y, loss, oracle), remark


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


def _check(options: argparse.Namespace) -> int:
    from rcmd.testing import run_check

    try:
        return run_check(options.target)
    except ValueError as fault:
        print(f"rcmd: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT


def _row(state: State) -> str:
    return (
        f"{state.gradients:>12,} {float(state.primal):>14.8f} {float(state.dual):>14.8f} "
        f"{float(state.gap):>14.3e} {state.bound:>15.3e}"
    )


def _report(result: Result) -> None:
    pair = result.certificate
    print(f"\n{result.message}")
    if result.stop in (StopReason.GRADIENTS, StopReason.SECONDS):
        print("for a smaller gap raise --max-gradients or --max-seconds")
    print(f"P(β) = {float(pair.primal):.10f} is at most {float(pair.gap):.3e} above the optimum:")
    print(f"  losses      (1/n) Σ l(xᵀβ) + l*(w) − w·xᵀβ   = {float(pair.loss_gap):.3e}")
    print(f"  regularizer R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ    = {float(pair.regularizer_gap):.3e}")


def _compare(problem: Any, result: Result) -> None:
    from rcmd import truth

    optimum = truth.solve(problem)
    distance = float(result.primal) - optimum.primal
    print(
        f"CVXPY: P* = {optimum.primal:.10f}, so P(β) − P* = {distance:.3e}, "
        f"{'within' if distance <= result.gap + 1e-9 else 'OUTSIDE'} the certified gap"
    )


def _status(result: Result) -> int:
    if result.stop is StopReason.INTERRUPTED:
        return EXIT_INTERRUPTED
    return 0 if result.success else EXIT_BUDGET
