"""Ticks that can be read: whole numbers for counts, few words on short logarithmic axes."""

from __future__ import annotations

import math
from typing import Any

SHORT = 1.5
"""Decades below which powers of ten alone are too few ticks."""


def set_ticks(axis: Any, logarithmic: bool) -> None:
    """Choose the ticks of an axis that has its curves."""
    from matplotlib import ticker

    if not logarithmic:
        if _counts(axis):
            axis.set_major_locator(
                ticker.MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True)
            )
        return
    low, high = axis.get_view_interval()
    axis.set_minor_formatter(ticker.NullFormatter())
    if high < low * 10**SHORT or _powers(low, high) < 2:
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ticker.FuncFormatter(_number))


def _powers(low: float, high: float) -> int:
    """How many powers of ten there are from low to high.

    >>> _powers(120, 6000), _powers(9, 110)
    (1, 2)
    """
    return math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1


def _counts(axis: Any) -> bool:
    """Whether every curve has whole numbers along this axis, and not all of them the same."""
    pairs = [line.get_data() for line in axis.axes.get_lines()]
    values = {float(v) for pair in pairs for v in pair[axis.axis_name == "y"]}
    return len(values) > 0 and all(value.is_integer() for value in values)


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
