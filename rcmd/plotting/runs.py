"""Runs: P and D closing in on each other, the certified gap and the theorem's bound over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rcmd.plotting.panels import Line, Panel, plain, shown

if TYPE_CHECKING:
    from rcmd.solver.history import History
    from rcmd.solver.result import Result

Axis = Literal["gradients", "iterations", "oracle_calls", "seconds"]

AXES: dict[str, tuple[str, str]] = {
    "gradients": ("gradients", "stochastic gradients"),
    "iterations": ("iteration", "iterations"),
    "oracle_calls": ("oracle_calls", "oracle calls"),
    "seconds": ("seconds", "seconds"),
}
"""What a run spends: the column of the history, and how it is called."""
MOST_LABELS = 8
"""Names that fit beside the axes; more of them are in a legend."""


def run(result: Result, x: Axis = "gradients", axes: Any = None) -> Any:
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
    if not hasattr(result, "history"):
        raise TypeError(
            f"result is of type {type(result).__name__}; expected the Result of a run, such as "
            "solve(problem)"
        )
    history = result.history
    xs, band = history.column(column), _corrections(history, column)

    def panel(y_label: str, curves: dict[str, str], **look: Any) -> Panel:
        lines = [Line(name, xs, history.column(of)) for name, of in curves.items()]
        return Panel("", label, lines, y_label, band=band, label_ends=True, **look)

    curves = {"certified gap": "gap", "bound on E[gap]": "bound"}
    gap = panel(r"$P(\beta) - D(w)$", curves, note=_zero(history, column))
    values = panel("best values so far", {r"$P(\beta)$": "primal", "$D(w)$": "dual"}, log="x")
    return shown([values, gap], axes, alone=1)


def compare(
    results: Mapping[str, Result | Sequence[Result]], x: Axis = "gradients", axes: Any = None
) -> Any:
    """The certified gaps of several runs in one picture.

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

    Returns
    -------
    matplotlib.figure.Figure
        The figure, with its own ``savefig``.

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
        for result in given if isinstance(given, list | tuple) else [given]:
            if not hasattr(result, "history"):
                raise TypeError(
                    f"results holds {name!r}: an object of type {type(result).__name__}; expected "
                    "a Result, or a list of them"
                )
            history = result.history
            lines.append(Line(plain(str(name)), history.column(column), history.column("gap")))
    panel = Panel("", label, lines, y_label="certified gap", label_ends=len(results) <= MOST_LABELS)
    return shown([panel], axes)


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
