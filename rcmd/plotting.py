"""Figures with logarithmic axes, one line style for each name; matplotlib is imported when used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which colour-blind readers tell apart."""

DASHES = ("-", "--", "-.")
MARKERS = "osD^vPX*<>hdp8H"
FORMATS = (".png", ".pdf", ".svg")
MARKS_PER_LINE = 7


@dataclass(frozen=True)
class Line:
    """A curve; the first of a name stands out, and has the name's entry in the legend."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """A pair of axes with its curves; ``level`` draws a thin line across at that height."""

    title: str
    x_label: str
    lines: Sequence[Line]
    level: float | None = None


def check_plot(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a figure that could not be written."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"figure {str(path)!r} has no known ending; expected {', '.join(FORMATS)}")
    check_folder(path)
    try:
        import_module("matplotlib")
    except ImportError:
        raise ValueError("figures need matplotlib: pip install 'rcmd[plot]'") from None


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a file in a folder that does not exist."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{str(path)!r} is in a folder that does not exist; make {folder} first")


def write_figure(
    panels: Sequence[Panel], y_label: str, path: str | os.PathLike[str], columns: int
) -> None:
    """Write what ``drawn`` draws to ``path``."""
    drawn(panels, y_label, columns).savefig(path, dpi=160)


def drawn(panels: Sequence[Panel], y_label: str, columns: int) -> Any:
    """A figure with the panels in ``columns`` columns and one legend.

    Points with x ≤ 0 or y ≤ 0 have no place on logarithmic axes and are left out.
    """
    figure_module = import_module("matplotlib.figure")
    rows = -(-len(panels) // columns)
    figure = figure_module.Figure(figsize=(4.4 * columns, 3.3 * rows + 0.7), layout="constrained")
    every_axes = figure.subplots(rows, columns, squeeze=False, sharey="row").ravel()
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    looks = dict(zip(names, _looks(len(names)), strict=True))
    handles: dict[str, Any] = {}
    for place, (axes, panel) in enumerate(zip(every_axes, panels, strict=False)):
        seen: set[str] = set()
        for line in panel.lines:
            kept = [(x, y) for x, y in zip(line.x, line.y, strict=True) if x > 0 and y > 0]
            if kept:
                curve = _draw(axes, kept, looks[line.name], again=line.name in seen)
                handles.setdefault(line.name, curve)
                seen.add(line.name)
        axes.set(xscale="log", yscale="log", title=panel.title, xlabel=panel.x_label)
        axes.set_ylabel("" if place % columns else y_label)
        axes.grid(which="major", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        if panel.level is not None:
            axes.axhline(panel.level, color="0.5", linewidth=0.8, linestyle=":")
    for axes in every_axes[len(panels) :]:
        axes.set_visible(False)
    shown = [name for name in names if name in handles]
    figure.legend(
        [handles[name] for name in shown],
        shown,
        loc="outside lower center",
        ncols=min(len(shown), 2 * columns + 2) or 1,
        frameon=False,
    )
    return figure


def _looks(count: int) -> list[dict[str, Any]]:
    """Different looks: colours first, then dashes; markers tell them apart in print."""
    pairs = list(product(DASHES, COLOURS))
    return [
        {
            "linestyle": pairs[i % len(pairs)][0],
            "color": pairs[i % len(pairs)][1],
            "marker": MARKERS[i % len(MARKERS)],
        }
        for i in range(count)
    ]


def _draw(
    axes: Any, points: Sequence[tuple[float, float]], look: dict[str, Any], again: bool
) -> Any:
    """One curve; a further one of the same name is thin, pale and without markers."""
    xs, ys = zip(*points, strict=True)
    if again:
        look = look | {"marker": "", "linewidth": 0.8, "alpha": 0.45}
    style: dict[str, Any] = {"linewidth": 1.5, "markersize": 4.5, "markevery": _spread(xs)}
    (line,) = axes.plot(xs, ys, **(style | look))
    return line


def _spread(xs: Sequence[float]) -> list[int]:
    """Places of a few markers, evenly in log x.

    >>> _spread([1, 10, 11, 12, 100])
    [0, 1, 4]
    """
    ratio = (xs[-1] / xs[0]) ** (1 / MARKS_PER_LINE) if xs[-1] > xs[0] else 1.0
    places = [0]
    for place, x in enumerate(xs):
        if x >= xs[places[-1]] * ratio and x > xs[places[-1]]:
            places.append(place)
    return places
