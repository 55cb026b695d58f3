"""Samples (X, y) for a loss: a file, a folder of rows, a data set by name, or built-in ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from rcmd import datasets
from rcmd.conjugates import SeparableConjugate
from rcmd.validation import check_seed

Array = npt.NDArray[Any]


def read_samples(
    file: str | None, folder: str | None, loss: SeparableConjugate, seed: int
) -> tuple[Any, Array, list[str]]:
    """X, y, and what was done to y in sentences.

    ``file`` is a path, or the name of a data set, which is looked for as ``datasets.locate``
    says; without it data are generated from the seed.
    """
    check_seed(seed)
    if file is None:
        signs_only = loss.label_fault([0.5]) is not None
        make = datasets.make_classification if signs_only else datasets.make_regression
        return *make(rng=seed), []
    X, y = datasets.read(found(file, folder))
    return X, *with_fitting_labels(loss, y)


def with_fitting_labels(loss: SeparableConjugate, y: Array) -> tuple[Array, list[str]]:
    """Labels that suit the loss, and what was done to them."""
    if not loss.label_fault(y):
        return y, []
    mapped, remark = datasets.map_labels(y)
    return mapped, [remark] if remark else []


def found(file: str, folder: str | None) -> str | Path:
    """The path itself if there is such a file, or if it can be no name."""
    if Path(file).exists() or Path(file).name != file:
        return file
    try:
        return datasets.locate(file, folder)
    except datasets.DataError as fault:
        raise datasets.DataError(
            f"{file} cannot be read: there is no such file here, and {fault}"
        ) from None
