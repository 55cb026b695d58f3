"""Matplotlib's figures and axes: text that stays text, and ticks.

Imported when a figure is drawn, as it needs matplotlib.
"""

import io
import math
from pathlib import Path
from typing import Any

import matplotlib.figure
from matplotlib import rc_context, ticker

from rcmd.plotting.panels import STYLE

UNDATED: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata without which the same figure would be another file every time."""

SHORT = 1.5
"""Decades below which powers of ten alone are too few ticks."""


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
