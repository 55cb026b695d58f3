"""What ``rcmd solve`` can be asked for, by what the lines of its file are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import cur
from rcmd.oracles import CurSet
from rcmd.problem import Problem
from rcmd.result import Result
from rcmd.rows.entries import MatrixEntries
from rcmd.solving.samples import read_samples, with_fitting_labels
from rcmd.solving.solutions import about_oracle, chosen_columns_and_rows
from rcmd.specs import made, parse_loss, parse_oracle

Array = npt.NDArray[Any]


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


def libsvm(options: argparse.Namespace) -> Task:
    """Samples of a LIBSVM file, or built-in ones."""
    _refuse(options, "held_out", "keep")
    loss, oracle = parse_loss(options.loss or "logistic"), parse_oracle(options.oracle or "l1:5")
    X, y, remarks = read_samples(options.file, options.data, loss, options.seed)
    regularizer = made(oracle, X.shape[1])
    problem = Problem(X, y, loss, regularizer, intercept=options.intercept)

    def summary(result: Result) -> Iterator[str]:
        yield from about_oracle(regularizer, result)
        if options.intercept is not None:
            yield f"intercept {result.beta[-1]:.6g}"

    return Task(problem, remarks, "1%", 1e-3, None, summary)


def entries(options: argparse.Namespace) -> Task:
    """Some entries of a matrix, which is to be completed."""
    from rcmd.matrix_files import read_entries

    _refuse(options, "keep", "intercept", "data")
    loss = parse_loss(options.loss or "least-squares")
    oracle = parse_oracle(_required(options, "nuclear:SHAPE:RADIUS"))
    found = read_entries(options.file)
    remarks = [found.remark] if found.remark else []
    y, remark = with_fitting_labels(loss, found.values)
    remarks += remark
    shape = getattr(oracle, "shape", None)
    if not isinstance(shape, tuple):
        shape = found.shape
    kept, held_out = _split(len(y), options.held_out, options.seed)
    regularizer = made(oracle, shape[0] * shape[1], shape)
    samples = MatrixEntries(found.rows[kept], found.columns[kept], shape)
    problem = Problem(samples, y[kept], loss, regularizer)

    def summary(result: Result) -> Iterator[str]:
        yield from about_oracle(regularizer, result)
        if len(held_out):
            others = MatrixEntries(found.rows[held_out], found.columns[held_out], shape)
            truth = y[held_out]
            error = np.linalg.norm(others.matvec(result.beta) - truth) / np.linalg.norm(truth)
            yield f"{len(truth)} entries held out: relative error {error:.4f}"

    # Every step costs a singular pair, whatever the batch; corrections predict less well.
    return Task(problem, remarks, "100%", 1e-3 * _at_zero(problem), False, summary)


def columns_and_rows(options: argparse.Namespace) -> Task:
    """A matrix whose columns and rows are to be chosen."""
    from rcmd.matrix_files import read_numbers

    _refuse(options, "held_out", "intercept", "loss", "data")
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

    def summary(result: Result) -> Iterator[str]:
        return chosen_columns_and_rows(M, keep, result)

    return Task(problem, [], "100%", 1e-3 * _at_zero(problem), None, summary)


TASKS: dict[str, Callable[[argparse.Namespace], Task]] = {
    "libsvm": libsvm,
    "entries": entries,
    "cur": columns_and_rows,
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
