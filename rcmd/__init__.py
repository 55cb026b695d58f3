"""rcmd: convex optimization seen from the dual.

Write a problem as a loss and a regularizer, each with its conjugate, and get the
algorithm, the certificate, the theorem's bound and the ground truth for it.

Examples
--------
>>> from rcmd import Problem, solve, LeastSquares, L1Ball
>>> problem = Problem([[1.0, 0.0], [0.0, 1.0]], [3.0, 0.0], LeastSquares(), L1Ball(1.0))
>>> result = solve(problem, tol=1e-6)
>>> result.beta.round(3), result.success
(array([1., 0.]), True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rcmd.certificate import Certificate, certify
from rcmd.conjugates import (
    EpsilonInsensitive,
    Exponential,
    Fair,
    Huber,
    LeastSquares,
    LogCosh,
    Logistic,
    Poisson,
    PseudoHuber,
    SeparableConjugate,
    SmoothedHinge,
    SmoothedQuantile,
    SoftplusHinge,
    SquaredHinge,
)
from rcmd.lowrank import LowRank
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
from rcmd.paths import Path, path
from rcmd.problem import Problem
from rcmd.prox import BregmanProx, CompositeProx, ConjugateProx, EuclideanProx
from rcmd.result import Result, State, StopReason
from rcmd.rows import BilinearRows, MatrixEntries, OperatorRows
from rcmd.run import iterate, solve

if TYPE_CHECKING:
    from rcmd import bounds, completion, cur, datasets, methods, nonsmooth, plotting, testing, truth
    from rcmd.replicates import replicate, sweep
    from rcmd.saved_results import load_result
    from rcmd.saving.resuming import resume
    from rcmd.tracing import trace

__all__ = [
    "BilinearRows",
    "Birkhoff",
    "Box",
    "BregmanProx",
    "Caching",
    "CappedSimplex",
    "Certificate",
    "CompositeProx",
    "ConjugateProx",
    "Counting",
    "CurSet",
    "CvxpyOracle",
    "ElasticNet",
    "Ellipsoid",
    "EntropySimplex",
    "EpsilonInsensitive",
    "EuclideanProx",
    "Exponential",
    "Fair",
    "FlowPolytope",
    "GroupL2Ball",
    "GroupLasso",
    "Huber",
    "Hull",
    "KSparseBall",
    "KSupportBall",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "LInfBall",
    "LeastSquares",
    "LinearMinOracle",
    "LogCosh",
    "Logistic",
    "LowRank",
    "LpBall",
    "MatrixEntries",
    "NuclearBall",
    "NuclearPenalty",
    "OWLBall",
    "OperatorRows",
    "Path",
    "Poisson",
    "Polytope",
    "Problem",
    "Product",
    "PseudoHuber",
    "Result",
    "Ridge",
    "Scaled",
    "SeparableConjugate",
    "Simplex",
    "SmoothedHinge",
    "SmoothedQuantile",
    "SoftplusHinge",
    "Spectrahedron",
    "SquaredHinge",
    "State",
    "StopReason",
    "Translated",
    "bounds",
    "certify",
    "completion",
    "cur",
    "datasets",
    "iterate",
    "load_result",
    "methods",
    "nonsmooth",
    "path",
    "plotting",
    "replicate",
    "resume",
    "solve",
    "sweep",
    "testing",
    "trace",
    "truth",
]

__version__ = "0.1.0"


LAZY = (
    "bounds", "completion", "cur", "datasets", "methods", "nonsmooth", "plotting", "testing",
    "truth",
)  # fmt: skip
"""Modules that are imported when first asked for."""

ELSEWHERE = {
    "load_result": "rcmd.saved_results",
    "replicate": "rcmd.replicates",
    "resume": "rcmd.saving.resuming",
    "sweep": "rcmd.replicates",
    "trace": "rcmd.tracing",
}
"""Functions that are imported when first asked for, and where they are."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """What ``LAZY`` and ``ELSEWHERE`` name."""
    if name in ELSEWHERE:
        return getattr(import_module(ELSEWHERE[name]), name)
    if name in LAZY:
        return import_module(f"rcmd.{name}")
    raise AttributeError(f"module 'rcmd' has no attribute {name!r}")
