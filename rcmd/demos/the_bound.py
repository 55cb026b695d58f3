"""Page: the expected gap, exactly, under the theorem's bound."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd.demos.drawing import (
    BLUE,
    GREY,
    SKY,
    VERMILION,
    axis,
    layout,
    line,
    log_range,
    number,
    plain,
    points,
)
from rcmd.demos.page import Choice, Drawing, Frame, Page, Scene
from rcmd.demos.snippets import the_bound as code
from rcmd.demos.texts import read_text

STEPS = {
    (2, 1): 8, (2, 2): 8,
    (3, 1): 6, (3, 2): 5, (3, 3): 6,
    (4, 1): 4, (4, 2): 3, (4, 3): 4, (4, 4): 6,
}  # fmt: skip
"""Steps for each (n, b): few enough that all sequences of batches can be run."""


def page(seed: int) -> Page:
    """The page; ``seed`` draws the data."""
    return Page(
        text=read_text("the_bound"),
        choices=(
            Choice("Rows $n$", ("2", "3", "4"), "3"),
            Choice("Batch $b$", ("1", "2", "3", "4"), "1"),
        ),
        slider="Steps",
        scenes={(str(n), str(b)): _scene(n, b, steps, seed) for (n, b), steps in STEPS.items()},
        code=getsource(code),
    )


def _scene(n: int, b: int, steps: int, seed: int) -> Scene:
    gaps, bound = code.run(n, b, steps, seed)
    expected, low, high = gaps.mean(axis=0), gaps.min(axis=0), gaps.max(axis=0)
    t = np.arange(1, steps + 1)
    reach = log_range(gaps, bound)
    drawings = [
        Drawing(
            [
                line(t, high, "", SKY, width=0),
                line(t, low, "from best to worst sequence", SKY, width=0.5, fill="tonexty",
                     fillcolor="rgba(86, 180, 233, 0.25)"),
                line(t, bound, "bound of Theorem 3.1", VERMILION, width=2.5),
                line(t, expected, "exact expectation", BLUE, width=2.5),
                line([], [], "", GREY, width=1.5, dash="dot"),
                points([], [], "", VERMILION, size=10),
                points([], [], "", BLUE, size=10),
            ],
            layout(axis("steps", dtick=1, range=[0.7, steps + 0.3]),
                   axis("gap P(β̄) − D(w̄)", log=True, range=reach)),
        ),
        Drawing(
            [
                line([], [], "sequences", SKY, width=2, shape="hv", fill="tozeroy",
                     fillcolor="rgba(86, 180, 233, 0.25)"),
                line([], [], "exact expectation", BLUE, width=2.5),
                line([], [], "bound", VERMILION, width=2.5),
            ],
            layout(axis("gap P(β̄) − D(w̄)", log=True, range=reach),
                   axis("share with a smaller gap", range=[0, 1.05], tickformat=".0%")),
        ),
    ]  # fmt: skip
    frames = []
    for i in range(steps):
        frames.append(
            Frame(
                label=f"{i + 1} step{'s' if i else ''}",
                readouts=(
                    str(round(len(gaps) ** ((i + 1) / steps))),
                    number(expected[i], 4),
                    number(bound[i], 4),
                    f"{number(bound[i] / expected[i])} times",
                    number(low[i]),
                    number(high[i]),
                ),
                changes=[
                    {
                        4: {"x": plain([i + 1] * 2), "y": plain([10**end for end in reach])},
                        5: {"x": plain([i + 1]), "y": plain([bound[i]])},
                        6: {"x": plain([i + 1]), "y": plain([expected[i]])},
                    },
                    {
                        0: _shares(gaps[:, i], reach),
                        1: {"x": plain([expected[i]] * 2), "y": [0, 1.05]},
                        2: {"x": plain([bound[i]] * 2), "y": [0, 1.05]},
                    },
                ],
            )
        )
    return Scene(drawings, frames, start=steps // 2)


def _shares(gaps: Any, reach: list[float]) -> dict[str, Any]:
    """The share of the gaps up to x, from one end of the axis to the other."""
    values, counts = np.unique(plain(gaps), return_counts=True)
    ends = [10**end for end in reach]
    shares = np.cumsum(counts) / len(gaps)
    return {"x": plain([ends[0], *values, ends[1]]), "y": plain([0.0, *shares, 1.0])}
