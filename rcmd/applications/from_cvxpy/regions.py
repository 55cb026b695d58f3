"""dom R: the variables that hang together, and an oracle for each such region."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from rcmd.applications.from_cvxpy.affine import constant
from rcmd.applications.from_cvxpy.domains import Feature, Space, one_of_groups
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
    Translated,
)
from rcmd.rows.validation import Array


class Unbounded(Exception):
    """Nothing that was read bounds a region."""


@dataclass
class Region:
    """Variables that constraints and penalties bind together; ``scale`` divides the penalties."""

    space: Space
    places: Array
    features: dict[str, Feature]
    rest: list[Feature]
    scale: float
    level: float | None = None

    @property
    def p(self) -> int:
        return len(self.places)

    @property
    def lower(self) -> Array:
        return self.space.lower[self.places]

    @property
    def upper(self) -> Array:
        return self.space.upper[self.places]

    @property
    def rows(self) -> list[tuple[Any, Array, bool]]:
        """The linear constraints with entries here."""
        found = []
        for G, h, equal in self.space.matrices:
            own = G[:, self.places]
            kept = np.flatnonzero(np.diff(own.indptr))
            if len(kept):
                found.append((own[kept], h[kept], equal))
        return found

    @property
    def kinds(self) -> frozenset[str]:
        names = set(self.features)
        if (np.isfinite(self.lower) | np.isfinite(self.upper)).any():
            names.add("box")
        if self.rows:
            names.add("rows")
        return frozenset(names)

    def size(self, kind: str) -> Any:
        """A strength, in the units of P, or a radius."""
        feature = self.features[kind]
        return feature.size if "≤" in kind else feature.size / self.scale

    def radius(self, kind: str) -> Any:
        """That of a ball that was asked for; else what the level bounds; else none."""
        if f"{kind} ≤" in self.features:
            return self.size(f"{kind} ≤")
        return None if self.level is None else self.level / self.size(kind)

    @property
    def asked(self) -> list[Feature]:
        """All features, a sum of norms by its terms."""
        features = [*self.features.values(), *self.rest]
        return [o for f in features for o in (f.source if isinstance(f.source, list) else [f])]

    @property
    def nonnegative(self) -> bool:
        """Whether the penalties are nowhere below 0, as far as CVXPY's rules say."""
        penalties = [one for one in self.asked if not one.is_set and one.kind != "ridge"]
        return all(one.source.is_nonneg() and (one.weights >= 0).all() for one in penalties)

    def oracle(self) -> LinearMinOracle:
        """The oracle of this region, without linear terms."""
        rule = None if self.rest else RULES.get(self.kinds)
        return _any(self) if rule is None else rule(self)

    def centred(self, make: Callable[[], LinearMinOracle]) -> LinearMinOracle:
        """The oracle that ``make`` builds, moved to the centre of the features."""
        centres = [f.centre for f in self.features.values() if f.centre is not None]
        moved = centres and centres[0].any()
        return Translated(make(), centres[0]) if moved else make()


def regions_of(space: Space, features: list[Feature], scale: float) -> list[Region]:
    """The variables in regions, those that nothing binds by what they are declared in."""
    features = _joined_groups(space, features)
    sets = [feature.places for feature in features]
    for G, _, _ in space.matrices:
        sets += [G.indices[a:b] for a, b in pairwise(G.indptr)]
    loose = np.ones(space.p, dtype=bool)
    for places in sets:
        loose[places] = False
    boxed = np.isfinite(space.lower) & np.isfinite(space.upper)
    for variable in space.variables:
        own = np.arange(variable.size) + space.starts[variable.id]
        sets += [own[loose[own] & side[own]] for side in (boxed, ~boxed)]
    # A graph of the sets, and behind them the variables.
    ends = np.repeat(np.arange(len(sets)), [len(places) for places in sets])
    places = len(sets) + np.concatenate(sets)
    graph = sp.csr_array((np.ones(len(ends)), (ends, places)), shape=(len(sets) + space.p,) * 2)
    labels = connected_components(graph, directed=False)[1][len(sets) :]
    made = []
    for label in dict.fromkeys(labels.tolist()):
        inside = [feature for feature in features if labels[feature.places[0]] == label]
        made.append(_region(space, np.flatnonzero(labels == label), inside, scale))
    return made


