"""The substitute gradient d beside the gradient at the average, along one run."""

from typing import Any

import numpy as np

from rcmd import L1Ball, Logistic, Problem, iterate
from rcmd.datasets import make_classification


def run(radius: float = 1.0, steps: int = 4000, seed: int = 0) -> tuple[Problem, list[Any]]:
    """The problem, and the states of a run."""
    X, y = make_classification(n=80, p=8, density=1, rng=seed)
    problem = Problem(X, y, Logistic(), L1Ball(radius))
    return problem, list(iterate(problem, tol=0.0, max_iterations=steps, seed=seed))


def gradient(problem: Problem, beta: Any) -> Any:
    """The true gradient."""
    return problem.gradient(problem.response(beta))


def angle(u: Any, v: Any) -> float:
    """In degrees."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return float(np.degrees(2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))))


if __name__ == "__main__":
    problem, states = run()
    print([round(angle(s.d, gradient(problem, s.beta_average)), 2) for s in states])

# The page

from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

RADII = (1.0, 5.0)


def page(seed: int) -> Page:
    """The substitute gradient against the true one; ``seed`` draws the data and the rows."""
    choice = Choice(r"Radius of the ball $\|\beta\|_1 \le$", [f"{r:g}" for r in RADII], "1")
    scenes = {(f"{radius:g}",): _scene(radius, seed) for radius in RADII}
    return make(__name__, scenes, "Along the run", (choice,), columns=3)


def _scene(radius: float, seed: int) -> Scene:
    problem, states = run(radius=radius, seed=seed)
    averages = [state.beta_average for state in states]
    truths = [gradient(problem, beta) for beta in averages]
    substitutes = [state.d for state in states]
    passes = np.array([state.gradients / problem.n for state in states])
    norms = {
        "true gradient g": np.linalg.norm(truths, axis=1),
        "substitute d": np.linalg.norm(substitutes, axis=1),
        "difference d − g": np.linalg.norm(np.subtract(substitutes, truths), axis=1),
    }
    angles = np.array(list(map(angle, substitutes, truths)))
    single = np.array([_mean_angle_of_rows(problem, beta) for beta in averages])
    blue, red = draw.BLUE, draw.VERMILION
    drawn = draw.log_range(*norms.values())
    x_axis = draw.axis("passes over the data", log=True, range=draw.log_range(passes))
    reach = 1.1 * float(np.abs([truths, substitutes]).max())
    looks = zip(norms.items(), (blue, red, draw.GREEN), strict=True)
    norm_panel = [*(draw.line(passes, y, name, c) for (name, y), c in looks), draw.cursor()]
    angle_panel = [
        draw.line(passes, single, "one row's gradient, mean over rows", draw.ORANGE, dash="dash"),
        draw.line(passes, angles, "substitute d", red),
        draw.cursor(),
        draw.points([], [], "", red, size=10),
    ]
    bar_panel = [
        _bars(truths[0], "true gradient g", blue),
        _bars(substitutes[0], "substitute d", red),
    ]
    angle_axis = draw.axis("angle to the true gradient (degrees)", range=[-5, 185], dtick=45)
    bar_axes = (
        draw.axis("component", type="category"),
        draw.axis("value", range=[-reach, reach], zeroline=True, zerolinecolor="#c5cad1"),
    )
    drawings = [
        draw.panel(norm_panel, x_axis, draw.axis("Euclidean norm", log=True, range=drawn)),
        draw.panel(angle_panel, x_axis, angle_axis),
        draw.panel(bar_panel, *bar_axes, bargap=0.3),
    ]
    frames = []
    for t, state in enumerate(states):
        lengths = [draw.number(norm[t]) for norm in norms.values()]
        degrees = f"{draw.number(angles[t])}°", f"{draw.number(single[t])}°"
        changes = [
            {3: draw.upright(passes[t], drawn)},
            {2: draw.at(passes[t], -5, 185), 3: draw.at(passes[t], angles[t])},
            {0: {"y": draw.plain(truths[t])}, 1: {"y": draw.plain(substitutes[t])}},
        ]
        readouts = str(state.iteration), *lengths, *degrees
        frames.append(Frame(f"{passes[t]:.3g} passes", readouts, changes))
    return Scene(drawings, frames, start=4)


def _mean_angle_of_rows(problem: Problem, beta: Any) -> float:
    """Mean over all rows j of the angle between x_j l_j'(x_jᵀβ) and the gradient."""
    slopes, rows, truth = problem.response(beta), problem.rows, gradient(problem, beta)
    return float(np.mean([angle(rows.row(j) * slopes[j], truth) for j in range(problem.n)]))


def _bars(values: Any, name: str, colour: str) -> draw.Trace:
    return {
        "type": "bar", "x": [f"{j + 1}" for j in range(len(values))], "y": draw.plain(values),
        "name": name, "showlegend": False, "marker": {"color": colour}, "hoverinfo": "x+y+name",
    }  # fmt: skip
