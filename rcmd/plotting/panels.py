"""Panels of curves, the one machinery behind all figures: sizes, fonts, a look for each name."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.rows.validation import pip_install
from rcmd.solver.saved_results import check_folder

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which colour-blind readers can tell apart."""

DASHES = ("-", "--", "-.")
MARKERS = "osD^vPX*<>hdp8H"

ONE_COLUMN, TWO_COLUMNS, ROW_HEIGHT = 3.3, 6.9, 2.4
"""Inches: the usual widths of a figure in a journal, and the height of a row of panels."""

GREY = "0.55"

STYLE: Any = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "STIX Two Text", "Times New Roman", "Times", "serif"],
    "mathtext.fontset": "stix",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "figure.constrained_layout.w_pad": 0.08,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "rcmd",
    "pdf.fonttype": 42,
}
"""In force while a figure is drawn and while it is saved: text stays text in .pdf and .svg."""

FORMATS = (".png", ".pdf", ".svg")
FEW, APART = 7, 0.15
"""Markers are at a few points all, at more of them by this share of the diagonal of the axes."""
INCHES_A_LETTER = 0.062
ACROSS = 3
"""Panels that fit side by side into a text width."""


@dataclass(frozen=True)
class Line:
    """A curve; the first of a name stands out, and has the name's entry in the legend.

    Attributes
    ----------
    name
        Words, or a formula between dollar signs. Curves of one name look alike; those without
        a name are thin and grey.
    x, y
        The points. What is infinite, or has no logarithm on a logarithmic axis, is left out; a y
        that is NaN leaves a hole.
    look
        What of its look is not as usual, in matplotlib's words.
    """

    name: str
    x: Iterable[Any]
    y: Iterable[Any]
    look: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A pair of axes with its curves.

    Attributes
    ----------
    title, x_label, y_label
        Words, or formulas between dollar signs.
    lines
        The curves.
    levels
        Heights at which a thin line goes across.
    log
        The logarithmic axes: ``"xy"``, ``"x"``, ``"y"`` or ``""``.
    band
        A grey strip from x = start to x = end, with its name at the top: (start, end, name).
    note
        A few words above the axes, at the left.
    limits
        The ends of the y axis, where they are not those of the curves.
    """

    title: str
    x_label: str
    lines: Sequence[Line]
    y_label: str = ""
    levels: Sequence[float] = ()
    log: str = "xy"
    band: tuple[float, float, str] | None = None
    note: str = ""
    limits: tuple[float, float] | None = None


def check_plot(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a figure that could not be written.

    Examples
    --------
    >>> check_plot("run.docx")
    Traceback (most recent call last):
    ValueError: figure 'run.docx' has no known ending; expected .png, .pdf, .svg
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"figure {str(path)!r} has no known ending; expected {', '.join(FORMATS)}")
    check_folder(path)
    require_matplotlib()


def require_matplotlib() -> None:
    """Say what is missing where matplotlib is not installed."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise ValueError(f"figures need matplotlib: {pip_install('plot')}") from None


