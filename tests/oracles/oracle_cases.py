"""Oracles of every kind, and points and costs to try them at."""
# ruff: noqa: F403, F405 (all oracles are meant)

import itertools
import math
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from small_problems import regression

from rcmd import LeastSquares, Problem
from rcmd.oracles import *

P = 5
FULL = np.array(
    [
        [2.0, 0.5, 0.0, 0.1, 0.0],
        [0.5, 1.0, -0.4, 0.0, 0.0],
        [0.0, -0.4, 3.0, 0.2, 1.0],
        [0.1, 0.0, 0.2, 0.5, 0.0],
        [0.0, 0.0, 1.0, 0.0, 1.5],
    ]
)
GROUPS = [[0, 3], [1, 2, 4]]
SHIFT = np.array([1.0, -3.0, 0.0, 0.5, 2.0])
ENDS = np.array([-1.0, 0.0, 0.5, -2.0, 0.0]), np.array([1.0, 0.25, 2.0, -1.5, 3.0])
PLAIN: dict[str, LinearMinOracle] = {
    "l1": L1Ball(2.5),
    "l2": L2Ball(2.5),
    "box": Box(*ENDS),
    "unit box": Box(-1.0, 1.0),
    "simplex": Simplex(1.5),
    "ridge": Ridge(0.8, 2.0),
    "box ridge": BoxRidge(*ENDS, 0.8),
    "l1 penalty": L1Penalty(0.8, 2.0),
    "capped simplex": CappedSimplex(2.5, 1.0),
    "group lasso": GroupLasso([0, 1, 1, 0, 2], 0.8, 2.0, [1.0, 2.0, 0.5]),
    "ellipsoid": Ellipsoid(FULL, 0.7),
}
MOVED = "l1", "simplex", "ridge", "box ridge", "group lasso"
VECTORS: dict[str, LinearMinOracle] = {
    "linf": LInfBall(2.5),
    "lp below 2": LpBall(2.5, 1.25),
    "lp above 2": LpBall(0.5, 3),
    "lp high": LpBall(2.5, 40.0),
    "capped simplex, whole": CappedSimplex(2.0, 1.0),
    "capped simplex, many": CappedSimplex(0.9, 0.2),
    "k-sparse": KSparseBall(2, 1.5),
    "k-support": KSupportBall(3, 1.5),
    "group ball": GroupL2Ball(GROUPS, 2.0),
    "group ball, weighted": GroupL2Ball([0, 1, 1, 0, 2], 2.0, [1.0, 2.0, 0.5]),
    "owl": OWLBall([3.0, 2.0, 1.0, 1.0, 0.0], 2.0),
    "ellipsoid, diagonal": Ellipsoid([1.0, 4.0, 0.1, 9.0, 2.0], 2.0),
    "elastic net": ElasticNet(0.5, 0.8, 1.0),
    "unit box ridge": BoxRidge(-1.0, 0.5, 0.8),
    "entropy": EntropySimplex(0.7, 2.0),
    **PLAIN,
    **{f"{name}, moved": Translated(PLAIN[name], SHIFT) for name in MOVED},
}
DIAMONDS = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (3, 5), (4, 5), (6, 5), (5, 7)]
POINTS = np.random.default_rng(7).standard_normal((9, 4))
NORMALS = np.random.default_rng(5).standard_normal((9, 3))


def simplex_of_planes() -> np.ndarray:
    return np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 2.0, 3.0]])


def by_corners(A: Any, b: Any, lower: float, upper: float) -> np.ndarray:
    """All vertices of {Aβ ≤ b, lower ≤ β ≤ upper}: p active constraints that meet inside."""
    p = np.shape(A)[1]
    A = np.vstack([A, np.eye(p), -np.eye(p)])
    b = np.concatenate([b, np.full(p, upper), np.full(p, -lower)])
    corners = []
    for active in itertools.combinations(range(len(A)), p):
        square = A[list(active)]
        if abs(np.linalg.det(square)) > 1e-9:
            corner = np.linalg.solve(square, b[list(active)])
            if (A @ corner <= b + 1e-9).all():
                corners.append(corner)
    return np.array(corners)


def by_permutations(order: int) -> np.ndarray:
    return np.array([np.eye(order)[list(q)].ravel() for q in itertools.permutations(range(order))])


def by_paths(edges: list[tuple[int, int]], source: int, sink: int, flow: float) -> np.ndarray:
    paths, found = [[source]], []
    while paths:
        path = paths.pop()
        if path[-1] == sink:
            found.append([flow * ((a, b) in itertools.pairwise(path)) for a, b in edges])
        paths += [[*path, b] for a, b in edges if a == path[-1]]
    return np.array(found)


