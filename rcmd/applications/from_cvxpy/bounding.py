"""Bounds for variables that nothing bounds: an optimum is no worse than a point that is known.

With a feasible β⁰, no optimum has (1/n)Σ l_j + R above P(β⁰). As every other loss is at least its
infimum, −l_j*(0), and R at least its own, each l_j, and each penalty, is at most a level; and where
l_j grows on both sides the prediction of sample j lies in an interval.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.losses import Losses
from rcmd.applications.from_cvxpy.regions import Region, Unbounded
from rcmd.applications.from_cvxpy.rules import oracle_of
from rcmd.applications.from_cvxpy.tilted import Tilted
from rcmd.conjugates.samples import SampleLosses
from rcmd.oracles import LinearMinOracle, Product
from rcmd.rows import Rows, as_rows
from rcmd.rows.layouts import cut
from rcmd.rows.validation import Array

ROOM = 1 + 1e-9
"""By which bounds are widened, so that no rounding cuts an optimum off."""

ROOM_OF_SOLVER = 1e-3

FARTHEST = 2.0**40
"""Up to here the ends of predictions are looked for."""

MOST_COLUMNS = 3000
"""Up to so many variables XᵀX is formed for its least eigenvalue."""


class Level(NamedTuple):
    """What no optimum exceeds: ``penalty`` for R above its infimum, ``low``, ``high`` for x_jᵀβ."""

    penalty: float
    low: Array
    high: Array


def level_of(losses: SampleLosses, value: float, infimum: float) -> Level | None:
    """The level of a point where P is ``value`` while R is nowhere below ``infimum``."""
    least = -losses.conjugate(0 * losses.y)
    n = len(least)
    spare = value - float(least.mean()) - infimum
    if not math.isfinite(spare):
        return None
    spare = max(spare, 0.0) * ROOM + 1e-12 * (1 + abs(value))
    most = least + n * spare
    ends = []
    for sign in (-1.0, 1.0):
        reach, open_ends = np.full(n, np.inf), np.ones(n, dtype=bool)
        step = 2.0**-10
        while open_ends.any() and step < FARTHEST:
            at = np.full(n, sign * step)
            with np.errstate(over="ignore"):
                beyond = (losses.value(at) > most) & (sign * losses.derivative(at) > 0)
            reach[open_ends & beyond] = step
            open_ends &= ~beyond
            step *= 2
        ends.append(sign * reach)
    return Level(spare, *ends)


def reach_of(X: Any, low: Array, high: Array) -> tuple[Array, Array] | None:
    """Ends for β where low ≤ Xβ ≤ high; none where the rows do not bound it."""
    if X.shape[1] == 1:
        return _interval((X.toarray() if sp.issparse(X) else X)[:, 0], low, high)
    kept = np.isfinite(low) & np.isfinite(high)
    if kept.sum() < X.shape[1] or X.shape[1] > MOST_COLUMNS:
        return None
    part = (X.tocsr() if sp.issparse(X) else X)[np.flatnonzero(kept)]
    square = part.T @ part
    values = np.linalg.eigvalsh(square.toarray() if sp.issparse(square) else square)
    # ‖XᵀX − its rounding‖ and the error of an eigenvalue are at most this.
    hidden = 2 * sum(part.shape) * np.finfo(float).eps * float(values.sum())
    if values[0] <= 2 * hidden:
        return None
    sizes = np.maximum(abs(low[kept]), abs(high[kept]))
    radius = ROOM * float(np.linalg.norm(sizes)) / math.sqrt(values[0] - hidden)
    return np.full(X.shape[1], -radius), np.full(X.shape[1], radius)


def _interval(x: Array, low: Array, high: Array) -> tuple[Array, Array] | None:
    """The values of one variable that all rows allow."""
    some = x != 0
    with np.errstate(invalid="ignore"):
        ends = np.sort(np.stack([low[some] / x[some], high[some] / x[some]]), axis=0)
    if not some.any():
        return None
    first, last = ends[0].max(), ends[1].min()
    if not (math.isfinite(first) and math.isfinite(last)):
        return None
    room = 1e-9 * (1 + max(abs(first), abs(last)))
    return np.array([min(first, last) - room]), np.array([max(first, last) + room])


# ---- the whole regularizer ---------------------------------------------------------------------


def regularizer(
    regions: list[Region], losses: Losses, X: Any, slopes: Array, value: Callable[[], float]
) -> LinearMinOracle:
    """The oracle of all regions and slopesᵀβ, bounded by the losses where nothing else bounds it.

    ``value`` is P at a feasible point, and is called only where it is needed.
    """
    tilts = np.split(slopes, np.cumsum([region.p for region in regions])[:-1])
    oracles: list[LinearMinOracle | None] = []
    for region, tilt in zip(regions, tilts, strict=True):
        try:
            oracles.append(_tilted(oracle_of(region), tilt))
        except Unbounded:
            oracles.append(None)
    if any(oracle is None for oracle in oracles):
        _bound(regions, oracles, tilts, losses, X, value)
    if len(oracles) == 1:
        return oracles[0]  # type: ignore[return-value]
    return Product(tuple(oracles), tuple(region.p for region in regions))  # type: ignore[arg-type]


def _tilted(oracle: LinearMinOracle, tilt: Array) -> LinearMinOracle:
    if not tilt.any():
        return oracle
    if _open(oracle):
        raise Unbounded
    return Tilted(oracle, tilt)


def _bound(
    regions: list[Region],
    oracles: list[LinearMinOracle | None],
    tilts: list[Array],
    losses: Losses,
    X: Any,
    value: Callable[[], float],
) -> None:
    """Oracles for the regions that nothing bounds, from the objective at a feasible point."""
    ends = np.cumsum([0, *(region.p for region in regions)])
    open_ones = [k for k, oracle in enumerate(oracles) if oracle is None]
    if not any(tilts[k].any() or not regions[k].nonnegative for k in open_ones):
        samples = SampleLosses(
            losses.loss, losses.y, losses.weights,
            offset=losses.offset, fields=tuple(losses.fields[name] for name in losses.loss.reads),
        )  # fmt: skip
        bounded = [(r, o) for r, o in zip(regions, oracles, strict=True) if o is not None]
        infimum = sum(float(o.minimum(np.zeros(r.p))) for r, o in bounded if not _open(o))
        level = level_of(samples, value(), infimum)
        if level is not None:
            _narrow(regions, oracles, tilts, as_rows(X), level, ends)
    for k in open_ones:
        if oracles[k] is None:
            raise ValueError(_no_bound(regions[k]))


def _narrow(
    regions: list[Region],
    oracles: list[LinearMinOracle | None],
    tilts: list[Array],
    rows: Rows,
    level: Level,
    ends: Array,
) -> None:
    """Give radii to penalties by the level, and ends to the variables that are left."""
    low, high = level.low, level.high
    open_ones = [k for k, oracle in enumerate(oracles) if oracle is None]
    for k, (region, oracle) in enumerate(zip(regions, oracles, strict=True)):
        region.level = level.penalty
        if oracle is not None:
            if _open(oracle):
                oracles[k] = oracle = oracle_of(region)
            bottom, top = oracle.prediction_range(cut(rows, int(ends[k]), int(ends[k + 1])))
            low, high = low - top, high - bottom
    chosen = np.concatenate([np.arange(ends[k], ends[k + 1]) for k in open_ones])
    data = rows.as_matrix()
    reach = reach_of(data[:, chosen], low, high)
    for k in open_ones:
        region = regions[k]
        if reach is not None:
            own = slice(*np.searchsorted(chosen, [ends[k], ends[k + 1]]))
            space, places = region.space, region.places
            space.lower[places] = np.maximum(space.lower[places], reach[0][own])
            space.upper[places] = np.minimum(space.upper[places], reach[1][own])
        with suppress(Unbounded):
            oracles[k] = _tilted(oracle_of(region), tilts[k])


def _open(oracle: LinearMinOracle) -> bool:
    """Whether a penalty's radius is left to the problem, which knows none better."""
    return getattr(oracle, "radius", 1.0) is None


