"""Scalar methods as C functions that a kernel calls by address.

A method such as ``derivative(self, s, y)`` becomes ``double f(const double *theta, double s,
double y)``: ``self`` is rebuilt from the numbers ``theta`` as a record, its numbers with its
methods. Kernels call it by its address, so that a kernel is compiled once for all losses, and a new
loss costs the compilation of a few scalar lines.
"""

import dataclasses
import functools
import inspect
import math
import re
from collections import namedtuple
from collections.abc import Callable
from numbers import Real
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np
from numba import types
from numba.extending import overload, overload_method

from rcmd.jit.caching import cached, fingerprint, is_foreign, kernel, named_values
from rcmd.jit.instructions import array_at, call_scalar, plain

METHOD_ARITY = 3
"""Arguments of a compiled method after ``theta``; shorter methods ignore the last."""


class CannotCompile(TypeError):
    """A class is not scalar code that numba can compile; the text says why."""


class Jittable:
    """A plain function made callable from compiled code, known by its fingerprint.

    Pickled, it is its fingerprint: so numba's cache key, which is made from the pickled
    closure of a kernel, changes exactly when the code changes, and does not depend on
    where the function lives (a file, a prompt, ``exec``).
    """

    def __init__(self, function: Any, stamp: str = "") -> None:
        self.function = function
        self.fingerprint = fingerprint(function, stamp)
        _make_callable(function, self)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (self.fingerprint,)


@functools.cache
def jittable(function: FunctionType) -> Jittable:
    """The one `Jittable` of ``function``."""
    return Jittable(function)


_CALLABLE: dict[Any, str] = {}


def _make_callable(function: FunctionType, name: Any) -> None:
    """Let compiled code call ``name`` as ``function``, and what that calls in turn.

    numba goes on with the code it made first, so a function that reads other globals by now
    is refused: compiled and cached under its new fingerprint, it would be the old code.
    """
    now = fingerprint(function)
    if name in _CALLABLE:
        if _CALLABLE[name] != now:
            raise CannotCompile(
                f"what {function.__qualname__} reads or calls has changed since it was compiled; "
                "define it anew"
            )
        return
    _CALLABLE[name] = now
    function = vars(function).get("compiled", function)
    overload(name, strict=False, jit_options={"error_model": "numpy"})(_implementation(function))
    for value in named_values(function):
        if isinstance(value, FunctionType) and not is_foreign(value):
            _make_callable(value, value)


