"""Coefficients and supports along a regularization path, or along a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcmd.plotting.panels import Line, Panel, plain, shown
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array

NAMED = 7
"""Coefficients that get a colour and a name: the largest at the end."""

LOG_FROM = 30
"""Ratio of the largest to the smallest x from which a logarithmic axis shows more."""

RELATIVE_ZERO = 1e-10
"""Singular values below this share of the largest are rounding."""


def coefficients(
    x: Sequence[float],
    betas: Sequence[Any],
    *,
    x_label: str = "",
    names: Sequence[str] | None = None,
    axes: Any = None,
) -> Any:
    """Coefficients against x, and how many of them are not zero.

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
        Names of the coefficients; β₁, β₂, … without them.
    axes
        Axes for the coefficients alone; without them, a figure with both panels.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

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
        name = rf"${letter}_{{{i + 1}}}$" if names is None else plain(str(names[i]))
        lines.append(Line(name, xs, table[:, i]))
    y_label, levels = ("singular values", ()) if matrices else ("coefficients", (0.0,))
    note = "" if lines else "all zero"
    look: dict[str, Any] = {"log": log, "levels": levels, "note": note, "label_ends": True}
    values = Panel("", x_label, lines, y_label, **look)
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
