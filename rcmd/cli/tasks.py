"""The problems of ``rcmd solve``, from files and specs, and what it says about solutions."""

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rcmd import datasets
from rcmd.applications import cur
from rcmd.conjugates import SeparableConjugate
from rcmd.conjugates.base import as_labels
from rcmd.datasets.tables import is_table
from rcmd.model.problem import Problem
from rcmd.model.specs import for_columns, parse_loss, parse_oracle
from rcmd.oracles import Counting, CurSet
from rcmd.rows.lowrank import LowRank
from rcmd.rows.matrix_files import read_entries, read_numbers
from rcmd.rows.matrix_rows import MatrixEntries
from rcmd.rows.processes import Group, shared_errors
from rcmd.rows.validation import Array, FileError, check_seed
from rcmd.solver.result import Result
from rcmd.solver.solve import TOL

SHOWN = 6
"""Singular values, columns and rows that are written out."""


def samples_problem(
    options: argparse.Namespace, loss: str, oracle: str
) -> tuple[Problem, list[str]]:
    """The problem on the samples of FILE, and what was done to its labels, in sentences.

    FILE is a path, or the name of a data set, which ``datasets.locate`` searches for; without it
    data are generated from the seed.
    """
    conjugate, regularizer = parse_loss(loss, field_files(options)), parse_oracle(oracle)
    check_seed(options.seed)
    path = None if options.file is None else located(options.file, options.data)
    X: Any
    remarks: list[str] = []
    if path is not None and is_table(path):
        X, y, remark = datasets.read_table(path, options.label)
        remarks = [remark]
    else:
        refuse_label(options)
        X, y = generated(conjugate, options.seed) if path is None else datasets.read(path)
    y, mapped = fitting_labels(conjugate, y)
    own = sample_data(options, len(y)) | {"intercept": vars(options).get("intercept")}
    return Problem(X, y, conjugate, regularizer, **own), remarks + mapped


def refuse_label(options: argparse.Namespace) -> None:
    """Refuse to say which column is the label of a file that has no columns."""
    if options.label is not None:
        what = f"for {options.file}, which is no table" if options.file else "without a FILE"
        raise ValueError(
            f"--label is given {what}; leave it out: it names a column of a .csv, .tsv, .parquet "
            "or .npy file, and LIBSVM's lines begin with their label"
        )


def field_files(options: argparse.Namespace) -> dict[str, str]:
    """The file of each ``--field NAME=FILE``."""
    files: dict[str, str] = {}
    for text in options.field or ():
        name, _, file = text.partition("=")
        if not (name.isidentifier() and file) or name in files:
            raise ValueError(
                f"--field is {text!r}; expected NAME=FILE, such as tau=levels.npy, once for each "
                "name that the loss reads"
            )
        files[name] = file
    return files


def sample_data(options: argparse.Namespace, n: int, mine: slice = slice(None)) -> dict[str, Any]:
    """Offset and fields of ``Problem`` from their files, of n samples those that are ``mine``."""
    fields = {name: _one_each(file, n)[mine] for name, file in field_files(options).items()}
    offset = None if options.offset is None else _one_each(options.offset, n)[mine]
    return {"offset": offset, "fields": fields}


def _one_each(file: str, n: int) -> Array:
    """The numbers of a file, one for each of n samples."""
    table = read_numbers(file)
    if table.size != n or 1 not in table.shape:
        raise FileError(
            f"{file} holds {len(table)} × {table.shape[1]} numbers; expected {n}, one for each "
            "sample, in a line each"
        )
    return table.ravel()


def generated(loss: SeparableConjugate, seed: int) -> tuple[Any, Array]:
    """Built-in samples whose labels suit the loss."""
    signs_only = loss.label_fault([0.5]) is not None
    make = datasets.make_classification if signs_only else datasets.make_regression
    return make(rng=seed)


def fitting_labels(
    loss: SeparableConjugate, y: Array, group: Group = Problem.group
) -> tuple[Array, list[str]]:
    """Labels that suit the loss, mapped the same on all ranks, and what was done to them."""
    if y.dtype.kind == "U" and len(classes := np.unique(y).tolist()) == 2:
        said = "labels {!r} and {!r} were mapped to -1 and +1, in the order of the alphabet"
        return as_labels(y, classes, loss), [said.format(*classes)]
    as_labels(y, None, loss)  # which refuses text
    if not group.largest(np.array([int(loss.label_fault(y) is not None)]))[0]:
        return y, []
    distinct = np.unique(np.concatenate(group.gather(np.unique(y))))
    with shared_errors(group):
        mapped, remark = datasets.map_labels(distinct)
    return mapped[np.searchsorted(distinct, y)], [remark] if remark else []


def located(file: str, folder: str | None) -> str | Path:
    """``file`` itself if it exists or is no bare name; else the path of that data set."""
    if Path(file).exists() or Path(file).name != file:
        return file
    try:
        return datasets.locate(file, folder)
    except FileError as fault:
        raise FileError(f"{file} cannot be read: there is no such file here, and {fault}") from None


