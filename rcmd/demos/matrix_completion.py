"""Page: a picture being filled in."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd.demos.drawing import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    axis,
    layout,
    line,
    log_range,
    number,
    plain,
)
from rcmd.demos.page import Choice, Drawing, Frame, Page, Scene
from rcmd.demos.snippets import matrix_completion as code
from rcmd.demos.texts import read_text

SHARES = (0.15, 0.3, 0.5)


def page(seed: int) -> Page:
    """The page; ``seed`` draws the pixels that are seen."""
    return Page(
        text=read_text("matrix_completion"),
        choices=(Choice("Pixels seen", [f"{share:.0%}" for share in SHARES], "30%"),),
        slider="Steps",
        scenes={(f"{share:.0%}",): _scene(share, seed) for share in SHARES},
        code=getsource(code),
    )


def _scene(share: float, seed: int) -> Scene:
    picture, seen, states = code.run(share, seed=seed)
    steps = np.array([state.iteration for state in states])
    found = [state.beta_average.to_array() for state in states]
    errors = {
        "hidden pixels": np.array([_error(matrix, picture, ~seen) for matrix in found]),
        "seen pixels": np.array([_error(matrix, picture, seen) for matrix in found]),
    }
    gaps = np.array([state.gap for state in states])
    drawn = log_range(*errors.values(), gaps)
    curves = [
        line(steps, errors["hidden pixels"], "error, hidden pixels", VERMILION, width=2.5),
        line(steps, errors["seen pixels"], "error, seen pixels", BLUE, dash="dash"),
        line(steps, gaps, "certified gap", GREEN, dash="dot"),
        line([], [], "", GREY, width=1.5, dash="dot"),
    ]
    axes = (
        axis("steps", log=True, range=log_range(steps)),
        axis("error, gap (units of the picture)", log=True, range=drawn),
    )
    drawings = [
        _image(picture),
        _image(np.where(seen, picture, np.nan)),
        _image(found[0]),
        Drawing(curves, layout(*axes)),
    ]
    frames = [
        Frame(
            label=f"{state.iteration} steps",
            readouts=(
                str(state.beta_average.terms),
                number(errors["hidden pixels"][t]),
                number(errors["seen pixels"][t]),
                number(state.gap),
            ),
            changes=[
                {},
                {},
                {0: {"z": _short(found[t])}},
                {3: {"x": plain([steps[t]] * 2), "y": plain([10**end for end in drawn])}},
            ],
        )
        for t, state in enumerate(states)
    ]
    return Scene(drawings, frames, start=len(states) // 2)


def _error(matrix: Any, picture: Any, where: Any) -> float:
    """Root mean square over the pixels ``where``."""
    return float(np.sqrt(((matrix - picture)[where] ** 2).mean()))


def _image(pixels: Any) -> Drawing:
    trace = {
        "type": "heatmap", "z": _short(pixels), "zmin": 0.0, "zmax": 1.3, "colorscale": "Cividis",
        "showscale": True, "hoverongaps": False, "hoverinfo": "x+y+z", "name": "",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11},
                     "title": {"text": "brightness", "side": "right"}},
    }  # fmt: skip
    axes = (
        axis("column", showgrid=False),
        axis("row", showgrid=False, autorange="reversed"),
    )
    return Drawing([trace], layout(*axes, plot_bgcolor="#f1f2f4"))


def _short(pixels: Any) -> Any:
    """Colours need no more than two decimals."""
    return plain(np.round(pixels, 2))
