"""Regularization paths: one problem for many radii or strengths, each certified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from rcmd.model.problem import Problem, check_problem
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array
from rcmd.solver.history import StopReason
from rcmd.solver.result import Result
from rcmd.solver.run import Run
from rcmd.solver.solve import Options, iterate


class SolutionPath(tuple[Result, ...]):
    """The results of a path, in the order in which the values were given.

    Attributes
    ----------
    values
        The radii or strengths.
    parameter
        Which of the two they are.
    """

    values: tuple[float, ...]
    parameter: str

    def __new__(
        cls, values: Iterable[float], results: Iterable[Result], parameter: str = "radius"
    ) -> SolutionPath:
        found = super().__new__(cls, results)
        found.values, found.parameter = tuple(values), parameter
        return found

    def __getnewargs__(self) -> Any:
        return self.values, tuple(self), self.parameter

    @property
    def betas(self) -> Array:
        """The solutions, one row each."""
        return np.stack([result.beta for result in self])

    @property
    def gaps(self) -> Array:
        """The certified gaps."""
        return np.array([float(result.gap) for result in self])

    def plot(self, names: Sequence[str] | None = None, axes: Any = None) -> Any:
        """Coefficients against the radius or strength, and how many of them are not zero.

        ``names`` are those of the coefficients, where they are not the columns of a data frame;
        ``axes`` are for the coefficients alone. Returns the matplotlib figure.
        """
        from rcmd.plotting.figures import coefficients

        betas = [result.beta for result in self]
        if names is None and self and not isinstance(betas[0], LowRank):
            names = self[0].names
        return coefficients(self.values, betas, x_label=self.parameter, names=names, axes=axes)

    def __repr__(self) -> str:
        worst = max(self.gaps, default=0.0)
        return f"SolutionPath({len(self)} values, largest certified gap {worst:.3g})"


def path(
    problem: Problem,
    values: Iterable[float],
    *,
    parameter: Literal["radius", "strength"] = "radius",
    **options: Any,
) -> SolutionPath:
    """Solve ``problem`` for each radius (or strength), each from the solution before.

    Sets are visited from the smallest to the largest, so that every solution lies in the next
    set; what a run found in the data is not computed again. Takes the options of ``solve``; ``tol``
    is the gap certified at every value. Ctrl-C returns the values reached so far.

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
    if not isinstance(values, Iterable):
        raise TypeError(
            f"values is {values!r}; expected several radii or strengths, such as [1.0, 2.0]"
        )
    wanted = list(values)
    for value in wanted:
        if not isinstance(value, Real):
            raise TypeError(
                f"values holds {value!r}; expected numbers, the radii or strengths: path changes "
                "the problem's own oracle, solve(problem.with_oracle(other)) takes any"
            )
    results = dict(steps(problem, wanted, parameter=parameter, **options))
    reached = [value for value in wanted if value in results]
    return SolutionPath(reached, [results[value] for value in reached], parameter)


def steps(
    problem: Problem,
    values: Iterable[float],
    *,
    parameter: Literal["radius", "strength"] = "radius",
    **options: Any,
) -> Iterator[tuple[float, Result]]:
    """Like ``path``, but one result at a time, as they are found, in the order of the sets."""
    check_problem(problem)
    oracle: Any = problem.regularizer
    known: list[str] = [field.name for field in fields(oracle)] if is_dataclass(oracle) else []
    if parameter not in ("radius", "strength") or parameter not in known:
        raise ValueError(
            f"parameter is {parameter!r}, which {oracle!r} does not have; expected "
            "'radius' or 'strength', a field of the oracle"
        )
    if options.get("checkpoint") is not None:
        raise ValueError("checkpoint is given to path; expected None: it holds one run only")
    method, _, _ = Options(problem, method=options.get("method")).check()
    if not method.warm_starts:
        raise ValueError(
            f"method is {method!r}, which starts from scratch; expected RCMD or Corrected: path "
            "starts from the last solution"
        )
    oracles = {value: replace(oracle, **{parameter: value}) for value in values}
    if not oracles:
        raise ValueError("values is empty; expected at least one radius or strength")
    ordered = sorted(oracles.items(), key=itemgetter(0), reverse=parameter == "strength")

    def visit() -> Iterator[tuple[float, Result]]:
        before: Run | None = None
        last: Result | None = None
        for value, oracle in ordered:
            changed = problem.with_oracle(oracle)
            # Sets that are not nested, such as simplices, hold no earlier solution.
            if last is not None and not math.isinf(changed.oracle.value(last.beta)):
                options["warm_start"] = last
            run = iterate(changed, **options)
            if before is not None:
                run.progress.follow(before.progress)
            before, last = run, run.finish()
            yield value, last
            if last.stop is StopReason.INTERRUPTED:
                return

    return visit()
