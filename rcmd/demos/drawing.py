"""Traces and layouts of one look, in the words of plotly.js."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rcmd.demos.page import Trace
from rcmd.plotting.style import COLOURS

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = COLOURS
GREY = "#8a8f98"
INK = "#1c1e21"

DIGITS = 6
"""Significant digits of what is drawn; readouts are made from the full numbers."""


def plain(values: Any) -> Any:
    """Numbers as lists fit for JSON, rounded to what a picture can show; NaN is a hole.

    Examples
    --------
    >>> plain([1 / 3, math.nan, 2])
    [0.333333, None, 2.0]
    """
    if np.ndim(values):
        return [plain(value) for value in values]
    value = float(values)
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def line(
    x: Any,
    y: Any,
    name: str,
    colour: str,
    *,
    width: float = 2.0,
    dash: str = "solid",
    shape: str = "linear",
    **more: Any,
) -> Trace:
    """A curve; one without a name has no entry in the page's legend."""
    look = {"color": colour, "width": width, "dash": dash, "shape": shape, "simplify": False}
    return {**_trace(x, y, name), "mode": "lines", "line": look, **more}


def points(x: Any, y: Any, name: str, colour: str, *, size: float, symbol: str = "circle") -> Trace:
    """Markers, with a white rim so that they stand out from curves."""
    rim = {"width": 2} if symbol.endswith("-open") else {"color": "#fff", "width": 1}
    look = {"color": colour, "size": size, "symbol": symbol, "line": rim}
    return {**_trace(x, y, name), "mode": "markers", "marker": look}


def arrow(name: str, colour: str) -> Trace:
    """A line with a head at its last point, still without data."""
    head = {"symbol": "arrow", "size": [0, 14], "angleref": "previous", "color": colour}
    return line([], [], name, colour, width=2.5, marker=head) | {"mode": "lines+markers"}


def _trace(x: Any, y: Any, name: str) -> Trace:
    return {
        "type": "scatter", "x": plain(x), "y": plain(y), "name": name, "showlegend": False,
        "hoverinfo": "x+y+name" if name else "skip",
    }  # fmt: skip


def through(vertices: Any) -> Trace:
    """The data of a trace through these points of the plane."""
    x, y = np.asarray(vertices, dtype=float).T
    return {"x": plain(x), "y": plain(y)}


def contours(x: Any, y: Any, z: Any, colour: str) -> Trace:
    """Level curves of z ≥ 0, closer to each other near its zeros; pale, for others to stand on."""
    z = np.sqrt(np.maximum(np.asarray(z, dtype=float), 0.0))
    return {
        "type": "contour", "x": plain(x), "y": plain(y), "z": plain(z), "ncontours": 14,
        "contours": {"coloring": "lines"}, "line": {"width": 1}, "opacity": 0.4, "name": "",
        "colorscale": [[0, colour], [1, colour]], "showscale": False, "hoverinfo": "skip",
    }  # fmt: skip


def axis(title: str, *, log: bool = False, **more: Any) -> dict[str, Any]:
    """An axis; a logarithmic one needs its ``range``, in powers of ten."""
    scale = _log_ticks(*more["range"]) if log else {"tickfont": {"size": 12}}
    return {
        "title": {"text": title, "standoff": 6}, "gridcolor": "#eceef1", "linecolor": "#c5cad1",
        "zeroline": False, "showline": True, "ticks": "outside", "ticklen": 4,
        "tickcolor": "#c5cad1", "automargin": True, **scale, **more,
    }  # fmt: skip


def _log_ticks(low: float, high: float) -> dict[str, Any]:
    """About seven powers of ten, or 1, 2 and 5 times those where the range is short."""
    if high - low > 1.3:
        step = max(math.ceil((high - low) / 7), 1)
        # plotly writes powers a quarter larger than other ticks.
        return {"type": "log", "exponentformat": "power", "dtick": step, "tickfont": {"size": 10}}
    powers = range(math.floor(low), math.ceil(high) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return {
        "type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks],
        "tickfont": {"size": 12},
    }  # fmt: skip


def layout(
    x: dict[str, Any], y: dict[str, Any], *, equal: bool = False, **more: Any
) -> dict[str, Any]:
    """A panel with these axes, of one scale if ``equal``; its legend is part of the page."""
    if equal:
        x, y = x | {"constrain": "domain"}, y | {"constrain": "domain", "scaleanchor": "x"}
    return {
        "xaxis": x, "yaxis": y, "paper_bgcolor": "#fff", "plot_bgcolor": "#fff",
        "font": {"family": "system-ui, Segoe UI, Roboto, Noto Sans, sans-serif", "size": 13,
                 "color": INK},
        "margin": {"l": 56, "r": 12, "t": 12, "b": 46}, "hovermode": "closest", "dragmode": False,
        **more,
    }  # fmt: skip


def log_range(*values: Any) -> list[float]:
    """A range of a logarithmic axis that shows all positive values, as powers of ten."""
    every = np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in values])
    every = np.log10(every[np.isfinite(every) & (every > 0)])
    room = 0.06 * max(every.max() - every.min(), 1.0)
    return [float(every.min() - room), float(every.max() + room)]


SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any, digits: int = 3) -> str:
    """A number to read, with so many significant digits.

    Examples
    --------
    >>> number(0.5), number(1.5e-16, 2), number(-12.0), number(0.0)
    ('0.500', '1.5·10⁻¹⁶', '−12.0', '0')
    """
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}".replace("-", "−")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -3 <= power < 5:
        return f"{value:.{max(digits - 1 - power, 0)}f}".replace("-", "−")
    return f"{mantissa}·10{str(power).translate(SUPERSCRIPTS)}".replace("-", "−")


def pair(values: Any) -> str:
    """A point of the plane, in words."""
    return f"({', '.join(number(value) for value in values)})"