def _joined_groups(space: Space, features: list[Feature]) -> list[Feature]:
    """Sums of norms of variables that nothing else is asked of become one."""
    asked = np.zeros(space.p, dtype=int)
    for feature in features:
        asked[feature.places] += 1
    for G, _, _ in space.matrices:
        asked[G.indices] += 2
    asked[np.isfinite(space.lower) | np.isfinite(space.upper)] += 2
    alone = [f for f in features if f.kind == "groups" and (asked[f.places] == 1).all()]
    if len(alone) < 2:
        return features
    return [f for f in features if not any(f is one for one in alone)] + one_of_groups(alone)


def _region(space: Space, places: Array, features: list[Feature], scale: float) -> Region:
    """The features by their kinds, added up; those that do not cover the region are the rest."""
    known: dict[str, Feature] = {}
    rest = []
    grouped = [feature for feature in features if feature.kind == "groups"]
    if len(grouped) > 1:
        features = [f for f in features if f.kind != "groups"] + one_of_groups(grouped)
    # Matrices come row by row; all others in the order of the variables.
    matrix = next((f for f in features if f.kind.startswith(("nuclear", "psd"))), None)
    if matrix is not None and len(matrix.places) == len(places):
        places = matrix.places
    where = np.full(space.p, -1)
    where[places] = np.arange(len(places))
    for feature in features:
        whole = len(feature.places) == len(places) and feature.kind not in ("other", "other ≤")
        order = np.argsort(where[feature.places])
        if whole and feature.centre is not None:
            feature = feature._replace(centre=feature.centre[order])
        twin = known.get(feature.kind)
        if whole and twin is None:
            known[feature.kind] = feature
        elif whole and twin and feature.kind in SUMS and _equal(feature.centre, twin.centre):
            terms = [*(twin.source if isinstance(twin.source, list) else [twin]), feature]
            known[feature.kind] = twin._replace(size=twin.size + feature.size, source=terms)
        else:
            rest.append(feature)
    centres = [f.centre for f in known.values() if f.centre is not None]
    boxed = np.isfinite(space.lower[places]).any() or np.isfinite(space.upper[places]).any()
    alike = len(centres) == len(known) and all(np.array_equal(c, centres[0]) for c in centres)
    if any(c.any() for c in centres) and (boxed or not alike):
        rest, known = [*rest, *known.values()], {}
    return Region(space, places, known, rest, scale)


SUMS = ("ridge", "l1")
"""Penalties of which two are one."""

# ---- the rules ---------------------------------------------------------------------------------


def _box(region: Region) -> LinearMinOracle:
    return Box(*_ends(region))


def _ends(region: Region, reach: float = np.inf) -> tuple[Array, Array]:
    """The ends of the variables, of which no optimum is farther than ``reach`` from 0."""
    lower, upper = np.maximum(region.lower, -reach), np.minimum(region.upper, reach)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise Unbounded
    return lower, upper


def _box_ridge(region: Region) -> LinearMinOracle:
    strength = region.size("ridge")
    reach = np.inf if region.level is None else (2 * region.level / strength) ** 0.5
    return BoxRidge(*_ends(region, reach), strength)


def _nonnegative(region: Region) -> LinearMinOracle:
    """strength·‖β‖₁ where β ≥ 0, which is linear."""
    centre = region.features["l1"].centre
    if (region.lower < 0).any() or (centre is not None and centre.any()):
        return _any(region)
    strength = region.size("l1")
    reach = np.inf if region.level is None else region.level / strength
    return Tilted(Box(*_ends(region, reach)), np.full(region.p, strength))


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
    radius = None if region.level is None else region.level / strength
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
    if not np.array_equal(penalty.groups, ball.groups) or not _equal(penalty.weights, ball.weights):
        return _any(region)
    return GroupLasso(penalty.groups, penalty.strength, ball.radius, penalty.weights)


def _equal(one: Any, other: Any) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _ridge_radius(region: Region) -> Any:
    if "l2 ≤" in region.features:
        return region.size("l2 ≤")
    if "groups ≤" in region.features:
        return _group_ball(region).radius
    return None if region.level is None else (2 * region.level / region.size("ridge")) ** 0.5


def _ridge(region: Region) -> LinearMinOracle:
    if "groups ≤" in region.features and _groups(region, "groups ≤")[0].any():
        return _any(region)
    return Ridge(region.size("ridge"), _ridge_radius(region))


def _elastic(region: Region) -> LinearMinOracle:
    if "groups ≤" in region.features and _groups(region, "groups ≤")[0].any():
        return _any(region)
    return ElasticNet(region.size("l1"), region.size("ridge"), _ridge_radius(region))


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
        return Polytope(*sides[False], *equations, lower=region.lower, upper=region.upper)
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
    form = Form(region)
    try:
        oracle = CvxpyOracle(form, region.p)
    except ValueError as fault:
        if "unbounded" in str(fault):
            raise Unbounded from None
        raise
    return oracle


