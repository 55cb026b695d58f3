"""Generated modules on disk, named by what they were generated from.

The name is a hash of the expression, its parameters and the versions of everything that shaped
the module; the first line is a hash of the rest. It is checked when a file is read, and files are
written under another name first: a broken or half-written one is never used, but generated again.
"""

import hashlib
import json
import os
import secrets
import sys
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
    """The name of the module that the code of this folder generates from ``parts``."""
    return f"rcmd_expression_{_hash(json.dumps([*parts, _versions()]))[:32]}"


def path(name: str) -> Path:
    """The file of a module."""
    return folder() / f"{name}.py"


def load(name: str) -> str | None:
    """The module of a name, or None if there is no intact file."""
    try:
        text = path(name).read_text("utf-8")
    except (OSError, RuntimeError, ValueError):
        return None
    return text if text == _sealed(name, text.partition("\n")[2]) else None


def store(name: str, module: str) -> str:
    """The module as ``load`` will find it, written to its file where that is possible."""
    text = _sealed(name, module)
    try:
        folder().mkdir(parents=True, exist_ok=True)
        part = path(name).with_suffix(f".{secrets.token_hex(4)}.part")
        with open(part, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        part.replace(path(name))
    except (OSError, RuntimeError):
        pass
    return text


def _sealed(name: str, module: str) -> str:
    return f"# {_hash(name + module)}\n{module}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _versions() -> list[str]:
    """SymPy's and mpmath's versions, and a hash of the files that generate: an edit changes it."""
    here = Path(__file__).parent
    files = [*sorted(here.glob("*.py")), here.parent / "scalars.py"]
    own = "".join(path.read_text("utf-8") for path in files)
    return [version("sympy"), version("mpmath"), _hash(own)]
