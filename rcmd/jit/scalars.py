"""Scalar methods as C functions that a kernel calls by address.

A method such as ``derivative(self, s, y)`` becomes ``double f(const double *theta, double s,
double y)``: ``self`` is rebuilt from the numbers ``theta`` as a record. Kernels call it by its
address, so that a kernel is compiled once for all losses, and a new loss costs the compilation
of a few scalar lines.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import TypingError

from rcmd.jit.caching import cached, kernel
from rcmd.jit.instructions import by_type, call_scalar, scalar_type
from rcmd.jit.records import CannotCompile, RecordType, jittable, record_of

METHOD_ARITY = 3
"""Arguments of a compiled method after ``theta``; shorter methods ignore the last."""


@by_type(strict=False)
def plain(value: Any) -> Any:
    """``value``, which must be a number on every branch of the code that made it."""
    if isinstance(value, types.Optional | types.NoneType):
        raise TypingError("a branch returns nothing; expected a number from each")
    return lambda value: value


class Scalar:
    """A compiled scalar function bound to the numbers of some objects.

    Parameters
    ----------
    parts
        Objects whose numbers the function reads, such as a loss, or a loss and a prox.
    make
        From one reader a part, ``read(theta)``, and the place in ``theta`` where the table
        starts, to the function ``entry(theta, …)`` to compile.
    arity
        How many arguments follow ``theta``.
    table
        Further numbers that the function may look up behind those of the parts.
    """

    def __init__(
        self, parts: tuple[Any, ...], make: Callable[..., Any], arity: int, table: Any = ()
    ) -> None:
        records = [record_of(part) for part in parts]
        numbers = [value for _, values in records for value in values]
        self._theta = np.concatenate([numbers, np.ravel(table)])
        self._compiled = _compile(tuple(kind for kind, _ in records), make, arity)

    @property
    def address(self) -> int:
        """Where the function is, for ``instructions.call_scalar``."""
        return int(self._compiled.address)

    @property
    def theta(self) -> int:
        """Where its numbers are."""
        return int(self._theta.ctypes.data)

    @property
    def from_cache(self) -> bool:
        """Whether the machine code came from the disk."""
        return bool(self._compiled.cache_hits)

    def __call__(self, *arguments: Any) -> Any:
        """Evaluate elementwise on vectors and numbers: out[j] = f(theta, a[j], b[j], …)."""
        spare = (0.0,) * (METHOD_ARITY - len(arguments))
        flat = [np.ascontiguousarray(a, dtype=float).reshape(-1) for a in (*arguments, *spare)]
        out = np.empty(max(len(array) for array in flat))
        strides = tuple(int(len(array) > 1) for array in flat)
        _evaluate(self.address, self.theta, *flat, strides, out)
        return out


def method_scalar(instance: Any, name: str) -> Scalar:
    """The method ``name`` of ``instance``, of one to three arguments, compiled."""
    owner: Any = type(instance)
    return Scalar((instance,), _method_maker(owner, name), METHOD_ARITY)


@functools.cache
def _method_maker(owner: Any, name: str) -> Callable[..., Any]:
    """Methods of fewer arguments ignore the last ones, so that all have one C type.

    How many arguments count, the class that first declares the method says: a subclass may
    have further ones with defaults.
    """
    method = getattr(owner, name)
    contract = next(vars(base)[name] for base in reversed(owner.__mro__) if name in vars(base))
    if not isinstance(method, FunctionType) or not isinstance(contract, FunctionType):
        raise CannotCompile(f"{name} of {owner.__name__} is no plain method but {method!r}")
    function, arity = jittable(method), contract.__code__.co_argcount - 1

    def make(read: Any, table: int) -> Any:
        def of_one(theta: Any, a: Any, b: Any, c: Any) -> Any:
            return plain(function(read(theta), a))

        def of_two(theta: Any, a: Any, b: Any, c: Any) -> Any:
            return plain(function(read(theta), a, b))

        def of_three(theta: Any, a: Any, b: Any, c: Any) -> Any:
            return plain(function(read(theta), a, b, c))

        return (of_one, of_two, of_three)[arity - 1]

    return make


@functools.cache
def _compile(kinds: tuple[RecordType, ...], make: Callable[..., Any], arity: int) -> Any:
    readers, start = [], 0
    for kind in kinds:
        readers.append(kind.reader(start))
        start += len(kind.fields)
    entry = make(*readers, start)
    try:
        return cached(numba.cfunc, scalar_type(arity), error_model="numpy")(entry)
    except Exception as error:  # numba raises a dozen kinds, also for plain mistakes
        name = kinds[-1].owner.__name__
        raise CannotCompile(f"{name} does not compile: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """The line of numba's message that is about the code itself."""
    lines = str(error).rpartition("nopython frontend)\n")[2].strip().splitlines()
    rejected = [line.strip() for line in lines if line.strip().startswith("TypingError: ")]
    return (rejected[-1:] or lines or [type(error).__name__])[0]


@kernel
def _evaluate(address: Any, theta: Any, a: Any, b: Any, c: Any, strides: Any, out: Any) -> Any:
    """``out[j] = f(theta, a[j], b[j], c[j])``; a number is a vector of stride 0."""
    first, second, third = strides
    for j in range(out.size):
        out[j] = call_scalar(address, theta, a[j * first], b[j * second], c[j * third])