def feasible_value(problem: Any) -> tuple[float, bool]:
    """The objective, to be minimized, at a feasible point, and whether it is one for certain.

    That is 0, if it fulfils all constraints. A solver's point misses them by its tolerance: no more
    than that the optimum is below its value and ``ROOM_OF_SOLVER`` of it is assumed.
    """
    import cvxpy as cp

    kept = [variable.value for variable in problem.variables()]
    sign = -1 if isinstance(problem.objective, cp.Maximize) else 1
    try:
        for variable in problem.variables():
            variable.save_value(np.zeros(variable.shape))
        inside = [*problem.constraints, *(c for v in problem.variables() for c in v.domain)]
        certain = all(np.max(c.violation(), initial=0.0) == 0 for c in inside)
        if not certain:
            search = cp.Problem(cp.Minimize(0), problem.constraints)
            search.solve(solver=cp.CLARABEL)
            if search.status != "optimal":
                raise ValueError(
                    f"no point was found that fulfils all constraints: CLARABEL says "
                    f"{search.status}; expected a feasible problem"
                )
        value = sign * float(problem.objective.args[0].value)
        return (value if certain else value + ROOM_OF_SOLVER * (1 + abs(value))), certain
    finally:
        for variable, value in zip(problem.variables(), kept, strict=True):
            variable.save_value(value)


def _no_bound(region: Region) -> str:
    names = [
        v.name()
        for v in region.space.variables
        if ((region.places >= region.space.starts[v.id])
            & (region.places < region.space.starts[v.id] + v.size)).any()
    ]  # fmt: skip
    plural = "s are" if len(names) > 1 else " is"
    return (
        f"the variable{plural} not bounded: neither a constraint, nor a penalty, nor the "
        f"objective's value at a feasible point keeps {' and '.join(names)} in a bounded set; "
        f"expected such a constraint, as cp.norm_inf({names[0]}) <= 100 (Assumption 1.1 needs a "
        "bounded domain)"
    )
