"""The legend of a panel, as part of the page: it wraps like words and covers no curve."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rcmd.demos.page import Trace

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
    """An entry for every trace with a name."""
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
