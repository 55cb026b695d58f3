"""Stochastic Frank-Wolfe on (P) and coordinate mirror descent on (D), with the same rows."""

from itertools import islice
from typing import Any

import numpy as np

from rcmd import RCMD, L1Ball, Logistic, Problem, iterate
from rcmd.engine.reference import gsfw
from rcmd.engine.sampling import Replay
from rcmd.model.schedules import SublinearSchedule


def run(steps: int = 40, seed: int = 0) -> tuple[Problem, Any, list[Any], list[Any]]:
    """The problem, the rows drawn, and the iterates of both algorithms."""
    problem = Problem([[2.0, 0.5], [0.3, 1.2]], [1.0, -1.0], Logistic(), L1Ball(3.0))
    rows = np.random.default_rng(seed).integers(2, size=(steps, 1))
    primal = list(islice(gsfw(problem, SublinearSchedule(2), Replay(rows)), steps))
    times = range(1, steps + 1)
    method = RCMD(sampler=Replay(rows))
    dual = iterate(problem, method=method, tol=0.0, max_iterations=steps, record_at=times)
    return problem, rows, primal, list(dual)


def difference(one: Any, other: Any) -> float:
    """The largest between the averages, predictions and substitute gradients of both."""
    pairs = zip(one, (other.beta_average, other.s, other.d), strict=True)
    return max(float(abs(u - v).max()) for u, v in pairs)


if __name__ == "__main__":
    _, _, primal, dual = run()
    print(max(map(difference, primal, dual)))

# The page

from rcmd import Corrected, Result, certify, solve
from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Frame, Page, Scene, make

EDGE = 3.3
"""Half the width of the primal picture."""


def page(seed: int) -> Page:
    """Primal Frank-Wolfe steps and dual mirror steps are the same steps; ``seed`` draws rows."""
    problem, rows, primal, dual = run(seed=seed)
    best = solve(problem, tol=1e-10, method=Corrected(RCMD(engine="reference")))
    drawings = [_primal_panel(problem, best), _dual_panel(problem, best)]
    frames = _frames(problem, rows, primal, dual)
    return make(__name__, {(): Scene(drawings, frames, start=6)}, "Steps taken")


def _primal_panel(problem: Problem, best: Result) -> draw.Drawing:
    grid = np.linspace(-EDGE, EDGE, 67)
    radius = float(problem.oracle.radius)

    def excess(beta: Any) -> float:
        return problem.primal(beta) - best.primal if abs(beta).sum() <= radius else np.nan

    corners = radius * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    traces = [
        draw.contours(grid, grid, excess, draw.BLUE),
        draw.line(corners[:, 0], corners[:, 1], "the set dom R", draw.GREY, width=1.5),
        draw.optimum(best.beta, "optimum β*"),
        draw.arrow("direction −d", draw.ORANGE),
        draw.line([], [], "", draw.BLUE, width=1.5, dash="dot"),
        draw.line([], [], "average β̄", draw.BLUE),
        draw.points([], [], "atom β̃", draw.ORANGE, size=12, symbol="diamond"),
        draw.points([], [], "", draw.BLUE, size=11),
    ]
    axes = [draw.axis(f"β{index}", range=[-EDGE, EDGE]) for index in "₁₂"]
    return draw.panel(traces, *axes, equal=True)


def _dual_panel(problem: Problem, best: Result) -> draw.Drawing:
    x, y = np.linspace(-1, 0, 61), np.linspace(0, 1, 61)
    red = draw.VERMILION
    traces = [
        draw.contours(x, y, lambda w: best.dual - problem.dual(w), red),
        draw.line([-1, 0, 0, -1, -1], [0, 0, 1, 1, 0], "dom l*", draw.GREY, width=1.5),
        draw.optimum(best.w, "optimum w*"),
        draw.line([], [], "iterates w", red, width=1.5),
        draw.line([], [], "last step", red, width=5),
        draw.points([], [], "", red, size=11),
        draw.points([], [], "average w̄", red, size=11, symbol="circle-open"),
    ]
    axes = [draw.axis("w₁", range=[-1.05, 0.05]), draw.axis("w₂", range=[-0.05, 1.05])]
    return draw.panel(traces, *axes, equal=True)


def _frames(problem: Problem, rows: Any, primal: list[Any], dual: list[Any]) -> list[Frame]:
    schedule = SublinearSchedule(problem.n)
    start = problem.response(np.zeros(2))
    betas = np.array([np.zeros(2), *(beta for beta, _, _ in primal)])
    ws = np.array([start, *(state.w for state in dual)])
    slopes = np.array([problem.gradient(start), *(d for _, _, d in primal)])
    averages = np.array([start, *(state.w_average for state in dual)])
    frames, worst = [], 0.0
    for i in range(len(betas)):
        last, row, steps = max(i - 1, 0), "none yet", "–"
        if i:
            worst = max(worst, difference(primal[last], dual[last]))
            row = str(rows[last][0] + 1)
            steps = f"{draw.number(schedule.step(last))}, {draw.number(schedule.mixing(last))}"
        atom = problem.oracle.argmin(slopes[last]).dense(betas[0])
        arrow = -1.5 * slopes[last] / np.linalg.norm(slopes[last])
        pair = certify(problem, betas[i], averages[i])
        values = draw.number(pair.primal, 4), draw.number(pair.dual, 4), draw.number(pair.gap)
        on_left = [[0, 0], arrow], [betas[last], atom], betas[: i + 1], [atom], [betas[i]]
        on_right = ws[: i + 1], ws[last : i + 1], [ws[i]], [averages[i]]
        changes = [dict(enumerate(map(draw.through, on), 3)) for on in (on_left, on_right)]
        corner = f"({', '.join(map(draw.number, atom))})"
        readouts = row, corner, steps, *values, draw.number(worst, 2)
        frames.append(Frame(f"i = {i}", readouts, changes))
    return frames
