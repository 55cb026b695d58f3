"""What a checkpoint keeps of a command line, so that another one can make its problem again."""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path
from typing import Any

from rcmd.solving.samples import found

WORDS = (
    "rows", "file", "data", "loss", "oracle", "intercept", "batch", "seed", "held_out", "keep",
)  # fmt: skip
"""The options that say what is solved, and by which steps."""


def words_of(options: argparse.Namespace) -> dict[str, Any]:
    """The words, with the whole path of the data and their checksum."""
    words = {name: getattr(options, name) for name in WORDS}
    if options.file is not None:
        path = found(options.file, options.data) if options.rows == "libsvm" else options.file
        words |= {"file": os.path.abspath(path), "data": None}
        words["sha256"] = checksum(Path(words["file"]))
    return words


def options_from(checkpoint: str, words: Any, options: argparse.Namespace) -> argparse.Namespace:
    """The options of ``rcmd solve``, with those of ``rcmd resume``; refused where data changed."""
    if words is None:
        raise ValueError(
            f"{checkpoint} was not written by `rcmd solve`, and does not say how its problem is "
            "made; expected one that was: in Python, rcmd.resume(file, problem) goes on with it"
        )
    if words["file"] is not None:
        path = Path(words["file"])
        if not path.exists():
            raise FileNotFoundError(
                f"{path}, the data of {checkpoint}, is not there; expected it as it was when the "
                "run began: put it back"
            )
        if checksum(path) != words["sha256"]:
            raise ValueError(
                f"{path} has changed since the run of {checkpoint} began; expected the same data: "
                "put the old file back, or start anew with `rcmd solve`"
            )
    return argparse.Namespace(**vars(options) | {name: words[name] for name in WORDS})


def checksum(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder with their names."""
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        digest.update(file.relative_to(path).as_posix().encode())
        if file.is_file():
            with open(file, "rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
