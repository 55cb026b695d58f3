"""numba's on-disk cache, keyed by what the code computes: never stale, never required.

numba keys its cache on the file of a kernel, not on the functions the kernel calls. A
fingerprint closes that hole: it changes when the code of a function changes, or that of
anything the function reaches, and only then. It is a part of the name a kernel is cached under.
"""

import dis
import enum
import functools
import hashlib
import pickle
import secrets
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

FOREIGN = ("cvxpy", "llvmlite", "math", "numba", "numpy", "re", "scipy")
"""Packages whose functions are known by name: numba has its own code for them, or none."""

KERNEL_OPTIONS = {"nogil": True, "error_model": "numpy"}
"""Let other threads run, and do not test for division by zero."""

DAMAGED = (pickle.UnpicklingError, EOFError, AttributeError, IndexError)
"""What reading a pickle raises that is empty, cut short or of another program."""


def kernel(function: Any) -> Any:
    """Compile ``function`` for the types it is called with, from the cache where it can be.

    All that it names must be defined above it, or the fingerprint would miss it.
    """
    import numba

    return cached(numba.njit, **KERNEL_OPTIONS)(function)


def cached(compiler: Any, *signature: Any, **options: Any) -> Callable[[Any], Any]:
    """``compiler(…, cache=True)``, or without the cache where no folder can be written.

    numba numbers the entries of one index file without a lock, and two processes that add to
    it at once may swap their code. So every fingerprint gets an index of its own, and the code for
    each choice of types a file that no other process writes. Where the same
    code was cached by a module that is gone, numba fails to import it, and the cache is not used.
    A file that was cut short (a full disk, a kill) is made again.
    """
    from numba.core.caching import FunctionCache

    class Mended(FunctionCache):  # type: ignore[misc] # numba has no types
        """The cache of one function, which forgets what cannot be read."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except (*DAMAGED, ImportError):
                self.flush()
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            name = f"{self._cache_file._index_name}.{secrets.token_hex(8)}.nbc"
            self._cache_file._data_name = lambda number: name
            super().save_overload(sig, data)

    def decorate(function: Any) -> Any:
        stamp = fingerprint(function, sorted(options.items()))
        function.__qualname__ = f"{function.__qualname__}.{stamp}"
        try:
            try:
                compiled = compiler(*signature, cache=True, **options)(function)
            except DAMAGED:  # with a signature, the cache is read at once
                FunctionCache(function).flush()
                return compiler(*signature, cache=True, **options)(function)
            if type(compiled._cache) is FunctionCache:  # else it is read at the first call
                compiled._cache.__class__ = Mended
            return compiled
        except (ImportError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "no locator available" not in str(error):
                raise
        return compiler(*signature, **options)(function)

    return decorate


def fingerprint(*values: Any) -> str:
    """Hash what functions compute, and plain values by their contents; equal in every process.

    The hash covers bytecode, constants, default arguments, closed-over values, the
    globals each function names, and all code reached through them or through a module they
    name: Python functions, numba's dispatchers, intrinsics, and functions resolved by type.

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


def compiled_as(function: Any, instead: Any) -> None:
    """Let compiled code call ``instead`` where Python calls ``function``."""
    vars(function)["compiled"] = instead


def is_foreign(function: Any) -> bool:
    """Whether a function belongs to a package that compiled code does not look into."""
    return (function.__module__ or "").partition(".")[0] in FOREIGN


def named_values(function: types.FunctionType) -> list[Any]:
    """What ``function`` names from outside: cells, globals, members of named modules."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    names, attributes = _names(function.__code__)
    scope = function.__globals__
    values += [scope[name] for name in names if name in scope]
    modules = set()
    for module in values:  # a list that grows here
        if isinstance(module, types.ModuleType) and module not in modules:
            modules.add(module)
            members = vars(module)
            values += [members[name] for name in attributes if name in members]
    return values


def _add(digest: Any, value: Any, seen: set[Any]) -> None:
    """Feed ``value`` to ``digest``, each function once."""
    if isinstance(value, types.FunctionType):
        if is_foreign(value):
            digest.update(f"function:{value.__name__};".encode())
        elif value not in seen:
            seen.add(value)
            digest.update(_code_digest(value.__code__))
            if value.__defaults__:
                _add_items(digest, value.__defaults__, seen)
            if "compiled" in vars(value):
                _add(digest, vars(value)["compiled"], seen)
            for named in named_values(value):
                _add(digest, named, seen)
    elif isinstance(value, str | bytes | int | float | complex | np.generic | None):
        digest.update(f"{type(value).__name__}={value!r};".encode())
    elif isinstance(value, types.CodeType):
        digest.update(_code_digest(value))
    elif isinstance(value, types.ModuleType):
        digest.update(f"module:{value.__name__};".encode())
    elif isinstance(value, tuple | list):
        _add_items(digest, value, seen)
    elif isinstance(value, dict):
        _add_items(digest, sorted(value.items(), key=lambda item: repr(item[0])), seen)
    elif isinstance(value, set | frozenset):
        _add_items(digest, sorted(map(repr, value)), seen)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, type):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
        members = value if issubclass(value, enum.Enum) else getattr(value, "_fields", ())
        _add_items(digest, members, seen)
    elif isinstance(value, enum.Enum):
        _add_items(digest, (value.name, value.value), seen)
    elif hasattr(value, "fingerprint"):  # asked first, for it may stand for a package not imported
        digest.update(value.fingerprint.encode())
    elif hasattr(value, "py_func"):  # a numba dispatcher
        _add_items(digest, sorted(value.targetoptions.items()), seen)
        _add(digest, value.py_func, seen)
    elif hasattr(value, "__wrapped__") and not is_foreign(value):  # a numba intrinsic
        _add(digest, value.__wrapped__, seen)
    else:
        # By name, for the repr of most other things holds an address.
        name = getattr(value, "__name__", "")
        digest.update(f"{type(value).__qualname__}:{name};".encode())


def _add_items(digest: Any, items: Iterable[Any], seen: set[Any]) -> None:
    digest.update(b"(")
    for item in items:
        _add(digest, item, seen)
    digest.update(b")")


@functools.cache
def _code_digest(code: types.CodeType) -> bytes:
    """The hash of a code object, which never changes."""
    digest = hashlib.blake2b(code.co_code + code.co_exceptiontable, digest_size=16)
    names = (code.co_names, code.co_varnames, code.co_freevars)
    _add(digest, (*names, code.co_consts), seen=set())
    return digest.digest()


@functools.cache
def _names(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globals and the attributes that ``code`` and the functions inside it name."""
    names, attributes = [], list(code.co_names)
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.append(str(instruction.argval))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _names(constant)
            names += inner[0]
            attributes += inner[1]
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(attributes))
