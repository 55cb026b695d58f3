"""Derived losses on disk: a record and a module each, found again by what they came from.

A record is a JSON file named by a hash of the expression, its parameters and the versions of
everything that shaped it. It names a module file, itself named by a hash of its text. Both
are checked when they are read, and written under another name first, so that a broken or
half-written file is never used: it is simply made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any


def folder() -> Path:
    """RCMD_CACHE, or rcmd's place in the user's cache folder."""
    chosen = os.environ.get("RCMD_CACHE")
    if chosen:
        return Path(chosen) / "expressions"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "rcmd" / "expressions"


def key(*parts: Any) -> str:
    """A name for what was asked, and for the code that answers."""
    return _hash(json.dumps([*parts, _versions()]))[:32]


def module_name(text: str) -> str:
    """The name of the module with this text."""
    return f"rcmd_expression_{_hash(text)[:24]}"


def load(name: str) -> tuple[str, dict[str, Any]] | None:
    """The text and the record stored under a key, or None if there is none that is whole."""
    try:
        stored = json.loads((folder() / f"{name}.json").read_text("utf-8"))
        record, module = stored["record"], stored["module"]
        if stored["check"] != _check(name, record, module):
            return None
        text = module_path(module).read_text("utf-8")
    except (OSError, RuntimeError, ValueError, TypeError, KeyError):
        return None
    return (text, record) if module_name(text) == module else None


def store(name: str, text: str, record: dict[str, Any]) -> None:
    """Keep a loss, the module before the record that points to it; silent where it cannot."""
    module = module_name(text)
    stored = {"check": _check(name, record, module), "module": module, "record": record}
    try:
        folder().mkdir(parents=True, exist_ok=True)
        _write(module_path(module), text)
        _write(folder() / f"{name}.json", json.dumps(stored, indent=1))
    except (OSError, RuntimeError):
        return


def module_path(module: str) -> Path:
    """Where a module is kept."""
    return folder() / f"{module}.py"


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _check(name: str, record: dict[str, Any], module: str) -> str:
    return _hash(json.dumps([name, record, module], sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _versions() -> list[str]:
    """SymPy's and mpmath's versions, and the files at work here: an edit is a new version."""
    here = Path(__file__).parent
    files = [*sorted(here.glob("*.py")), here.parent / "scalars.py"]
    own = "".join(path.read_text("utf-8") for path in files)
    return [version("sympy"), version("mpmath"), _hash(own)]