# The oracle, its number of variables, and its vertices by brute force where there are any.
POLYTOPES: dict[str, tuple[LinearMinOracle, int, np.ndarray | None]] = {
    "birkhoff": (Birkhoff(3), 9, by_permutations(3)),
    "birkhoff of one": (Birkhoff(1), 1, by_permutations(1)),
    "hull": (Hull(POINTS), 4, POINTS),
    "hull with inner and double points": (
        Hull(np.vstack([POINTS[:5], POINTS[:2], POINTS[:5].mean(axis=0)])),
        4,
        POINTS[:5],
    ),
    "hull of a segment": (Hull([[1, 0, 2], [0, 3, 1]]), 3, np.array([[1, 0, 2], [0, 3, 1.0]])),
    "polytope": (
        Polytope(NORMALS, np.ones(9), lower=-2.0, upper=2.0),
        3,
        by_corners(NORMALS, np.ones(9), -2.0, 2.0),
    ),
    "polytope, open": (
        Polytope(simplex_of_planes(), [0, 0, 0, 6]),
        3,
        np.array([[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 2.0]]),
    ),
    "polytope, half open and sparse": (
        Polytope(sp.csr_array([[1.0, 2.0, 3.0]]), [6], lower=0.0),
        3,
        np.array([[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 2.0]]),
    ),
    "polytope with an equation": (
        Polytope([[-1.0, 0, 0], [0, -1.0, 0]], [0, 0], [[1.0, 1, 1]], [1.5], lower=[-9, -9, 0]),
        3,
        1.5 * np.eye(3),
    ),
    "polytope of another size": (
        Polytope(1e3 * simplex_of_planes(), [0, 0, 0, 6e8]),
        3,
        np.array([[0, 0, 0], [6e5, 0, 0], [0, 3e5, 0], [0, 0, 2e5]]),
    ),
    "flow": (FlowPolytope(DIAMONDS, 0, 7, 2.5), 10, by_paths(DIAMONDS, 0, 7, 2.5)),
    "cur": (CurSet((2, 3), 1.5), 6, None),
    "cvxpy disc": (CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 2, b >= 0]), 2), 2, None),
    "cvxpy slice": (CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 2, cp.sum(b) == 0.5]), 3), 3, None),
    "cvxpy penalty": (
        CvxpyOracle(lambda b: (cp.norm1(b) + 0.3 * cp.sum_squares(b), [cp.norm_inf(b) <= 1.5]), 2),
        2,
        None,
    ),
    "cvxpy entropy": (
        CvxpyOracle(lambda b: (-cp.sum(cp.entr(b)), [b >= 0, cp.sum(b) == 1]), 3),
        3,
        None,
    ),
}  # fmt: skip

AROUND: dict[str, tuple[LinearMinOracle, int]] = {
    "scaled simplex": (Scaled(Simplex(0.5), 3.0), 4),
    "scaled l1 penalty": (Scaled(L1Penalty(0.3), 2.0), 4),
    "scaled ridge": (Scaled(Ridge(0.3), 2.0), 4),
    "scaled, moved ridge": (Scaled(Translated(Ridge(0.4), SHIFT[:2]), 0.5), 2),
    "two sets": (Product((L1Ball(2.0), Simplex(0.5)), (2, 3)), 5),
    "three penalties": (Product((Ridge(0.3), L1Penalty(0.2), Ridge(0.1, 2.0)), (2, 2, 1)), 5),
    "moved penalty and set": (
        Product((Translated(Ridge(0.3), SHIFT[:2]), Simplex(2.0)), (2, 3)),
        5,
    ),
    "product of products": (
        Product((Product((Box(0.0, 1.0), L2Ball(1.0)), (1, 2)), Scaled(Birkhoff(2), 2.0)), (3, 4)),
        7,
    ),
    "counted": (Counting(L1Ball(2.0)), 4),
    "lazy": (Caching(L1Penalty(0.3, 2.0), 1e-14), 4),
}


MATRICES: dict[str, Any] = {
    "ball": NuclearBall((2, 3), 2.0),
    "tall ball": NuclearBall((4, 2), 0.5),
    "row": NuclearBall((1, 4), 1.5),
    "column": NuclearBall((4, 1), 1.5),
    "penalty": NuclearPenalty(0.7, (3, 2), 2.0),
    "open penalty": NuclearPenalty(0.7, (2, 3)),
    "spectrahedron": Spectrahedron(3, 2.0),
    "spectrahedron of one": Spectrahedron(1, 2.0),
}


CASES: dict[str, tuple[Any, int]] = {
    **{name: (oracle, P) for name, oracle in VECTORS.items()},
    **{name: (oracle, p) for name, (oracle, p, _) in POLYTOPES.items()},
    **AROUND,
    **{name: (oracle, math.prod(oracle.shape)) for name, oracle in MATRICES.items()},
}


@cache
def bound(name: str) -> Any:
    """The oracle of that name, its open radius filled in."""
    oracle, p = CASES[name]
    return Problem(*regression(p), LeastSquares(), oracle).oracle


def slopes(count: int = 50, p: int = P) -> list[np.ndarray]:
    """Random c, small and large, some with ties and zeros."""
    rng = np.random.default_rng(0)
    sizes = itertools.cycle((0.3, 1.0, 4.0))
    drawn = [size * rng.normal(size=p) for size, _ in zip(sizes, range(count - 5), strict=False)]
    return [*drawn, *rng.integers(-2, 3, size=(5, p)).astype(float)]


def members(name: str) -> np.ndarray:
    """Some points of dom R: corners of it first, then points between them."""
    oracle, p = bound(name), CASES[name][1]
    corners = np.array([oracle.argmin(1e4 * c).dense(c) for c in slopes(20, p)])
    return np.vstack([corners, np.random.default_rng(2).dirichlet(np.full(20, 0.2), 12) @ corners])
