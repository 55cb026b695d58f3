"""The oracle of a region: a rule for each combination of features that rcmd has an oracle for."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.form import Form
from rcmd.applications.from_cvxpy.regions import Region, Unbounded
from rcmd.applications.from_cvxpy.tilted import Tilted
from rcmd.oracles import (
    Box,
    BoxRidge,
    CappedSimplex,
    CvxpyOracle,
    ElasticNet,
    Ellipsoid,
    EntropySimplex,
    GroupL2Ball,
    GroupLasso,
    L1Ball,
    L1Penalty,
    L2Ball,
    LinearMinOracle,
    LpBall,
    NuclearBall,
    NuclearPenalty,
    Polytope,
    Ridge,
    Simplex,
    Spectrahedron,
)
from rcmd.rows.validation import Array


def oracle_of(region: Region) -> LinearMinOracle:
    """The oracle of a region, without linear terms."""
    rule = None if region.rest else RULES.get(region.kinds)
    return _any(region) if rule is None else rule(region)


def _ends(region: Region) -> tuple[Array, Array]:
    if not np.isfinite(region.ends).all():
        raise Unbounded
    return region.ends


def _l1(region: Region) -> LinearMinOracle:
    return region.centred(lambda: L1Penalty(region.size("l1"), region.radius("l1")))


def _nuclear(region: Region) -> LinearMinOracle:
    size, shape = region.size("nuclear"), region.features["nuclear"].more
    return region.centred(lambda: NuclearPenalty(size, shape, region.radius("nuclear")))


def _nonnegative(region: Region) -> LinearMinOracle:
    """strength·‖β‖₁ where β ≥ 0, which is linear."""
    centre = region.features["l1"].centre
    if (region.lower < 0).any() or (centre is not None and centre.any()):
        return _any(region)
    strength = region.size("l1")
    return Tilted(Box(*_ends(region)), np.full(region.p, strength))


def _groups(region: Region, kind: str) -> tuple[Array, Any]:
    """The number of its group for every variable of a region, and the weights but for a factor."""
    groups, weights = region.features[kind].more
    where = {place: k for k, place in enumerate(region.places)}
    labels = np.zeros(region.p, dtype=int)
    for number, group in enumerate(groups):
        labels[[where[place] for place in group]] = number
    return labels, None if np.ptp(weights) == 0 else weights / weights[0]


def _group_lasso(region: Region) -> GroupLasso:
    labels, weights = _groups(region, "groups")
    strength = region.size("groups") * region.features["groups"].more[1][0]
    radius = region.radius("groups")
    if radius is not None and weights is not None:
        radius *= max(1.0, weights.max())
    return GroupLasso(labels, strength, radius, weights)


def _group_ball(region: Region) -> Any:
    labels, weights = _groups(region, "groups ≤")
    radius = region.size("groups ≤") / region.features["groups ≤"].more[1][0]
    if not labels.any():
        return L2Ball(radius)
    return GroupL2Ball(labels, radius, weights)


def _both_groups(region: Region) -> LinearMinOracle:
    penalty, ball = _group_lasso(region), _group_ball(region)
    if np.any(region.features["groups"].centre):
        return _any(region)
    if isinstance(ball, L2Ball):
        ball = GroupL2Ball(np.zeros(region.p, dtype=int), ball.radius)
    pairs = (penalty.groups, ball.groups), (penalty.weights, ball.weights)
    if not all(np.array_equal(one, other) for one, other in pairs):
        return _any(region)
    return GroupLasso(penalty.groups, penalty.strength, ball.radius, penalty.weights)


def _ridge_radius(region: Region) -> Any:
    if "l2 ≤" in region.features:
        return region.size("l2 ≤")
    if "groups ≤" in region.features:
        return _group_ball(region).radius
    return region.radius("ridge")


def _ridge(region: Region) -> LinearMinOracle:
    """A ridge or an elastic net."""
    if "groups ≤" in region.features and _groups(region, "groups ≤")[0].any():
        return _any(region)
    strength, radius = region.size("ridge"), _ridge_radius(region)
    if "l1" in region.features:
        return ElasticNet(region.size("l1"), strength, radius)
    return Ridge(strength, radius)


def _polytope(region: Region) -> LinearMinOracle:
    """A simplex where it is one; else by its constraints."""
    total = _total(region)
    if total is not None and np.isinf(region.upper).all():
        return Simplex(total)
    cap = region.upper[0]
    if total is not None and (region.upper == cap).all() and cap < total <= region.p * cap:
        return CappedSimplex(total, float(cap))
    sides: dict[bool, tuple[Any, Any]] = {}
    for equal in (False, True):
        own = [(G, h) for G, h, is_equal in region.rows if is_equal == equal]
        G = sp.vstack([sp.csr_array((0, region.p)), *(part[0] for part in own)], format="csr")
        sides[equal] = G, np.concatenate([np.zeros(0), *(part[1] for part in own)])
    equations = sides[True] if len(sides[True][1]) else (None, None)
    try:
        return Polytope(*sides[False], *equations, lower=region.ends[0], upper=region.ends[1])
    except ValueError as fault:
        if "unbounded" in str(fault):
            raise Unbounded from None
        raise


def _total(region: Region) -> float | None:
    """The sum of variables ≥ 0, where one equation fixes it and there is no other constraint."""
    if len(region.rows) != 1 or region.lower.any():
        return None
    G, h, equal = region.rows[0]
    alone = equal and G.shape[0] == 1 and G.nnz == region.p and np.ptp(G.data) == 0
    total = float(h[0] / G.data[0]) if alone else 0.0
    return total if total > 0 else None


def _entropic(region: Region) -> LinearMinOracle:
    total = _total(region)
    if total is None or np.isfinite(region.upper).any():
        return _any(region)
    strength = region.size("entropy")
    whole = EntropySimplex(strength, total)
    # β ln(f·β) is β ln(β/total) + β ln(f·total).
    slope = strength * math.log(region.features["entropy"].more * total)
    return Tilted(whole, np.full(region.p, slope)) if slope else whole


def _spectrahedron(region: Region) -> LinearMinOracle:
    """β = βᵀ ⪰ 0 with a trace; without all equations of the symmetry, β is no symmetric matrix."""
    order = round(region.p**0.5)
    traces, twins = [], set()
    for G, h, equal in region.rows:
        for start, stop, side in zip(G.indptr, G.indptr[1:], h, strict=False):
            (i, j), values = divmod(np.sort(G.indices[start:stop]), order), G.data[start:stop]
            if not equal:
                return _any(region)
            if len(i) == 2 and (i == j[::-1]).all() and not (side or values.sum()):
                twins.add((i[0], j[0]))
            elif len(i) == order and (i == j).all() and np.ptp(values) == 0:
                traces.append(side / values[0])
            else:
                return _any(region)
    if len(twins) < order * (order - 1) // 2 or len(traces) != 1 or traces[0] <= 0:
        return _any(region)
    return Spectrahedron(order, float(traces[0]))


def _any(region: Region) -> LinearMinOracle:
    """Anything else, by CVXPY."""
    try:
        return CvxpyOracle(Form(region), region.p)
    except ValueError as fault:
        if "unbounded" in str(fault):
            raise Unbounded from None
        raise


def _kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


RULES: dict[frozenset[str], Callable[[Region], LinearMinOracle]] = {
    _kinds(): lambda r: Box(*_ends(r)),
    _kinds("box"): lambda r: Box(*_ends(r)),
    _kinds("box", "ridge"): lambda r: BoxRidge(*_ends(r), r.size("ridge")),
    _kinds("rows"): _polytope,
    _kinds("box", "rows"): _polytope,
    _kinds("box", "rows", "entropy"): _entropic,
    _kinds("rows", "entropy"): _entropic,
    _kinds("l1"): _l1,
    _kinds("l1", "box"): _nonnegative,
    _kinds("l1", "l1 ≤"): _l1,
    _kinds("l1 ≤"): lambda r: r.centred(lambda: L1Ball(r.size("l1 ≤"))),
    _kinds("l2 ≤"): lambda r: r.centred(lambda: L2Ball(r.size("l2 ≤"))),
    _kinds("lp ≤"): lambda r: r.centred(lambda: LpBall(r.size("lp ≤"), r.features["lp ≤"].more)),
    _kinds("quadratic ≤"): lambda r: Ellipsoid(
        r.features["quadratic ≤"].more, r.size("quadratic ≤")
    ),
    _kinds("ridge"): _ridge,
    _kinds("ridge", "l2 ≤"): _ridge,
    _kinds("ridge", "groups ≤"): _ridge,
    _kinds("l1", "ridge"): _ridge,
    _kinds("l1", "ridge", "l2 ≤"): _ridge,
    _kinds("l1", "ridge", "groups ≤"): _ridge,
    _kinds("groups"): lambda r: r.centred(lambda: _group_lasso(r)),
    _kinds("groups ≤"): lambda r: r.centred(lambda: _group_ball(r)),
    _kinds("groups", "groups ≤"): _both_groups,
    _kinds("nuclear"): _nuclear,
    _kinds("nuclear", "nuclear ≤"): _nuclear,
    _kinds("nuclear ≤"): lambda r: r.centred(
        lambda: NuclearBall(r.features["nuclear ≤"].more, r.size("nuclear ≤"))
    ),
    _kinds("psd", "rows"): _spectrahedron,
}
"""What the features of a region make; other combinations, and ``Unbounded`` ones, are CVXPY's."""
