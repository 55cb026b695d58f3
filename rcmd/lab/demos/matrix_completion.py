"""A picture filled in from some of its pixels, under a bound on its nuclear norm."""

from typing import Any

import numpy as np

from rcmd import LeastSquares, MatrixEntries, NuclearBall, Problem, iterate

LETTERS = [
    "####..####.##...##.####.",
    "#...#.#....#.#.#.#.#...#",
    "####..#....#..#..#.#...#",
    "#..#..#....#.....#.#...#",
    "#...#.####.#.....#.####.",
]


def run(share: float = 0.3, steps: int = 120, seed: int = 0) -> tuple[Any, Any, list[Any]]:
    """The picture, which of its pixels are seen, and the states of a run."""
    bitmap = np.pad([[float(pixel == "#") for pixel in row] for row in LETTERS], 1)
    picture = np.kron(bitmap, np.ones((8, 4)))
    picture += 0.3 * np.outer(*(np.linspace(0.0, 1.0, size) for size in picture.shape))
    seen: Any = np.random.default_rng(seed).random(picture.shape) < share
    ball = NuclearBall(seen.shape, np.linalg.norm(picture, "nuc"))
    entries = MatrixEntries(seen.nonzero()[0], seen.nonzero()[1], seen.shape)
    problem = Problem(entries, picture[seen], LeastSquares(), ball)
    options: Any = {"batch": 1.0, "max_iterations": steps, "method": "rcmd"}
    return picture, seen, list(iterate(problem, tol=0.0, **options))


if __name__ == "__main__":
    picture, seen, states = run()
    print([((s.beta_average.to_array() - picture)[~seen] ** 2).mean() ** 0.5 for s in states])

# The page

from rcmd.lab.demos import drawing as draw
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, make

SHARES = (0.15, 0.3, 0.5)


def page(seed: int) -> Page:
    """A picture being filled in; ``seed`` draws the pixels that are seen."""
    choice = Choice("Pixels seen", [f"{share:.0%}" for share in SHARES], "30%")
    scenes = {(f"{share:.0%}",): _scene(share, seed) for share in SHARES}
    return make(__name__, scenes, "Steps", (choice,))


def _scene(share: float, seed: int) -> Scene:
    picture, seen, states = run(share, seed=seed)
    steps = np.array([state.iteration for state in states])
    found = [state.beta_average.to_array() for state in states]
    hidden_error = np.array([_error(matrix, picture, ~seen) for matrix in found])
    seen_error = np.array([_error(matrix, picture, seen) for matrix in found])
    gaps = np.array([state.gap for state in states])
    drawn = draw.log_range(hidden_error, seen_error, gaps)
    curves = [
        draw.line(steps, hidden_error, "error, hidden pixels", draw.VERMILION, width=2.5),
        draw.line(steps, seen_error, "error, seen pixels", draw.BLUE, dash="dash"),
        draw.line(steps, gaps, "certified gap", draw.GREEN, dash="dot"),
        draw.cursor(),
    ]
    axes = (
        draw.axis("steps", log=True, range=draw.log_range(steps)),
        draw.axis("error, gap (units of the picture)", log=True, range=drawn),
    )
    drawings = [
        _image(picture),
        _image(np.where(seen, picture, np.nan)),
        _image(found[0]),
        draw.panel(curves, *axes),
    ]
    frames = []
    for t, state in enumerate(states):
        numbers = map(draw.number, (hidden_error[t], seen_error[t], state.gap))
        line = draw.upright(steps[t], drawn)
        changes = [{}, {}, {0: {"z": _short(found[t])}}, {3: line}]
        readouts = str(state.beta_average.terms), *numbers
        frames.append(Frame(f"{state.iteration} steps", readouts, changes))
    return Scene(drawings, frames, start=len(states) // 2)


def _error(matrix: Any, picture: Any, where: Any) -> float:
    """Root mean square over the pixels ``where``."""
    return float(np.sqrt(((matrix - picture)[where] ** 2).mean()))


def _image(pixels: Any) -> draw.Drawing:
    trace = {
        "type": "heatmap", "z": _short(pixels), "zmin": 0.0, "zmax": 1.3, "colorscale": "Cividis",
        "showscale": True, "hoverongaps": False, "hoverinfo": "x+y+z", "name": "",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 11},
                     "title": {"text": "brightness", "side": "right"}},
    }  # fmt: skip
    rows = draw.axis("row", showgrid=False, autorange="reversed")
    columns = draw.axis("column", showgrid=False)
    return draw.panel([trace], columns, rows, plot_bgcolor="#f1f2f4")


def _short(pixels: Any) -> Any:
    """Colours need no more than two decimals."""
    return draw.plain(np.round(pixels, 2))
