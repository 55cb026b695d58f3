"""The user's own losses, oracles and proxes, by name: ``module:Class(0.5)`` or ``file.py:name``."""

import ast
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule
from rcmd.oracles.base import LinearMinOracle
from rcmd.rows import Rows

T = TypeVar("T")

_trusted: ContextVar[Mapping[str, str] | None] = ContextVar("trusted", default=None)

code_run: dict[str, str] = {}
"""The files and modules that were run by name, with the SHA-256 of each file."""


@contextmanager
def only_trusted(code: Mapping[str, str]) -> Iterator[None]:
    """Within it, nothing is run but what ``code`` names, and only files as they were."""
    token = _trusted.set(code)
    try:
        yield
    finally:
        _trusted.reset(token)


def is_file(target: str) -> bool:
    """Whether ``target`` names a part in a Python file, as ``file.py:Class(0.5)`` does."""
    return target.partition(":")[0].endswith(".py") and ":" in target


def load_own(word: str, target: str, kind: type[T]) -> T:
    """The loss, oracle or other part that ``target`` names."""
    part = load(target)
    if not isinstance(part, kind):
        raise ValueError(f"{word} {target!r} is {part!r}; expected a {kind.__name__}")
    return part


def load(target: str, *, make: bool = True) -> Any:
    """The object that ``target`` names; a class is called with the numbers in parentheses.

    Without parentheses it stays a class, if it is not to ``make`` an object.

    Examples
    --------
    >>> load("rcmd:Huber(0.5)")
    Huber(width=0.5)
    """
    place, colon, words = target.partition(":")
    if place.endswith(".py") or not colon:
        place, colon, words = target.rpartition(":")
    if not (place and words):
        if target.endswith(".py"):
            raise ValueError(f"{target} has {_parts_of(_module(target))}; write {target}:NAME")
        raise ValueError(
            f"target {target!r} is not of the form module:Class, module:Class(0.5) or "
            "file.py:Class, and `rcmd list` has no such name"
        )
    name, arguments, keywords = _parsed(target, words)
    module = _module(place)
    if not hasattr(module, name):
        files = [file for file in (f"{place}.py", f"{place}/{place}.py") if Path(file).is_file()]
        if not place.endswith(".py") and Path(place).is_dir() and files:
            raise ValueError(
                f"{place} is the folder {place}, which has no {name}; expected a file: write "
                f"{files[0]}:{words}"
            )
        raise ValueError(f"{place} has no {name}; it has {_parts_of(module)}")
    part = getattr(module, name)
    if not isinstance(part, type) or not (make or words.endswith(")")):
        return part
    try:
        return part(*arguments, **keywords)
    except TypeError as fault:
        raise ValueError(f"{name} cannot be made: {fault}; write {place}:{name}(…)") from None


def _parsed(target: str, words: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Name, arguments and named arguments; nothing but literals is evaluated."""
    try:
        tree = ast.parse(words, mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, [], {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            arguments = [ast.literal_eval(argument) for argument in tree.args]
            keywords = {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}
            return tree.func.id, arguments, keywords
    except (SyntaxError, ValueError, RecursionError):
        pass
    raise ValueError(
        f"target {target!r} has {words!r} after its colon; expected a name, or a name with "
        "numbers in parentheses, such as Huber(0.5)"
    )


def _module(place: str) -> Any:
    """Run a file or a module: the very bytes whose hash is compared, no compiled copy of them.

    What they import in turn is imported as usual, and is not compared.
    """
    trusted = _trusted.get()
    if trusted is not None and place not in trusted:
        raise ValueError(
            f"{place} would be run, which a checkpoint names; expected --trust-user-code, if you "
            "have read that file and trust it"
        )
    path, spec = _found(place)
    source = b"" if path is None else path.read_bytes()
    sha256 = "" if path is None else hashlib.sha256(source).hexdigest()
    if trusted is not None and trusted[place] != sha256:
        raise ValueError(
            f"{place} is not what it was when the run began, and is not run; expected the same file"
        )
    code_run[place] = sha256
    if spec is None:
        return sys.modules[place]
    try:
        if path is None:
            return importlib.import_module(place)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
    except Exception as fault:  # whatever the user's file raises
        sys.modules.pop(spec.name, None)
        raise ValueError(f"{place} cannot be imported: {type(fault).__name__}: {fault}") from None
    return module


def _found(place: str) -> tuple[Path | None, Any]:
    """The source, if there is one, and the spec of a module that is not there yet."""
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise ValueError(f"{place} cannot be read; expected a Python file")
        _search_in(str(path.parent.resolve()))
        return path, importlib.util.spec_from_file_location(path.stem, path)
    _search_in(os.getcwd())
    if place in sys.modules:
        spec, origin = None, getattr(sys.modules[place], "__file__", None)
    else:
        try:
            spec, fault = importlib.util.find_spec(place), f"No module named {place!r}"
        except (ImportError, ValueError) as error:
            spec, fault = None, str(error)
        if spec is None:
            raise ValueError(
                f"module {place!r} cannot be imported: {fault}; expected one that is installed or "
                "in this folder: a file is given as FILE.py:CLASS"
            )
        origin = spec.origin
    return Path(origin) if origin and origin.endswith(".py") else None, spec


def _search_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _parts_of(module: Any) -> str:
    """What a module has that derives from rcmd, or else the losses, oracles, … that it imports."""
    kinds = (SeparableConjugate, LinearMinOracle, BregmanProx, Schedule, Rows)
    classes = {
        name: part if isinstance(part, type) else type(part) for name, part in vars(module).items()
    }
    found = [name for name, cls in classes.items() if issubclass(cls, kinds)]
    own = [
        name
        for name, cls in classes.items()
        if cls.__module__ == module.__name__
        and any(base.__module__.startswith("rcmd.") for base in cls.__mro__)
    ]
    return ", ".join(own or found) or "no loss, oracle or prox"
