"""The public data sets that some tests read, where they are at hand."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("RCMD_DATA", Path(__file__).parents[2] / "shared" / "data"))
NAMES = ("a9a", "w8a", "mushrooms", "gisette_scale.t")


def path(name: str) -> Path:
    return FOLDER / f"{name}.bz2"


def needs(name: str) -> pytest.MarkDecorator:
    """Mark a test of the data set ``name``, for ``conftest`` to leave out where it is absent."""
    return pytest.mark.data(name)


def each(*names: str, slow: tuple[str, ...] = ()) -> list[object]:
    """The names as parameters of such tests."""
    return [
        pytest.param(name, marks=[needs(name), *([pytest.mark.slow] if name in slow else [])])
        for name in names
    ]
