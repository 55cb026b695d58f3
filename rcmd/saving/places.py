"""Where a checkpoint may be written: a new name, in a folder that takes files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rcmd.saving.atomic import part_of
from rcmd.saving.container import unpacked
from rcmd.saving.faults import BadCheckpoint


def whole_path(checkpoint: Any) -> Path:
    """The whole path of a checkpoint, for whoever goes to another folder later."""
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint is {checkpoint!r}; expected the name of a file")
    return Path(os.path.abspath(checkpoint))


def refuse_missing(path: Path) -> None:
    """Say that there is no such file."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}; expected the name of a file")


def refuse_existing(path: Path) -> None:
    """Nothing is ever overwritten: say what is there and what to do."""
    if not os.path.lexists(path):
        return
    try:
        refuse_missing(path)  # a folder, a device
        tree, _ = unpacked(path)
    except (BadCheckpoint, OSError):
        raise FileExistsError(
            f"checkpoint {path} exists and is not a whole checkpoint of rcmd; expected a new name: "
            "it will not be overwritten"
        ) from None
    raise FileExistsError(
        f"checkpoint {path} exists and holds a run of {tree['seconds']:.3g} s; go on with it by "
        "rcmd.resume(file, problem) or `rcmd resume FILE`, or choose a new name: it will not be "
        "overwritten"
    )


def refuse_folder(path: Path) -> None:
    """A folder that takes no files is better known before the work than after it."""
    part = part_of(path)
    try:
        with open(part, "wb"):
            pass
        part.unlink()
    except OSError as fault:
        raise OSError(
            f"checkpoint {path} cannot be written, {fault.strerror or fault}; expected a name in "
            "an existing folder that you may write to"
        ) from None


def identity(path: Path) -> tuple[int, ...] | None:
    """What tells a file from another one of its name; ``None`` where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
