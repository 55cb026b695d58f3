"""All bounds: by name, by what a run asks for, those that are proved, and the best of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rcmd.model.bounds.bound import SIDES, Bound, Verdict, index_of
from rcmd.model.bounds.exact import EXACT
from rcmd.model.bounds.hypotheses import PARTS, Kind, RunFacts
from rcmd.model.bounds.linear import LINEAR
from rcmd.model.bounds.sublinear import SUBLINEAR

if TYPE_CHECKING:
    from rcmd.model.constants import Constants

BOUNDS = (*SUBLINEAR, *LINEAR, *EXACT)


def all_bounds() -> tuple[Bound, ...]:
    """Return every bound, refuted ones included.

    Examples
    --------
    >>> sorted({bound.verdict.value for bound in all_bounds()})
    ['conjectured', 'proved', 'refuted']
    """
    return BOUNDS


def named(name: str) -> Bound:
    """Return the bound of that name, even if refuted: ``valid`` and ``best`` give proved ones.

    Examples
    --------
    >>> named("sublinear-energy").verdict.value
    'proved'
    """
    for bound in BOUNDS:
        if bound.name == name:
            return bound
    names = ", ".join(bound.name for bound in BOUNDS)
    raise ValueError(f"no bound is named {name!r}; expected one of {names}")


def asked(bounds: Any, of: Sequence[str] = ("gap", "every gap")) -> tuple[Bound, ...]:
    """Return the bounds that are asked for: claimed ones, and rcmd's own by name.

    They must be ``of`` these; a run knows neither D* nor a mean over all runs.

    Examples
    --------
    >>> [bound.name for bound in asked(["theorem-3.1-first", Bound("mine", value=max)])]
    ['theorem-3.1-first', 'mine']
    """
    found: list[Bound] = []
    if not isinstance(bounds, Bound | str | Iterable):
        raise TypeError(f"bounds is {bounds!r}; expected a list, such as ['theorem-3.1-first']")
    for bound in [bounds] if isinstance(bounds, Bound | str) else list(bounds):
        if isinstance(bound, str):
            bound = named(bound)
        if not isinstance(bound, Bound):
            raise TypeError(
                f"bounds holds {bound!r}; expected a Bound, such as Bound('mine', value=…), or "
                "the name of one of rcmd.model.bounds"
            )
        if bound.verdict is not Verdict.CLAIMED:
            bound = named(bound.name)  # what is proved or refuted here is rcmd's own
        elif any(bound.name == one.name for one in (*BOUNDS, *found)):
            raise ValueError(
                f"bounds holds a claim named {bound.name!r}, which another bound is called; "
                "expected a name of its own"
            )
        if bound.of not in of:
            raise ValueError(
                f"bounds holds {bound.name!r}, which bounds {bound.what}; expected bounds of "
                f"{' or '.join(SIDES[one].format('β̄', 'w') for one in of)}"
            )
        found.append(bound)
    return tuple(found)


def valid(constants: Constants, iterations: int, kind: Kind = "sublinear") -> list[Bound]:
    """Return the bounds proved for these constants, steps and schedule.

    Examples
    --------
    >>> from rcmd.model.constants import Constants
    >>> lasso = Constants(n=9, batch=3, gamma=1.0, prediction_bound=1.0, prediction_energy=0.5,
    ...                   bregman_radius=0.25, mu=0.0, row_energy=1.0, spectral_energy=None,
    ...                   quadratic=True)
    >>> len(valid(lasso, 10)), valid(lasso, 10, "linear")
    (6, [])
    """
    if kind not in PARTS:
        raise ValueError(
            f"kind is {kind!r}; expected 'sublinear', 'head-start', 'linear', 'exact' or 'quartz'"
        )
    k = index_of(kind, iterations)
    if not named(LEAST[kind]).applies(constants):
        return []
    about = [b for b in BOUNDS if b.schedule == kind]
    # Hypotheses come last: they may ask for constants that take a pass over the data.
    known = [b for b in about if b.verdict is Verdict.PROVED or b.proved_when(constants, k)]
    return [b for b in known if b.applies(constants)]


LEAST: dict[Kind, str] = {
    "sublinear": "sublinear-pathwise", "head-start": "head-start-pathwise",
    "linear": "linear-uniform", "exact": "exact-start", "quartz": "quartz-start",
}  # fmt: skip
"""The bounds that ask for nothing beyond what all of their schedule do."""


def why_none(run: RunFacts) -> str:
    """Return why no theorem bounds this run, in words; '' where one does.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> why_none(RunFacts.of(problem, problem.constants(), theorem="linear"))
    'R is not strongly convex (μ = 0)'
    """
    return named(LEAST[run.theorem or "sublinear"]).broken(run)


def best(constants: Constants, iterations: int, kind: Kind = "sublinear") -> tuple[Bound, float]:
    """Return the smallest proved bound of the whole duality gap, and its value.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> bound, value = best(problem.constants(), 100)
    >>> bound.verdict.value, round(value, 3)
    ('proved', 0.246)
    """
    gaps = [b for b in valid(constants, iterations, kind) if b.of_a_run]
    if not gaps:
        raise ValueError(f"no {kind} bound applies: {why_none(RunFacts(constants, kind))}")
    k = index_of(kind, iterations)
    found = [(b, b.value(constants, k)) for b in gaps if b.at_least is None]
    for bound in gaps:
        least = None if bound.at_least is None else bound.at_least(constants, k)
        if least is not None and least < min(value for _, value in found):
            found.append((bound, bound.value(constants, k)))
    return min(found, key=lambda pair: pair[1])
