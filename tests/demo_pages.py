"""The teaching pages as the tests use them: made once, with fewer scenes where those are slow."""

from functools import cache
from pathlib import Path

from rcmd.lab.demos import SUMMARIES, make_page, matrix_completion, new_loss, the_bound
from rcmd.lab.demos.page import Page, Scene, html

NAMES = tuple(SUMMARIES)


@cache
def page_named(name: str) -> Page:
    """The page, with seed 0."""
    shipped = the_bound.STEPS, matrix_completion.SHARES, new_loss.EXPRESSIONS
    the_bound.STEPS = {(2, 1): 5, (2, 2): 5, (3, 1): 5, (3, 2): 3}
    matrix_completion.SHARES = (0.3,)
    new_loss.EXPRESSIONS = {name: shipped[2][name] for name in ("arc tangent", "logistic")}
    try:
        return make_page(name)
    finally:
        the_bound.STEPS, matrix_completion.SHARES, new_loss.EXPRESSIONS = shipped


@cache
def source(name: str) -> str:
    """The whole file."""
    return html(page_named(name), f"rcmd demo {name}")


def written(name: str, folder: Path) -> Path:
    """The page as a file in ``folder``."""
    path = folder / f"{name}.html"
    path.write_text(source(name), encoding="utf-8")
    return path


def column(scene: Scene, place: int) -> list[str]:
    """One of the numbers beside the picture, in every frame."""
    return [frame.readouts[place] for frame in scene.frames]


def read(shown: str) -> float:
    """The number that a reader reads, such as 4.4·10⁻¹⁶."""
    digits = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
    return float(shown.rstrip("°").translate(digits).replace("·10", "e"))
