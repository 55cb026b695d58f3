"""Problems out of files and words, and what a checkpoint keeps of those words."""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import datasets
from rcmd.applications import cur
from rcmd.cli.results import about_solution, chosen_columns_and_rows
from rcmd.conjugates import SeparableConjugate
from rcmd.model.problem import Problem
from rcmd.model.specs import for_columns, parse_loss, parse_oracle
from rcmd.oracles import CurSet
from rcmd.rows.matrix_files import read_entries, read_numbers
from rcmd.rows.matrix_rows import MatrixEntries
from rcmd.rows.validation import check_seed
from rcmd.solver.result import Result

Array = npt.NDArray[Any]

WORDS = (
    "rows", "file", "data", "loss", "oracle", "intercept", "batch", "seed", "held_out", "keep",
)  # fmt: skip
"""The options of ``rcmd solve`` that say what is solved, and by which steps."""


def samples_problem(
    options: argparse.Namespace, loss: str, oracle: str
) -> tuple[Problem, list[str]]:
    """The problem on the samples of FILE, and what was done to its labels, in sentences.

    FILE is a path, or the name of a data set, which is looked for as ``datasets.locate`` says;
    without it data are generated from the seed.
    """
    conjugate, regularizer = parse_loss(loss), parse_oracle(oracle)
    check_seed(options.seed)
    remarks: list[str] = []
    if options.file is None:
        X, y = generated(conjugate, options.seed)
    else:
        X, y = datasets.read(located(options.file, options.data))
        y, remarks = with_fitting_labels(conjugate, y)
    bound = vars(options).get("intercept")
    problem = Problem(X, y, conjugate, regularizer, intercept=bound)
    return problem, remarks


def generated(loss: SeparableConjugate, seed: int) -> tuple[Any, Array]:
    """Built-in samples whose labels suit the loss."""
    signs_only = loss.label_fault([0.5]) is not None
    make = datasets.make_classification if signs_only else datasets.make_regression
    return make(rng=seed)


def with_fitting_labels(loss: SeparableConjugate, y: Array) -> tuple[Array, list[str]]:
    """Labels that suit the loss, and what was done to them."""
    if not loss.label_fault(y):
        return y, []
    mapped, remark = datasets.map_labels(y)
    return mapped, [remark] if remark else []


def located(file: str, folder: str | None) -> str | Path:
    """The path itself if there is such a file, or if it can be no name."""
    if Path(file).exists() or Path(file).name != file:
        return file
    try:
        return datasets.locate(file, folder)
    except datasets.DataError as fault:
        raise datasets.DataError(
            f"{file} cannot be read: there is no such file here, and {fault}"
        ) from None


@dataclass(frozen=True)
class Task:
    """What was asked for: a problem, and what was done to its data, in sentences.

    ``batch``, ``tol`` and ``method`` hold where the command line gives none; ``summary`` says, line
    by line, what there is to say about a solution.
    """

    problem: Problem
    remarks: list[str]
    batch: str
    tol: float
    method: str | None
    summary: Callable[[Result], Iterator[str]]


def libsvm(options: argparse.Namespace) -> Task:
    """Samples of a LIBSVM file, or built-in ones."""
    _refuse(options, "held_out", "keep")
    problem, remarks = samples_problem(
        options, options.loss or "logistic", options.oracle or "l1:5"
    )

    return Task(problem, remarks, "1%", 1e-3, None, partial(about_solution, problem))


def entries(options: argparse.Namespace) -> Task:
    """Some entries of a matrix, which is to be completed."""
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
    samples = MatrixEntries(found.rows[kept], found.columns[kept], shape)
    problem = Problem(samples, y[kept], loss, oracle)

    def summary(result: Result) -> Iterator[str]:
        yield from about_solution(problem, result)
        if len(held_out):
            others = MatrixEntries(found.rows[held_out], found.columns[held_out], shape)
            truth = y[held_out]
            error = np.linalg.norm(others.matvec(result.beta) - truth) / np.linalg.norm(truth)
            yield f"{len(truth)} entries held out: relative error {error:.4f}"

    # Every step costs a singular pair, whatever the batch; corrections predict less well.
    return Task(problem, remarks, "100%", 1e-3 * _at_zero(problem), "rcmd", summary)


def columns_and_rows(options: argparse.Namespace) -> Task:
    """A matrix whose columns and rows are to be chosen."""
    _refuse(options, "held_out", "intercept", "loss", "data")
    oracle = parse_oracle(_required(options, "cur:SHAPE:RADIUS"))
    M = read_numbers(options.file)
    regularizer = for_columns(oracle, M.size, M.T.shape)
    if not isinstance(regularizer, CurSet) or regularizer.shape != M.T.shape:
        raise ValueError(
            f"oracle {options.oracle!r} does not fit --rows cur and a matrix of {len(M)} × "
            f"{M.shape[1]}; expected cur:{M.shape[1]}x{len(M)}:RADIUS (β has the shape of Mᵀ), or "
            "cur:auto:RADIUS"
        )
    problem = cur.problem(M, regularizer.radius)
    keep = _counts(options.keep, M)

    summary = partial(chosen_columns_and_rows, M, keep)
    return Task(problem, [], "100%", 1e-3 * _at_zero(problem), None, summary)


TASKS: dict[str, Callable[[argparse.Namespace], Task]] = {
    "libsvm": libsvm,
    "entries": entries,
    "cur": columns_and_rows,
}
"""What ``rcmd solve`` can be asked for, by what its file holds (``--rows``)."""


def words_of(options: argparse.Namespace, problem: Problem) -> dict[str, Any]:
    """The words that say what is solved, with the whole path of the data and their checksum."""
    words = {name: getattr(options, name) for name in WORDS} | {"spread": problem.spread}
    if problem.group.rank > 0:  # who writes no file
        return words
    if options.file is not None:
        path = located(options.file, options.data) if options.rows == "libsvm" else options.file
        words |= {"file": os.path.abspath(path), "data": None}
        words["sha256"] = _checksum(Path(words["file"]))
    return words


def options_from(
    checkpoint: str, words: Any, options: argparse.Namespace, *, check: bool
) -> argparse.Namespace:
    """The options of ``rcmd solve``, with those of ``rcmd resume``; refused where data changed."""
    if words is None:
        raise ValueError(
            f"{checkpoint} was not written by `rcmd solve`, and does not say how its problem is "
            "made; expected one that was: in Python, rcmd.resume(file, problem) goes on with it"
        )
    if check and words["file"] is not None:
        path = Path(words["file"])
        if not path.exists():
            raise FileNotFoundError(
                f"{path}, the data of {checkpoint}, is not there; expected it as it was when the "
                "run began: put it back"
            )
        if _checksum(path) != words["sha256"]:
            raise ValueError(
                f"{path} has changed since the run of {checkpoint} began; expected the same data: "
                "put the old file back, or start anew with `rcmd solve`"
            )
    return argparse.Namespace(**vars(options) | {name: words[name] for name in WORDS})


def _checksum(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        digest.update(file.relative_to(path).as_posix().encode())
        if file.is_file():
            with open(file, "rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


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
