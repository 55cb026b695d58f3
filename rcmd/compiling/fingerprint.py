"""A name for what a function computes, equal in every process.

numba keys its on-disk cache on the file of a kernel, not on the functions the kernel
calls. The fingerprint closes that hole: it changes when the code of a function changes,
or that of anything the function calls, and only then.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

FOREIGN = ("cvxpy", "math", "numba", "numpy", "scipy")
"""Packages whose functions are known by name: numba has its own code for them, or none."""


def is_foreign(function: Any) -> bool:
    """Whether a function belongs to a package that compiled code does not look into."""
    return (function.__module__ or "").partition(".")[0] in FOREIGN


def fingerprint(*values: Any) -> str:
    """Hash what functions compute, and plain values by their contents.

    The hash covers bytecode, constants, default arguments, closed-over values, the
    globals each function names, and every Python function reached through them or
    through a module they name.

    Examples
    --------
    >>> fingerprint(lambda s: s + 1) == fingerprint(lambda s: s + 1)
    True
    >>> fingerprint(lambda s: s + 1) == fingerprint(lambda s: s + 2)
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    _add(digest, values, seen=set())
    return digest.hexdigest()


class Place(NamedTuple):
    """Where a function finds a value from outside: a scope and a name in it, or a cell."""

    scope: Any
    name: str | None
    value: Any

    def unchanged(self) -> bool:
        """Whether the very same value is still there."""
        if self.name is None:
            return self.scope.cell_contents is self.value
        return self.scope.get(self.name) is self.value


def named_places(function: types.FunctionType) -> list[Place]:
    """What ``function`` names from outside: cells, globals, members of named modules."""
    cells = function.__closure__ or ()
    places = [Place(cell, None, cell.cell_contents) for cell in cells]
    names, attributes = _names(function.__code__)
    scope = function.__globals__
    places += [Place(scope, name, scope[name]) for name in dict.fromkeys(names) if name in scope]
    modules = set()
    for place in places:  # which grow on the way
        if isinstance(place.value, types.ModuleType) and place.value not in modules:
            modules.add(place.value)
            members = vars(place.value)
            named = (name for name in attributes if name in members)
            places += [Place(members, name, members[name]) for name in named]
    return places


def named_values(function: types.FunctionType) -> Iterator[Any]:
    """The values of ``named_places``."""
    return (place.value for place in named_places(function))


def _add(digest: Any, value: Any, seen: set[Any]) -> None:
    """Feed ``value`` to ``digest``, each function once."""
    if hasattr(value, "py_func"):  # a numba dispatcher
        _add(digest, sorted(getattr(value, "targetoptions", {}).items()), seen)
        value = value.py_func
    if isinstance(value, types.FunctionType) and not is_foreign(value):
        if value not in seen:
            seen.add(value)
            _add_function(digest, value, seen)
    elif isinstance(value, types.CodeType):
        digest.update(_code_digest(value))
    elif isinstance(value, tuple | list):
        digest.update(b"(")
        for item in value:
            _add(digest, item, seen)
        digest.update(b")")
    elif isinstance(value, set | frozenset):
        _add(digest, sorted(map(repr, value)), seen)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, type):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
        members = value if issubclass(value, enum.Enum) else getattr(value, "_fields", ())
        _add(digest, tuple(members), seen)
    elif hasattr(value, "fingerprint"):
        digest.update(value.fingerprint.encode())
    elif isinstance(value, enum.Enum):
        _add(digest, (value.name, value.value), seen)
    elif isinstance(value, str | bytes | int | float | complex | np.generic | None):
        digest.update(f"{type(value).__name__}={value!r};".encode())
    else:
        # By name, for the repr of most other things holds an address.
        name = getattr(value, "__name__", "")
        digest.update(f"{type(value).__qualname__}:{name};".encode())


def _add_function(digest: Any, function: types.FunctionType, seen: set[Any]) -> None:
    _add(digest, function.__code__, seen)
    _add(digest, function.__defaults__ or (), seen)
    for value in named_values(function):
        _add(digest, value, seen)


@functools.cache
def _code_digest(code: types.CodeType) -> bytes:
    """Of what never changes of a function, so that looking at it again costs little."""
    digest = hashlib.blake2b(code.co_code + code.co_exceptiontable, digest_size=16)
    names = (code.co_names, code.co_varnames, code.co_freevars)
    _add(digest, (*names, code.co_consts), seen=set())
    return digest.digest()


@functools.cache
def _names(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globals and the attributes that ``code`` and the functions inside it name."""
    globals_, attributes = [], list(code.co_names)
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            globals_.append(str(instruction.argval))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _names(constant)
            globals_ += inner[0]
            attributes += inner[1]
    return tuple(globals_), tuple(attributes)
