"""What is asked of variables: penalties that are norms or entropies of them, and constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.applications.from_cvxpy.domains import Space


class Feature(NamedTuple):
    """Something asked of the variables in ``places``: a penalty, or a constraint (``bound``).

    ``kind`` is a key of the rules, ``size`` a strength or a radius, ``more`` what else there is:
    the sizes of groups, a matrix. ``source`` is the CVXPY expression or constraint, times
    ``weights`` where it is a penalty.
    """

    kind: str
    places: Array
    size: Any
    source: Any
    more: Any = None
    centre: Array | None = None
    weights: Any = None

    @property
    def is_set(self) -> bool:
        """Whether it is a constraint."""
        return self.kind == "psd" or self.kind.endswith("≤")


def _norm(kind: str) -> Callable[..., Any]:
    """A norm of variables."""

    def rule(space: Space, expression: Any, weights: Array) -> list[Feature] | None:
        found = space.picked(expression.args[0], signs=True)
        if found is None or expression.size > 1 or getattr(expression, "axis", None) is not None:
            return None
        places, factor, centre = found
        return [Feature(kind, places, float(weights[0]) * factor, None, centre=centre)]

    return rule


def _absolute(space: Space, expression: Any, weights: Array) -> list[Feature] | None:
    """Σ_k a_k |x_k|: the l1 norm, or one with weights, of groups of one variable."""
    found = space.picked(expression.args[0], signs=True)
    if found is None:
        return None
    places, factor, centre = found
    if np.ptp(weights) == 0:
        return [Feature("l1", places, float(weights[0]) * factor, None, centre=centre)]
    groups = [np.array([k]) for k in places]
    return [Feature("groups", places, factor, None, (groups, weights), centre)]


def _p_norm(space: Space, expression: Any, weights: Array) -> list[Feature] | None:
    """‖x‖₂ of variables, or of their columns or rows: groups; ‖x‖_p."""
    order, argument, axis = float(expression.p), expression.args[0], expression.axis
    found = space.picked(argument, signs=True)
    if found is None:
        return None
    places, factor, centre = found
    if order != 2:
        size = float(weights[0]) * factor
        return [Feature("lp", places, size, None, order, centre)] if axis is None else None
    if axis is None:
        groups = [places]
    else:
        numbers = np.arange(argument.size).reshape(argument.shape, order="F")
        groups = list(places[np.moveaxis(numbers, axis, -1).reshape(len(weights), -1, order="F")])
    return [Feature("groups", places, factor, None, (groups, weights), centre)]


def _nuclear(space: Space, expression: Any, weights: Array) -> list[Feature] | None:
    found = space.picked(expression.args[0])
    if found is None:
        return None
    places, factor, centre = found
    shape = expression.args[0].shape
    order = np.arange(len(places)).reshape(shape, order="F").ravel()  # row by row, as oracles do
    size = float(weights[0]) * factor
    return [Feature("nuclear", places[order], size, None, shape, centre[order])]


def entropy(space: Space, expression: Any, weights: Array) -> list[Feature] | None:
    """−a Σ entr(f·β) = a·f Σ β ln(f·β)."""
    found = space.picked(expression.args[0])
    if found is None or found[2].any() or np.ptp(weights) > 0:
        return None
    places, factor, _ = found
    return [Feature("entropy", places, -float(weights[0]) * factor, None, factor)]


def one_of_groups(found: list[Feature]) -> list[Feature]:
    """Sums of norms as one, where their groups do not overlap."""
    places = np.concatenate([f.places for f in found])
    if len(np.unique(places)) < len(places):
        return [f._replace(kind="other") for f in found]
    groups = [g for f in found for g in f.more[0]]
    weights = np.concatenate([f.size * f.more[1] for f in found])
    centre = np.concatenate([f.centre for f in found])
    whole = Feature("groups", places, 1.0, found, (groups, weights), centre)
    return [whole]


PENALTIES: dict[str, Callable[..., Any]] = {
    "norm1": _norm("l1"),
    "abs": _absolute,
    "norm_inf": _norm("linf"),
    "Pnorm": _p_norm,
    "PnormApprox": _p_norm,
    "normNuc": _nuclear,
}
"""Norms of variables, by the names of CVXPY's atoms."""

BALLS = ("l1", "ridge", "groups", "lp", "nuclear", "quadratic", "linf")
"""Penalties that have balls."""
