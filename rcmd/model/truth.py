"""Ground truth by CVXPY: the one place that builds a CVXPY problem."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.problem import Problem, check_problem
from rcmd.oracles.base import LinearMinOracle
from rcmd.rows.validation import Array


@dataclass(frozen=True, eq=False)
class Truth:
    """An optimum of (P) and (D) found by an interior-point solver, with its residuals.

    Attributes
    ----------
    beta, w
        The primal and the dual solution.
    primal, dual
        The solver's P*, and D(w) recomputed from scratch: a lower bound of P* that does not
        rest on the solver.
    residuals
        The KKT residuals, all zero at an exact optimum: ``feasibility`` (relative distance
        of β from dom R), ``loss`` and ``regularizer`` (mean Fenchel–Young gaps of
        w = ∇L(Xβ) and of β ∈ argmin (Xᵀw/n)ᵀβ + R(β)), ``gap`` (primal − dual).
    """

    beta: Array
    w: Array
    primal: float
    dual: float
    residuals: dict[str, float]

    def __repr__(self) -> str:
        residuals = ", ".join(f"{name} {value:.1e}" for name, value in self.residuals.items())
        return f"Truth(primal={self.primal:.10g}, dual={self.dual:.10g}; residuals: {residuals})"


def solve(problem: Problem, **solver_options: Any) -> Truth:
    """The optimum of ``problem`` by CVXPY, CLARABEL at tight tolerances by default.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> from rcmd.model import truth
    >>> optimum = truth.solve(Problem([[1.0, 0.0]], [3.0], LeastSquares(), L1Ball(1.0)))
    >>> round(optimum.primal, 6), float(round(optimum.w[0], 6))
    (2.0, -2.0)
    """
    check_problem(problem)
    import cvxpy as cp

    beta, predictions = cp.Variable(problem.p), cp.Variable(problem.n)
    coupling = predictions == problem.rows.as_matrix() @ beta
    programme, terms = _built(problem, beta, predictions, [coupling])
    if not programme.is_dcp():
        part = problem.oracle if terms.is_convex() else problem.loss
        raise ValueError(
            f"the CVXPY form of {part!r} is not convex by CVXPY's rules; expected a cvxpy_form "
            "made of its convex functions with factors ≥ 0"
        )
    _run(programme, solver_options or _tight(cp))
    if programme.status not in ("optimal", "optimal_inaccurate"):
        raise RuntimeError(
            f"CVXPY ended with status {programme.status!r} instead of an optimum; try another "
            "solver, e.g. truth.solve(problem, solver='SCS')"
        )
    losses = problem.losses
    primal, w = float(programme.value), losses.clip(-problem.n * coupling.dual_value)
    dual = float(problem.dual(w))
    loss_terms = losses.fenchel_young(problem.rows.matvec(beta.value), w)
    regularizer_gap = problem.oracle.fenchel_young(beta.value, problem.gradient(w))
    residuals = {
        "feasibility": float(problem.oracle.violation(beta.value)),
        "loss": float(problem.mean(loss_terms)),
        "regularizer": abs(float(regularizer_gap)),
        "gap": primal - dual,
    }
    return Truth(beta.value, np.asarray(w, dtype=float), primal, dual, residuals)


def programme(problem: Problem) -> Any:
    """``problem`` in CVXPY, with the variable β; see ``Problem.to_cvxpy``."""
    check_problem(problem)
    import cvxpy as cp

    beta = cp.Variable(problem.p, name="beta")
    return _built(problem, beta, problem.rows.as_matrix() @ beta, [])[0]


def _built(problem: Problem, beta: Any, predictions: Any, coupling: list[Any]) -> tuple[Any, Any]:
    """(P) in the two CVXPY expressions, and its loss terms."""
    import cvxpy as cp

    losses = problem.losses
    labels, *fields = (np.asarray(part, dtype=float) for part in (losses.y, *losses.fields))
    shifted = predictions
    if losses.offset is not None:
        shifted = predictions + np.asarray(losses.offset, dtype=float)
    terms = problem.loss.cvxpy_form(shifted, labels, *fields)
    if losses.weights is not None:
        terms = cp.multiply(np.asarray(losses.weights, dtype=float), terms)
    penalty, inside = problem.oracle.cvxpy_form(beta)
    mean = cp.sum(terms) / problem.n
    return cp.Problem(cp.Minimize(mean + penalty), [*coupling, *inside]), terms


def loss_values(loss: SeparableConjugate, s: Array, *labels: Array) -> tuple[Array, bool, float]:
    """The CVXPY form of ``loss`` at numbers ``s``: its values, whether it is convex, accuracy.

    ``labels`` are y and the fields that the loss reads.

    A form with variables of its own is minimized over them, to the solver's accuracy.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> values, convex, accuracy = loss_values(LeastSquares(), np.array([2.0]), np.array([1.0]))
    >>> values, convex
    (array([0.5]), True)
    """
    import cvxpy as cp

    # A constant is convex whatever is done to it: convexity is a question about variables.
    convex = bool(loss.cvxpy_form(cp.Variable(len(s)), *labels).is_convex())
    form = loss.cvxpy_form(cp.Constant(s), *labels)
    if form.value is not None or not convex:
        return np.asarray(form.value, dtype=float), convex, 1e-11
    each = [slice(j, j + 1) for j in range(len(s))]
    forms = [loss.cvxpy_form(cp.Constant(s[j]), *(part[j] for part in labels)) for j in each]
    values = [_run(cp.Problem(cp.Minimize(cp.sum(form))), _tight(cp)) for form in forms]
    return np.array(values), True, 1e-6


def linear_minimum(oracle: LinearMinOracle, c: Array) -> float:
    """min_β cᵀβ + R(β) by CVXPY, from the oracle's CVXPY form alone.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> round(linear_minimum(L1Ball(2.0), np.array([1.0, -3.0])), 6)
    -6.0
    """
    import cvxpy as cp

    beta = cp.Variable(len(c))
    penalty, inside = oracle.cvxpy_form(beta)
    return _run(cp.Problem(cp.Minimize(c @ beta + penalty), inside), _tight(cp))


def _run(programme: Any, options: dict[str, Any]) -> float:
    with warnings.catch_warnings():
        # Residuals and tolerances say how accurate a solution is, better than a warning can.
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        value = programme.solve(**options)
    return np.nan if value is None else float(value)


def _tight(cp: Any) -> dict[str, Any]:
    tolerances = ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_ktratio")
    return {"solver": cp.CLARABEL, **dict.fromkeys(tolerances, 1e-11)}


__all__ = ["Truth", "linear_minimum", "loss_values", "solve"]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
