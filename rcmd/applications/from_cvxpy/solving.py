"""``problem.solve(method="RCMD")`` for CVXPY problems: values, status, statistics, multipliers."""

import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

from rcmd.applications.from_cvxpy.reading import CvxpyReading, from_cvxpy
from rcmd.applications.from_cvxpy.tilted import Tilted
from rcmd.oracles import Product
from rcmd.solver.history import StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import TOL

BEFORE = "_rcmd_reading"
"""The attribute of a CVXPY problem that keeps what was read before."""

STATUS = {
    StopReason.TOLERANCE: "optimal",
    StopReason.PRECISION: "optimal_inaccurate",
    StopReason.STALLED: "optimal_inaccurate",
}
"""CVXPY's words for why a run ended; else ``user_limit``."""


def register_cvxpy() -> None:
    """Let ``problem.solve(method="RCMD")`` solve CVXPY problems by rcmd.

    It takes ``tol``, the certified gap to reach relative to the objective's value where that is
    above 1, and the options of ``rcmd.solve``; it sets the values of the variables, of the problem
    and of the constraints' duals, the status, and ``problem.solver_stats``, whose ``extra_stats``
    have the certified gap. Solved again, after a parameter has changed, it begins at the solution
    before.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from rcmd import register_cvxpy
    >>> register_cvxpy()
    >>> x = cp.Variable(3)
    >>> inside = [x >= 0, cp.sum(x) == 1]
    >>> nearest = cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 0.5, -1.0])), inside)
    >>> round(nearest.solve(method="RCMD"), 6), x.value.round(4) + 0.0, nearest.status
    (1.125, array([0.75, 0.25, 0.  ]), 'optimal')
    >>> nearest.solver_stats.extra_stats["gap"] <= 1.125e-6
    True
    """
    import cvxpy as cp

    cp.Problem.register_solve("RCMD", solve_cvxpy)


def solve_cvxpy(problem: Any, tol: float = TOL, **options: Any) -> float:
    """Solve a CVXPY problem and fill in its values; what ``register_cvxpy`` registers."""
    from cvxpy.problems.problem import SolverStats
    from cvxpy.reductions.solution import Solution

    begun = time.perf_counter()
    reading = from_cvxpy(problem, getattr(problem, BEFORE, None))
    setattr(problem, BEFORE, reading)
    read_in = time.perf_counter()
    result = reading.solve(tol, **options)
    seconds = time.perf_counter() - read_in
    value, gap = reading.objective(result.primal), reading.scale * float(result.gap)
    reached = gap <= tol * max(1.0, abs(value))
    status = "optimal" if reached else STATUS.get(result.stop, "user_limit")
    set_dual_values(reading, result)
    values = {v.id: value for v, value in reading.values(result.beta).items()}
    problem.unpack(Solution(status, value, values, {}, {}))
    extra = {"gap": gap, "ground": result.ground, "result": result, "reading": reading}
    stats = SolverStats("RCMD", seconds, read_in - begun, result.nit, extra)
    problem._solver_stats = stats
    return problem.value


REACH = 10.0
"""Duals follow from costs alone within so many times the size of the solution."""

MOST_DUALS = 5000


def set_dual_values(reading: CvxpyReading, result: Result) -> None:
    """Set the constraints' dual values, which the certificate's costs c = Xᵀw/n determine.

    β minimizes cᵀβ + R(β) for them, and the multipliers of that small problem, without data, are
    those of the whole. They are ``None`` where CLARABEL does not solve it.
    """
    import cvxpy as cp

    asked = reading.source.constraints
    for constraint in asked:
        for dual in constraint.dual_variables:
            dual.save_value(None)
    if not asked or reading.problem.p > MOST_DUALS:
        return
    costs, inside = _costs(reading, result), [*asked, *reading.space.implied]
    total: Any = 0
    for variable, value in reading.values(result.beta).items():
        start = reading.space.starts[variable.id]
        total += costs[start : start + variable.size] @ cp.vec(variable, order="F")
        reach = REACH * (1 + float(abs(value).max(initial=0.0)))
        inside += [variable - value <= reach, variable - value >= -reach]
    everything = cp.hstack([cp.vec(v, order="F") for v in reading.space.variables])
    for region in reading.regions:
        for one in region.asked:
            if one.kind == "ridge":
                total += one.size / 2 * cp.sum_squares(everything[one.places])
            elif not one.is_set:
                total += one.weights @ cp.vec(one.source, order="F")
    small = cp.Problem(cp.Minimize(total), inside)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        with suppress(cp.error.SolverError):
            small.solve(solver=cp.CLARABEL)  # CVXPY keeps the dual values in the constraints


def _costs(reading: CvxpyReading, result: Result) -> Any:
    """c with the slopes of linear terms, in the objective's units, for the variables in a row."""
    problem = reading.problem
    whole = problem.regularizer
    product = isinstance(whole, Product)
    parts = zip(whole.oracles, whole.ends, strict=True) if product else [(whole, (0, problem.p))]
    slopes = np.zeros(problem.p)
    for part, (start, stop) in parts:
        if isinstance(part, Tilted):
            slopes[start:stop] = part.slopes
    costs = np.zeros(problem.p)
    costs[reading.order] = reading.scale * (problem.gradient(result.w) + slopes)
    # A variable of which nothing is asked has no cost but rounding.
    for region in reading.regions:
        if not (region.kinds or region.rest):
            costs[region.places] = 0.0
    return costs
