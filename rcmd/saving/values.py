"""Python values as JSON and arrays, and back: numbers, containers, generators, objects.

An object is the attributes it has. Reading one goes into the object that a new run has in its
place, or makes one of ``CLASSES``; nothing else can be made, and no code of a file is run. Parts
that a new run brings along (the problem, the schedule, …) are saved by name, functions and
cached properties not at all. What was one object before is one object again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.result import StopReason
from rcmd.saving.classes import CLASSES
from rcmd.saving.faults import BadCheckpoint, CannotSave

Array = npt.NDArray[Any]

BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}

MADE = {"kind": "made"}
"""What a new run makes by itself."""


class _Plain:
    """Objects of this size are their attributes: files, modules and solvers hold more."""


class Writer:
    """Values to a tree for JSON, whose arrays are added to ``arrays``."""

    def __init__(self, parts: Mapping[str, Any], arrays: list[Array]) -> None:
        self.arrays = arrays
        self._parts = {id(part): name for name, part in parts.items()}
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no two things have one id

    def write(self, value: Any, where: str) -> Any:
        """``value`` as a tree; ``where`` names it in errors."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if id(value) in self._parts:
            return {"kind": "part", "name": self._parts[id(value)]}
        if id(value) in self._seen:
            return {"kind": "again", "number": self._seen[id(value)]}
        if callable(value):
            return MADE
        if isinstance(value, np.generic):
            return {"kind": "number", "dtype": value.dtype.str, "value": value.item()}
        if isinstance(value, Fraction):
            return {"kind": "fraction", "value": str(value)}
        if isinstance(value, list):
            return [self.write(item, where) for item in value]
        if type(value) in (tuple, deque):
            items = [self.write(item, where) for item in value]
            return {"kind": type(value).__name__, "items": items}
        if type(value) is dict:
            pairs = [[self.write(k, where), self.write(v, where)] for k, v in value.items()]
            return {"kind": "dict", "items": pairs}
        if isinstance(value, StopReason):
            return {"kind": "stop", "name": value.name}
        return self._shared(value, where)

    def _shared(self, value: Any, where: str) -> Any:
        """What may be held in two places."""
        number = self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        if isinstance(value, np.ndarray):
            tree = self._array(value, where)
        elif isinstance(value, sp.sparray) and value.format in ("csr", "csc"):
            parts = [self.write(part, where) for part in (value.data, value.indices, value.indptr)]
            tree = {"kind": "sparse", "format": value.format, "shape": value.shape, "parts": parts}
        elif isinstance(value, np.random.Generator):
            tree = self._generator(value, where)
        else:
            tree = self._object(value, where)
        return {**tree, "number": number}

    def _array(self, array: Array, where: str) -> dict[str, Any]:
        if array.dtype == object:
            items = [self.write(item, where) for item in array.ravel().tolist()]
            return {"kind": "objects", "shape": array.shape, "items": items}
        if array.dtype.kind not in "biuf":
            raise CannotSave(
                f"{where} is an array of dtype {array.dtype}, which no checkpoint holds"
            )
        self.arrays.append(array)
        return {"kind": "array", "index": len(self.arrays) - 1}

    def _generator(self, rng: np.random.Generator, where: str) -> dict[str, Any]:
        name = type(rng.bit_generator).__name__
        if name not in BIT_GENERATORS:
            raise CannotSave(
                f"{where} draws from a {name}, whose state no checkpoint holds; expected one of "
                f"NumPy's own: {', '.join(BIT_GENERATORS)}"
            )
        state = self.write(dict(rng.bit_generator.state), where)
        return {"kind": "generator", "name": name, "state": state}

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        kind = type(value)
        if not hasattr(value, "__dict__") or kind.__basicsize__ != _Plain.__basicsize__:
            raise CannotSave(f"{where} is of type {kind.__name__}, which no checkpoint holds")
        names = getattr(kind, "run_state", None) or vars(value)
        values = {
            name: self.write(vars(value)[name], f"{where}.{name}")
            for name in names
            if name in vars(value) and not isinstance(getattr(kind, name, None), cached_property)
        }
        return {"kind": "object", "class": _name(kind), "values": values}


class Reader:
    """The values of a tree that a ``Writer`` made."""

    def __init__(self, arrays: list[Array], parts: Mapping[str, Any]) -> None:
        self._arrays, self._parts = arrays, parts
        self._seen: dict[int, Any] = {}

    def read(self, tree: Any, fresh: Any = None) -> Any:
        """The value; ``fresh`` is what a new run has in its place."""
        if isinstance(tree, list):
            return [self.read(item, old) for item, old in _beside(tree, fresh)]
        if not isinstance(tree, dict):
            return tree
        kind = tree["kind"]
        if kind == "made":
            return fresh
        if kind == "part":
            return self._parts[tree["name"]]
        if kind == "again":
            return self._seen[tree["number"]]
        if kind == "number":
            return np.dtype(tree["dtype"]).type(tree["value"])
        if kind == "fraction":
            return Fraction(tree["value"])
        if kind == "stop":
            return StopReason[tree["name"]]
        if kind == "tuple":
            return tuple(self.read(item, old) for item, old in _beside(tree["items"], fresh))
        if kind == "deque":
            items = [self.read(item) for item in tree["items"]]
            return deque(items, maxlen=getattr(fresh, "maxlen", None))
        if kind == "dict":
            return {self.read(key): self.read(value) for key, value in tree["items"]}
        if kind == "object":
            return self._object(tree, fresh)
        value = self._seen[tree["number"]] = self._shared(kind, tree)
        return value

    def _shared(self, kind: str, tree: Any) -> Any:
        if kind == "array":
            return self._arrays[tree["index"]]
        if kind == "objects":
            array = np.empty(len(tree["items"]), dtype=object)
            array[:] = [self.read(item) for item in tree["items"]]
            return array.reshape(tree["shape"])
        if kind == "sparse":
            made = {"csr": sp.csr_array, "csc": sp.csc_array}[tree["format"]]
            parts = tuple(self.read(part) for part in tree["parts"])
            return made(parts, shape=tuple(tree["shape"]))
        rng = np.random.Generator(BIT_GENERATORS[tree["name"]]())
        rng.bit_generator.state = self.read(tree["state"])
        return rng

    def _object(self, tree: Any, fresh: Any) -> Any:
        name = tree["class"]
        if fresh is not None and _name(type(fresh)) == name:
            target = fresh
        elif name in CLASSES:
            target = object.__new__(CLASSES[name])
        else:
            raise BadCheckpoint(
                f"the checkpoint holds a {name}, which this run has no place for; expected the "
                "options, and the rcmd, that it was written with"
            )
        # Before its attributes, which may speak of it.
        self._seen[tree["number"]] = target
        for attribute, value in tree["values"].items():
            held = vars(target).get(attribute)
            object.__setattr__(target, attribute, self.read(value, held))
        return target


def _beside(items: list[Any], fresh: Any) -> Any:
    """Saved items with those of a new run, if it has as many."""
    alike = isinstance(fresh, list | tuple) and len(fresh) == len(items)
    return zip(items, fresh if alike else [None] * len(items), strict=True)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
