"""Regularization paths: one problem for many radii or strengths, each certified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, Unpack, overload

import numpy as np
import numpy.typing as npt

from rcmd.problem import Problem
from rcmd.result import Result
from rcmd.run import Options, solve

Array = npt.NDArray[Any]


class Path(Sequence[Result]):
    """The results of a path, in the order in which the values were given.

    Attributes
    ----------
    values
        The radii or strengths.
    """

    def __init__(self, values: Sequence[float], results: Sequence[Result]) -> None:
        self.values = tuple(values)
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        return self._results[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    @property
    def betas(self) -> Array:
        """The solutions, one row each."""
        return np.stack([result.beta for result in self])

    @property
    def gaps(self) -> Array:
        """The certified gaps."""
        return np.array([float(result.gap) for result in self])

    def __repr__(self) -> str:
        worst = max(self.gaps, default=0.0)
        return f"Path({len(self)} values, largest certified gap {worst:.3g})"


def path(
    problem: Problem,
    values: Iterable[float],
    *,
    parameter: Literal["radius", "strength"] = "radius",
    **options: Unpack[Options],
) -> Path:
    """Solve ``problem`` for each radius (or strength) of its oracle, each from the one before.

    Sets are visited from the smallest to the largest, so that every solution lies in the next
    set. Takes the options of ``solve``; ``tol`` is the gap certified at every value.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem, path
    >>> problem = Problem([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], LeastSquares(), L1Ball(1.0))
    >>> found = path(problem, [1.0, 3.0, 10.0], tol=1e-9)
    >>> found.betas.round(6)
    array([[1. , 0. ],
           [2.5, 0.5],
           [3. , 1. ]])
    """
    oracle: Any = problem.regularizer
    known: list[str] = [field.name for field in fields(oracle)] if is_dataclass(oracle) else []
    if parameter not in ("radius", "strength") or parameter not in known:
        raise ValueError(
            f"parameter is {parameter!r}, which {oracle!r} does not have; expected "
            "'radius' or 'strength', a field of the oracle"
        )
    if options.get("method") is not None:
        raise ValueError("method is given to path; expected None: only the dual method warm-starts")
    wanted = list(values)
    if not wanted:
        raise ValueError("values is empty; expected at least one radius or strength")
    results: dict[float, Result] = {}
    last = None
    for value in sorted(set(wanted), reverse=parameter == "strength"):
        changed = problem.with_oracle(replace(oracle, **{parameter: value}))
        # Sets that are not nested, such as simplices, hold no earlier solution.
        if last is not None and not math.isinf(changed.oracle.value(last.beta)):
            options["warm_start"] = last
        last = solve(changed, **options)
        results[value] = last
    return Path(wanted, [results[value] for value in wanted])
