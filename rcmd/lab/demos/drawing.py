"""Traces, layouts and legends of one look, in the words of plotly.js."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from rcmd.plotting.panels import COLOURS

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = COLOURS
GREY = "#8a8f98"

Trace = dict[str, Any]
"""A curve, in the words of plotly.js."""


class Drawing(NamedTuple):
    """A panel before the slider moves."""

    traces: Sequence[Trace]
    layout: dict[str, Any]


def plain(values: Any) -> Any:
    """Numbers as lists fit for JSON, with six digits, as a picture shows no more; NaN is a hole.

    >>> plain([1 / 3, math.nan, 2])
    [0.333333, None, 2.0]
    """
    if np.ndim(values):
        return [plain(value) for value in values]
    value = float(values)
    return float(f"{value:.6g}") if math.isfinite(value) else None


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
    """Markers, with a white rim that sets them off from curves."""
    rim = {"width": 2} if symbol.endswith("-open") else {"color": "#fff", "width": 1}
    look = {"color": colour, "size": size, "symbol": symbol, "line": rim}
    return {**_trace(x, y, name), "mode": "markers", "marker": look}


def optimum(place: Any, name: str) -> Trace:
    """A black star."""
    return points(place[:1], place[1:], name, BLACK, size=13, symbol="star")


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


def at(x: float, *ys: float) -> Trace:
    """The data of a trace at one x: a point, or a line through all ``ys``."""
    return {"x": plain([x] * len(ys)), "y": plain(ys)}


def upright(x: float, powers: Sequence[float]) -> Trace:
    """The data of a vertical line across a logarithmic axis of this range."""
    return at(x, *(10**power for power in powers))


def cursor() -> Trace:
    """A dotted line without data yet, for where the slider is."""
    return line([], [], "", GREY, width=1.5, dash="dot")


def contours(x: Any, y: Any, height: Callable[[Any], float], colour: str) -> Trace:
    """Level curves of a height ≥ 0, closer near its zeros; pale, as a background."""
    z = [[height(np.array([u, v])) for u in x] for v in y]
    return {
        "type": "contour", "x": plain(x), "y": plain(y), "z": plain(np.sqrt(np.maximum(z, 0.0))),
        "ncontours": 14, "contours": {"coloring": "lines"}, "line": {"width": 1}, "opacity": 0.4,
        "name": "", "colorscale": [[0, colour], [1, colour]], "showscale": False,
        "hoverinfo": "skip",
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


def panel(
    traces: Sequence[Trace],
    x: dict[str, Any],
    y: dict[str, Any],
    *,
    equal: bool = False,
    **more: Any,
) -> Drawing:
    """Traces with these axes, of one scale if ``equal``; the legend is part of the page."""
    if equal:
        x, y = x | {"constrain": "domain"}, y | {"constrain": "domain", "scaleanchor": "x"}
    layout = {
        "xaxis": x, "yaxis": y, "paper_bgcolor": "#fff", "plot_bgcolor": "#fff",
        "font": {"family": "system-ui, Segoe UI, Roboto, Noto Sans, sans-serif", "size": 13,
                 "color": "#1c1e21"},
        "margin": {"l": 56, "r": 12, "t": 12, "b": 46}, "hovermode": "closest", "dragmode": False,
    }  # fmt: skip
    return Drawing(traces, layout | more)


def log_range(*values: Any) -> list[float]:
    """A range of a logarithmic axis that shows all positive values, as powers of ten."""
    every = np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in values])
    every = np.log10(every[np.isfinite(every) & (every > 0)])
    room = 0.06 * max(every.max() - every.min(), 1.0)
    return [float(every.min() - room), float(every.max() + room)]


DASHES = {"solid": "", "dash": "7 4", "dot": "2 3"}
SHAPES = {
    "circle": '<circle cx="12" cy="7" r="4.5" fill="{0}"/>',
    "circle-open": '<circle cx="12" cy="7" r="4" fill="none" stroke="{0}" stroke-width="2"/>',
    "diamond": '<path d="M12 1 18 7 12 13 6 7Z" fill="{0}"/>',
    "star": '<path d="M12 0 14 5 19 5 15 8.3 16.5 13.5 12 10.3 7.5 13.5 9 8.3 5 5 10 5Z" '
    'fill="{0}"/>',
    "square": '<path d="M7 2H17V12H7Z" fill="{0}"/>',
    "arrow": '<path d="M24 7 16 3 16 11Z" fill="{0}"/>',
}


def legend(traces: Sequence[Trace]) -> str:
    """The legend of a panel as part of the page: it wraps like words and covers no curve."""
    entries = "".join(
        f"<li>{_swatch(trace)}{escape(trace['name'])}</li>" for trace in traces if trace["name"]
    )
    return f'<ul class="legend">{entries}</ul>' if entries else ""


def _swatch(trace: Trace) -> str:
    """The trace in miniature: its line, its marker, or its bar."""
    inside = ""
    if "fillcolor" in trace:
        inside += f'<path d="M0 1H24V13H0Z" fill="{trace["fillcolor"]}"/>'
    if "line" in trace:
        look = trace["line"]
        inside += (
            f'<path d="M0 7H24" stroke="{look["color"]}" stroke-width="{look["width"]}" '
            f'stroke-dasharray="{DASHES[look["dash"]]}"/>'
        )
    if "marker" in trace:
        shape = "square" if trace["type"] == "bar" else trace["marker"]["symbol"]
        inside += SHAPES[shape].format(trace["marker"]["color"])
    return f'<svg width="24" height="14" viewBox="0 0 24 14" aria-hidden="true">{inside}</svg>'


SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any, digits: int = 3) -> str:
    """A number to read, with so many significant digits.

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
