"""Hashes of data and of the objects that define a run, equal in every process."""

import hashlib
from collections.abc import MutableMapping
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates.base import SeparableConjugate
from rcmd.jit.caching import fingerprint as code_fingerprint
from rcmd.rows.disk import ArrayFile
from rcmd.rows.operator import OperatorRows

BLOCK_BYTES = 2**26


def fingerprint(value: Any) -> str:
    """A hash of the contents of ``value``.

    Classes that are not rcmd's are hashed with the code of their methods, operators by two
    products.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> fingerprint(L1Ball(2.0)) == fingerprint(L1Ball(2.0)) != fingerprint(L1Ball(3.0))
    True
    """
    digest = hashlib.sha256()
    _add(digest, value)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        _add_array(digest, value)
    elif sp.issparse(value):
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
            _add(digest, item)
    elif isinstance(value, np.random.Generator):
        digest.update(type(value.bit_generator).__name__.encode())  # its state is the run's
    elif isinstance(value, FunctionType):
        digest.update(code_fingerprint(value).encode())
    elif isinstance(value, OperatorRows):
        rng = np.random.default_rng(0)
        _add(digest, value.matvec(rng.standard_normal(value.p)))
        _add(digest, value.rmatvec(rng.standard_normal(value.n)))
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        _add_object(digest, value)
    else:
        digest.update(f"{value!r};".encode())


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


def _add_object(digest: Any, value: Any) -> None:
    kind = type(value)
    digest.update(f"{kind.__module__}.{kind.__qualname__}".encode())
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in ("rcmd", "builtins", "abc", "typing"):
            own = [f for n, f in sorted(vars(base).items()) if isinstance(f, FunctionType)]
            digest.update(code_fingerprint(*own).encode())
    shown = any("__repr__" in vars(base) for base in kind.__mro__[:-1])  # not by its address
    if shown and isinstance(value, SeparableConjugate):  # from an expression: its formula is there
        digest.update(repr(value).encode())
    # The fields of a dataclass; else the public attributes that do not change in a run.
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name in vars(value)]
    else:
        changing = getattr(value, "changing", ())
        names = [name for name in sorted(vars(value)) if name[0] != "_" and name not in changing]
    for name in names:
        held = vars(value)[name]
        # Counters start again in every run, and do not distinguish two oracles.
        if not isinstance(held, MutableMapping):
            digest.update(name.encode())
            _add(digest, held)
