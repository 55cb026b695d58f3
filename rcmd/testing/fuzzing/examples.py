"""Random losses and regularizers: one of each class that has a spec.

All numbers come from ``random.Random``, by ``randint`` and ``choice`` alone: Hypothesis has a
``Random`` of its own, whose draws of these two it spreads evenly and makes smaller afterwards.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.model.specs import GROUPS, NUMBER, ORACLE, ORACLES, SHAPE, VECTOR, WHOLE, Spec
from rcmd.oracles import LinearMinOracle

Array = npt.NDArray[Any]

INNER = ("l1", "l2", "box", "ridge", "l1-penalty")
"""Oracles that are drawn inside others."""


@dataclass(frozen=True)
class Draw:
    """Random numbers for the ``example`` of a class, with ``p`` variables if it is an oracle."""

    rng: Random
    p: int = 1

    def chance(self, percent: int) -> bool:
        """True in that many of a hundred draws."""
        return self.rng.randint(1, 100) > 100 - percent

    def magnitude(self, spread: float = 1.5) -> float:
        """A positive number within ``spread`` powers of ten around 1."""
        return float(10 ** (spread * self.rng.randint(-1000, 1000) / 1000))

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return self.rng.randint(low, high)

    def whole_numbers(self, low: int, high: int, *shape: int) -> Array:
        """Whole numbers from ``low`` to ``high``, both included."""
        count = int(np.prod(shape))
        return np.array([self.whole(low, high) for _ in range(count)]).reshape(shape)

    def numbers(self, *shape: int) -> Array:
        """Numbers between −3 and 3 with three decimals; none is tiny but not zero."""
        return self.whole_numbers(-3000, 3000, *shape) / 1000

    def inner(self, p: int) -> LinearMinOracle:
        """An oracle inside another one."""
        makes = ORACLES[self.rng.choice(INNER)].makes
        oracle: LinearMinOracle = makes.example(replace(self, p=p))
        return oracle

    def fields(self, makes: Any, spread: float = 1.5) -> Any:
        """An object of the class with a random value for each parameter of its spec.

        Numbers are positive, or ``None`` where a class has that by default.
        """
        kinds = Spec(makes).parameters
        arguments: dict[str, Any] = {}
        for name, parameter in inspect.signature(makes).parameters.items():
            kind = kinds.get(name)
            if kind == NUMBER:
                left_out = parameter.default is None and not self.chance(50)
                arguments[name] = None if left_out else self.magnitude(spread)
            elif kind == WHOLE:
                arguments[name] = math.isqrt(self.p) if makes.square else self.whole(1, self.p)
            elif kind == VECTOR:
                arguments[name] = self.numbers(self.p)
            elif kind == SHAPE:
                rows = self.rng.choice([k for k in range(1, self.p + 1) if self.p % k == 0])
                arguments[name] = rows, self.p // rows
            elif kind == GROUPS:
                arguments[name] = [self.whole(0, 2) for _ in range(self.p)]
            elif kind == ORACLE:
                arguments[name] = self.inner(self.p)
            elif kind is not None:
                raise TypeError(
                    f"{name} of {makes.__name__} is {kind.expected}, which has no random value; "
                    f"define the classmethod example(cls, draw) of {makes.__name__}"
                )
        return makes(**arguments)
