"""Figures of runs, of coefficients along a path or a run, and of dual variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rcmd.plotting.panels import Line, Panel, plain, shown
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, check_kind
from rcmd.solver.result import Result

if TYPE_CHECKING:
    from rcmd.model.problem import Problem
    from rcmd.solver.history import History

Axis = Literal["gradients", "iterations", "oracle_calls", "seconds"]

AXES: dict[str, tuple[str, str]] = {
    "gradients": ("gradients", "stochastic gradients"),
    "iterations": ("iteration", "iterations"),
    "oracle_calls": ("oracle_calls", "oracle calls"),
    "seconds": ("seconds", "seconds"),
}
"""What a run spends: the column of the history, and how it is called."""

NAMED = 7
"""Coefficients that get a colour and a name: the largest at the end."""

LOG_FROM = 30
"""Ratio of the largest to the smallest x from which a logarithmic axis shows more."""

RELATIVE_ZERO = 1e-10
"""Singular values below this share of the largest are rounding."""

MOST_POINTS = 2000
"""Points drawn of a large data set, evenly by rank: a vector file stays small."""

AT_AN_END = 1e-6
"""Share of the width of dom l* within which a dual variable counts as at its end."""

DEEPEST = 2.0
"""How far below its end D is drawn, in units of the height of P above that end."""

CURVE_POINTS = 200
"""Points of a curve that is drawn beside dual variables."""

POINTS = {"linestyle": "", "markersize": 2.4, "markevery": 1}
CURVE = {"marker": "", "linewidth": 1.0, "zorder": 1.8}


def run(result: Result, x: Axis = "gradients", axes: Any = None, y: str | None = None) -> Any:
    """Draw one run; see ``Result.plot``.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> figure = run(solve(problem, tol=1e-2), x="iterations")
    >>> figure.axes[0].get_xlabel()
    'iterations'
    """
    column, label = _axis(x)
    check_kind("result", result, Result, "the Result of a run, such as solve(problem)")
    history = result.history
    xs, band = history.column(column), _corrections(history, column)

    bounds = {"bound": "", **result.options.get("bounds", {})}

    def panel(y_label: str, curves: dict[str, str], **look: Any) -> Panel:
        dashed = {name: {"linestyle": "--"} for name in bounds}
        lines = [
            Line(name, xs, history.column(of), dashed.get(of, {})) for name, of in curves.items()
        ]
        return Panel("", label, lines, y_label, band=band, **look)

    if y is not None:
        ys = _floats(history.column(y))
        log = "xy" if np.nanmin(ys) > 0 and np.nanmax(ys) > LOG_FROM * np.nanmin(ys) else "x"
        return shown([panel(plain(y), {"": y}, log=log)], axes)
    pair = {"gap of theorem's pair": "pair_gap", "bound on its expectation": "bound"}
    for name in history.own:
        if name in bounds:
            pair[f"{plain(name)}, {bounds[name]}"] = name
    # A bound that corrections follow at once is a point, and no curve.
    several = [
        name for name in pair.values() if np.isfinite(_floats(history.column(name))).sum() > 1
    ]
    pair = {name: of for name, of in pair.items() if of in several or len(history) == 1}
    curves = {"certified gap": "gap", **pair}
    gap = panel(r"$P(\beta) - D(w)$", curves, note=_zero(history, column))
    limits = _pair_limits(_floats(history.column("primal")), _floats(history.column("dual")))
    both = {r"$P(\beta)$": "primal", "$D(w)$": "dual"}
    values = panel("best values so far", both, log="x", limits=limits)
    return shown([values, gap], axes, alone=1)


def compare(
    results: Mapping[str, Result | Sequence[Result]], x: Axis = "gradients", axes: Any = None
) -> Any:
    """A figure with the certified gaps of several runs.

    Parameters
    ----------
    results
        A ``Result`` for each name, or several of them (one for each seed, say), of which the
        first stands out.
    x
        What the runs spent: ``"gradients"``, ``"iterations"``, ``"oracle_calls"`` or
        ``"seconds"``.
    axes
        Axes to draw into; without them, a figure of its own as wide as a journal's column.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, plotting, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> runs = {f"batch {b}": solve(problem, batch=b, tol=1e-2) for b in (1, 2)}
    >>> figure = plotting.compare(runs, x="iterations")
    >>> figure.axes[0].get_xlabel()
    'iterations'
    """
    column, label = _axis(x)
    if not isinstance(results, Mapping) or not results:
        raise ValueError(
            f"results is {results!r}; expected a dictionary with a Result for each name"
        )
    lines = []
    for name, given in results.items():
        runs: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
        for result in runs:
            check_kind(f"results[{name!r}]", result, Result, "a Result, or a list of them")
            history = result.history
            lines.append(Line(plain(str(name)), history.column(column), history.column("gap")))
    return shown([Panel("", label, lines, y_label="certified gap")], axes)


def _pair_limits(primal: Array, dual: Array) -> tuple[float, float] | None:
    """The ends of an axis for P and D, where early D(w) are so low that P would seem flat."""
    top, bottom, end = primal[np.isfinite(primal)].max(), dual[np.isfinite(dual)].min(), dual[-1]
    low = end - DEEPEST * (top - end)
    margin = 0.05 * (top - low)
    return (float(low), float(top + margin)) if bottom < low < top else None


def _corrections(history: History, column: str) -> tuple[float, float, str] | None:
    """From the last step of the algorithm to the end, where the run ended with corrections."""
    places = [place for place, row in enumerate(history) if row.phase == "corrective"]
    if not places:
        return None
    xs = history.column(column)
    return float(xs[max(places[0] - 1, 0)]), float(xs[places[-1]]), "corrections"


def _zero(history: History, column: str) -> str:
    """A gap of exactly 0 has no place on a logarithmic axis, and is worth saying."""
    first = next((row for row in history if row.gap <= 0), None)
    return "" if first is None else f"gap 0 from x = {getattr(first, column):.4g} on"


def _axis(x: str) -> tuple[str, str]:
    if x not in AXES:
        raise ValueError(f"x is {x!r}; expected one of {', '.join(map(repr, AXES))}")
    return AXES[x]


def coefficients(
    x: Sequence[float],
    betas: Sequence[Any],
    *,
    x_label: str = "",
    names: Sequence[str] | None = None,
    axes: Any = None,
) -> Any:
    """A figure with coefficients against x, and how many of them are not zero.

    The largest at the end have names, the others are grey. For matrices (``LowRank``) singular
    values and rank are shown instead.

    Parameters
    ----------
    x
        A number for each β: a radius, or the gradients spent so far.
    betas
        Vectors β of one length, or ``LowRank`` matrices.
    x_label
        What x is.
    names
        Names of the coefficients, such as ``result.names``; β₁, β₂, … without them.
    axes
        Axes for the coefficients alone; without them, a figure with both panels.

    Examples
    --------
    Along a run, by its records:

    >>> from rcmd import L1Ball, LeastSquares, Problem, iterate, plotting
    >>> problem = Problem([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], LeastSquares(), L1Ball(3.0))
    >>> states = list(iterate(problem, batch=2, tol=1e-2))
    >>> figure = plotting.coefficients(
    ...     [state.gradients for state in states],
    ...     [state.beta_average for state in states],
    ...     x_label="gradients",
    ... )
    >>> len(figure.axes)
    2
    """
    if not len(betas) or len(x) != len(betas):
        raise ValueError(f"x has {len(x)} and betas {len(betas)} entries; expected as many, not 0")
    matrices = isinstance(betas[0], LowRank)
    table = _singular_values(betas) if matrices else np.stack(betas).astype(float)
    count = table.shape[1]
    if names is not None and (matrices or len(names) != count):
        raise ValueError(f"names has {len(names)} entries; expected {0 if matrices else count}")
    order = np.argsort(np.asarray(x, dtype=float), kind="stable")
    xs, table = np.asarray(x, dtype=float)[order], table[order]
    letter = r"\sigma" if matrices else r"\beta"
    log = "x" if xs[0] > 0 and xs[-1] > LOG_FROM * xs[0] else ""
    largest = [int(i) for i in np.argsort(-abs(table[-1]), kind="stable")[:NAMED]]
    named = [i for i in largest if table[-1, i] != 0]
    others = [i for i in range(count) if i not in named and table[:, i].any()]
    lines = [Line("", xs, table[:, i]) for i in others]
    for i in named:
        name = rf"${letter}_{{{i + 1}}}$"
        if names is not None and names[i] != f"β{i + 1}":
            name = plain(str(names[i]))
        lines.append(Line(name, xs, table[:, i]))
    y_label, levels = ("singular values", ()) if matrices else ("coefficients", (0.0,))
    note = "" if lines else "all zero"
    values = Panel("", x_label, lines, y_label, log=log, levels=levels, note=note)
    support = (table != 0).sum(axis=1)
    what = "rank" if matrices else f"nonzero coefficients of {count}"
    counted = Line("", xs, support, {"color": "black", "linewidth": 1.2, "marker": "o"})
    return shown([values, Panel("", x_label, [counted], what, log=log)], axes)


def _singular_values(betas: Sequence[LowRank]) -> Array:
    """Singular values above rounding, a row for each matrix."""
    every = [beta.copy().singular_values() for beta in betas]
    table = np.zeros((len(every), max(1, *map(len, every))))
    for row, values in zip(table, every, strict=True):
        row[: len(values)] = values
        row[row <= RELATIVE_ZERO * row.max()] = 0
    return table


def duals(problem: Problem, result: Result, axes: Any = None) -> Any:
    """A figure with the dual variables w against margins or residuals, and sorted.

    For labels ±1 both signs are folded into one: y·w against the margin y·xᵀβ; otherwise w
    against the residual xᵀβ − y. A pair with gap 0 lies on the curve w = l'(xᵀβ), which is drawn
    beside the points: one for all where l' is the same function of that for every label, else those
    of the least, the middle and the largest label. Dotted lines are the ends of dom l*, which no w
    can pass. Weights are divided out.

    Parameters
    ----------
    problem, result
        What was solved, and its solution.
    axes
        Axes for the first panel alone; without them, a figure with both.

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
    w = _floats(losses.unit(result.w))
    s, letters = (s, "") if losses.offset is None else (s + losses.offset, " + o")
    signs = set(np.unique(y)) <= {-1.0, 1.0}
    if signs:
        x, w = y * _floats(s), y * w
        low, high = np.minimum(y * low, y * high), np.maximum(y * low, y * high)
        predicted = rf"(x^T\beta{letters})" if letters else r"x^T\beta"
        x_label, sign = rf"margin $y\,{predicted}$", r"y\,"
    else:
        x = _floats(s) - y
        x_label, sign = rf"residual $x^T\beta{letters} - y$", ""
    variable, y_label = f"${sign}w$", f"dual variable ${sign}w$"
    ends = sorted({float(end) for end in (*np.unique(low), *np.unique(high)) if np.isfinite(end)})
    levels = ends if len(ends) <= 2 else []
    by_x, by_w = _thinned(np.argsort(x, kind="stable")), _thinned(np.argsort(w, kind="stable"))
    name = rf"${sign}l'(x^T\beta{letters})$"
    lines = [Line(variable, x[by_x], w[by_x], POINTS), *_responses(problem, x, signs, name)]
    scatter = Panel("", x_label, lines, y_label, levels=levels, log="")
    ranks = np.linspace(0, 100, len(by_w))
    lines = [Line(variable, ranks, w[by_w], POINTS)]
    x_label, note = f"rows in order of {variable} (%)", _counts(w, low, high)
    in_order = Panel("", x_label, lines, y_label, levels=levels, log="", note=note)
    return shown([scatter, in_order], axes)


def _responses(problem: Problem, x: Array, signs: bool, name: str) -> list[Line]:
    """l' along the axis of ``x``, of the least, middle and largest label where they differ."""
    losses, y = problem.losses, _floats(problem.losses.y)
    grid, order = np.linspace(x.min(), x.max(), CURVE_POINTS), np.argsort(y, kind="stable")
    found: dict[float, Array] = {}
    for j in dict.fromkeys(order[[0, len(order) // 2, -1]].tolist()):
        offset = 0.0 if losses.offset is None else float(losses.offset[j])
        at = (y[j] * grid if signs else grid + y[j]) - offset
        slopes = [float(losses.one(j).derivative(s, y[j])) for s in at.tolist()]
        found.setdefault(float(y[j]), np.array(slopes) * (y[j] if signs else 1.0))
    first = next(iter(found.values()))
    if all(np.allclose(first, other, rtol=1e-9, atol=1e-9) for other in found.values()):
        return [Line(name, grid, first, CURVE)]
    return [Line(f"{name}, $y={label:g}$", grid, curve, CURVE) for label, curve in found.items()]


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