@dataclass(frozen=True, eq=False)
class Form:
    """What a region asks of β, in CVXPY."""

    region: Region

    def __repr__(self) -> str:
        return "what the problem asks"

    def __call__(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        region, space = self.region, self.region.space
        put = {}
        for variable in space.variables:
            own = region.places - space.starts[variable.id]
            here = np.flatnonzero((own >= 0) & (own < variable.size))
            ones = np.ones(len(here))
            place = sp.csr_array((ones, (own[here], here)), shape=(variable.size, region.p))
            put[variable.id] = cp.reshape(place @ beta, variable.shape, order="F")
        penalty: Any = 0
        inside: list[Any] = []
        where = np.full(space.p, -1)
        where[region.places] = np.arange(region.p)
        for one in region.asked:
            if one.is_set:
                inside.append(substituted(one.source, put))
            elif one.kind == "ridge":
                penalty += one.size / region.scale / 2 * cp.sum_squares(beta[where[one.places]])
            else:
                entries = cp.vec(substituted(one.source, put), order="F")
                penalty += (one.weights / region.scale) @ entries
        for end, sign in ((region.lower, -1), (region.upper, 1)):
            finite = np.flatnonzero(np.isfinite(end))
            if len(finite):
                inside.append(sign * beta[finite] <= sign * end[finite])
        inside += [G @ beta == h if equal else G @ beta <= h for G, h, equal in region.rows]
        return penalty, inside


def substituted(expression: Any, put: dict[int, Any]) -> Any:
    """A CVXPY expression or constraint with other expressions for its variables."""
    kind = type(expression).__name__
    if kind == "Variable":
        return put[expression.id]
    if kind in ("Parameter", "CallbackParameter"):
        import cvxpy as cp

        return cp.Constant(constant(expression))
    if not expression.args:
        return expression
    return expression.copy([substituted(argument, put) for argument in expression.args])


def _kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


RULES: dict[frozenset[str], Callable[[Region], LinearMinOracle]] = {
    _kinds("box"): _box,
    _kinds("box", "ridge"): _box_ridge,
    _kinds("rows"): _polytope,
    _kinds("box", "rows"): _polytope,
    _kinds("box", "rows", "entropy"): _entropic,
    _kinds("rows", "entropy"): _entropic,
    _kinds("l1"): lambda r: r.centred(lambda: L1Penalty(r.size("l1"), r.radius("l1"))),
    _kinds("l1", "box"): _nonnegative,
    _kinds("l1", "l1 ≤"): lambda r: r.centred(lambda: L1Penalty(r.size("l1"), r.radius("l1"))),
    _kinds("l1 ≤"): lambda r: r.centred(lambda: L1Ball(r.size("l1 ≤"))),
    _kinds("l2 ≤"): lambda r: r.centred(lambda: L2Ball(r.size("l2 ≤"))),
    _kinds("lp ≤"): lambda r: r.centred(lambda: LpBall(r.size("lp ≤"), r.features["lp ≤"].more)),
    _kinds("quadratic ≤"): lambda r: Ellipsoid(
        r.features["quadratic ≤"].more, r.size("quadratic ≤")
    ),
    _kinds("ridge"): _ridge,
    _kinds("ridge", "l2 ≤"): _ridge,
    _kinds("ridge", "groups ≤"): _ridge,
    _kinds("l1", "ridge"): _elastic,
    _kinds("l1", "ridge", "l2 ≤"): _elastic,
    _kinds("l1", "ridge", "groups ≤"): _elastic,
    _kinds("groups"): lambda r: r.centred(lambda: _group_lasso(r)),
    _kinds("groups ≤"): lambda r: r.centred(lambda: _group_ball(r)),
    _kinds("groups", "groups ≤"): _both_groups,
    _kinds("nuclear"): lambda r: r.centred(
        lambda: NuclearPenalty(r.size("nuclear"), r.features["nuclear"].more, r.radius("nuclear"))
    ),
    _kinds("nuclear", "nuclear ≤"): lambda r: r.centred(
        lambda: NuclearPenalty(r.size("nuclear"), r.features["nuclear"].more, r.radius("nuclear"))
    ),
    _kinds("nuclear ≤"): lambda r: r.centred(
        lambda: NuclearBall(r.features["nuclear ≤"].more, r.size("nuclear ≤"))
    ),
    _kinds("psd", "rows"): _spectrahedron,
}
"""What the features of a region make; other combinations, and ``Unbounded`` ones, are CVXPY's."""
