"""The options of a run, checked before it starts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from rcmd.methods.base import Method
from rcmd.problem import Problem
from rcmd.prox import BregmanProx
from rcmd.result import Result
from rcmd.schedules import Schedule


def check_parts(problem: Any, schedule: Any, prox: Any, sampler: Any) -> None:
    """Refuse what is no problem, no part of the algorithm, or a sampler made for other data."""
    if not isinstance(problem, Problem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; expected a Problem(X, y, loss, oracle)"
        )
    if schedule is not None and not isinstance(schedule, Schedule):
        raise TypeError(f"schedule is {schedule!r}; expected a Schedule, or None")
    if prox is not None and not isinstance(prox, BregmanProx):
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
    """Refuse options that are none, with the names that may have been meant."""
    known = sorted(known)
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=2, cutoff=0.45)
            meant = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
            )
            raise TypeError(f"{name!r} is no option of solve and iterate; {meant}")


def check_seed(seed: Any) -> None:
    """Refuse what is neither a whole number ≥ 0 nor a generator."""
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if isinstance(seed, np.random.Generator) or (whole and seed >= 0):
        return
    raise (ValueError if whole else TypeError)(
        f"seed is {seed!r}; expected a whole number ≥ 0, or a numpy.random.Generator such as "
        "numpy.random.default_rng(0)"
    )


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


def check_method(method: Any, parts: dict[str, Any]) -> None:
    """Refuse what is no method, and parts of the dual algorithm beside another method."""
    if not isinstance(method, Method):
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
