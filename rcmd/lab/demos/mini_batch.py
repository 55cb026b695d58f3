"""Steps 1/σ and 1/σ_b on ten copies of one row, b of them moved at a time."""

from typing import Any

import numpy as np

from rcmd import RCMD, LeastSquares, Problem, Ridge, iterate
from rcmd.model.schedules import LinearSchedule


def run(b: int = 10, steps: int = 30, seed: int = 0) -> tuple[Problem, dict[str, list[Any]]]:
    """The problem, and the states of a run with each rule."""
    problem = Problem(np.ones((10, 1)), np.ones(10), LeastSquares(), Ridge(0.65, 4.0))
    constants, runs = problem.constants(b), {}
    options: Any = {"batch": b, "seed": seed, "max_iterations": steps, "tol": 0.0}
    for name, sigma in (("published", constants.sigma_printed), ("corrected", constants.sigma)):
        rule = LinearSchedule(constants.blocks, sigma)
        method, times = RCMD(schedule=rule, engine="reference"), range(1, steps + 1)
        runs[name] = list(iterate(problem, method=method, record_at=times, **options))
    return problem, runs


def gaps(problem: Problem, states: list[Any]) -> list[float]:
    """P − D for the averaged β and the last w, as in Theorem 3.2."""
    return [float(problem.primal(s.beta_average) - problem.dual(s.w)) for s in states]


if __name__ == "__main__":
    problem, runs = run()
    print({name: gaps(problem, states) for name, states in runs.items()})

# The page

from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

BATCHES = (1, 5, 8, 10)
COLOURS = {"published": draw.VERMILION, "corrected": draw.BLUE}


def page(seed: int) -> Page:
    """Batches need their own smoothness constant; ``seed`` draws the batches."""
    choice = Choice("Batch $b$ of 10 rows", [str(b) for b in BATCHES], "10")
    return make(__name__, {(str(b),): _scene(b, seed) for b in BATCHES}, "Steps", (choice,))


def _scene(b: int, seed: int) -> Scene:
    problem, runs = run(b, seed=seed)
    constants = problem.constants(b)
    start = problem.response(np.zeros(1))
    tracks = [
        np.array([[w.mean(), problem.dual(w)] for w in [start, *(s.w for s in states)]])
        for states in runs.values()
    ]
    falling = {name: np.array(gaps(problem, states)) for name, states in runs.items()}
    bound = np.array([state.bound for state in runs["corrected"]])
    steps = np.arange(1, len(bound) + 1)
    places = np.concatenate([track[:, 0] for track in tracks])
    room = 0.2 * (places.max() - places.min())
    along = np.linspace(places.min() - room, places.max() + room, 121)
    hill = [problem.dual(np.full(problem.n, place)) for place in along]
    top = along[int(np.argmax(hill))]
    drawn = draw.log_range(*falling.values(), bound)
    marker = {"size": 7, "symbol": "circle"}
    dual_panel = [
        draw.line(along, hill, "D along equal coordinates", draw.GREY),
        draw.points([top], [max(hill)], "top", draw.BLACK, size=12, symbol="star"),
        *(
            draw.line([], [], f"{name} step", colour, width=1.5, mode="lines+markers",
                      marker=marker | {"color": colour})
            for name, colour in COLOURS.items()
        ),
        *(draw.points([], [], "", colour, size=13) for colour in COLOURS.values()),
    ]  # fmt: skip
    gap_panel = [
        *(draw.line(steps, falling[name], f"{name} step", COLOURS[name]) for name in runs),
        draw.line(steps, bound, "proved bound, corrected step", draw.BLUE, width=1.5, dash="dash"),
        draw.cursor(),
        *(draw.points([], [], "", colour, size=10) for colour in COLOURS.values()),
    ]
    dual_axes = draw.axis("mean of the dual variables w"), draw.axis("dual value D(w)")
    gap_axis = draw.axis("gap P(β̄) − D(w)", log=True, range=drawn)
    drawings = [
        draw.panel(dual_panel, *dual_axes),
        draw.panel(gap_panel, draw.axis("steps", range=[0, len(steps) + 1]), gap_axis),
    ]
    sigmas = draw.number(constants.sigma_printed), draw.number(constants.sigma)
    frames = []
    for t in steps.tolist():
        now = [gap[t - 1] for gap in falling.values()]
        paths = [*(track[: t + 1] for track in tracks), *(track[t : t + 1] for track in tracks)]
        line = draw.upright(t, drawn)
        moved = [line, *(draw.at(t, gap) for gap in now)]
        changes = [dict(enumerate(map(draw.through, paths), 2)), dict(enumerate(moved, 3))]
        readouts = *sigmas, *map(draw.number, now), draw.number(bound[t - 1])
        frames.append(Frame(f"step {t}", readouts, changes))
    return Scene(drawings, frames, start=5)
