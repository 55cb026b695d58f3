"""Page: primal Frank-Wolfe steps and dual mirror steps are the same steps."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd import Problem, Result, certify, solve
from rcmd.demos.drawing import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    arrow,
    axis,
    contours,
    layout,
    line,
    number,
    pair,
    points,
    through,
)
from rcmd.demos.page import Drawing, Frame, Page, Scene
from rcmd.demos.snippets import equivalence as code
from rcmd.demos.texts import read_text
from rcmd.schedules import SublinearSchedule

EDGE = 3.3
"""Half the width of the primal picture."""


def page(seed: int) -> Page:
    """The page; ``seed`` draws the rows."""
    problem, rows, primal, dual = code.run(seed=seed)
    best = solve(problem, tol=1e-10, engine="reference")
    drawings = [_primal_panel(problem, best), _dual_panel(problem, best)]
    return Page(
        text=read_text("equivalence"),
        choices=(),
        slider="Steps taken",
        scenes={(): Scene(drawings, _frames(problem, rows, primal, dual), start=6)},
        code=getsource(code),
    )


def _primal_panel(problem: Problem, best: Result) -> Drawing:
    grid = np.linspace(-EDGE, EDGE, 67)
    radius = float(problem.oracle.radius)
    inside = [
        [problem.primal(np.array([u, v])) if abs(u) + abs(v) <= radius else np.nan for u in grid]
        for v in grid
    ]
    corners = radius * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    traces = [
        contours(grid, grid, np.array(inside) - best.primal, BLUE),
        line(corners[:, 0], corners[:, 1], "the set dom R", GREY, width=1.5),
        points(best.beta[:1], best.beta[1:], "optimum β*", BLACK, size=13, symbol="star"),
        arrow("direction −d", ORANGE),
        line([], [], "", BLUE, width=1.5, dash="dot"),
        line([], [], "average β̄", BLUE),
        points([], [], "atom β̃", ORANGE, size=12, symbol="diamond"),
        points([], [], "", BLUE, size=11),
    ]
    axes = [axis(f"β{index}", range=[-EDGE, EDGE]) for index in "₁₂"]
    return Drawing(traces, layout(*axes, equal=True))


def _dual_panel(problem: Problem, best: Result) -> Drawing:
    x, y = np.linspace(-1, 0, 61), np.linspace(0, 1, 61)
    values = [[problem.dual(np.array([u, v])) for u in x] for v in y]
    traces = [
        contours(x, y, best.dual - np.array(values), VERMILION),
        line([-1, 0, 0, -1, -1], [0, 0, 1, 1, 0], "dom l*", GREY, width=1.5),
        points(best.w[:1], best.w[1:], "optimum w*", BLACK, size=13, symbol="star"),
        line([], [], "iterates w", VERMILION, width=1.5),
        line([], [], "last step", VERMILION, width=5),
        points([], [], "", VERMILION, size=11),
        points([], [], "average w̄", VERMILION, size=11, symbol="circle-open"),
    ]
    axes = [axis("w₁", range=[-1.05, 0.05]), axis("w₂", range=[-0.05, 1.05])]
    return Drawing(traces, layout(*axes, equal=True))


def _frames(problem: Problem, rows: Any, primal: list[Any], dual: list[Any]) -> list[Frame]:
    schedule = SublinearSchedule(problem.n)
    start = problem.response(np.zeros(2))
    betas = np.array([np.zeros(2), *(step.beta for step in primal)])
    ws = np.array([start, *(state.w for state in dual)])
    slopes = np.array([problem.gradient(start), *(step.d for step in primal)])
    averages = np.array([start, *(state.w_average for state in dual)])
    frames, worst = [], 0.0
    for i in range(len(betas)):
        if i:
            worst = max(worst, code.difference(primal[i - 1], dual[i - 1]))
        last = max(i - 1, 0)
        atom = problem.oracle.argmin(slopes[last]).dense(betas[0])
        arrow = -1.5 * slopes[last] / np.linalg.norm(slopes[last])
        pair_gap = certify(problem, betas[i], averages[i])
        frames.append(
            Frame(
                label=f"i = {i}",
                readouts=(
                    str(rows[i - 1][0] + 1) if i else "none yet",
                    pair(atom),
                    f"{number(schedule.step(i - 1))}, {number(schedule.mixing(i - 1))}"
                    if i
                    else "–",
                    number(pair_gap.primal, 4),
                    number(pair_gap.dual, 4),
                    number(pair_gap.gap),
                    number(worst, 2),
                ),
                changes=[
                    {
                        3: through([[0, 0], arrow]),
                        4: through([betas[last], atom]),
                        5: through(betas[: i + 1]),
                        6: through([atom]),
                        7: through([betas[i]]),
                    },
                    {
                        3: through(ws[: i + 1]),
                        4: through(ws[last : i + 1]),
                        5: through([ws[i]]),
                        6: through([averages[i]]),
                    },
                ],
            )
        )
    return frames
