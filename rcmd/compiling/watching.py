"""Whether functions are still what they were, without reading all their code again."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from rcmd.compiling.fingerprint import Place, is_foreign, named_places

LOOKED_INTO = (tuple, list, set, np.ndarray, Dispatcher)
"""Values that a fingerprint takes by their contents, which may change within the same object."""


class Watch:
    """All that functions name from outside, and what those reach through it in turn.

    ``unchanged`` may say no where nothing has changed, as where a list is among the values; it
    never says yes where something has.

    Examples
    --------
    >>> scope = {"step": 2}
    >>> exec("def double(s): return step * s", scope)
    >>> watch = Watch([scope["double"]])
    >>> watch.unchanged()
    True
    >>> scope["step"] = 3
    >>> watch.unchanged()
    False
    """

    def __init__(self, functions: Iterable[types.FunctionType]) -> None:
        self._places: list[Place] = []
        self._codes: dict[types.FunctionType, tuple[Any, Any]] = {}
        self._certain = True
        waiting: list[Any] = list(functions)
        while waiting:
            value = waiting.pop()
            if isinstance(value, types.FunctionType):
                if value not in self._codes and not is_foreign(value):
                    self._codes[value] = value.__code__, value.__defaults__
                    places = named_places(value)
                    self._places += places
                    waiting += [place.value for place in places]
            elif isinstance(value, LOOKED_INTO) or hasattr(value, "fingerprint"):
                self._certain = False

    def unchanged(self) -> bool:
        """Whether every name still stands for the same value, and every function for its code."""
        return (
            self._certain
            and all(place.unchanged() for place in self._places)
            and all(
                function.__code__ is code and function.__defaults__ is defaults
                for function, (code, defaults) in self._codes.items()
            )
        )
