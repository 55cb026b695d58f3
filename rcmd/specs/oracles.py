"""Oracles by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcmd.oracles import (
    Birkhoff,
    Box,
    Caching,
    CappedSimplex,
    Counting,
    CurSet,
    CvxpyOracle,
    ElasticNet,
    Ellipsoid,
    EntropySimplex,
    FlowPolytope,
    GroupL2Ball,
    GroupLasso,
    Hull,
    KSparseBall,
    KSupportBall,
    L1Ball,
    L1Penalty,
    L2Ball,
    LinearMinOracle,
    LInfBall,
    LpBall,
    NuclearBall,
    NuclearPenalty,
    OWLBall,
    Polytope,
    Product,
    Ridge,
    Scaled,
    Simplex,
    Spectrahedron,
    Translated,
)
from rcmd.specs.forms import Form, made, parsed
from rcmd.specs.kinds import (
    DIAGONAL_OR_MATRIX,
    FUNCTION,
    GROUPS,
    MATRIX,
    NUMBER,
    NUMBER_OR_VECTOR,
    PAIRS,
    SHAPE,
    VECTOR,
    WHOLE,
    Kind,
    Waiting,
)


def parse_oracle(text: str) -> LinearMinOracle | Waiting:
    """An oracle as name:parameter:…, such as ``l1:5`` or ``nuclear:50x40:30``.

    Where a parameter depends on the data, it waits for them; ``made`` finishes it.

    >>> parse_oracle("ridge:0.1")
    Ridge(strength=0.1, radius=None)
    >>> parse_oracle("scaled:2:l1:5")
    Scaled(oracle=L1Ball(radius=5.0), factor=2.0)
    >>> made(parse_oracle("group-l2:2:1"), p=4).groups
    array([0, 0, 1, 1])
    """
    oracle: LinearMinOracle | Waiting = parsed("oracle", text, ORACLES)
    return oracle


def _cvxpy(function: Callable[[Any], Any]) -> Waiting:
    def finish(p: int, shape: Any) -> CvxpyOracle:
        def form(beta: Any) -> Any:
            try:
                return function(beta)
            except Exception as fault:  # the function is the user's, and so is the fault
                name = getattr(function, "__name__", "the function")
                raise ValueError(f"{name} raises {type(fault).__name__}: {fault}") from fault

        return CvxpyOracle(form, p)

    return Waiting(finish)


def _product(parts: list[tuple[int, LinearMinOracle | Waiting]]) -> Product:
    sizes = tuple(size for size, _ in parts)
    return Product(tuple(made(oracle, size) for size, oracle in parts), sizes)


def _parts(text: str) -> list[tuple[int, LinearMinOracle | Waiting]]:
    pairs = [part.partition(":") for part in text.split(",")]
    return [
        (WHOLE.read(size, f"part {size + colon + oracle!r}", "SIZE"), parse_oracle(oracle))
        for size, colon, oracle in pairs
    ]


ORACLE = Kind(parse_oracle, "an oracle", takes_rest=True)
PARTS = Kind(_parts, "parts", shown="SIZE:ORACLE,SIZE:ORACLE,…", takes_rest=True)

ORACLES = {
    "l1": Form(L1Ball, radius=NUMBER),
    "l2": Form(L2Ball, radius=NUMBER),
    "linf": Form(LInfBall, radius=NUMBER),
    "lp": Form(LpBall, radius=NUMBER, order=NUMBER),
    "box": Form(Box, lower=NUMBER_OR_VECTOR, upper=NUMBER_OR_VECTOR),
    "simplex": Form(Simplex, radius=NUMBER.optional),
    "capped-simplex": Form(CappedSimplex, total=NUMBER, cap=NUMBER),
    "k-sparse": Form(KSparseBall, k=WHOLE, radius=NUMBER),
    "k-support": Form(KSupportBall, k=WHOLE, radius=NUMBER),
    "group-l2": Form(GroupL2Ball, groups=GROUPS, radius=NUMBER),
    "owl": Form(OWLBall, weights=VECTOR, radius=NUMBER),
    "ellipsoid": Form(Ellipsoid, matrix=DIAGONAL_OR_MATRIX, radius=NUMBER.optional),
    "ridge": Form(Ridge, strength=NUMBER, radius=NUMBER.optional),
    "l1-penalty": Form(L1Penalty, strength=NUMBER, radius=NUMBER.optional),
    "elastic-net": Form(ElasticNet, l1_strength=NUMBER, l2_strength=NUMBER, radius=NUMBER.optional),
    "group-lasso": Form(GroupLasso, groups=GROUPS, strength=NUMBER, radius=NUMBER.optional),
    "entropy": Form(EntropySimplex, strength=NUMBER, radius=NUMBER.optional),
    "hull": Form(Hull, vertices=MATRIX),
    "polytope": Form(Polytope, A=MATRIX, b=VECTOR),
    "flow": Form(FlowPolytope, edges=PAIRS, source=WHOLE, sink=WHOLE, flow=NUMBER.optional),
    "cvxpy": Form(CvxpyOracle, _cvxpy, function=FUNCTION),
    "nuclear": Form(NuclearBall, shape=SHAPE, radius=NUMBER),
    "nuclear-penalty": Form(NuclearPenalty, shape=SHAPE, strength=NUMBER, radius=NUMBER.optional),
    "spectrahedron": Form(Spectrahedron, order=WHOLE, trace=NUMBER.optional),
    "birkhoff": Form(Birkhoff, order=WHOLE),
    "cur": Form(CurSet, shape=SHAPE, radius=NUMBER),
    "scaled": Form(Scaled, factor=NUMBER, oracle=ORACLE),
    "translated": Form(Translated, shift=VECTOR, oracle=ORACLE),
    "product": Form(Product, _product, parts=PARTS),
    "caching": Form(Caching, tolerance=NUMBER, oracle=ORACLE),
    "counting": Form(Counting, oracle=ORACLE),
}
