"""Page: the substitute gradient against the true one."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd.demos.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
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
from rcmd.demos.snippets import substitute_gradient as code
from rcmd.demos.texts import read_text

RADII = (1.0, 5.0)
X_LABEL = "passes over the data"


def page(seed: int) -> Page:
    """The page; ``seed`` draws the data and the rows."""
    return Page(
        text=read_text("substitute_gradient"),
        choices=(Choice(r"Radius of the ball $\|\beta\|_1 \le$", [f"{r:g}" for r in RADII], "1"),),
        slider="Along the run",
        scenes={(f"{radius:g}",): _scene(radius, seed) for radius in RADII},
        code=getsource(code),
        columns=3,
    )


def _scene(radius: float, seed: int) -> Scene:
    problem, states = code.run(radius=radius, seed=seed)
    truths = [code.gradient(problem, state.beta_average) for state in states]
    substitutes = [state.d for state in states]
    passes = np.array([state.gradients / problem.n for state in states])
    norms = {
        "true gradient g": np.linalg.norm(truths, axis=1),
        "substitute d": np.linalg.norm(substitutes, axis=1),
        "difference d − g": np.linalg.norm(np.subtract(substitutes, truths), axis=1),
    }
    angles = np.array([code.angle(d, g) for d, g in zip(substitutes, truths, strict=True)])
    single = np.array([
        _mean_angle_of_rows(problem, state.beta_average, g)
        for state, g in zip(states, truths, strict=True)
    ])  # fmt: skip
    colours = (BLUE, VERMILION, GREEN)
    drawn = log_range(*norms.values())
    cursor = line([], [], "", GREY, width=1.5, dash="dot")
    x_axis = axis(X_LABEL, log=True, range=log_range(passes))
    names = [f"{j + 1}" for j in range(problem.p)]
    reach = 1.1 * float(np.abs([truths, substitutes]).max())
    drawings = [
        Drawing(
            [
                *(
                    line(passes, y, name, c)
                    for (name, y), c in zip(norms.items(), colours, strict=True)
                ),
                cursor,
            ],
            layout(x_axis, axis("Euclidean norm", log=True, range=drawn)),
        ),
        Drawing(
            [
                line(passes, single, "one row's gradient, mean over rows", ORANGE, dash="dash"),
                line(passes, angles, "substitute d", VERMILION),
                cursor,
                points([], [], "", VERMILION, size=10),
            ],
            layout(x_axis, axis("angle to the true gradient (degrees)", range=[-5, 185], dtick=45)),
        ),
        Drawing(
            [
                _bars(names, truths[0], "true gradient g", BLUE),
                _bars(names, substitutes[0], "substitute d", VERMILION),
            ],
            layout(
                axis("component", type="category"),
                axis("value", range=[-reach, reach], zeroline=True, zerolinecolor="#c5cad1"),
                bargap=0.3,
            ),
        ),
    ]
    frames = [
        Frame(
            label=f"{passes[t]:.3g} passes",
            readouts=(
                str(states[t].iteration),
                *(number(norm[t]) for norm in norms.values()),
                f"{number(angles[t])}°",
                f"{number(single[t])}°",
            ),
            changes=[
                {3: _at(passes[t], [10**end for end in drawn])},
                {2: _at(passes[t], [-5, 185]), 3: _at(passes[t], [angles[t]])},
                {0: {"y": plain(truths[t])}, 1: {"y": plain(substitutes[t])}},
            ],
        )
        for t in range(len(states))
    ]
    return Scene(drawings, frames, start=4)


def _mean_angle_of_rows(problem: Any, beta: Any, truth: Any) -> float:
    """Mean over all rows j of the angle between x_j l_j'(x_jᵀβ) and the gradient."""
    slopes = problem.response(beta)
    return float(
        np.mean([code.angle(problem.rows.row(j) * slopes[j], truth) for j in range(problem.n)])
    )


def _at(x: float, ys: Any) -> dict[str, Any]:
    return {"x": plain([x] * len(ys)), "y": plain(ys)}


def _bars(names: list[str], values: Any, name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "bar", "x": names, "y": plain(values), "name": name, "showlegend": False,
        "marker": {"color": colour}, "hoverinfo": "x+y+name",
    }  # fmt: skip
