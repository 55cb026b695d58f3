"""The expected gap without sampling: every sequence of batches is run, and the bound."""

from itertools import combinations, product
from typing import Any

import numpy as np

from rcmd import RCMD, L1Ball, LeastSquares, Problem, iterate
from rcmd.engine.sampling import Replay
from rcmd.model import bounds


def run(n: int = 3, b: int = 1, steps: int = 5, seed: int = 0) -> tuple[Any, list[float]]:
    """The gaps of every sequence after each step, and the bound."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    problem = Problem(X, X @ [0.7, -0.4], LeastSquares(), L1Ball(2.0))
    gaps, times = [], range(1, steps + 1)
    options: Any = {"tol": 0.0, "max_iterations": steps, "record_at": times}
    for batches in product(combinations(range(n), b), repeat=steps):
        method = RCMD(sampler=Replay(batches), engine="reference")
        states = iterate(problem, method=method, **options)
        gaps.append([problem.primal(s.beta_average) - problem.dual(s.w_average) for s in states])
    theorem = bounds.named("theorem-3.1-first")
    return np.array(gaps), [theorem(problem.constants(b), t) for t in times]


if __name__ == "__main__":
    gaps, bound = run()
    print(len(gaps), "sequences", gaps.mean(axis=0), bound, sep="\n")

# The page

from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

STEPS = {
    (2, 1): 8, (2, 2): 8,
    (3, 1): 6, (3, 2): 5, (3, 3): 6,
    (4, 1): 4, (4, 2): 3, (4, 3): 4, (4, 4): 6,
}  # fmt: skip
"""Steps for each (n, b): few enough that all sequences of batches can be run."""

SHADE = {"fillcolor": "rgba(86, 180, 233, 0.25)"}


def page(seed: int) -> Page:
    """The expected gap, exactly, under the theorem's bound; ``seed`` draws the data."""
    rows = Choice("Rows $n$", ("2", "3", "4"), "3")
    batch = Choice("Batch $b$", ("1", "2", "3", "4"), "1")
    scenes = {(str(n), str(b)): _scene(n, b, steps, seed) for (n, b), steps in STEPS.items()}
    return make(__name__, scenes, "Steps", (rows, batch))


def _scene(n: int, b: int, steps: int, seed: int) -> Scene:
    gaps, bound = run(n, b, steps, seed)
    expected, low, high = gaps.mean(axis=0), gaps.min(axis=0), gaps.max(axis=0)
    t = np.arange(1, steps + 1)
    reach = draw.log_range(gaps, bound)
    ends = [10**end for end in reach]
    blue, red, sky = draw.BLUE, draw.VERMILION, draw.SKY
    over_time = [
        draw.line(t, high, "", sky, width=0),
        draw.line(t, low, "from best to worst sequence", sky, width=0.5, fill="tonexty", **SHADE),
        draw.line(t, bound, "bound of Theorem 3.1", red, width=2.5),
        draw.line(t, expected, "exact expectation", blue, width=2.5),
        draw.cursor(),
        draw.points([], [], "", red, size=10),
        draw.points([], [], "", blue, size=10),
    ]
    shares = [
        draw.line([], [], "sequences", sky, width=2, shape="hv", fill="tozeroy", **SHADE),
        draw.line([], [], "exact expectation", blue, width=2.5),
        draw.line([], [], "bound", red, width=2.5),
    ]
    gap_axis = draw.axis("gap P(β̄) − D(w̄)", log=True, range=reach)
    time_axis = draw.axis("steps", dtick=1, range=[0.7, steps + 0.3])
    share_axis = draw.axis("share with a smaller gap", range=[0, 1.05], tickformat=".0%")
    drawings = [
        draw.panel(over_time, time_axis, gap_axis),
        draw.panel(shares, gap_axis, share_axis),
    ]
    frames = []
    for i in range(steps):
        values = draw.number(expected[i], 4), draw.number(bound[i], 4)
        ratio = f"{draw.number(bound[i] / expected[i])} times"
        sequences = str(round(len(gaps) ** ((i + 1) / steps)))
        moved = draw.at(i + 1, *ends), draw.at(i + 1, bound[i]), draw.at(i + 1, expected[i])
        lines = [{"x": draw.plain([x] * 2), "y": [0, 1.05]} for x in (expected[i], bound[i])]
        changes = [
            dict(enumerate(moved, 4)),
            dict(enumerate([_shares(gaps[:, i], ends), *lines])),
        ]
        readouts = sequences, *values, ratio, draw.number(low[i]), draw.number(high[i])
        frames.append(Frame(f"step {i + 1}", readouts, changes))
    return Scene(drawings, frames, start=steps // 2)


def _shares(gaps: Any, ends: list[float]) -> dict[str, Any]:
    """The share of the gaps up to x, from one end of the axis to the other."""
    values, counts = np.unique(draw.plain(gaps), return_counts=True)
    shares = np.cumsum(counts) / len(gaps)
    return {"x": draw.plain([ends[0], *values, ends[1]]), "y": draw.plain([0.0, *shares, 1.0])}
