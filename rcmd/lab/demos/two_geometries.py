"""One problem, the same rows, three prox functions h for the dual step."""

from typing import Any

import numpy as np

from rcmd import RCMD, Logistic, Problem, Ridge, iterate
from rcmd.engine.sampling import Replay
from rcmd.model.prox import ConjugateProx, EuclideanProx, ExactProx

PROXES = {"conjugate": ConjugateProx(), "Euclidean": EuclideanProx(), "exact": ExactProx()}


def run(strength: float = 0.2, steps: int = 40, seed: int = 0) -> tuple[Problem, dict[str, Any]]:
    """The problem, and the states of a run with each prox."""
    problem = Problem([[2.0, 0.5], [0.3, 1.2]], [1.0, -1.0], Logistic(), Ridge(strength))
    rows = np.random.default_rng(seed).integers(2, size=(steps, 1))
    options: Any = {"tol": 0.0, "record_at": range(1, steps + 1), "max_iterations": steps}
    states = {}
    for name, prox in PROXES.items():
        method = RCMD(prox=prox, sampler=Replay(rows), engine="reference")
        states[name] = list(iterate(problem, method=method, **options))
    return problem, states


if __name__ == "__main__":
    for name, states in run()[1].items():
        print(name, states[-1].gap)

# The page

from rcmd import Corrected, solve
from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

STRENGTHS = (0.05, 0.2, 1.0)
LOOKS = {
    "conjugate": (draw.BLUE, "solid"),
    "Euclidean": (draw.VERMILION, "dash"),
    "exact": (draw.GREEN, "dot"),
}
CEILING = 1.5
"""Where the panel of the distances ends."""
PLACES = np.linspace(-0.9995, -0.0005, 80)


def page(seed: int) -> Page:
    """What the prox function does to the dual step; ``seed`` draws the rows."""
    choice = Choice(r"Strength $\mu$ of the ridge", [f"{m:g}" for m in STRENGTHS], "0.2")
    scenes = {(f"{strength:g}",): _scene(strength, seed) for strength in STRENGTHS}
    return make(__name__, scenes, "Steps", (choice,), columns=3)


def _scene(strength: float, seed: int) -> Scene:
    problem, runs = run(strength, seed=seed)
    start = problem.response(np.zeros(2))
    ws = {name: np.array([start, *(s.w for s in states)]) for name, states in runs.items()}
    gaps = [np.array([s.gap for s in states]) for states in runs.values()]
    states = [np.zeros(2), *(s.s for s in runs["conjugate"])]
    steps = min(map(len, gaps))
    shown = [gap[:steps] for gap in gaps]
    drawn = draw.log_range(*shown)
    place = draw.points([], [], "w₁ of the conjugate run", draw.BLACK, size=10)
    distance_axis = draw.axis("distance from the current w₁", range=[-0.05, CEILING])
    gap_axis = draw.axis("certified gap, best so far", log=True, range=drawn)
    distances = [*_curves([PLACES] * 3, [PLACES] * 3), place]
    falling = [*_curves([np.arange(1, steps + 1)] * 3, shown), draw.cursor()]
    drawings = [
        _plane(problem),
        draw.panel(distances, draw.axis("w₁", range=[-1.03, 0.03]), distance_axis),
        draw.panel(falling, draw.axis("steps"), gap_axis),
    ]
    frames = []
    for t in range(steps + 1):
        paths = [*(w[: t + 1] for w in ws.values()), *(w[t : t + 1] for w in ws.values())]
        moved = [
            *_distances(problem, states[t][0]),
            draw.through([[ws["conjugate"][t][0], 0.0]]),
        ]
        changes = [
            dict(enumerate(map(draw.through, paths), 2)),
            dict(enumerate(moved)),
            {3: draw.upright(t, drawn)},
        ]
        readouts = (
            *(draw.number(gap[t - 1]) if t else "–" for gap in gaps),
            *(draw.number(w[t][0]) for w in ws.values()),
        )
        frames.append(Frame(f"step {t}", readouts, changes))
    return Scene(drawings, frames, start=3)


def _plane(problem: Problem) -> draw.Drawing:
    x, y = np.linspace(-1, 0, 61), np.linspace(0, 1, 61)
    best = solve(problem, tol=1e-10, method=Corrected(RCMD(engine="reference")))
    traces = [
        draw.contours(x, y, lambda w: best.dual - problem.dual(w), draw.GREY),
        draw.optimum(best.w, "optimum w*"),
        *_curves([[]] * 3, [[]] * 3),
        *(draw.points([], [], "", colour, size=10) for colour, _ in LOOKS.values()),
    ]
    axes = draw.axis("w₁", range=[-1.03, 0.03]), draw.axis("w₂", range=[-0.03, 1.03])
    return draw.panel(traces, *axes, equal=True)


def _curves(xs: list[Any], ys: list[Any]) -> list[draw.Trace]:
    """A curve for each prox."""
    return [
        draw.line(x, y, f"{name} h", colour, dash=dash)
        for (name, (colour, dash)), x, y in zip(LOOKS.items(), xs, ys, strict=True)
    ]


def _distances(problem: Problem, s: float) -> list[draw.Trace]:
    """D_h(w, w¹) over w, in units of n·h, for each prox; w¹ = l'(s)."""
    constants, label = problem.constants(1), problem.losses.y[0]
    curves = []
    for prox in PROXES.values():
        bound = prox.bind(constants)
        if isinstance(bound, ExactProx):
            bound = ExactProx(bound.own * problem.rows.square_norms()[0])  # κ_1
        values = np.array([bound.divergence(problem.loss, w, s, label, 1.0) for w in PLACES])
        curves.append({"y": draw.plain(np.where(values <= 2 * CEILING, values, np.nan))})
    return curves
