"""Page: a loss from its formula alone."""

from __future__ import annotations

from inspect import getsource
from typing import Any

import numpy as np

from rcmd.demos.drawing import (
    BLACK,
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
    points,
)
from rcmd.demos.page import Choice, Drawing, Frame, Page, Scene
from rcmd.demos.snippets import new_loss as code
from rcmd.demos.texts import read_text

EXPRESSIONS = {
    "arc tangent": code.EXPRESSION,
    "pseudo-Huber": "sqrt(1 + (s - y)**2) - 1",
    "logistic": "log(1 + exp(-y*s))",
}
LABEL = 1.0
REACH = 4.0
"""The slider moves s from −REACH to REACH."""


def page(seed: int) -> Page:
    """The page; ``seed`` draws the data that the loss is tried on."""
    return Page(
        text=read_text("new_loss"),
        choices=(Choice("Loss", tuple(EXPRESSIONS), "arc tangent"),),
        slider="Prediction $s$",
        scenes={(name,): _scene(text, seed) for name, text in EXPRESSIONS.items()},
        code=getsource(code),
    )


def _scene(expression: str, seed: int) -> Scene:
    loss, report, result = code.run(expression, seed)
    s = np.linspace(-REACH, REACH, 161)
    values = np.array([loss.value(u, LABEL) for u in s])
    slopes = np.array([loss.derivative(u, LABEL) for u in s])
    low, high = loss.conjugate_domain(LABEL)
    w = np.linspace(max(low, slopes.min()), min(high, slopes.max()), 161)
    conjugates = np.array([loss.conjugate(u, LABEL) for u in w])
    room = 0.15 * (values.max() - values.min())
    depth = 0.15 * (conjugates.max() - conjugates.min())
    shown = [conjugates.min() - 2 * depth, conjugates.max() + depth]
    steps, gaps, bounds = (result.history.column(name) for name in ("iteration", "gap", "bound"))
    s_axis = axis("prediction s", range=[-REACH, REACH])
    drawings = [
        Drawing(
            [line(s, values, "l(s; y)", BLUE, width=2.5),
             line([], [], "tangent of slope w", GREY, dash="dash"),
             points([], [], "−l*(w)", GREEN, size=11, symbol="diamond"),
             points([], [], "(s, l(s))", BLACK, size=11)],
            layout(s_axis, axis("loss l", range=[-conjugates.max() - room, values.max() + room])),
        ),
        Drawing(
            [line(s, slopes, "l'(s; y)", VERMILION, width=2.5), line([], [], "", GREY, dash="dot"),
             points([], [], "w = l'(s)", BLACK, size=11)],
            layout(s_axis, axis("dual variable w = l'(s)")),
        ),
        Drawing(
            [line(w, conjugates, "l*(w; y)", GREEN, width=2.5),
             line([], [], "tangent of slope s", GREY, dash="dash"),
             points([], [], "(w, l*(w))", BLACK, size=11)],
            layout(axis("dual variable w"), axis("conjugate l*", range=shown)),
        ),
        Drawing(
            [line(steps, bounds, "theorem's bound for this γ", VERMILION, dash="dash"),
             line(steps, gaps, "certified gap", BLUE, width=2.5)],
            layout(axis("steps", log=True, range=log_range(steps)),
                   axis("gap", log=True, range=log_range(gaps, bounds))),
        ),
    ]  # fmt: skip
    frames = [
        _frame(loss, report, result, float(u), (low, high)) for u in np.linspace(-REACH, REACH, 33)
    ]
    return Scene(drawings, frames, start=24)


def _frame(loss: Any, report: Any, result: Any, s: float, ends: tuple[float, float]) -> Frame:
    w, value = loss.derivative(s, LABEL), loss.value(s, LABEL)
    conjugate = loss.conjugate(w, LABEL)
    holding = [name for name, failures in report.identities.items() if not failures]
    across = np.array([-REACH, REACH])
    along = np.array([max(ends[0], w - 1.0), min(ends[1], w + 1.0)])
    return Frame(
        label=f"s = {number(s)}",
        readouts=(
            number(w),
            number(value, 4),
            number(conjugate, 4),
            number(value + conjugate - w * s, 2),
            f"{number(loss.gamma)} ({loss.gamma_origin})",
            loss.conjugate_origin,
            f"{len(holding)} of {len(report.identities)} hold",
            number(result.gap, 2),
        ),
        changes=[
            {
                1: {"x": plain(across), "y": plain(value + w * (across - s))},
                2: {"x": [0.0], "y": [plain(-conjugate)]},
                3: {"x": [plain(s)], "y": [plain(value)]},
            },
            {
                1: {"x": plain([s, s, -REACH]), "y": plain([min(ends[0], 0.0), w, w])},
                2: {"x": [plain(s)], "y": [plain(w)]},
            },
            {
                1: {"x": plain(along), "y": plain(conjugate + s * (along - w))},
                2: {"x": [plain(w)], "y": [plain(conjugate)]},
            },
            {},
        ],
    )
