"""Generated modules on disk, found again by what they came from.

A file is named by a hash of the expression, its parameters and the versions of everything that
shaped it; its first line is a hash of the rest. It is checked when it is read, and written under
another name first, so that a broken or half-written file is never used: it is simply made again.
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


def name_for(*parts: Any) -> str:
    """The name of the module for what was asked, by the code that is here."""
    return f"rcmd_expression_{_hash(json.dumps([*parts, _versions()]))[:32]}"


def path(name: str) -> Path:
    """Where a module is kept."""
    return folder() / f"{name}.py"


def load(name: str) -> str | None:
    """The module kept under a name, or None if there is none that is whole."""
    try:
        text = path(name).read_text("utf-8")
    except (OSError, RuntimeError, ValueError):
        return None
    return text if text == _sealed(name, text.partition("\n")[2]) else None


def keep(name: str, module: str) -> str:
    """The module as ``load`` will find it; kept in memory alone where no file can be written."""
    text = _sealed(name, module)
    try:
        folder().mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder(), suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.replace(temporary, path(name))
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, RuntimeError):
        pass
    return text


def _sealed(name: str, module: str) -> str:
    return f"# {_hash(name + module)}\n{module}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _versions() -> list[str]:
    """SymPy's and mpmath's versions, and the files at work here: an edit is a new version."""
    here = Path(__file__).parent
    files = [*sorted(here.glob("*.py")), here.parent / "scalars.py"]
    own = "".join(path.read_text("utf-8") for path in files)
    return [version("sympy"), version("mpmath"), _hash(own)]
