"""Matplotlib's figures and axes: text that stays text, ticks, names at the ends of curves.

Imported when a figure is drawn, as it needs matplotlib.
"""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib.figure
from matplotlib import rc_context, ticker
from matplotlib.colors import to_rgb

from rcmd.plotting.panels import STYLE

UNDATED: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata without which the same figure would be another file every time."""

SHORT = 1.5
"""Decades below which powers of ten alone are too few ticks."""

LINE_SPACING = 1.2
EARLY = 0.6
"""Share of the width: a curve that ends before it has its name beside its end, as a line from
there to the right of the axes would look like its continuation."""


class Figure(matplotlib.figure.Figure):
    """A figure without pyplot: nothing global is changed, nothing has to be closed."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **options: Any) -> None:
        """As ever, with text as text in .pdf and .svg; 200 dots per inch in .png."""
        ending = Path(fname).suffix.lower() if isinstance(fname, str | Path) else ""
        options = {"dpi": 200, "metadata": UNDATED.get(ending)} | options
        with rc_context(STYLE):
            super().savefig(fname, transparent=transparent, **options)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=160)
        return picture.getvalue()


def set_ticks(axis: Any, logarithmic: bool) -> None:
    """Choose the ticks of an axis that has its curves."""
    if not logarithmic:
        pairs = [line.get_data() for line in axis.axes.get_lines()]
        values = [float(value) for pair in pairs for value in pair[axis.axis_name == "y"]]
        if values and all(value.is_integer() for value in values):
            whole = ticker.MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True)
            axis.set_major_locator(whole)
        return
    low, high = axis.get_view_interval()
    powers = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
    axis.set_minor_formatter(ticker.NullFormatter())
    if high < low * 10**SHORT or powers < 2:
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ticker.FuncFormatter(_number))


def _number(value: float, place: int | None = None) -> str:
    """A tick of a short axis.

    >>> _number(0.05), _number(2000.0), _number(1e6)
    ('0.05', '2000', '$10^{6}$')
    """
    exponent = math.floor(math.log10(value) + 1e-9)
    if -3 <= exponent <= 3:
        return f"{value:g}"
    mantissa = round(value / 10**exponent)
    front = "" if mantissa == 1 else rf"{mantissa} \times "
    return f"${front}10^{{{exponent}}}$"


def label_ends(figure: Any, panels: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
    """Write each name beside the last point of its curve, right of its axes if it ends there."""
    if panels:
        figure.draw_without_rendering()  # limits and heights are known only then
    for axes, curves in panels:
        to_axes = axes.transData + axes.transAxes.inverted()
        ends = {name: to_axes.transform(_end(curve)) for name, curve in curves.items()}
        right = {
            name: float(height)
            for name, (x, height) in ends.items()
            if x > EARLY or not _beside(axes, name, curves[name])
        }
        points_high = axes.get_window_extent().height / axes.figure.dpi * 72
        places = spread(list(right.values()), LINE_SPACING * _size(axes) / points_high)
        for name, place in zip(right, places, strict=True):
            line = {"arrowstyle": "-", "color": curves[name].get_color(), "linewidth": 0.5}
            line |= {"shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
            outside = {"annotation_clip": False, "arrowprops": line}
            _name(axes, name, curves[name], (1.03, place), "axes fraction", **outside)


def _beside(axes: Any, name: str, curve: Any) -> bool:
    """Write the name right of the last point, unless something is in the way there."""
    text = _name(axes, name, curve, (5, 0), "offset points")
    box = text.get_window_extent()
    drawn = [line for line in axes.get_lines() if line is not curve]
    paths = [line.get_transform().transform_path(line.get_path()) for line in drawn]
    others = [other.get_window_extent() for other in axes.texts if other is not text]
    blocked = (
        box.x1 > axes.get_window_extent().x1
        or any(path.intersects_bbox(box, filled=False) for path in paths)
        or any(box.overlaps(other) for other in others)
    )
    if blocked:
        text.remove()
    return not blocked


def _name(axes: Any, name: str, curve: Any, place: Any, unit: str, **look: Any) -> Any:
    readable = tuple(0.72 * part for part in to_rgb(curve.get_color()))  # as text on white
    look |= {"va": "center", "size": _size(axes), "color": readable}
    return axes.annotate(name, _end(curve), place, textcoords=unit, **look)


def _end(curve: Any) -> Any:
    return curve.get_xydata()[-1]


def _size(axes: Any) -> float:
    return float(axes.xaxis.label.get_size() * 0.95)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The nearest heights that are at least ``gap`` apart, in the same order.

    Least squares, by the formula of isotonic regression: less the gaps below it, each is at the
    largest, over what begins below it, of the smallest mean of what ends above it.

    >>> [round(h, 3) for h in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    count, order = len(heights), sorted(range(len(heights)), key=lambda i: heights[i])
    wanted = [heights[i] - rank * gap for rank, i in enumerate(order)]
    places = [0.0] * count
    for rank, i in enumerate(order):
        means = [[fmean(wanted[a:b]) for b in range(rank + 1, count + 1)] for a in range(rank + 1)]
        places[i] = max(map(min, means)) + rank * gap
    return places
