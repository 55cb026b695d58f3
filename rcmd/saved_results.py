"""Results in files: the pair, the history, what was solved and how, and with which versions."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.bench.report import versions
from rcmd.certificate import Certificate
from rcmd.description import Summary
from rcmd.json_output import check_folder
from rcmd.lowrank import LowRank
from rcmd.result import Checkpoint, History, Result, StopReason
from rcmd.saving.atomic import replace_file
from rcmd.saving.container import Kind, packed, unpacked
from rcmd.saving.values import Reader, Writer

NUMBERS = ("primal", "dual", "loss_gap", "regularizer_gap")


class BadResult(ValueError):
    """A file that holds no result, or not all of it."""


FORMAT = Kind("result", 1, "result.save(…) or rcmd solve --save", BadResult)


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write ``result`` to ``path``, in the place of what was there; see ``Result.save``."""
    check_folder(path)
    pair = result.certificate
    arrays: list[Any] = []
    contents = {
        "versions": versions(),
        "beta": _compact(pair.beta),
        "w": pair.w,
        **{name: getattr(pair, name) for name in NUMBERS},
        "history": {
            column.name: [getattr(row, column.name) for row in result.history]
            for column in fields(Checkpoint)
        },
        "stop": result.stop.name,
        "note": result.note,
        "about": None if result.about is None else asdict(result.about),
        "options": dict(result.options),
    }
    tree = Writer({}, arrays).write(contents, "the result")
    replace_file(Path(path), packed(tree, arrays, FORMAT))


def load_result(path: str | os.PathLike[str]) -> Result:
    """The result that ``Result.save`` or ``rcmd solve --save`` wrote.

    A file that is cut short, damaged, of a newer format or no result at all is refused in a
    sentence, by a ``ValueError``.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> result = solve(problem, tol=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(Path(folder) / "run.rcmd")
    ...     again = load_result(Path(folder) / "run.rcmd")
    >>> again.message == result.message, again.beta.tolist() == result.beta.tolist()
    (True, True)
    """
    return _read(Path(path))[0]


def load_versions(path: str | os.PathLike[str]) -> dict[str, str | None]:
    """The versions of Python and the packages that a saved result was made with."""
    return _read(Path(path))[1]


def _read(path: Path) -> tuple[Result, dict[str, str | None]]:
    if not path.is_file():
        raise BadResult(f"{path} cannot be read: there is no such file")
    tree, arrays = unpacked(path, FORMAT)
    try:
        held = Reader(arrays, {}).read(tree)
        return _result(held), held["versions"]
    except (KeyError, TypeError, ValueError) as fault:
        raise BadResult(
            f"{path} has the checksum of a result and not its parts ({fault}); expected a file "
            f"that {FORMAT.writer} wrote"
        ) from fault


def _result(held: dict[str, Any]) -> Result:
    about, columns = held["about"], held["history"]
    if about is not None:
        about = Summary(**about | {"constants": tuple(map(tuple, about["constants"]))})
    rows = zip(*(columns[column.name] for column in fields(Checkpoint)), strict=True)
    return Result(
        certificate=Certificate(
            beta=_frozen(_restored(held["beta"])),
            w=_frozen(held["w"]),
            **{name: held[name] for name in NUMBERS},
        ),
        history=History([Checkpoint(*row) for row in rows]),
        stop=StopReason[held["stop"]],
        note=held["note"],
        about=about,
        options=held["options"],
    )


def _compact(beta: Any) -> Any:
    """β without spare room, or without its zeros where that is shorter."""
    if isinstance(beta, LowRank):
        return beta.copy()
    places = np.flatnonzero(beta)
    if beta.dtype == object or 2 * len(places) >= len(beta):
        return beta
    return {"length": len(beta), "nonzero": places, "values": beta[places]}


def _restored(beta: Any) -> Any:
    if not isinstance(beta, dict):
        return beta
    vector = np.zeros(beta["length"], beta["values"].dtype)
    vector[beta["nonzero"]] = beta["values"]
    return vector


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array
