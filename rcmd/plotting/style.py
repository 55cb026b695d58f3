"""How figures look: sizes, fonts, and a look for each name that print and eyes can tell apart."""

from __future__ import annotations

from itertools import product
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, which colour-blind readers tell apart."""

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


def looks(count: int) -> list[dict[str, Any]]:
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


def plain(text: str) -> str:
    """A user's words, in which a dollar sign is no formula."""
    return text.replace("$", r"\$")