def drawn(panels: Sequence[Panel], columns: int) -> Any:
    """A figure with the panels in ``columns`` columns; they share y where all have one label.

    Examples
    --------
    >>> figure = drawn([Panel("title", "x", [Line("curve", [1, 2], [3, 4])])], columns=1)
    >>> figure.axes[0].get_title()
    'title'
    """
    require_matplotlib()
    from matplotlib import rc_context

    from rcmd.plotting.axes import Figure

    rows = -(-len(panels) // columns)
    shared = columns > 1 and len({panel.y_label for panel in panels}) == 1
    with rc_context(STYLE):
        width = ONE_COLUMN if columns == 1 else TWO_COLUMNS * max(columns / ACROSS, 1)
        figure = Figure(figsize=(width, ROW_HEIGHT * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if shared else False)
        every_axes = grid.ravel()
        chosen = _looks(line.name for panel in panels for line in panel.lines)
        handles: dict[str, Any] = {}
        for place, (axes, panel) in enumerate(zip(every_axes, panels, strict=False)):
            handles |= draw(axes, panel, chosen)
            if shared and place % columns:
                axes.set_ylabel("")
        for axes in every_axes[len(panels) :]:
            axes.set_visible(False)
        if handles:
            longest = max(map(len, handles))
            across = max(1, min(len(handles), int(width / (0.5 + INCHES_A_LETTER * longest))))
            figure.set_figheight(ROW_HEIGHT * rows + 0.2 * -(-len(handles) // across) + 0.1)
            below: Any = {"loc": "outside lower center", "ncols": across}
            figure.legend(list(handles.values()), list(handles), frameon=False, **below)
    return figure


def shown(panels: Sequence[Panel], axes: Any, alone: int = 0) -> Any:
    """A figure with the panels side by side, or one ``alone`` in the user's axes and style."""
    if axes is None:
        return drawn(panels, columns=len(panels))
    panel = panels[alone]
    handles = draw(axes, panel, _looks(line.name for line in panel.lines))
    if handles:
        axes.legend(list(handles.values()), list(handles), frameon=False)
    return axes.figure


def draw(axes: Any, panel: Panel, chosen: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw one panel; returns the first curve of every name."""
    from rcmd.plotting.axes import set_ticks

    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_xscale("log" if "x" in panel.log else "linear")
    axes.set_yscale("log" if "y" in panel.log else "linear")
    axes.grid(which="major", color="0.9", linewidth=0.5)
    handles: dict[str, Any] = {}
    for line in panel.lines:
        xs, ys = _kept(line, panel.log)
        if xs:
            style = _style(line, chosen[line.name], len(xs), again=line.name in handles)
            (curve,) = axes.plot(xs, ys, **style)
            if line.name:
                handles.setdefault(line.name, curve)
    for level in panel.levels:
        axes.axhline(level, color=GREY, linewidth=0.7, linestyle=":", zorder=1)
    if panel.band is not None:
        start, end, name = panel.band
        axes.axvspan(start, end, color="0.94", linewidth=0, zorder=0)
        _write_above(axes, name, 1.0, "right")
    if panel.note:
        _write_above(axes, panel.note, 0.0, "left")
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    for axis in (axes.xaxis, axes.yaxis):
        set_ticks(axis, axis.axis_name in panel.log)
    return handles


def _looks(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Different looks: colours first, then dashes; markers tell them apart in print."""
    named = [name for name in dict.fromkeys(names) if name]
    looks = zip(cycle(product(DASHES, COLOURS)), cycle(MARKERS), strict=False)
    chosen = {"": {"color": "0.75", "linestyle": "-", "marker": ""}}
    for name, ((dash, colour), marker) in zip(named, looks, strict=False):
        chosen[name] = {"linestyle": dash, "color": colour, "marker": marker}
    return chosen


def _kept(line: Line, log: str) -> tuple[list[float], list[float]]:
    """The points that have a place on the axes, as floats."""
    x, y = (np.array(list(values), dtype=float) for values in (line.x, line.y))
    kept = np.isfinite(x) & ~np.isinf(y)
    kept &= (x > 0) | ("x" not in log)
    kept &= ~(y <= 0) | ("y" not in log)
    if np.isnan(y[kept]).all():
        return [], []
    return x[kept].tolist(), y[kept].tolist()


def _style(line: Line, look: dict[str, Any], count: int, again: bool) -> dict[str, Any]:
    """The look; a further curve of the same name is thin, pale and without markers."""
    if not line.name:
        usual: dict[str, Any] = {"linewidth": 0.7, "zorder": 1.5}
    elif again:
        usual = {"marker": "", "linewidth": 0.7, "alpha": 0.45}
    else:
        usual = {"markevery": APART if count > FEW else 1}
    return look | usual | dict(line.look)


def _write_above(axes: Any, text: str, x: float, side: str) -> None:
    look = {"ha": side, "va": "bottom", "color": "0.35", "size": "small"}
    place = {"xytext": (0, 2), "textcoords": "offset points"}
    axes.annotate(text, (x, 1.0), xycoords="axes fraction", **place, **look)


def plain(text: str) -> str:
    """A user's words, in which a dollar sign begins no formula."""
    return text.replace("$", r"\$")
