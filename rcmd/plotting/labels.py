"""Names at the ends of curves, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LINE_SPACING = 1.2


def label_ends(figure: Any, panels: Sequence[tuple[Any, Mapping[str, Any]]]) -> None:
    """Write each name beside the last point of its curve, right of its axes."""
    if panels:
        figure.draw_without_rendering()  # limits and heights are known only then
    for axes, curves in panels:
        _label(axes, curves)


def _label(axes: Any, curves: Mapping[str, Any]) -> None:
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [(curve.get_xdata()[-1], curve.get_ydata()[-1]) for curve in curves.values()]
    heights = [float(to_axes.transform(end)[1]) for end in ends]
    size = axes.xaxis.label.get_size() * 0.95
    points_high = axes.get_window_extent().height / axes.figure.dpi * 72
    places = spread(heights, LINE_SPACING * size / points_high)
    for (name, curve), end, place in zip(curves.items(), ends, places, strict=True):
        axes.annotate(
            name,
            xy=end,
            xytext=(1.03, place),
            textcoords="axes fraction",
            va="center",
            size=size,
            color=darker(curve.get_color()),
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": curve.get_color(),
                "linewidth": 0.5,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The nearest heights that are at least ``gap`` apart, in the same order.

    Least squares: neighbours too close are pooled around their mean, again and again.

    >>> [round(h, 3) for h in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    blocks: list[list[float]] = []  # what each wants, less the gaps below it
    for rank, i in enumerate(order):
        blocks.append([heights[i] - rank * gap])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    levels = [_mean(block) for block in blocks for _ in block]
    places = [0.0] * len(heights)
    for rank, i in enumerate(order):
        places[i] = levels[rank] + rank * gap
    return places


def darker(colour: Any) -> Any:
    """The colour with enough contrast for text on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.72 * part for part in to_rgb(colour))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
