"""Results in files: the pair, the history, what was solved and how, and with which versions."""

import os
import platform
from dataclasses import asdict
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

import rcmd
from rcmd.model.certificate import Certificate, frozen
from rcmd.model.constants import Summary
from rcmd.model.ownership import GROUNDS
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import FileError, one_line
from rcmd.solver.checkpoint.file import Kind, read_file, write_file
from rcmd.solver.history import History, StopReason, of_kinds
from rcmd.solver.result import Result

NUMBERS = ("primal", "dual", "loss_gap", "regularizer_gap")
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "copt")


FORMAT = Kind("result", 2, "result.save(…) or rcmd solve --save")


def save_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write ``result`` to ``path``, replacing any file there; see ``Result.save``."""
    check_replaceable(path)
    try:
        write_file(Path(path), {"versions": versions(), **parts(result)}, FORMAT)
    except OSError as fault:  # a full disk, or a folder such as /proc
        raise OSError(
            f"{str(path)!r} cannot be written, {fault.strerror or fault}; expected a place in a "
            "folder that takes files"
        ) from None


def parts(result: Result) -> dict[str, Any]:
    """The whole result, as plain values."""
    pair = result.certificate
    return {
        "beta": _compact(pair.beta),
        "w": pair.w,
        **{name: getattr(pair, name) for name in NUMBERS},
        "ground": pair.ground_text,
        "history": result.history.columns(),
        "stop": result.stop.name,
        "note": result.note,
        "about": None if result.about is None else asdict(result.about),
        "options": dict(result.options),
    }


def load_result(path: str | os.PathLike[str]) -> Result:
    """The result that ``Result.save`` or ``rcmd solve --save`` wrote.

    A file that is cut short, damaged, of another format or no result at all is refused by a
    ``FileError``.

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
    return load_with_versions(path)[0]


def as_data(result: Result) -> dict[str, Any]:
    """Everything but w, for JSON; β by its entries that are not zero."""
    pair, last, columns = result.certificate, result.history[-1], result.history.columns()
    rows = zip(*columns.values(), strict=True)
    return {
        "problem": None if result.about is None else asdict(result.about),
        "options": result.options,
        "stop": result.stop.name,
        "success": result.success,
        "message": result.message,
        "note": result.note,
        "gap": pair.gap,
        **{name: getattr(pair, name) for name in NUMBERS},
        "ground": pair.ground,
        "ground_text": pair.ground_text,
        "iterations": last.iteration,
        "gradients": last.gradients,
        "oracle_calls": last.oracle_calls,
        "seconds": last.seconds,
        "beta": _nonzeros(result.beta),
        "history": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a file that could not be written."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # said below
    except (OSError, ValueError) as fault:  # too long, or with a NUL character
        reason = getattr(fault, "strerror", None) or fault
        raise ValueError(
            f"{one_line(repr(str(path)))} is no name of a file ({reason}); expected a short one "
            "without control characters"
        ) from None
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{str(path)!r} is in a folder that does not exist; create {folder} first")
    if Path(path).is_dir():
        raise ValueError(f"{str(path)!r} is a folder; expected the name of a file to write")
    if not os.access(Path(path) if Path(path).exists() else folder, os.W_OK):
        raise ValueError(f"{str(path)!r} is write-protected; expected a file that you may write")


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """The same for a file whose place a new one takes, which a pipe or a device must not leave."""
    check_folder(path)
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{str(path)!r} is a pipe or a device; expected the name of a file")


def versions() -> dict[str, str | None]:
    """The versions of Python and of the packages that matter; ``None`` for one that is absent."""
    from importlib import metadata

    found: dict[str, str | None] = {"python": platform.python_version(), "rcmd": rcmd.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def load_with_versions(
    path: str | os.PathLike[str],
) -> tuple[Result, dict[str, str | None]]:
    """A saved result, and the versions of Python and the packages that it was made with."""
    path = Path(path)
    if not os.path.isfile(path):  # False too for what is no name
        raise FileError(f"{one_line(path)} cannot be read: there is no such file")
    held = read_file(path, FORMAT)
    try:
        made_with = {str(name): v and str(v) for name, v in dict(held["versions"]).items()}
        return from_parts(held), made_with
    except Exception as fault:  # a forged file may hold anything
        raise FileError(
            f"{path} lacks parts of a result, or holds wrong ones ({one_line(fault)}); expected a "
            f"file that {FORMAT.writer} wrote"
        ) from fault


def from_parts(held: dict[str, Any]) -> Result:
    """The result that gave these ``parts``."""
    about = held["about"]
    if about is not None:
        letters = tuple((str(a), str(b), float(value)) for a, b, value in about["constants"])
        # Files from before there were fields name none.
        reads, columns = tuple(map(str, about.get("fields", ()))), about.get("columns")
        about |= {"fields": reads, "columns": columns and tuple(map(str, columns))}
        about = of_kinds(Summary, about | {"constants": letters})
        if columns and len(columns) != about.p - about.intercept:
            raise ValueError(f"it names {len(columns)} columns of {about.p}; expected all or none")
    numbers = {name: held[name] for name in NUMBERS}
    if not all(isinstance(value, Number) for value in numbers.values()):
        raise ValueError(f"its values are {numbers}; expected numbers")
    if not (numbers["loss_gap"] >= 0 and numbers["regularizer_gap"] >= 0):
        raise ValueError("a gap is negative; expected none")
    ground = held.get("ground", "unchecked: by a version that did not say")
    if not (isinstance(ground, str) and ground.partition(":")[0] in GROUNDS):
        raise ValueError(f"its ground is {ground!r}; expected one of {', '.join(GROUNDS)}")
    pair = frozen(_restored(held["beta"])), frozen(held["w"])
    if not (isinstance(pair[0], LowRank) or pair[0].ndim == 1) or pair[1].ndim != 1:
        raise ValueError(f"β and w have shapes {pair[0].shape}, {pair[1].shape}; expected vectors")
    return Result(
        certificate=Certificate(*pair, **numbers, ground_text=ground),
        history=History.of_columns(held["history"]),
        stop=StopReason[held["stop"]],
        note=str(held["note"]),
        about=about,
        options=dict(held["options"]),
    )


def _compact(beta: Any) -> Any:
    """β without spare room, or without its zeros where that is shorter."""
    if isinstance(beta, LowRank):
        return beta.copy()
    if beta.dtype == object or 2 * np.count_nonzero(beta) >= len(beta):
        return beta
    return _nonzeros(beta)


def _restored(beta: Any) -> Any:
    if not isinstance(beta, dict):
        return beta
    vector = np.zeros(beta["length"], beta["values"].dtype)
    vector[beta["nonzero"]] = beta["values"]
    return vector


def _nonzeros(beta: Any) -> dict[str, Any]:
    if isinstance(beta, LowRank):
        return {"shape": beta.shape, "singular_values": beta.copy().singular_values()}
    places = np.flatnonzero(beta)
    return {"length": len(beta), "nonzero": places, "values": beta[places]}