@dataclass(frozen=True)
class Task:
    """A problem of the command line, and what was done to its data, in sentences.

    ``summary`` describes a solution, line by line; ``batch``, ``tol`` and ``method`` are the
    defaults of the options.
    """

    problem: Problem
    remarks: list[str]
    summary: Callable[[Result], Iterator[str]]
    batch: float | None = None
    tol: float = TOL
    method: str = "corrected"


def libsvm(options: argparse.Namespace) -> Task:
    """Samples of a LIBSVM file, or built-in ones."""
    refuse(options, "held_out", "keep")
    words = options.loss or "logistic", options.oracle or "l1:5"
    problem, remarks = samples_problem(options, *words)
    task = Task(problem, remarks, partial(about_solution, problem))
    return task if options.file else replace(task, tol=1e-2, method="rcmd")


def entries(options: argparse.Namespace) -> Task:
    """Some entries of a matrix, which is to be completed."""
    refuse(options, "keep", "intercept", "data", "offset", "field", "label")
    loss = parse_loss(options.loss or "least-squares")
    oracle = _required_oracle(options, "nuclear:SHAPE:RADIUS")
    found = read_entries(options.file)
    y, remarks = fitting_labels(loss, found.values)
    if found.remark:
        remarks.insert(0, found.remark)
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
    return Task(problem, remarks, summary, 1.0, 1e-3 * _at_zero(problem), "rcmd")


def columns_and_rows(options: argparse.Namespace) -> Task:
    """A matrix whose columns and rows are to be chosen."""
    refuse(options, "held_out", "intercept", "loss", "data", "offset", "field", "label")
    oracle = _required_oracle(options, "cur:SHAPE:RADIUS")
    M = read_numbers(options.file)
    regularizer = for_columns(oracle, M.size, M.T.shape)
    if not isinstance(regularizer, CurSet) or regularizer.shape != M.T.shape:
        raise ValueError(
            f"oracle {options.oracle!r} does not fit --rows cur and a matrix of {len(M)} × "
            f"{M.shape[1]}; expected cur:{M.shape[1]}x{len(M)}:RADIUS (β has the shape of Mᵀ), or "
            "cur:auto:RADIUS"
        )
    problem = cur.problem(M, regularizer.radius)
    summary = partial(chosen_columns_and_rows, M, _counts(options.keep, M))
    return Task(problem, [], summary, 1.0, 1e-3 * _at_zero(problem))


TASKS: dict[str, Callable[[argparse.Namespace], Task]] = {
    "libsvm": libsvm,
    "entries": entries,
    "cur": columns_and_rows,
}
"""The tasks of ``rcmd solve``, by what its file holds (``--rows``)."""


def about_solution(problem: Any, result: Result) -> Iterator[str]:
    """Calls of the oracle, the rank of a matrix β, coefficients that have names, the intercept."""
    oracle = problem.regularizer
    if isinstance(oracle, Counting):
        counted = (f"{name} {oracle.calls[name]}" for name in Counting.counted)
        yield "calls of the oracle: " + ", ".join(counted)
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
    if problem.columns is not None:
        features = result.beta[: len(problem.columns)]
        order = [i for i in np.argsort(-abs(features), kind="stable") if features[i] != 0]
        named = _first(f"{problem.columns[i]} {features[i]:.4g}" for i in order)
        yield f"coefficients: {named or 'all zero'}"
    if problem.intercept is not None:
        inside = abs(result.beta[-1]) < problem.intercept
        yield f"intercept {result.beta[-1]:.6g}{'' if inside else ', its bound: give a larger one'}"


def chosen_columns_and_rows(
    M: Array, keep: tuple[int, int] | None, result: Result
) -> Iterator[str]:
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
    """The first words, and dots for the others."""
    listed = list(words)
    return ", ".join(listed[:SHOWN] + ["…"] * (len(listed) > SHOWN))


def refuse(options: argparse.Namespace, *names: str) -> None:
    """Refuse options that mean nothing for these rows."""
    for name in names:
        if getattr(options, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} has no meaning with --rows {options.rows}; leave it out")


def _required_oracle(options: argparse.Namespace, example: str) -> Any:
    """The oracle of a FILE that needs one, as there is no sensible default."""
    if options.file is None:
        raise ValueError(f"--rows {options.rows} is given without a FILE to read")
    if options.oracle is None:
        raise ValueError(
            f"--rows {options.rows} is given without --oracle; expected {example}, where SHAPE may "
            "be auto"
        )
    return parse_oracle(options.oracle)


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
    if not re.fullmatch(r"\d+x\d+", word):
        raise ValueError(f"--keep is {word!r}; expected columns x rows, such as 3x2")
    columns, rows = map(int, word.split("x"))
    if not (1 <= columns <= M.shape[1] and 1 <= rows <= len(M)):
        raise ValueError(f"--keep is {word!r}; expected 1x1 to {M.shape[1]}x{len(M)}")
    return columns, rows


def _at_zero(problem: Problem) -> float:
    """The mean loss at β = 0, the scale of the problem."""
    return float(problem.mean(problem.losses.value(0 * problem.losses.y)))
