"""Curves on a terminal."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

WIDTH, HEIGHT = 64, 10
"""Columns and lines of a picture, without its axes."""


def sketch(label: str, x: Iterable[Any], curves: Mapping[str, Iterable[Any]]) -> str:
    """The curves over x, both axes logarithmic, drawn by the first letters of their names.

    Points that are not positive and finite are left out, and curves without any; where two meet,
    the later one shows. Nothing is drawn of fewer than two x.

    >>> print(sketch("passes", [1, 10, 100], {"* gap": [1.0, 0.1, 0.01]}))
      1e+00 │*
            │
            │
            │
            │                                *
            │
            │
            │
            │
      1e-02 │                                                               *
            └────────────────────────────────────────────────────────────────
             1                           passes                           100
             * gap
    """
    points = [
        (name, float(u), float(v))
        for name, y in curves.items()
        for u, v in zip(x, y, strict=True)
        if 0 < u < math.inf and 0 < v < math.inf
    ]
    if len({u for _, u, _ in points}) < 2:
        return ""
    names, across, up = zip(*points, strict=True)
    left, right, low, high = min(across), max(across), min(up), max(up)
    canvas = [[" "] * WIDTH for _ in range(HEIGHT)]
    for name, u, v in points:
        line = round((HEIGHT - 1) * (1 - _share(v, low, high)))
        canvas[line][round((WIDTH - 1) * _share(u, left, right))] = name[0]
    ticks = {0: f"{high:.0e}", HEIGHT - 1: f"{low:.0e}"}
    first, last = (f"{end:.3g}" if end < 1000 else f"{end:,.0f}" for end in (left, right))
    below = (
        f"└{'─' * WIDTH}",
        f" {first}{label.center(WIDTH - len(first) - len(last))}{last}",
        f" {'   '.join(dict.fromkeys(names))}",
    )
    lines = [f"{ticks.get(i, ''):>7} │{''.join(row)}".rstrip() for i, row in enumerate(canvas)]
    return "\n".join([*lines, *(f"{'':8}{line}" for line in below)])


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between low and high, from 0 to 1, by its logarithm."""
    return math.log(value / low) / math.log(high / low) if low < high else 0.0
