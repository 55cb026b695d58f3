"""A user's class as compiled code sees it: a record of its numbers, with its methods."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import namedtuple
from typing import Any

import numpy as np
from numba import types as numba_types
from numba.extending import overload, overload_method

from rcmd.jit.caching import fingerprint, is_foreign, named_values


class CannotCompile(TypeError):
    """A class is not scalar code that numba can compile; the text says why."""


class Jittable:
    """A plain function made callable from compiled code, known by its fingerprint.

    Pickled, it is its fingerprint: so numba's cache key, which is made from the pickled
    closure of a kernel, changes exactly when the code changes, and does not depend on
    where the function lives (a file, a prompt, ``exec``).
    """

    def __init__(self, function: types.FunctionType, stamp: str = "") -> None:
        self.function = function
        self.fingerprint = fingerprint(function, stamp)
        _make_callable(function, self)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (self.fingerprint,)


@functools.cache
def jittable(function: types.FunctionType) -> Jittable:
    """The one `Jittable` of ``function``."""
    return Jittable(function)


_CALLABLE: dict[Any, str] = {}


def _make_callable(function: types.FunctionType, name: Any) -> None:
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
    overload(name, strict=False, jit_options={"error_model": "numpy"})(_implementation(function))
    for value in named_values(function):
        if isinstance(value, types.FunctionType) and not is_foreign(value):
            _make_callable(value, value)


def _implementation(function: types.FunctionType) -> Any:
    """An overload with the arguments of ``function`` that answers with ``function`` itself."""
    names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    answer = eval(f"lambda {names}: function", {"function": function})
    answer.__defaults__ = function.__defaults__
    return answer


@dataclasses.dataclass(frozen=True)
class RecordType:
    """What ``self`` looks like to compiled code: named numbers, and the methods of a class.

    Attributes
    ----------
    owner
        The user's class.
    fields
        Pairs of a name and bool, int or float.
    """

    owner: type
    fields: tuple[tuple[str, type], ...]

    @functools.cached_property
    def fingerprint(self) -> str:
        """Of the fields and of all code that a method may reach through ``self``."""
        return fingerprint(repr(self.fields), *self.methods.values())

    @property
    def methods(self) -> dict[str, types.FunctionType]:
        """The plain functions of the class, inherited ones included."""
        names = sorted(name for name in dir(self.owner) if not name.startswith("__"))
        found = ((name, getattr(self.owner, name)) for name in names)
        return {name: value for name, value in found if isinstance(value, types.FunctionType)}

    def check(self) -> None:
        """Refuse a class that is no longer what was compiled (a global or helper changed)."""
        if RecordType(self.owner, self.fields).fingerprint != self.fingerprint:
            raise CannotCompile(
                f"what {self.owner.__name__} reads or calls has changed since it was compiled; "
                "define the class anew"
            )

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
        places = enumerate(self.fields, start)
        numbers = ", ".join(f"{kind.__name__}(theta[{place}])" for place, (_, kind) in places)
        scope = {"record": self._record, "__name__": __name__}
        return Jittable(eval(f"lambda theta: record({numbers})", scope), self.fingerprint)


_RECORDS: dict[type, RecordType] = {}


@functools.cache
def _allow_method(name: str) -> None:
    """Let compiled code call ``record.name(…)`` on any record."""

    def resolve(self: Any, *arguments: Any) -> Any:
        record = _RECORDS.get(self.instance_class)
        method = record.methods.get(name) if record is not None else None
        if method is None:
            return None
        function = jittable(method)
        return lambda self, *arguments: function(self, *arguments)

    overload_method(numba_types.BaseNamedTuple, name, strict=False)(resolve)


def record_of(instance: Any) -> tuple[RecordType, list[float]]:
    """The record type of an instance, and its numbers in the order of the fields."""
    found: dict[str, tuple[type, float]] = {}
    if dataclasses.is_dataclass(instance):
        for field in dataclasses.fields(instance):
            value = getattr(instance, field.name)
            whole = field.type in (int, "int", bool, "bool")
            found[field.name] = _number(instance, field.name, value, whole)
    for name in dir(type(instance)):
        member = getattr(type(instance), name)
        if name.startswith("_") or name in found:
            continue
        if isinstance(member, property):
            value = getattr(instance, name)
            if isinstance(value, int | float | np.number):
                found[name] = (float, float(value))
        elif isinstance(member, bool | int | float):
            found[name] = _number(instance, name, member, whole=True)
    owner: Any = type(instance)
    fields = tuple((name, kind) for name, (kind, _) in found.items())
    kind = _record_type(owner, fields)
    kind.check()
    return kind, [value for _, value in found.values()]


@functools.cache
def _record_type(owner: Any, fields: tuple[tuple[str, type], ...]) -> RecordType:
    return RecordType(owner, fields)


def _number(owner: Any, name: str, value: Any, whole: bool) -> tuple[type, float]:
    if isinstance(value, bool | np.bool_):
        return bool, float(value)
    if whole and isinstance(value, int | np.integer):
        return int, float(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return float, float(value)
    raise CannotCompile(
        f"{name} of {type(owner).__name__} is {value!r}, and compiled code reads only numbers"
    )
