"""Page: batches need their own smoothness constant."""

from __future__ import annotations

from inspect import getsource

import numpy as np

from rcmd.demos.drawing import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    axis,
    layout,
    line,
    log_range,
    number,
    plain,
    points,
    through,
)
from rcmd.demos.page import Choice, Drawing, Frame, Page, Scene
from rcmd.demos.snippets import mini_batch as code
from rcmd.demos.texts import read_text

BATCHES = (1, 5, 8, 10)
COLOURS = {"published": VERMILION, "corrected": BLUE}
NAMES = {"published": "published step", "corrected": "corrected step"}


def page(seed: int) -> Page:
    """The page; ``seed`` draws the batches."""
    return Page(
        text=read_text("mini_batch"),
        choices=(Choice("Batch $b$ of 10 rows", [str(b) for b in BATCHES], "10"),),
        slider="Steps",
        scenes={(str(b),): _scene(b, seed) for b in BATCHES},
        code=getsource(code),
    )


def _scene(b: int, seed: int) -> Scene:
    problem, runs = code.run(b, seed=seed)
    constants = problem.constants(b)
    start = problem.response(np.zeros(1))
    tracks = {
        name: np.array([[w.mean(), problem.dual(w)] for w in [start, *(s.w for s in states)]])
        for name, states in runs.items()
    }
    gaps = {name: np.array(code.gaps(problem, states)) for name, states in runs.items()}
    bound = np.array([state.bound for state in runs["corrected"]])
    steps = np.arange(1, len(bound) + 1)
    places = np.concatenate([track[:, 0] for track in tracks.values()])
    room = 0.2 * (places.max() - places.min())
    along = np.linspace(places.min() - room, places.max() + room, 121)
    hill = [problem.dual(np.full(problem.n, place)) for place in along]
    top = along[int(np.argmax(hill))]
    drawn = log_range(*gaps.values(), bound)
    drawings = [
        Drawing(
            [
                line(along, hill, "D along equal coordinates", GREY),
                points([top], [max(hill)], "top", BLACK, size=12, symbol="star"),
                *(line([], [], NAMES[name], COLOURS[name], width=1.5, mode="lines+markers",
                       marker={"size": 7, "color": COLOURS[name], "symbol": "circle"})
                  for name in runs),
                *(points([], [], "", COLOURS[name], size=13) for name in runs),
            ],
            layout(axis("mean of the dual variables w"), axis("dual value D(w)")),
        ),
        Drawing(
            [
                *(line(steps, gaps[name], NAMES[name], COLOURS[name]) for name in runs),
                line(steps, bound, "proved bound, corrected step", BLUE, width=1.5, dash="dash"),
                line([], [], "", GREY, width=1.5, dash="dot"),
                *(points([], [], "", COLOURS[name], size=10) for name in runs),
            ],
            layout(axis("steps", range=[0, len(steps) + 1]),
                   axis("gap P(β̄) − D(w)", log=True, range=drawn)),
        ),
    ]  # fmt: skip
    frames = [
        Frame(
            label=f"{t} steps" if t != 1 else "1 step",
            readouts=(
                number(constants.sigma_printed),
                number(constants.sigma),
                *(number(gaps[name][t - 1]) for name in runs),
                number(bound[t - 1]),
            ),
            changes=[
                {
                    **{2 + i: through(tracks[name][: t + 1]) for i, name in enumerate(runs)},
                    **{4 + i: through(tracks[name][t : t + 1]) for i, name in enumerate(runs)},
                },
                {
                    3: {"x": plain([t, t]), "y": plain([10**end for end in drawn])},
                    **{
                        4 + i: {"x": plain([t]), "y": plain([gaps[name][t - 1]])}
                        for i, name in enumerate(runs)
                    },
                },
            ],
        )
        for t in steps.tolist()
    ]
    return Scene(drawings, frames, start=5)
