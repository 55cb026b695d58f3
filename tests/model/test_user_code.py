"""The bytes of a user's file whose hash is compared are the bytes that run."""

import importlib.util
import os
import py_compile
import sys
from pathlib import Path
from typing import Any

import pytest

from rcmd.model.user_code import code_run, load, only_trusted

RIGHT, FORGED = "answer = 1", "answer = 2"


@pytest.fixture(params=["swapped.py", "swapped"])
def place(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file, and a module by its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "swapped", raising=False)
    Path("swapped.py").write_text(RIGHT)
    yield request.param
    sys.modules.pop("swapped", None)


def test_no_compiled_copy_is_run(place: str) -> None:
    """One with the time and the size of the file, as Python believes it."""
    file = Path("swapped.py").resolve()
    stamp = os.stat(file)
    file.write_text(FORGED)
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    py_compile.compile(str(file), importlib.util.cache_from_source(str(file)))
    file.write_text(RIGHT)
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert load(f"{place}:answer") == 1


def test_what_was_compared_is_run(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is swapped right after it was read."""
    assert load(f"{place}:answer") == 1
    sys.modules.pop("swapped")
    read = Path.read_bytes

    def swapping(path: Path) -> bytes:
        found = read(path)
        path.write_text(FORGED)
        return found

    monkeypatch.setattr(Path, "read_bytes", swapping)
    with only_trusted({place: code_run[place]}):
        assert load(f"{place}:answer") == 1
        sys.modules.pop("swapped")
        with pytest.raises(ValueError, match=r"swapped\S* is not what it was when the run began"):
            load(f"{place}:answer")
    assert "swapped" not in sys.modules
