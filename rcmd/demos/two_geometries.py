"""Page: what the prox function does to the dual step."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd import Problem, solve
from rcmd.demos.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    axis,
    contours,
    layout,
    line,
    log_range,
    number,
    plain,
    points,
    through,
)
from rcmd.demos.page import Choice, Drawing, Frame, Page, Scene, Trace
from rcmd.demos.snippets import two_geometries as code
from rcmd.demos.texts import read_text

STRENGTHS = (0.05, 0.2, 1.0)
LOOKS = {
    "conjugate": (BLUE, "solid"),
    "Euclidean": (VERMILION, "dash"),
    "composite": (GREEN, "dot"),
}
CEILING = 1.5
"""Where the panel of the distances ends."""
PLACES = np.linspace(-0.9995, -0.0005, 80)


def page(seed: int) -> Page:
    """The page; ``seed`` draws the rows."""
    return Page(
        text=read_text("two_geometries"),
        choices=(Choice(r"Strength $\mu$ of the ridge", [f"{m:g}" for m in STRENGTHS], "0.2"),),
        slider="Steps",
        scenes={(f"{strength:g}",): _scene(strength, seed) for strength in STRENGTHS},
        code=getsource(code),
        columns=3,
    )


def _scene(strength: float, seed: int) -> Scene:
    problem, runs = code.run(strength, seed=seed)
    start = problem.response(np.zeros(2))
    ws = {name: np.array([start, *(s.w for s in states)]) for name, states in runs.items()}
    gaps = {name: np.array([s.gap for s in states]) for name, states in runs.items()}
    states = [np.zeros(2), *(s.s for s in runs["conjugate"])]
    steps = min(len(gap) for gap in gaps.values())
    drawn = log_range(*(gap[:steps] for gap in gaps.values()))
    along = np.arange(1, steps + 1)
    drawings = [
        _plane(problem),
        Drawing(
            [
                *_curves([PLACES] * 3, [PLACES] * 3),
                points([], [], "w₁ of the conjugate run", BLACK, size=10),
            ],
            layout(axis("w₁", range=[-1.03, 0.03]),
                   axis("distance from the current w₁", range=[-0.05, CEILING])),
        ),
        Drawing(
            [
                *_curves([along] * 3, [gap[:steps] for gap in gaps.values()]),
                line([], [], "", GREY, width=1.5, dash="dot"),
            ],
            layout(axis("steps"), axis("certified gap, best so far", log=True, range=drawn)),
        ),
    ]  # fmt: skip
    frames = [
        Frame(
            label=f"{t} step{'' if t == 1 else 's'}",
            readouts=(
                *(number(gap[t - 1]) if t else "–" for gap in gaps.values()),
                *(number(w[t][0]) for w in ws.values()),
            ),
            changes=[
                {
                    **{2 + i: through(w[: t + 1]) for i, w in enumerate(ws.values())},
                    **{5 + i: through(w[t : t + 1]) for i, w in enumerate(ws.values())},
                },
                {
                    **dict(enumerate(_distances(problem, states[t][0]))),
                    3: through([[ws["conjugate"][t][0], 0.0]]),
                },
                {3: {"x": plain([t, t]), "y": plain([10**end for end in drawn])}},
            ],
        )
        for t in range(steps + 1)
    ]
    return Scene(drawings, frames, start=3)


def _plane(problem: Problem) -> Drawing:
    x, y = np.linspace(-1, 0, 61), np.linspace(0, 1, 61)
    values = np.array([[problem.dual(np.array([u, v])) for u in x] for v in y])
    best = solve(problem, tol=1e-10, engine="reference")
    traces = [
        contours(x, y, best.dual - values, GREY),
        points(best.w[:1], best.w[1:], "optimum w*", BLACK, size=13, symbol="star"),
        *_curves([[]] * 3, [[]] * 3),
        *(points([], [], "", colour, size=10) for colour, _ in LOOKS.values()),
    ]
    axes = axis("w₁", range=[-1.03, 0.03]), axis("w₂", range=[-0.03, 1.03])
    return Drawing(traces, layout(*axes, equal=True))


def _curves(xs: list[Any], ys: list[Any]) -> list[Trace]:
    """A curve for each prox."""
    looks = LOOKS.items()
    return [
        line(x, y, f"{name} h", colour, dash=dash)
        for (name, (colour, dash)), x, y in zip(looks, xs, ys, strict=True)
    ]


def _distances(problem: Problem, s: float) -> list[Trace]:
    """D_h(w, w¹) over w, in units of n·h, for each prox; w¹ = l'(s)."""
    constants, label = problem.constants(1), problem.losses.y[0]
    curves = []
    for prox in code.PROXES.values():
        bound = prox.bind(constants)
        values = np.array([bound.divergence(problem.loss, w, s, label, 1.0) for w in PLACES])
        curves.append({"y": plain(np.where(values <= 2 * CEILING, values, np.nan))})
    return curves
