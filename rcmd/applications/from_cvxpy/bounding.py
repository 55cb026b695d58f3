"""Cubes for what nothing bounds: one that holds an optimum inside holds one of the whole problem.

The problem in a cube |β_k| ≤ T is solved roughly. With the certified gap, no optimum β* of it has a
Fenchel–Young term l_j(x_jᵀβ*) + l_j*(w_j) − w_j x_jᵀβ* above n·gap, so that predictions lie in
intervals, and the variables do where the rows have full rank. If that is inside the cube, P is
nowhere smaller, as it is convex; else T grows. In the same way arguments of logarithms and of
negative powers are shown to be above a floor, below which the loss is continued by a parabola.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from rcmd.applications.from_cvxpy.affine import shown
from rcmd.applications.from_cvxpy.blocks import Block
from rcmd.applications.from_cvxpy.regions import Region, Unbounded
from rcmd.applications.from_cvxpy.rules import oracle_of
from rcmd.applications.from_cvxpy.tilted import Tilted
from rcmd.conjugates.samples import SampleLosses
from rcmd.model.certificate import certify
from rcmd.model.problem import Problem
from rcmd.oracles import LinearMinOracle, Product
from rcmd.rows.layouts import cut
from rcmd.rows.validation import Array
from rcmd.solver.history import State
from rcmd.solver.result import Result
from rcmd.solver.solve import solve

REACHES = tuple(8.0**k for k in range(9))
"""Half the sides of the cubes that are tried."""

FLOORS = (2.0**-10,) * 3 + (2.0**-20,) * 3 + (2.0**-30,) * 3
"""Few floors, as each makes a formula of its own, which is derived once."""

PRECISIONS = 1e-4, 1e-7
"""Gaps that are tried in each cube, as shares of the losses at 0 or of P."""

PASSES = 300
"""Over the data, at most, for each of them."""

ROOM, ROUNDING = 1 + 1e-9, 1e-9
"""By which bounds are widened, so that no rounding cuts an optimum off."""

FARTHEST = 2.0**40
"""Up to here the ends of predictions are looked for."""

MOST_COLUMNS = 3000
"""Up to so many variables XᵀX is formed for its least eigenvalue."""


def regularizer(regions: list[Region], slopes: Array, reach: float) -> LinearMinOracle:
    """The oracle of all regions and slopesᵀβ, in the cube where nothing else bounds it."""
    tilts = np.split(slopes, np.cumsum([region.p for region in regions])[:-1])
    for region, tilt in zip(regions, tilts, strict=True):
        if region.reach is None and region.oracle is None:
            try:
                region.oracle = _tilted(oracle_of(region), tilt)
            except Unbounded:
                region.reach = reach
        if region.reach is not None:
            region.reach = reach
            region.oracle = _tilted(oracle_of(region), tilt)
    oracles = tuple(region.oracle for region in regions)
    return oracles[0] if len(oracles) == 1 else Product(oracles, tuple(r.p for r in regions))


def _tilted(oracle: LinearMinOracle, tilt: Array) -> LinearMinOracle:
    if not tilt.any():
        return oracle
    if getattr(oracle, "radius", 1.0) is None:  # what no optimum leaves depends on the slopes
        raise Unbounded
    return Tilted(oracle, tilt)


def enclosed(
    build: Callable[[float, float], Problem],
    regions: list[Region],
    blocks: list[Block],
    start: Result | None,
) -> tuple[Problem, Result | None]:
    """The problem that ``build`` makes for the first cube and floor that enclose an optimum.

    With it goes a solution, at which a run may begin.
    """
    space = regions[0].space
    ends = [space.ends(leaf) for block in blocks for leaf, *_ in block.floors]
    floors = [min(low, 1 / high) if low > 0 else 0.0 for low, high in ends]
    fault: ValueError | None = None
    built = False
    for reach, floor in zip(REACHES, FLOORS, strict=True):
        floor = min([floor, *(own for own in floors if own > 0)])
        try:
            problem = build(reach, floor)
        except ValueError as found:  # a cube may hold no point, or be too large for the loss
            fault = fault or found
            if all(region.reach is None for region in regions):
                break
            continue
        built = True
        start = start if start is not None and _begins(start, problem) else None
        if all(region.reach is None for region in regions) and all(floors):
            return problem, start
        size = float(abs(problem.losses.value(0 * problem.y)).mean()) or 1.0
        for share in PRECISIONS:
            start = solve(
                problem, tol=share * size, warm_start=start, max_gradients=PASSES * problem.n,
                callbacks=[partial(_close, share)],
            )  # fmt: skip
            bounds = (
                farthest(problem, start.beta, w, gap, regions, blocks, floor)
                for w, gap in pairs(problem, start, regions)
            )
            bound = next((bound for bound in bounds if bound < reach), None)
            if bound is not None:
                smaller = 2.0 ** (math.floor(math.log2(bound or 1.0)) + 1)
                problem = build(smaller, floor) if smaller < reach else problem
                return problem, start if _begins(start, problem) else None
    raise ValueError(no_bound(regions, blocks)) if built or fault is None else fault


def _close(share: float, state: State) -> bool:
    return bool(state.gap <= share * abs(state.primal))


def _begins(result: Result, problem: Problem) -> bool:
    """Whether a run can begin at the solution of a problem with other values of parameters."""
    shapes = len(result.w) == problem.n and len(result.beta) == problem.p
    return shapes and bool(np.isfinite(problem.oracle.value(result.beta)))


def pairs(problem: Problem, result: Result, regions: list[Region]) -> Iterator[Any]:
    """Dual points with their gaps: the solution, and half-way to the least one with its Xᵀw.

    Where a loss grows linearly, the solution may be at an end of dom l*, at which its Fenchel–Young
    term does not grow; the other one is inside.
    """
    yield result.w, float(result.gap)
    X = some(problem.rows.as_matrix().T, opened(regions)).T
    if 0 < X.shape[1] <= MOST_COLUMNS:
        solve_for = scipy.sparse.linalg.lsqr if sp.issparse(X) else np.linalg.lstsq
        least = X @ solve_for(X, result.w)[0]
        w = problem.losses.clip((result.w + least) / 2)
        yield w, float(certify(problem, result.beta, w).gap)


def some(X: Any, kept: Array) -> Any:
    """Those rows, without a copy where it is all of them."""
    return X if kept.all() else (X.tocsr() if sp.issparse(X) else X)[np.flatnonzero(kept)]


def opened(regions: list[Region]) -> Array:
    """Which variables the cube bounds."""
    return np.concatenate([np.full(r.p, r.reach is not None) for r in regions])


def farthest(
    problem: Problem,
    beta: Array,
    w: Array,
    gap: float,
    regions: list[Region],
    blocks: list[Block],
    floor: float,
) -> float:
    """A bound of |β*_k| for all variables in the cube, where no argument is below the floor.

    It is of all optima; of one, where the rows leave directions free and nothing else is asked.
    """
    losses, s = problem.losses, problem.rows.matvec(beta)
    most = problem.n * gap * ROOM + ROUNDING * (1 + abs(losses.value(s)))
    low, high = intervals(losses, s, w, most)
    samples = slices([len(block.weights) for block in blocks])
    for block, own in zip(blocks, samples, strict=True):
        for leaf, ratio, shift in block.floors:
            sides = np.sort([ratio * low[own], ratio * high[own]], axis=0) + shift
            ends = regions[0].space.ends(leaf)
            if max(ends[0], sides[0].min()) < floor or min(ends[1], sides[1].max()) > 1 / floor:
                return math.inf
    columns = opened(regions)
    if not columns.any():
        return 0.0
    X, free = problem.rows.as_matrix(), True
    bottom, top = low, high
    parts = problem.oracle.oracles if len(regions) > 1 else [problem.oracle]
    for region, part, own in zip(regions, parts, slices([r.p for r in regions]), strict=True):
        if region.reach is None:
            least, most = part.prediction_range(cut(problem.rows, own.start, own.stop))
            bottom, top = bottom - most, top - least
        else:
            free &= not (region.kinds or region.rest or isinstance(part, Tilted))
    return min(
        size_within(some(X.T, columns).T, beta[columns], bottom, top, free),
        size_within(X, beta, low, high, False),
    )


def slices(sizes: list[int]) -> list[slice]:
    """Where parts of these sizes are, one after the other."""
    return [slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist())]


def intervals(losses: SampleLosses, s: Array, w: Array, most: Array) -> tuple[Array, Array]:
    """Ends around s_j outside of which l_j(·) + l_j*(w_j) − w_j· is above ``most``."""
    ends = []
    for sign in (-1.0, 1.0):
        reach, step = np.full(len(s), np.inf), 2.0**-20
        while step < FARTHEST and np.isinf(reach).any():
            with np.errstate(over="ignore", invalid="ignore"):
                beyond = losses.fenchel_young(s + sign * step, w) > most
            reach[beyond & np.isinf(reach)] = step
            step *= 2
        ends.append(s + sign * reach)
    return ends[0], ends[1]


def size_within(X: Any, beta: Array, low: Array, high: Array, free: bool) -> float:
    """A bound of |β*_k| where low ≤ Xβ* ≤ high; of the least β* with its Xβ* where that is free."""
    kept = np.isfinite(low) & np.isfinite(high)
    wide = X.shape[0] < X.shape[1]
    if kept.sum() < min(X.shape) or min(X.shape) > MOST_COLUMNS or (wide and not free):
        return math.inf
    part = some(X, kept)
    middle = 0 * beta if wide else beta
    square = part @ part.T if wide else part.T @ part
    values = np.linalg.eigvalsh(square.toarray() if sp.issparse(square) else square)
    # ‖XᵀX − its rounding‖ and the error of an eigenvalue are at most this.
    hidden = 2 * sum(part.shape) * np.finfo(float).eps * float(values.sum())
    if values[0] <= 2 * hidden:
        return math.inf
    sizes = np.maximum(*(abs(end[kept] - part @ middle) for end in (low, high)))
    radius = ROOM * float(np.linalg.norm(sizes)) / math.sqrt(values[0] - hidden)
    return float(abs(middle).max()) + radius


def no_bound(regions: list[Region], blocks: list[Block]) -> str:
    """Why no cube was found, as a sentence."""
    names = [name for region in regions if region.reach is not None for name in region.names]
    if not names:
        asked = " + ".join(shown(e) for block in blocks if block.floors for e in block.expressions)
        return (
            f"the arguments in {asked} come too close to 0, where it is infinite or too steep; "
            "expected constraints that keep them above a positive number"
        )
    plural = "s are" if len(names) > 1 else " is"
    return (
        f"the variable{plural} not bounded: neither a constraint, nor a penalty, nor the loss "
        f"keeps {' and '.join(names)} in a bounded set; expected such a constraint, as "
        f"cp.norm_inf({names[0]}) <= 100 (Assumption 1.1 needs a bounded domain)"
    )
