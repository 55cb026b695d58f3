"""The table of regularizers: R, R*(−c) = max −cᵀβ − R(β), and a point of dom R next to β.

As for the losses, an entry reads the numbers of an oracle. Where the maximum is no formula
(assignments, the CUR set, singular values), floats propose a solution of both sides, whatever its
quality, and balls prove what lies between them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from flint import arb, arb_mat

from rcmd import oracles
from rcmd.testing.enclosure.balls import (
    Ball,
    Vector,
    ball,
    balls,
    descending,
    euclidean,
    greatest,
    inner,
    max_norm,
    nuclear_norm,
    positive,
    positive_definite,
    power,
    sizes,
    spectral_norm,
    top_eigenvalue,
    total,
    xlogx,
)
from rcmd.testing.enclosure.polytopes import Sides

Norm = Callable[[Vector], Ball]

SHRUNK = 1 - Fraction(1, 2**100)
"""Less than 1, so that balls can tell what is left."""


@dataclass(frozen=True)
class Regularizer:
    """R(β) for β in dom R; R*(−c); and a map into dom R that leaves its points where they are."""

    conjugate: Norm
    inside: Callable[[Vector], Vector]
    value: Norm = lambda beta: arb(0)


# ---- norms -------------------------------------------------------------------------------------


def norm_ball(radius: Any, norm: Norm, dual: Norm, strength: Any = 0) -> Regularizer:
    """strength·‖β‖ on ‖β‖ ≤ radius: R*(−c) = radius·(‖c‖_dual − strength)₊."""
    radius, strength = ball(radius), ball(strength)

    def inside(beta: Vector) -> Vector:
        size = norm(beta)
        return beta if size <= radius else scaled(beta, (radius / size).min(arb(1)))

    return Regularizer(
        lambda c: radius * positive(dual(c) - strength),
        inside,
        lambda beta: strength * norm(beta) if strength != 0 else arb(0),
    )


def scaled(vector: Vector, factor: Ball) -> Vector:
    """factor·x."""
    return [factor * x for x in vector]


def l1_norm(x: Vector) -> Ball:
    """Σ|x_k|."""
    return total(sizes(x))


def lp_norm(order: Ball) -> Norm:
    """(Σ|x_k|^order)^(1/order)."""
    return lambda x: power(total(power(size, order) for size in sizes(x)), 1 / order)


def lp(o: Any) -> Regularizer:
    """The dual order q has 1/order + 1/q = 1."""
    order = ball(o.order)
    return norm_ball(o.radius, lp_norm(order), lp_norm(order / (order - 1)))


def k_sparse(o: Any) -> Regularizer:
    """‖β‖ = max(‖β‖_∞, ‖β‖₁/k); its dual sums the k largest |c|."""
    return norm_ball(
        o.radius,
        lambda x: max_norm(x).max(l1_norm(x) / o.k),
        lambda c: total(descending(sizes(c))[: o.k]),
    )


def k_support(o: Any) -> Regularizer:
    """‖β‖² = min Σβ²/θ over 0 ≤ θ ≤ 1, Σθ ≤ k; its dual is ‖the k largest |c|‖₂.

    θ = min(1, |β|/m), divided by Σθ/k where that exceeds 1, bounds it for every m > 0; least for
    m = min over q < k of (all but the q largest |β|)/(k − q).
    """

    def norm(x: Vector) -> Ball:
        ordered = descending(sizes(x))
        m = min(float(total(ordered[q:]).mid()) / (o.k - q) for q in range(o.k)) or 1e-300
        share = total((size / m).min(arb(1)) for size in ordered) / o.k
        squares = total(size * size.max(arb(m)) for size in ordered)
        return positive(squares * share.max(arb(1))).sqrt()

    return norm_ball(o.radius, norm, lambda c: euclidean(descending(sizes(c))[: o.k]))


def group_ball(o: Any, strength: Any = 0) -> Regularizer:
    """‖β‖ = Σ_g v_g‖β_g‖₂; its dual is max_g ‖c_g‖₂/v_g."""
    labels = o.groups.tolist()
    weights = [arb(1)] * (max(labels) + 1) if o.weights is None else balls(o.weights)

    def norms(x: Vector) -> Vector:
        members: list[Vector] = [[] for _ in weights]
        for label, entry in zip(labels, x, strict=True):
            members[label].append(entry)
        return [euclidean(group) for group in members]

    return norm_ball(
        o.radius,
        lambda x: inner(weights, norms(x)),
        lambda c: greatest(n / v for n, v in zip(norms(c), weights, strict=True)),
        strength,
    )


def owl(o: Any) -> Regularizer:
    """‖β‖ = Σ_i w_i|β|_(i); its dual is max_k Σ_{i≤k}|c|_(i)/Σ_{i≤k}w_i."""
    weights = balls(o.weights)

    def dual(c: Vector) -> Ball:
        sums = zip(accumulate(descending(sizes(c))), accumulate(weights), strict=True)
        return greatest(top / bottom for top, bottom in sums)

    return norm_ball(o.radius, lambda x: inner(weights, descending(sizes(x))), dual)


def ellipsoid(o: Any) -> Regularizer:
    """‖β‖² = βᵀA⁻¹β, ‖c‖_dual² = cᵀAc; of A the lower triangle counts."""
    if o.matrix.ndim == 1:
        roots = [a.sqrt() for a in balls(o.matrix)]
        return norm_ball(
            o.radius,
            lambda x: euclidean(map(arb.__truediv__, x, roots)),
            lambda c: euclidean(map(arb.__mul__, c, roots)),
        )
    p = len(o.matrix)
    A = arb_mat(p, p, balls(np.tril(o.matrix) + np.tril(o.matrix, -1).T))
    if not positive_definite(A):
        raise ValueError(
            f"matrix of {o!r} is not proved to be positive definite; expected one that is"
        )
    return norm_ball(
        o.radius,
        lambda x: positive(inner(x, A.solve(arb_mat(p, 1, x)).entries())).sqrt(),
        lambda c: positive(inner(c, (A * arb_mat(p, 1, c)).entries())).sqrt(),
    )


def nuclear(o: Any, strength: Any = 0) -> Regularizer:
    """The sum of the singular values; its dual is the largest."""
    return norm_ball(
        o.radius,
        lambda x: nuclear_norm(x, o.shape),
        lambda c: spectral_norm(c, o.shape),
        strength,
    )


def cur(o: Any) -> Regularizer:
    """‖β‖ = max(Σ_i ‖β_i·‖_∞, Σ_j ‖β_·j‖_∞); ‖c‖_dual = min over 0 ≤ a ≤ |c| of λ + μ.

    λ is the largest Σ_j a_ij and μ the largest Σ_i (|c_ij| − a_ij).
    """
    height, width = o.shape

    def rows(x: Vector) -> list[Vector]:
        return [x[i * width : (i + 1) * width] for i in range(height)]

    def norm(x: Vector) -> Ball:
        matrix = rows(sizes(x))
        return total(map(greatest, matrix)).max(total(map(greatest, zip(*matrix, strict=True))))

    def dual(c: Vector) -> Ball:
        hint, of_c = np.array([float(e.mid()) for e in c]), sizes(c)
        given = zip(balls(o._share(hint)), of_c, strict=True)
        share = [positive(a).min(size) for a, size in given]
        rest = [size - a for size, a in zip(of_c, share, strict=True)]
        loads = (
            greatest(map(total, rows(share))),
            greatest(map(total, zip(*rows(rest), strict=True))),
        )
        atom = balls(o.argmin(hint).vector)
        size = norm(atom)
        low = -inner(c, atom) / size if size > 0 else arb(0)
        return low.union(loads[0] + loads[1])

    return norm_ball(o.radius, norm, dual)


# ---- penalties and simplices -------------------------------------------------------------------


def ridge(radius: Any, l2_strength: Any, l1_strength: Any = 0) -> Regularizer:
    """l1‖β‖₁ + (l2/2)‖β‖₂² on ‖β‖₂ ≤ radius.

    With t = (|c| − l1)₊, R*(−c) is ‖t‖²/(2·l2), less (‖t‖ − l2·radius)₊²/(2·l2) at the ball.
    """
    l1, l2, reach = ball(l1_strength), ball(l2_strength), ball(l2_strength) * ball(radius)

    def conjugate(c: Vector) -> Ball:
        size = euclidean(positive(x - l1) for x in sizes(c))
        return (size**2 - positive(size - reach) ** 2) / (2 * l2)

    return Regularizer(
        conjugate,
        norm_ball(radius, euclidean, euclidean).inside,
        lambda x: l1 * l1_norm(x) + l2 * inner(x, x) / 2,
    )


def box(o: Any, strength: Any = 0) -> Regularizer:
    """(strength/2)‖β‖² on a box: R*(−c) = Σ_k max −c_k β − (strength/2)β² over its ends.

    It is attained at −c_k/strength, or at the end next to it.
    """
    mu = ball(strength)

    def ends(p: int) -> list[tuple[Ball, Ball]]:
        lower, upper = (balls(np.broadcast_to(end, (p,))) for end in (o.lower, o.upper))
        return list(zip(lower, upper, strict=True))

    def largest(x: Ball, a: Ball, b: Ball) -> Ball:
        if mu == 0:
            return (-x * a).max(-x * b)
        best = (-x / mu).max(a).min(b)
        return -best * (x + mu * best / 2)

    return Regularizer(
        lambda c: total(largest(x, *both) for x, both in zip(c, ends(len(c)), strict=True)),
        lambda beta: [
            x if a <= x <= b else x.max(a).min(b)
            for x, (a, b) in zip(beta, ends(len(beta)), strict=True)
        ],
        lambda x: mu * inner(x, x) / 2,
    )


def onto_simplex(radius: Any) -> Callable[[Vector], Vector]:
    """The positive part, scaled to the sum ``radius``."""

    def inside(beta: Vector) -> Vector:
        kept = [positive(x) for x in beta]
        return scaled(kept, ball(radius) / total(kept))

    return inside


def simplex(o: Any) -> Regularizer:
    """R*(−c) = radius·max(−c_k)."""
    return Regularizer(lambda c: ball(o.radius) * greatest(-x for x in c), onto_simplex(o.radius))


def entropy_simplex(o: Any) -> Regularizer:
    """strength·Σβ log(β/radius) on a simplex: R*(−c) = radius·strength·log Σ exp(−c_k/strength)."""
    radius, strength = ball(o.radius), ball(o.strength)
    return Regularizer(
        lambda c: radius * strength * total((-x / strength).exp() for x in c).log(),
        onto_simplex(o.radius),
        lambda x: strength * radius * total(xlogx(positive(b / radius)) for b in x),
    )


def capped_simplex(o: Any) -> Regularizer:
    """0 ≤ β ≤ cap, Σβ = total: R*(−c) puts as much as fits on the largest −c_k.

    Inside: β clipped, lowered in proportion to β or raised in proportion to cap − β. A total that
    exceeds p·cap by rounding counts as p·cap.
    """
    cap, goal = ball(o.cap), ball(o.total)

    def conjugate(c: Vector) -> Ball:
        fills = (positive(goal - k * cap).min(cap) for k in range(len(c)))
        return inner(descending([-x for x in c]), list(fills))

    def inside(beta: Vector) -> Vector:
        if Fraction(o.total) >= len(beta) * Fraction(o.cap):
            return [cap] * len(beta)
        kept = [positive(x).min(cap) for x in beta]
        if total(kept) != 0:
            kept = scaled(kept, (goal / total(kept)).min(arb(1)))
        share = positive(goal - total(kept)) / (len(beta) * cap - total(kept))
        return [x + share * (cap - x) for x in kept]

    return Regularizer(conjugate, inside)


def hull(o: Any) -> Regularizer:
    """R*(−c) = max over the vertices of −cᵀv; inside is Σλ_v v for weights that floats propose."""
    vertices = [balls(v) for v in o.vertices]

    def inside(beta: Vector) -> Vector:
        from scipy.optimize import nnls

        points = np.asarray(o.vertices, dtype=float).T
        size = abs(points).max() or 1.0
        target = np.array([float(x.mid()) for x in beta]) / size
        found = nnls(np.vstack([points / size, np.ones(points.shape[1])]), np.append(target, 1.0))
        weights = balls(found[0])
        scale = total(weights)
        return [inner(weights, column) / scale for column in zip(*vertices, strict=True)]

    return Regularizer(lambda c: greatest(-inner(c, v) for v in vertices), inside)


# ---- matrices and graphs -----------------------------------------------------------------------


def spectrahedron(o: Any) -> Regularizer:
    """β ⪰ 0, tr β = trace: R*(−c) = trace·λ_max of the symmetric part of −c.

    Inside is the multiple of Σ_i s_i u_i u_iᵀ with that trace, for s ≥ 0 and u that floats propose.
    """
    m, trace = o.shape[0], ball(o.trace)

    def conjugate(c: Vector) -> Ball:
        matrix = arb_mat(m, m, c)
        return trace * top_eigenvalue((matrix + matrix.transpose()) * arb(-0.5))

    def inside(beta: Vector) -> Vector:
        rounded = np.array([float(x.mid()) for x in beta]).reshape(m, m)
        values, vectors = np.linalg.eigh((rounded + rounded.T) / 2)
        root = arb_mat(m, m, balls(vectors * np.sqrt(np.maximum(values, 0))))
        square = root * root.transpose()
        return scaled(square.entries(), trace / square.trace())

    return Regularizer(conjugate, inside)


def birkhoff(o: Any) -> Regularizer:
    """Rows and columns ≥ 0 that sum to 1; prices u_i + v_j ≤ c_ij bound every assignment.

    Inside: rows, then columns divided by sums above 1; what they lack is added as a product.
    """
    m = o.order

    def conjugate(c: Vector) -> Ball:
        from scipy.optimize import linear_sum_assignment

        costs = [c[i * m : (i + 1) * m] for i in range(m)]
        hint = np.array([float(x.mid()) for x in c]).reshape(m, m)
        column = linear_sum_assignment(hint)[1].tolist()
        v = [arb(0)] * m
        for _ in range(m):  # shortest paths: v_j ≤ v_k + c_ij − c_ik for the column k of row i
            for i, k in enumerate(column):
                v = [b.min(v[k] + costs[i][j] - costs[i][k]) for j, b in enumerate(v)]
        u = [-greatest(v[j] - costs[i][j] for j in range(m)) for i in range(m)]
        chosen = total(costs[i][k] for i, k in enumerate(column))
        return (-chosen).union(-total(u) - total(v))

    def inside(beta: Vector) -> Vector:
        rows = [[positive(x) for x in beta[i * m : (i + 1) * m]] for i in range(m)]
        for _ in range(2):  # rows, then columns as rows of the transpose
            rows = [scaled(row, ball(SHRUNK) / total(row).max(arb(1))) for row in rows]
            rows = [list(column) for column in zip(*rows, strict=True)]
        of_rows = [1 - total(row) for row in rows]
        of_columns = [1 - total(column) for column in zip(*rows, strict=True)]
        lacks = [a * b / total(of_rows) for a in of_rows for b in of_columns]
        return [x + lack for x, lack in zip((x for row in rows for x in row), lacks, strict=True)]

    return Regularizer(conjugate, inside)


def flows(o: Any) -> Regularizer:
    """The longest path of −c; inside, every node passes on what it gets, divided as in β."""
    edges = [(int(tail), int(head)) for tail, head in o.edges]

    def reached(start: int, way: list[tuple[int, int]]) -> set[int]:
        found, last = {start}, 0
        while last < len(found):
            last = len(found)
            found |= {b for a, b in way if a in found}
        return found

    forth, back = reached(o.source, edges), reached(o.sink, [(b, a) for a, b in edges])
    out: dict[int, list[int]] = {}
    graph: TopologicalSorter[int] = TopologicalSorter()
    for e, (tail, head) in enumerate(edges):
        if tail in forth and head in back:  # no flow uses another edge
            out.setdefault(tail, []).append(e)
            graph.add(head, tail)
    order = [node for node in graph.static_order() if node != o.sink]

    def conjugate(c: Vector) -> Ball:
        longest = {o.source: arb(0)}
        for node in order:
            for e in out[node]:
                here, head = longest[node] - c[e], edges[e][1]
                longest[head] = here.max(longest.get(head, here))
        return ball(o.flow) * longest[o.sink]

    def inside(beta: Vector) -> Vector:
        flow = [arb(0)] * len(edges)
        arrived = {o.source: ball(o.flow)}
        for node in order:
            kept = [positive(beta[e]) for e in out[node]]
            kept = kept if total(kept) > 0 else [arb(1)] * len(kept)
            for e, x in zip(out[node], kept, strict=True):
                head = edges[e][1]
                flow[e] = arrived[node] * x / total(kept)
                arrived[head] = arrived.get(head, arb(0)) + flow[e]
        return flow

    return Regularizer(conjugate, inside)


# ---- made of others ----------------------------------------------------------------------------


def enlarged(o: Any) -> Regularizer:
    """R(β/factor)."""
    of, factor = regularizer_of(o.oracle), ball(o.factor)
    return Regularizer(
        lambda c: of.conjugate(scaled(c, factor)),
        lambda x: scaled(of.inside([b / factor for b in x]), factor),
        lambda x: of.value([b / factor for b in x]),
    )


def translated(o: Any) -> Regularizer:
    """R(β − shift)."""
    of, shift = regularizer_of(o.oracle), balls(o.shift)

    def back(x: Vector) -> Vector:
        return [b - t for b, t in zip(x, shift, strict=True)]

    return Regularizer(
        lambda c: of.conjugate(c) - inner(c, shift),
        lambda x: [b + t for b, t in zip(of.inside(back(x)), shift, strict=True)],
        lambda x: of.value(back(x)),
    )


def polytope(o: Any) -> Regularizer:
    """The rows and ends as they were given; see ``polytopes``."""
    sides = Sides(o)
    return Regularizer(sides.conjugate, sides.inside)


def product(o: Any) -> Regularizer:
    """Σ_k R_k(β_k)."""
    parts = [regularizer_of(oracle) for oracle in o.oracles]
    ends = list(pairwise(accumulate(o.sizes, initial=0)))

    def each(name: str, x: Vector) -> list[Any]:
        blocks = zip(parts, ends, strict=True)
        return [getattr(of, name)(x[start:stop]) for of, (start, stop) in blocks]

    return Regularizer(
        lambda c: total(each("conjugate", c)),
        lambda x: [b for block in each("inside", x) for b in block],
        lambda x: total(each("value", x)),
    )


TABLE: dict[type, Callable[[Any], Regularizer]] = {
    oracles.L1Ball: lambda o: norm_ball(o.radius, l1_norm, max_norm),
    oracles.L2Ball: lambda o: norm_ball(o.radius, euclidean, euclidean),
    oracles.LInfBall: lambda o: norm_ball(o.radius, max_norm, l1_norm),
    oracles.LpBall: lp,
    oracles.Box: box,
    oracles.Simplex: simplex,
    oracles.CappedSimplex: capped_simplex,
    oracles.KSparseBall: k_sparse,
    oracles.KSupportBall: k_support,
    oracles.GroupL2Ball: group_ball,
    oracles.OWLBall: owl,
    oracles.Ellipsoid: ellipsoid,
    oracles.Ridge: lambda o: ridge(o.radius, o.strength),
    oracles.BoxRidge: lambda o: box(o, o.strength),
    oracles.L1Penalty: lambda o: norm_ball(o.radius, l1_norm, max_norm, o.strength),
    oracles.ElasticNet: lambda o: ridge(o.radius, o.l2_strength, o.l1_strength),
    oracles.GroupLasso: lambda o: group_ball(o, o.strength),
    oracles.EntropySimplex: entropy_simplex,
    oracles.Hull: hull,
    oracles.FlowPolytope: flows,
    oracles.Polytope: polytope,
    oracles.NuclearBall: nuclear,
    oracles.NuclearPenalty: lambda o: nuclear(o, o.strength),
    oracles.Spectrahedron: spectrahedron,
    oracles.Birkhoff: birkhoff,
    oracles.CurSet: cur,
    oracles.Scaled: enlarged,
    oracles.Translated: translated,
    oracles.Product: product,
    oracles.Caching: lambda o: regularizer_of(o.oracle),
    oracles.Counting: lambda o: regularizer_of(o.oracle),
}


def regularizer_of(oracle: Any) -> Regularizer:
    """The entry of an oracle; a sentence where there is none."""
    if type(oracle) not in TABLE:
        raise ValueError(
            f"oracle {oracle!r} is of the class {type(oracle).__name__}, for which there are no "
            "formulas to verify with; expected one that rcmd ships, other than CvxpyOracle"
        )
    return TABLE[type(oracle)](oracle)
