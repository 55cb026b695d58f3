"""``rcmd solve``: a file, a loss and an oracle by name, and a report of the run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import cur, datasets
from rcmd.conjugates import SeparableConjugate
from rcmd.exit_status import EXIT_BUDGET, EXIT_INTERRUPTED
from rcmd.lowrank import LowRank
from rcmd.oracles import Counting, CurSet, LinearMinOracle
from rcmd.problem import Problem
from rcmd.result import Result, State, StopReason
from rcmd.rows.entries import MatrixEntries
from rcmd.run import iterate
from rcmd.specs import made, parse_batch, parse_loss, parse_oracle
from rcmd.validation import batch_size

Array = npt.NDArray[Any]

SHOWN = 6
"""Singular values, columns and rows that are written out."""


@dataclass(frozen=True)
class Task:
    """What was asked for.

    Attributes
    ----------
    problem
        What to solve.
    remarks
        What was done to the data, in sentences.
    batch, tol
        Where the command line does not give them.
    corrective
        Whether the run may end with corrections; ``None`` leaves it to the run.
    summary
        What is said about a solution, line by line.
    """

    problem: Problem
    remarks: list[str]
    batch: str
    tol: float
    corrective: bool | None
    summary: Callable[[Result], Iterator[str]]


def run_solve(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    task = TASKS[options.rows](options)
    problem = task.problem
    size = batch_size(parse_batch(options.batch or task.batch), problem.n)
    run = iterate(
        problem,
        batch=size,
        tol=task.tol if options.tol is None else options.tol,
        seed=options.seed,
        max_seconds=options.max_seconds,
        max_gradients=options.max_gradients,
        corrective=task.corrective,
    )
    print("\n".join([*task.remarks, problem.describe(size), ""]))
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
    for line in task.summary(result):
        print(line)
    if options.truth or options.file is None:
        _compare(problem, result)
    return _status(result)


def _libsvm(options: argparse.Namespace) -> Task:
    """Samples of a LIBSVM file, or built-in ones."""
    _refuse(options, "held_out", "keep")
    loss, oracle = parse_loss(options.loss or "logistic"), parse_oracle(options.oracle or "l1:5")
    remarks: list[str] = []
    if options.file is None:
        signs_only = loss.label_fault([0.5]) is not None
        make = datasets.make_classification if signs_only else datasets.make_regression
        X, y = make(rng=options.seed)
    else:
        X, y = datasets.read_libsvm(options.file)
        y = _labels(loss, y, remarks)
    regularizer = made(oracle, X.shape[1])
    problem = Problem(X, y, loss, regularizer, intercept=options.intercept)

    def summary(result: Result) -> Iterator[str]:
        yield from _about(regularizer, result)
        if options.intercept is not None:
            yield f"intercept {result.beta[-1]:.6g}"

    return Task(problem, remarks, "1%", 1e-3, None, summary)


def _entries(options: argparse.Namespace) -> Task:
    """Some entries of a matrix, which is to be completed."""
    from rcmd.matrix_files import read_entries

    _refuse(options, "keep", "intercept")
    loss = parse_loss(options.loss or "least-squares")
    oracle = parse_oracle(_required(options, "nuclear:SHAPE:RADIUS"))
    entries = read_entries(options.file)
    remarks = [entries.remark] if entries.remark else []
    y = _labels(loss, entries.values, remarks)
    shape = getattr(oracle, "shape", None)
    if not isinstance(shape, tuple):
        shape = entries.shape
    kept, held_out = _split(len(y), options.held_out, options.seed)
    regularizer = made(oracle, shape[0] * shape[1], shape)
    samples = MatrixEntries(entries.rows[kept], entries.columns[kept], shape)
    problem = Problem(samples, y[kept], loss, regularizer)

    def summary(result: Result) -> Iterator[str]:
        yield from _about(regularizer, result)
        if len(held_out):
            others = MatrixEntries(entries.rows[held_out], entries.columns[held_out], shape)
            truth = y[held_out]
            error = np.linalg.norm(others.matvec(result.beta) - truth) / np.linalg.norm(truth)
            yield f"{len(truth)} entries held out: relative error {error:.4f}"

    # Every step costs a singular pair, whatever the batch; corrections predict less well.
    return Task(problem, remarks, "100%", 1e-3 * _at_zero(problem), False, summary)


def _cur(options: argparse.Namespace) -> Task:
    """A matrix whose columns and rows are to be chosen."""
    from rcmd.matrix_files import read_numbers

    _refuse(options, "held_out", "intercept", "loss")
    oracle = parse_oracle(_required(options, "cur:SHAPE:RADIUS"))
    M = read_numbers(options.file)
    regularizer = made(oracle, M.size, M.T.shape)
    if not isinstance(regularizer, CurSet) or regularizer.shape != M.T.shape:
        raise ValueError(
            f"oracle {options.oracle!r} does not fit --rows cur and a matrix of {len(M)} × "
            f"{M.shape[1]}; expected cur:{M.shape[1]}x{len(M)}:RADIUS (β has the shape of Mᵀ), or "
            "cur:auto:RADIUS"
        )
    problem = cur.problem(M, regularizer.radius)
    keep = _counts(options.keep, M)
    return Task(
        problem, [], "100%", 1e-3 * _at_zero(problem), None, lambda result: _chosen(M, keep, result)
    )


TASKS: dict[str, Callable[[argparse.Namespace], Task]] = {
    "libsvm": _libsvm,
    "entries": _entries,
    "cur": _cur,
}
"""What the lines of a file are, by name."""


def _refuse(options: argparse.Namespace, *names: str) -> None:
    """Refuse options that mean nothing for these rows."""
    for name in names:
        if getattr(options, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} has no meaning with --rows {options.rows}; leave it out")


def _required(options: argparse.Namespace, example: str) -> str:
    """The oracle, where none is a sensible default."""
    if options.file is None:
        raise ValueError(f"--rows {options.rows} is given without a FILE to read")
    if options.oracle is None:
        raise ValueError(
            f"--rows {options.rows} is given without --oracle; expected {example}, where SHAPE may "
            "be auto"
        )
    oracle: str = options.oracle
    return oracle


def _labels(loss: SeparableConjugate, y: Array, remarks: list[str]) -> Array:
    """Labels that suit the loss; what was done to them is added to the remarks."""
    if loss.label_fault(y):
        y, remark = datasets.map_labels(y)
        remarks += [remark] if remark else []
    return y


def _split(n: int, share: float | None, seed: int) -> tuple[Array, Array]:
    """Which samples are used and which are held out."""
    if share is None:
        return np.arange(n), np.arange(0)
    count = round(share * n) if 0 < share < 1 else 0
    if not 0 < count < n:
        raise ValueError(
            f"--held-out is {share}; expected a share between 0 and 1 that leaves some of the {n} "
            "entries on both sides"
        )
    # A stream of its own, which the batches do not share.
    order = np.random.default_rng(seed).spawn(1)[0].permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


def _counts(word: str | None, M: Array) -> tuple[int, int] | None:
    """How many columns and rows to keep."""
    if word is None:
        return None
    columns, _, rows = word.partition("x")
    most = M.shape[1], len(M)
    if not (columns.isdecimal() and rows.isdecimal()):
        raise ValueError(f"--keep is {word!r}; expected columns x rows, such as 3x2")
    counts = int(columns), int(rows)
    if not (1 <= counts[0] <= most[0] and 1 <= counts[1] <= most[1]):
        raise ValueError(f"--keep is {word!r}; expected 1x1 to {most[0]}x{most[1]}")
    return counts


def _at_zero(problem: Problem) -> float:
    """The mean loss at β = 0, the scale of the problem."""
    return float(problem.mean(problem.losses.value(0 * problem.losses.y)))


def _row(state: State) -> str:
    bound = "corrections" if state.phase == "corrective" else f"{state.bound:.3e}"
    return (
        f"{state.gradients:>12,} {float(state.primal):>14.8f} {float(state.dual):>14.8f} "
        f"{float(state.gap):>14.3e} {bound:>15}"
    )


def _report(result: Result) -> None:
    pair = result.certificate
    print(f"\n{result.message}")
    if result.stop in (StopReason.GRADIENTS, StopReason.SECONDS):
        print("for a smaller gap raise --max-gradients or --max-seconds")
    print(f"P(β) = {float(pair.primal):.10f} is at most {float(pair.gap):.3e} above the optimum:")
    print(f"  losses      (1/n) Σ l(xᵀβ) + l*(w) − w·xᵀβ   = {float(pair.loss_gap):.3e}")
    print(f"  regularizer R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ    = {float(pair.regularizer_gap):.3e}")


def _about(oracle: LinearMinOracle, result: Result) -> Iterator[str]:
    """What is worth saying about a matrix β, and how often the oracle was called."""
    if isinstance(oracle, Counting):
        yield "calls of the oracle: " + ", ".join(f"{k} {n}" for k, n in oracle.calls.items())
    shape, matrix = getattr(oracle, "shape", None), result.beta
    if isinstance(shape, tuple) and not isinstance(matrix, LowRank):
        matrix = LowRank.of_array(np.asarray(matrix[: shape[0] * shape[1]]).reshape(shape))
    if isinstance(matrix, LowRank):
        values = matrix.singular_values()
        rank = int((values > 1e-12 * values.max(initial=0)).sum())
        yield (
            f"β is {matrix.shape[0]} × {matrix.shape[1]} of rank {rank} and nuclear norm "
            f"{values.sum():.6g}, with singular values {_first(f'{value:.4g}' for value in values)}"
        )


def _chosen(M: Array, keep: tuple[int, int] | None, result: Result) -> Iterator[str]:
    """The columns and rows of M by their weights in β, and how well those kept predict M."""
    sizes = abs(result.beta.reshape(M.T.shape))
    counts = []
    for what, axis in (("columns", 1), ("rows", 0)):
        weights = sizes.max(axis=axis)
        order = np.argsort(-weights, kind="stable")
        if keep is None:
            count = int((weights[order].cumsum() < 0.9 * weights.sum()).sum()) + 1
        else:
            count = keep[1 - axis]
        counts.append(count)
        yield f"{what} of M by weight: " + _first(f"{j} ({weights[j]:.4g})" for j in order)
    found = cur.factorization(M, result, *counts)
    yield (
        f"M ≈ CUR with columns {', '.join(map(str, found.columns))} and rows "
        f"{', '.join(map(str, found.rows))}: relative error {found.error:.4f}"
    )


def _first(words: Iterator[str]) -> str:
    """Some words and dots for the others."""
    every = list(words)
    return ", ".join(every[:SHOWN] + ["…"] * (len(every) > SHOWN))


def _compare(problem: Problem, result: Result) -> None:
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
