"""Dual variables: which rows pull at the solution, and how close each is to an end of dom l*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.plotting.panels import Line, Panel, shown
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.model.problem import Problem
    from rcmd.solver.result import Result

MOST_POINTS = 2000
"""Points drawn of a large data set, evenly by rank: a vector file stays small."""

AT_AN_END = 1e-6
"""Share of the width of dom l* within which a dual variable counts as at its end."""

POINTS = {"linestyle": "", "markersize": 2.4, "markevery": 1}
CURVE = {"marker": "", "linewidth": 1.0, "zorder": 1.8}


def duals(problem: Problem, result: Result, axes: Any = None) -> Any:
    """The dual variables w against margins or residuals, and sorted.

    For labels ±1 both signs are folded into one curve: y·w against the margin y·xᵀβ; otherwise w
    against the residual xᵀβ − y. A pair with gap 0 lies on the curve w = l'(xᵀβ), which is drawn
    beside the points; dotted lines are the ends of dom l*, which no w can pass. Weights are
    divided out.

    Parameters
    ----------
    problem
        What was solved.
    result
        Its solution.
    axes
        Axes for the first panel alone; without them, a figure with both.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic, Problem, plotting, solve
    >>> from rcmd.datasets import make_classification
    >>> problem = Problem(*make_classification(n=50, p=5, rng=0), Logistic(), L1Ball(5.0))
    >>> figure = plotting.duals(problem, solve(problem, tol=1e-2))
    >>> len(figure.axes)
    2
    """
    if len(result.w) != problem.n:
        raise ValueError(
            f"result has {len(result.w)} dual variables; expected {problem.n}, one for each row "
            "of the problem"
        )
    losses, s = problem.losses, problem.rows.matvec(result.beta)
    y = _floats(losses.y)
    low, high = (_floats(losses.unit(end)) for end in losses.domain)
    w, response = _floats(losses.unit(result.w)), _floats(losses.unit(losses.derivative(s)))
    if set(np.unique(y)) <= {-1.0, 1.0}:
        x, w, response = y * _floats(s), y * w, y * response
        low, high = np.minimum(y * low, y * high), np.maximum(y * low, y * high)
        x_label, sign = r"margin $y\,x^T\beta$", r"y\,"
    else:
        x = _floats(s) - y
        x_label, sign = r"residual $x^T\beta - y$", ""
    variable, y_label = f"${sign}w$", f"dual variable ${sign}w$"
    ends = sorted({float(end) for end in (*np.unique(low), *np.unique(high)) if np.isfinite(end)})
    levels = ends if len(ends) <= 2 else []
    by_x, by_w = _thinned(np.argsort(x, kind="stable")), _thinned(np.argsort(w, kind="stable"))
    curve = Line(rf"${sign}l'(x^T\beta)$", x[by_x], response[by_x], CURVE)
    lines = [Line(variable, x[by_x], w[by_x], POINTS), curve]
    scatter = Panel("", x_label, lines, y_label, levels=levels, log="")
    ranks = np.linspace(0, 100, len(by_w))
    lines = [Line(variable, ranks, w[by_w], POINTS)]
    x_label, note = f"rows in order of {variable} (%)", _counts(w, low, high)
    in_order = Panel("", x_label, lines, y_label, levels=levels, log="", note=note)
    return shown([scatter, in_order], axes)


def _counts(w: Array, low: Array, high: Array) -> str:
    """How many are zero or at an end of dom l*."""
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(high - low), high - low, 0.0)
    at_end = (w <= low + AT_AN_END * width) | (w >= high - AT_AN_END * width)
    zero = abs(w) <= AT_AN_END * np.maximum(width, abs(w).max(initial=0))
    return f"{zero.sum():,} of {len(w):,} at 0, {(at_end & ~zero).sum():,} at an end of dom $l^*$"


def _thinned(order: Array) -> Array:
    count = min(len(order), MOST_POINTS)
    return order[np.linspace(0, len(order) - 1, count).round().astype(int)]


def _floats(values: Any) -> Array:
    return np.asarray(values, dtype=float)
