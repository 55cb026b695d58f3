"""rcmd: convex optimization seen from the dual.

Write a problem as a loss and a regularizer, each with its conjugate, and get the
algorithm, the certificate, the theorem's bound and the ground truth for it.
``solve(problem)`` runs the paper's algorithm and ends with corrections;
``solve(problem, method="rcmd")`` is that algorithm alone, and ``rcmd.methods`` has others.

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
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.certificate import Certificate, certify
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx, CompositeProx, ConjugateProx, EuclideanProx
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
from rcmd.rows import BilinearRows, MatrixEntries, OperatorRows
from rcmd.rows.lowrank import LowRank
from rcmd.solver.history import State, StopReason
from rcmd.solver.path import Path, path
from rcmd.solver.result import Result
from rcmd.solver.solve import iterate, solve

if TYPE_CHECKING:
    from rcmd import datasets, methods, plotting, testing
    from rcmd.applications import completion, cur, nonsmooth
    from rcmd.model import bounds, truth
    from rcmd.solver.checkpoint.resume import resume
    from rcmd.solver.saved_results import load_result
    from rcmd.theory.proof_trace import trace
    from rcmd.theory.replicates import replicate, sweep

__all__ = [
    "RCMD",
    "BilinearRows",
    "Birkhoff",
    "Box",
    "BregmanProx",
    "Caching",
    "CappedSimplex",
    "Certificate",
    "CompositeProx",
    "ConjugateProx",
    "Corrected",
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

__version__ = "0.2.0"


LAZY = {
    **{name: f"rcmd.{name}" for name in ("datasets", "methods", "plotting", "testing")},
    **{name: f"rcmd.model.{name}" for name in ("bounds", "truth")},
    **{name: f"rcmd.applications.{name}" for name in ("completion", "cur", "nonsmooth")},
}
"""Modules that are imported when first asked for."""

ELSEWHERE = {
    "load_result": "rcmd.solver.saved_results",
    "replicate": "rcmd.theory.replicates",
    "resume": "rcmd.solver.checkpoint.resume",
    "sweep": "rcmd.theory.replicates",
    "trace": "rcmd.theory.proof_trace",
}
"""Functions that are imported when first asked for, and where they are."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """What ``LAZY`` and ``ELSEWHERE`` name."""
    if name in ELSEWHERE:
        return getattr(import_module(ELSEWHERE[name]), name)
    if name in LAZY:
        return import_module(LAZY[name])
    raise AttributeError(f"module 'rcmd' has no attribute {name!r}")
