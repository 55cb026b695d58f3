"""The options of a run, checked before it starts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import Any

from rcmd.methods.base import Method
from rcmd.problem import Problem, check_problem
from rcmd.prox import BregmanProx
from rcmd.result import Result
from rcmd.schedules import Schedule
from rcmd.validation import refuse_class


def check_parts(problem: Any, schedule: Any, prox: Any, sampler: Any) -> None:
    """Refuse what is no problem, no part of the algorithm, or a sampler made for other data."""
    check_problem(problem)
    if schedule is not None and not isinstance(schedule, Schedule):
        refuse_class("schedule", schedule)
        raise TypeError(f"schedule is {schedule!r}; expected a Schedule, or None")
    if prox is not None and not isinstance(prox, BregmanProx):
        refuse_class("prox", prox)
        raise TypeError(f"prox is {prox!r}; expected a BregmanProx, or None")
    if sampler is not None and not (hasattr(sampler, "draw") and hasattr(sampler, "batch")):
        raise TypeError(
            f"sampler is {sampler!r}; expected a Sampler, such as "
            "rcmd.engine.sampling.Replay([[0], [1]]), or None"
        )
    drawn_from = getattr(sampler, "n", problem.n)
    if drawn_from != problem.n:
        raise ValueError(
            f"sampler draws from {drawn_from} rows; expected one for the problem's n = {problem.n}"
        )


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse options that are none, with the name that may have been meant."""
    known = sorted(known)
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.45)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise TypeError(f"{name!r} is no option of solve and iterate; {meant}")


def checked_callbacks(callbacks: Any) -> tuple[Any, ...]:
    """The functions to call at each checkpoint, from one or several."""
    several = isinstance(callbacks, Iterable) and not callable(callbacks)
    found = tuple(callbacks) if several else (callbacks,)
    for callback in found:
        if not callable(callback):
            raise TypeError(
                f"callbacks holds {callback!r}; expected a function of a State, or several of them"
            )
    return found


def check_tolerance(tol: Any) -> None:
    """Refuse what is no number ≥ 0."""
    number: Any = tol if isinstance(tol, Real) else math.nan
    if not number >= 0:
        raise ValueError(f"tol is {tol!r}; expected a number ≥ 0")


def check_every(every: Any) -> None:
    """Refuse what is no number of seconds."""
    number: Any = every if isinstance(every, Real) else math.nan
    if not number >= 0:
        raise ValueError(f"every is {every!r}; expected seconds between two checkpoints, ≥ 0")


def check_method(method: Any, parts: dict[str, Any]) -> None:
    """Refuse what is no method, and parts of the dual algorithm beside another method."""
    if not isinstance(method, Method):
        refuse_class("method", method)
        raise TypeError(f"method is {method!r}; expected a Method, such as FrankWolfe(), or None")
    given = [name for name, part in parts.items() if part is not None]
    if given:
        raise ValueError(
            f"{' and '.join(given)} given beside method = {method!r}; expected neither: they are "
            "parts of the dual algorithm"
        )


def checked_start(problem: Problem, warm_start: Any) -> Any:
    """The β to start from, which must lie in dom R: averages would stay outside with it."""
    if not isinstance(warm_start, Result):
        raise TypeError(
            f"warm_start is of type {type(warm_start).__name__}; expected the Result of an "
            "earlier run"
        )
    beta, like = warm_start.beta, problem.rows.zero()
    if type(beta) is not type(like) or beta.shape != like.shape:
        raise ValueError(
            f"warm_start holds a β of shape {beta.shape}; expected {like.shape}, that of this "
            "problem"
        )
    if math.isinf(problem.oracle.value(beta)):
        raise ValueError(
            f"warm_start holds a β outside dom R, R(β) = {problem.oracle.describe()}; expected "
            "one inside: go from smaller sets to larger ones"
        )
    return beta
