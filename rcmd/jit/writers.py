"""Methods that write the atom of an oracle, as C functions that a kernel calls by address.

``write_atom(self, c, out)`` and ``write_entries(self, c, indices, values)`` become
``int64 f(const double *theta, double *c, int64 p, int64 *indices, double *values)``. It returns how
many entries there are, -1 where ``values`` is the whole vector. As with losses (``scalars``), one
loop serves all oracles, and a new one costs the compilation of its own few lines.
"""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import carray, types

from rcmd.jit.caching import is_foreign, kernel, named_values
from rcmd.jit.instructions import call_writer
from rcmd.jit.scalars import CompiledFunction, jittable, record_of

NUMBERS, WHOLE = types.CPointer(types.float64), types.CPointer(types.int64)
SIGNATURE = types.int64(NUMBERS, NUMBERS, types.int64, WHOLE, NUMBERS)

WHOLE_VECTOR = -1
"""What a function returns that wrote all entries."""


class Writer(CompiledFunction):
    """The method ``write_atom`` or ``write_entries`` of an oracle, compiled."""

    tried = False
    """Whether the same was seen to work in Python."""

    def __init__(self, oracle: Any, method: str) -> None:
        owner: Any = type(oracle)
        function = getattr(owner, method)
        record = record_of(oracle, attributes_of(owner, function))
        super().__init__([record], _maker(function, method == "write_atom"), SIGNATURE)

    def __call__(self, c: Any, indices: Any, values: Any) -> int:
        """Write the atom at c, all three of one length; how many entries, or WHOLE_VECTOR."""
        return int(_write(self.address, self.theta, c, indices, values))


def attributes_of(owner: Any, function: Any) -> frozenset[str]:
    """The names that ``function`` and what it calls may read of ``self``."""
    names: set[str] = set()
    waiting, seen = [function], set()
    while waiting:
        code = waiting.pop()
        if isinstance(code, FunctionType) and code not in seen and not is_foreign(code):
            seen.add(code)
            names.update(code.__code__.co_names)
            waiting += named_values(code)
            waiting += [getattr(owner, name, None) for name in code.__code__.co_names]
    return frozenset(names)


@functools.cache
def _maker(function: Any, dense: bool) -> Callable[..., Any]:
    write = jittable(function)

    def make_dense(read: Any, table: int) -> Any:
        def entry(theta: Any, c: Any, p: Any, indices: Any, values: Any) -> Any:
            write(read(theta), carray(c, (p,)), carray(values, (p,)))
            return WHOLE_VECTOR

        return entry

    def make_sparse(read: Any, table: int) -> Any:
        def entry(theta: Any, c: Any, p: Any, indices: Any, values: Any) -> Any:
            places = carray(indices, (p,))
            return write(read(theta), carray(c, (p,)), places, carray(values, (p,)))

        return entry

    return make_dense if dense else make_sparse


@kernel
def _write(address: Any, theta: Any, c: Any, indices: Any, values: Any) -> Any:
    return call_writer(address, theta, c, indices, values)
