"""Hashes of data and of the objects that define a run, equal in every process."""

import hashlib
from collections.abc import Mapping, Set
from functools import cached_property, partial
from numbers import Number
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.jit.caching import fingerprint as code_fingerprint
from rcmd.rows.disk import ArrayFile
from rcmd.rows.operator import OperatorRows
from rcmd.rows.validation import is_sparse, of_rcmd, unwrapped

BLOCK_BYTES = 2**26


def fingerprint(value: Any) -> str:
    """A hash of the contents of ``value``.

    Objects are hashed with all their attributes, but for those that their class names in
    ``changing`` and for what rcmd keeps in them (``caches``, cached properties, and what begins
    with ``_`` in classes of its own); classes that are not rcmd's with the code of their methods
    and their constants, operators by two products.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> fingerprint(L1Ball(2.0)) == fingerprint(L1Ball(2.0)) != fingerprint(L1Ball(3.0))
    True
    """
    digest = hashlib.sha256()
    _add(digest, value, ())
    return digest.hexdigest()


def _add(digest: Any, value: Any, inside: tuple[int, ...]) -> None:
    """Feed ``value``, which stands ``inside`` of objects with these identities."""
    inside = (*inside, id(value))
    if inside[-1] in inside[:-1]:
        digest.update(b"again;")
    elif isinstance(value, np.ndarray):
        _add_array(digest, value)
    elif is_sparse(value):
        digest.update(f"{value.format}{value.shape}".encode())
        for part in (value.data, value.indices, value.indptr):
            _add_array(digest, part)
    elif isinstance(value, ArrayFile):
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        count = BLOCK_BYTES // value.dtype.itemsize
        for start in range(0, value.size, count):
            digest.update(value.read(start, min(start + count, value.size)).view(np.uint8).data)
    elif isinstance(value, tuple | list):
        digest.update(f"({len(value)}".encode())
        for item in value:
            _add(digest, item, inside)
    elif isinstance(value, Mapping | Set):
        # In the order of their names, as equal ones may differ in theirs.
        items = value.items() if isinstance(value, Mapping) else value
        _add(digest, sorted(items, key=repr), inside)
    elif isinstance(value, np.random.Generator):
        digest.update(type(value.bit_generator).__name__.encode())  # its state is the run's
    elif isinstance(value, FunctionType):
        digest.update(code_fingerprint(value).encode())
    elif isinstance(value, OperatorRows):
        rng = np.random.default_rng(0)
        _add(digest, value.matvec(rng.standard_normal(value.p)), inside)
        _add(digest, value.rmatvec(rng.standard_normal(value.n)), inside)
    elif isinstance(value, Number | str | bytes | type | ModuleType | None):
        digest.update(f"{value!r};".encode())
    elif isinstance(value, MethodType | partial) or not hasattr(value, "__dict__"):
        _add(digest, _pickled(value), inside)
    else:
        _add_object(digest, value, inside)


def _pickled(value: Any) -> Any:
    """What an object without attributes is made of; the name of its class where none says that."""
    try:
        return value.__reduce_ex__(2)
    except Exception:  # such as a lock or a model of a solver
        return type(value).__qualname__


def _add_array(digest: Any, array: Any) -> None:
    """In blocks of rows: data on disk need not fit into memory."""
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype == object:
        digest.update(" ".join(map(str, array.ravel().tolist())).encode())
        return
    rows = array.reshape(-1) if array.ndim == 0 else array
    height = max(1, BLOCK_BYTES // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), height):
        digest.update(np.ascontiguousarray(rows[start : start + height]).view(np.uint8).data)


def _add_object(digest: Any, value: Any, inside: tuple[int, ...]) -> None:
    kind = type(value)
    digest.update(f"{kind.__module__}.{kind.__qualname__}".encode())
    own = [base for base in kind.__mro__ if base.__module__.partition(".")[0] == "rcmd"]
    hidden = {*getattr(value, "changing", ())}
    hidden |= {name for base in own for name in vars(base).get("caches", ())}
    for base in kind.__mro__:
        members = vars(base)
        hidden |= {name for name, held in members.items() if isinstance(held, cached_property)}
        if base.__module__ not in ("builtins", "abc", "typing"):
            told = [(name, unwrapped(members[name])) for name in sorted(members.keys() - hidden)]
            told = [(n, m) for n, m in told if n[:2] != "__" or isinstance(m, FunctionType)]
            if base in own:  # what was put into it later
                told = [(n, m) for n, m in told if n[:2] != "__" and not of_rcmd(m)]
            if told or base not in own:
                digest.update(code_fingerprint(told).encode())
    forms = getattr(kind, "arrays", None) if kind in own else None
    if forms is not None:
        held = vars(forms if isinstance(forms, type) else type(forms)).values()
        if later := [m for m in map(unwrapped, held) if not of_rcmd(m)]:
            digest.update(code_fingerprint(later).encode())
    shown = any("__repr__" in vars(base) for base in kind.__mro__[:-1])  # not by its address
    if shown and isinstance(value, SeparableConjugate):  # from an expression: its formula is there
        digest.update(repr(value).encode())
    for name in sorted(vars(value).keys() - hidden):
        if name[0] != "_" or kind not in own:
            digest.update(name.encode())
            _add(digest, vars(value)[name], inside)
