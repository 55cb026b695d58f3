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

from rcmd.conjugates import *  # noqa: F403 (a loss that is exported there is exported here)
from rcmd.methods.corrected import Corrected as Corrected
from rcmd.methods.rcmd import RCMD as RCMD
from rcmd.model.certificate import Certificate as Certificate
from rcmd.model.certificate import certify as certify
from rcmd.model.problem import Problem as Problem
from rcmd.model.prox import BregmanProx as BregmanProx
from rcmd.model.prox import ConjugateProx as ConjugateProx
from rcmd.model.prox import EuclideanProx as EuclideanProx
from rcmd.model.prox import ExactProx as ExactProx
from rcmd.oracles import *  # noqa: F403
from rcmd.rows import BilinearRows as BilinearRows
from rcmd.rows import MatrixEntries as MatrixEntries
from rcmd.rows import OperatorRows as OperatorRows
from rcmd.rows.lowrank import LowRank as LowRank
from rcmd.rows.validation import FileError as FileError
from rcmd.solver.history import State as State
from rcmd.solver.history import StopReason as StopReason
from rcmd.solver.path import SolutionPath as SolutionPath
from rcmd.solver.path import path as path
from rcmd.solver.result import Result as Result
from rcmd.solver.solve import iterate as iterate
from rcmd.solver.solve import solve as solve

__version__ = "0.2.0"

LAZY = {
    "bounds": "rcmd.model.bounds",
    "compare": "rcmd.lab.comparison:compare",
    "completion": "rcmd.applications.completion",
    "cur": "rcmd.applications.cur",
    "datasets": "rcmd.datasets",
    "from_cvxpy": "rcmd.applications.from_cvxpy:from_cvxpy",
    "load_result": "rcmd.solver.saved_results:load_result",
    "methods": "rcmd.methods",
    "nonsmooth": "rcmd.applications.nonsmooth",
    "plotting": "rcmd.plotting",
    "register_cvxpy": "rcmd.applications.from_cvxpy:register_cvxpy",
    "replicate": "rcmd.theory.replicates:replicate",
    "resume": "rcmd.solver.checkpoint.resume:resume",
    "sweep": "rcmd.theory.replicates:sweep",
    "testing": "rcmd.testing",
    "theory": "rcmd.theory",
    "trace": "rcmd.theory.proof_trace:trace",
    "truth": "rcmd.model.truth",
    "verify": "rcmd.testing.enclosure:verify",
}
"""Modules and functions that are imported on first use."""

if TYPE_CHECKING:
    from rcmd import datasets as datasets
    from rcmd import methods as methods
    from rcmd import plotting as plotting
    from rcmd import testing as testing
    from rcmd import theory as theory
    from rcmd.applications import completion as completion
    from rcmd.applications import cur as cur
    from rcmd.applications import nonsmooth as nonsmooth
    from rcmd.applications.from_cvxpy import from_cvxpy as from_cvxpy
    from rcmd.applications.from_cvxpy import register_cvxpy as register_cvxpy
    from rcmd.lab.comparison import compare as compare
    from rcmd.model import bounds as bounds
    from rcmd.model import truth as truth
    from rcmd.solver.checkpoint.resume import resume as resume
    from rcmd.solver.saved_results import load_result as load_result
    from rcmd.testing.enclosure import verify as verify
    from rcmd.theory.proof_trace import trace as trace
    from rcmd.theory.replicates import replicate as replicate
    from rcmd.theory.replicates import sweep as sweep
else:  # type checkers read the imports above instead
    origins = {name: getattr(value, "__module__", "") for name, value in globals().items()}
    __all__ = sorted([name for name in origins if origins[name].startswith("rcmd.")] + list(LAZY))

    def __dir__() -> list[str]:
        return __all__

    def __getattr__(name: str) -> Any:
        """Import what ``LAZY`` names on first use."""
        if name not in LAZY:
            raise AttributeError(f"module 'rcmd' has no attribute {name!r}")
        module, _, function = LAZY[name].partition(":")
        found = import_module(module)
        return getattr(found, function) if function else found
