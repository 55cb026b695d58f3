"""A loss from one expression: derived, checked, and solved with."""

from typing import Any

import numpy as np

from rcmd import L1Ball, Problem, SeparableConjugate, solve
from rcmd.testing import check_conjugate

EXPRESSION = "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2"


def run(expression: str = EXPRESSION, seed: int = 0) -> tuple[Any, Any, Any]:
    """The loss, the report of its checks, and a result with it."""
    loss = SeparableConjugate.from_expression(expression)
    report = check_conjugate(loss)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, :5].sum(axis=1) + 2.0 * rng.normal(size=400) > 0, 1.0, -1.0)
    problem = Problem(X, y, loss, L1Ball(1.0))
    result = solve(problem, method="rcmd", batch=20, tol=1e-3, seed=seed)
    return loss, report, result


if __name__ == "__main__":
    loss, report, result = run()
    print(loss.describe(), report, result, sep="\n")

# The page

from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

EXPRESSIONS = {
    "arc tangent": EXPRESSION,
    "pseudo-Huber": "sqrt(1 + (s - y)**2) - 1",
    "logistic": "log(1 + exp(-y*s))",
}
LABEL = 1.0
REACH = 4.0
"""The slider moves s from −REACH to REACH."""


def page(seed: int) -> Page:
    """A loss from its formula alone; ``seed`` draws the data that it is tried on."""
    choice = Choice("Loss", tuple(EXPRESSIONS), "arc tangent")
    scenes = {(name,): _scene(text, seed) for name, text in EXPRESSIONS.items()}
    return make(__name__, scenes, "Prediction $s$", (choice,))


def _scene(expression: str, seed: int) -> Scene:
    loss, report, result = run(expression, seed)
    s = np.linspace(-REACH, REACH, 161)
    values = np.array([loss.value(u, LABEL) for u in s])
    slopes = np.array([loss.derivative(u, LABEL) for u in s])
    low, high = loss.conjugate_domain(LABEL)
    w = np.linspace(max(low, slopes.min()), min(high, slopes.max()), 161)
    conjugates = np.array([loss.conjugate(u, LABEL) for u in w])
    room = 0.15 * (values.max() - values.min())
    depth = 0.15 * (conjugates.max() - conjugates.min())
    shown = [conjugates.min() - 2 * depth, conjugates.max() + depth]
    columns = ("iteration", "pair_gap", "bound")
    steps, gaps, bounds = (result.history.column(name) for name in columns)
    s_axis = draw.axis("prediction s", range=[-REACH, REACH])
    loss_axis = draw.axis("loss l", range=[-conjugates.max() - room, values.max() + room])
    conjugate_axis = draw.axis("conjugate l*", range=shown)
    gap_axis = draw.axis("gap", log=True, range=draw.log_range(gaps, bounds))
    step_axis = draw.axis("steps", log=True, range=draw.log_range(steps))
    of_loss = [
        draw.line(s, values, "l(s; y)", draw.BLUE, width=2.5),
        draw.line([], [], "tangent of slope w", draw.GREY, dash="dash"),
        draw.points([], [], "−l*(w)", draw.GREEN, size=11, symbol="diamond"),
        draw.points([], [], "(s, l(s))", draw.BLACK, size=11),
    ]
    of_slope = [
        draw.line(s, slopes, "l'(s; y)", draw.VERMILION, width=2.5),
        draw.line([], [], "", draw.GREY, dash="dot"),
        draw.points([], [], "w = l'(s)", draw.BLACK, size=11),
    ]
    of_conjugate = [
        draw.line(w, conjugates, "l*(w; y)", draw.GREEN, width=2.5),
        draw.line([], [], "tangent of slope s", draw.GREY, dash="dash"),
        draw.points([], [], "(w, l*(w))", draw.BLACK, size=11),
    ]
    of_gap = [
        draw.line(steps, bounds, "theorem's bound for this γ", draw.VERMILION, dash="dash"),
        draw.line(steps, gaps, "gap of the averages", draw.BLUE, width=2.5),
    ]
    drawings = [
        draw.panel(of_loss, s_axis, loss_axis),
        draw.panel(of_slope, s_axis, draw.axis("dual variable w = l'(s)")),
        draw.panel(of_conjugate, draw.axis("dual variable w"), conjugate_axis),
        draw.panel(of_gap, step_axis, gap_axis),
    ]
    places = np.linspace(-REACH, REACH, 33).tolist()
    frames = [_frame(loss, report, result, place, (low, high)) for place in places]
    return Scene(drawings, frames, start=24)


def _frame(loss: Any, report: Any, result: Any, s: float, ends: tuple[float, float]) -> Frame:
    w, value = loss.derivative(s, LABEL), loss.value(s, LABEL)
    conjugate = loss.conjugate(w, LABEL)
    holding = [name for name, failures in report.identities.items() if not failures]
    across = np.array([-REACH, REACH])
    along = np.array([max(ends[0], w - 1.0), min(ends[1], w + 1.0)])
    number, through = draw.number, draw.through
    readouts = (
        number(w),
        number(value, 4),
        number(conjugate, 4),
        number(value + conjugate - w * s, 2),
        f"{number(loss.gamma)} ({loss.gamma_origin})",
        loss.conjugate_origin,
        f"{len(holding)} of {len(report.identities)} hold",
        number(result.gap, 2),
    )
    tangent = through(np.transpose([across, value + w * (across - s)]))
    conjugate_tangent = through(np.transpose([along, conjugate + s * (along - w)]))
    changes = [
        {1: tangent, 2: through([[0.0, -conjugate]]), 3: through([[s, value]])},
        {1: through([[s, min(ends[0], 0.0)], [s, w], [-REACH, w]]), 2: through([[s, w]])},
        {1: conjugate_tangent, 2: through([[w, conjugate]])},
        {},
    ]
    return Frame(f"s = {number(s)}", readouts, changes)