def _implementation(function: FunctionType) -> Any:
    """An overload with the arguments of ``function`` that answers with ``function`` itself."""
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & inspect.CO_VARARGS:
        names.append("*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    answer = eval(f"lambda {', '.join(names)}: function", {"function": function})
    answer.__defaults__ = function.__defaults__
    return answer


Kind: TypeAlias = type | tuple[str, int]
"""Of a field: bool, int or float; or, of an array, "float64" or "int64" and its dimensions."""


@dataclasses.dataclass(frozen=True)
class RecordType:
    """What ``self`` looks like to compiled code: the methods of a class, named numbers and arrays.

    Among the numbers ``theta``, an array is its address and its shape.
    """

    owner: type
    fields: tuple[tuple[str, Kind], ...]
    names: frozenset[str] | None = None
    """Methods that compiled code may call; ``None`` for all."""

    @functools.cached_property
    def fingerprint(self) -> str:
        """Of the fields and of all code that a method may reach through ``self``."""
        return fingerprint(repr(self.fields), *self.methods.values())

    @property
    def methods(self) -> dict[str, FunctionType]:
        """The plain functions of the class, inherited ones included."""
        names = sorted(name for name in dir(self.owner) if not name.startswith("__"))
        allowed = (name for name in names if self.names is None or name in self.names)
        found = ((name, getattr(self.owner, name)) for name in allowed)
        return {name: value for name, value in found if isinstance(value, FunctionType)}

    @functools.cached_property
    def _record(self) -> Any:
        names = [name for name, _ in self.fields]
        record: Any = namedtuple("Record", names)  # type: ignore[misc]
        _RECORDS[record] = self
        for name in self.methods:
            _allow_method(name)
        return record

    def reader(self, start: int) -> Jittable:
        """A compiled-side function ``read(theta) -> self`` of the numbers from ``start`` on.

        Its fingerprint covers the class, for through ``self`` it hands out the methods.
        """
        words, place = [], start
        for _, kind in self.fields:
            if isinstance(kind, tuple):
                ends = range(place + 1, place + 1 + kind[1])
                shape = "".join(f"int(theta[{end}])," for end in ends)
                words.append(f"array_at(theta[{place}], ({shape}), np.{kind[0]})")
            else:
                words.append(f"{kind.__name__}(theta[{place}])")
            place += _slots(kind)
        scope = {"record": self._record, "array_at": array_at, "np": np, "__name__": __name__}
        return Jittable(eval(f"lambda theta: record({','.join(words)})", scope), self.fingerprint)

    @property
    def slots(self) -> int:
        """How many numbers of ``theta`` the fields take."""
        return sum(_slots(kind) for _, kind in self.fields)


def _slots(kind: Kind) -> int:
    return 1 + kind[1] if isinstance(kind, tuple) else 1


_RECORDS: dict[type, RecordType] = {}


@functools.cache
def _allow_method(name: str) -> None:
    """Let compiled code call ``record.name(…)`` on any record."""

    def resolve(self: Any, *arguments: Any) -> Any:
        record = _RECORDS.get(self.instance_class)
        if record is None or name not in record.methods:
            return None
        function = jittable(record.methods[name])
        return lambda self, *arguments: function(self, *arguments)

    overload_method(types.BaseNamedTuple, name, strict=False)(resolve)


class Contents(NamedTuple):
    """What a record of an instance holds."""

    kind: RecordType
    numbers: list[float]
    arrays: list[Any]  # to which some of the numbers point


def record_of(instance: Any, names: frozenset[str] | None = None) -> Contents:
    """An instance's fields, its properties and its class's numbers; those of ``names`` if given."""
    found: dict[str, tuple[Kind, list[float]]] = {}
    arrays: list[Any] = []

    def add(name: str, value: Any, whole: bool) -> None:
        if isinstance(value, np.ndarray):
            array = _plain_array(instance, name, value)
            arrays.append(array)
            found[name] = (array.dtype.name, array.ndim), [array.ctypes.data, *array.shape]
        else:
            kind, number = _number(instance, name, value, whole)
            found[name] = kind, [number]

    if dataclasses.is_dataclass(instance):
        for field in dataclasses.fields(instance):
            whole = field.type in (int, "int", bool, "bool")
            if names is None or field.name in names:
                add(field.name, getattr(instance, field.name), whole)
    for name in dir(type(instance)):
        member = getattr(type(instance), name)
        if name.startswith("_") or name in found or not (names is None or name in names):
            continue
        if isinstance(member, property | functools.cached_property):
            value = getattr(instance, name)
            if isinstance(value, Real | np.ndarray):
                add(name, value, isinstance(value, bool | np.bool_))
        elif isinstance(member, bool | int | float):
            add(name, member, True)
    fields = tuple((name, kind) for name, (kind, _) in found.items())
    owner: Any = type(instance)  # which mypy takes for unhashable
    kind = _record_type(owner, fields, names)
    if RecordType(owner, fields, names).fingerprint != kind.fingerprint:
        raise CannotCompile(
            f"what {owner.__name__} reads or calls has changed since it was compiled; define the "
            "class anew"
        )
    return Contents(kind, [number for _, numbers in found.values() for number in numbers], arrays)


_record_type = functools.cache(RecordType)


def _number(owner: Any, name: str, value: Any, whole: bool) -> tuple[type, float]:
    if isinstance(value, bool | np.bool_):
        return bool, float(value)
    if whole and isinstance(value, int | np.integer):
        return int, float(value)
    if isinstance(value, Real):
        return float, float(value)
    raise CannotCompile(
        f"{name} of {type(owner).__name__} is {value!r}, and compiled code reads only numbers and "
        "arrays of them"
    )


def _plain_array(owner: Any, name: str, value: Any) -> Any:
    """An array as compiled code reads it: contiguous, of doubles or of 64-bit integers."""
    whole = value.dtype.kind in "iub"
    try:
        return np.require(value, np.int64 if whole else np.float64, ["C", "A"])
    except (TypeError, ValueError):
        raise CannotCompile(
            f"{name} of {type(owner).__name__} is an array of {value.dtype}, and compiled code "
            "reads only arrays of numbers"
        ) from None


class CompiledFunction:
    """A compiled function bound to the numbers of some objects.

    Parameters
    ----------
    records
        What the function reads, such as a loss, or a loss and a prox.
    make
        From one reader a record, ``read(theta)``, and the place in ``theta`` where the table
        starts, to the function ``entry(theta, …)`` to compile.
    signature
        The types of the function.
    table
        Further numbers that the function may look up behind those of the records: a row for each
        sample, from a cache line on.
    """

    def __init__(
        self, records: list[Contents], make: Callable[..., Any], signature: Any, table: Any = ()
    ) -> None:
        numbers = [number for record in records for number in record.numbers]
        self._arrays = [record.arrays for record in records]  # kept, as the numbers point there
        own = np.asarray(table, dtype=float)
        raw = np.empty(len(numbers) + own.size + 8)
        skip = -(raw.ctypes.data // 8 + len(numbers)) % 8
        self._theta = raw[skip : skip + len(numbers) + own.size]
        self._theta[: len(numbers)], self._theta[len(numbers) :] = numbers, own.ravel()
        width = own.shape[1] if own.ndim == 2 else 0
        self.table = (self.theta + 8 * len(numbers), 8 * width)
        """Where the table is, and how many bytes a row of it has."""
        self._compiled = _compile(tuple(record.kind for record in records), make, signature)

    @property
    def address(self) -> int:
        """Where the function is, for ``instructions.call_scalar``."""
        return int(self._compiled.address)

    @property
    def theta(self) -> int:
        """Where its numbers are."""
        return int(self._theta.ctypes.data)


class Scalar(CompiledFunction):
    """A scalar function of some objects, such as a loss, and ``arity`` numbers."""

    def __init__(
        self, records: list[Contents], make: Callable[..., Any], arity: int, table: Any = ()
    ) -> None:
        number = types.float64
        signature = number(types.CPointer(number), *[number] * arity)
        super().__init__(records, make, signature, table)

    def __call__(self, *arguments: Any) -> Any:
        """Evaluate elementwise on vectors and numbers: out[j] = f(theta, a[j], b[j], …)."""
        spare = (0.0,) * (METHOD_ARITY - len(arguments))
        flat = [np.ascontiguousarray(a, dtype=float).reshape(-1) for a in (*arguments, *spare)]
        out = np.empty(max(len(array) for array in flat))
        strides = tuple(int(len(array) > 1) for array in flat)
        _evaluate(self.address, self.theta, *flat, strides, out)
        return out


def method_scalar(instance: Any, name: str, record: Contents | None = None) -> Scalar:
    """The method ``name`` of ``instance``, of one to three arguments, compiled.

    Making its ``record`` takes a millisecond, so that of several methods is made once.
    """
    owner: Any = type(instance)
    return Scalar([record or record_of(instance)], _method_maker(owner, name), METHOD_ARITY)


@functools.cache
def _method_maker(owner: Any, name: str) -> Callable[..., Any]:
    """Methods of fewer arguments ignore the last ones, so that all have one C type.

    The class that first declares the method says how many arguments it has: a subclass may add
    further ones with defaults.
    """
    method = getattr(owner, name)
    contract = next(vars(base)[name] for base in reversed(owner.__mro__) if name in vars(base))
    if not isinstance(method, FunctionType) or not isinstance(contract, FunctionType):
        raise CannotCompile(f"{name} of {owner.__name__} is no plain method but {method!r}")
    function, arity = jittable(method), contract.__code__.co_argcount - 1

    def make(read: Any, table: int) -> Any:
        def entry(theta: Any, a: Any, b: Any, c: Any) -> Any:
            return plain(function(read(theta), *(a, b, c)[:arity]))

        return entry

    return make


def sample_scalar(bound: Any, instance: Any, name: str, table: Any) -> Scalar:
    """The method ``name`` of ``bound``, a pair of one sample made from ``instance`` and a table.

    Its last argument is the number j of the sample; see ``sample_reader`` for the table's rows.
    """
    width = table.shape[1]
    return Scalar([record_of(instance)], _sample_maker(bound, name, width), METHOD_ARITY, table)


@functools.cache
def _sample_maker(bound: Any, name: str, width: int) -> Callable[..., Any]:
    function = jittable(getattr(bound, name))
    before = function.function.__code__.co_argcount - 2

    def make(read: Any, table: int) -> Any:
        sample = sample_reader(bound, read, table, width, width - 2)

        def entry(theta: Any, a: Any, b: Any, c: Any) -> Any:
            j = (a, b, c)[before]
            label = theta[table + width * int(j)]
            return plain(function(sample(theta, j), *(a, b, c)[:before], label))

        return entry

    return make


def sample_reader(
    bound: Any, read: Jittable, table: int, width: int, fields: int, gamma: bool = False
) -> Jittable:
    """A compiled-side function ``(theta, j) -> bound(loss, offset, fields, γ)``.

    Row j of the table, which starts at ``table``, is label, offset, so many fields, γ if ``gamma``,
    and what else is in its ``width`` numbers.
    """
    _RECORDS[bound] = kind = _record_type(bound, ())
    for method in kind.methods:
        _allow_method(method)
    numbers = [f"theta[{table} + {width} * int(j) + {k}]" for k in range(1, 3 + fields)]
    own = f"({', '.join(numbers[1:-1])}{',' if fields else ''})"
    scope = {"bound": bound, "read": read, "nan": math.nan, "__name__": __name__}
    last = numbers[-1] if gamma else "nan"
    source = f"lambda theta, j: bound(read(theta), {numbers[0]}, {own}, {last})"
    return Jittable(eval(source, scope), read.fingerprint + kind.fingerprint)


@functools.cache
def _compile(kinds: tuple[RecordType, ...], make: Callable[..., Any], signature: Any) -> Any:
    readers, start = [], 0
    for kind in kinds:
        readers.append(kind.reader(start))
        start += kind.slots
    entry = make(*readers, start)
    try:
        return cached(numba.cfunc, signature, error_model="numpy")(entry)
    except Exception as error:  # numba raises a dozen kinds, also for plain mistakes
        name = kinds[-1].owner.__name__
        raise CannotCompile(f"{name} does not compile: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    r"""The line of numba's message that is about the code itself, without colours.

    >>> _reason(TypeError("\x1b[1mtoo many\x1b[0m arguments\x1b[0m"))
    'too many arguments'
    """
    words = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    lines = words.rpartition("nopython frontend)\n")[2].strip().splitlines()
    rejected = [line.strip() for line in lines if line.strip().startswith("TypingError: ")]
    return (rejected[-1:] or lines or [type(error).__name__])[0]


@kernel
def _evaluate(address: Any, theta: Any, a: Any, b: Any, c: Any, strides: Any, out: Any) -> Any:
    """``out[j] = f(theta, a[j], b[j], c[j])``; a number is a vector of stride 0."""
    first, second, third = strides
    for j in range(out.size):
        out[j] = call_scalar(address, theta, a[j * first], b[j * second], c[j * third])
