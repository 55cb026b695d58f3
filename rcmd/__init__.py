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
from rcmd.oracles import (
    Box,
    CappedSimplex,
    ElasticNet,
    Ellipsoid,
    EntropySimplex,
    GroupL2Ball,
    GroupLasso,
    KSparseBall,
    KSupportBall,
    L1Ball,
    L1Penalty,
    L2Ball,
    LinearMinOracle,
    LInfBall,
    LpBall,
    OWLBall,
    Ridge,
    Simplex,
    Translated,
)
from rcmd.paths import Path, path
from rcmd.problem import Problem
from rcmd.prox import BregmanProx, CompositeProx, ConjugateProx, EuclideanProx
from rcmd.result import Result, State, StopReason
from rcmd.run import iterate, solve

if TYPE_CHECKING:
    from rcmd import bounds, datasets, testing, truth
    from rcmd.tracing import trace

__all__ = [
    "Box",
    "BregmanProx",
    "CappedSimplex",
    "Certificate",
    "CompositeProx",
    "ConjugateProx",
    "ElasticNet",
    "Ellipsoid",
    "EntropySimplex",
    "EpsilonInsensitive",
    "EuclideanProx",
    "Exponential",
    "Fair",
    "GroupL2Ball",
    "GroupLasso",
    "Huber",
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
    "LpBall",
    "OWLBall",
    "Path",
    "Poisson",
    "Problem",
    "PseudoHuber",
    "Result",
    "Ridge",
    "SeparableConjugate",
    "Simplex",
    "SmoothedHinge",
    "SmoothedQuantile",
    "SoftplusHinge",
    "SquaredHinge",
    "State",
    "StopReason",
    "Translated",
    "bounds",
    "certify",
    "datasets",
    "iterate",
    "path",
    "solve",
    "testing",
    "trace",
    "truth",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import ``rcmd.bounds`` and the other modules of ``__all__`` when first asked for."""
    if name == "trace":
        from rcmd.tracing import trace

        return trace
    if name in ("bounds", "datasets", "testing", "truth"):
        return import_module(f"rcmd.{name}")
    raise AttributeError(f"module 'rcmd' has no attribute {name!r}")
