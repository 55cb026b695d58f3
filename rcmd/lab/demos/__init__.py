"""Teaching pages: single HTML files that need no network, in which the method itself runs.

``rcmd.js`` is randomized coordinate mirror descent for small problems, held to rcmd's own engine by
the tests, with losses that ``formulas.js`` reads; ``live.js`` has pictures, controls and points to
drag. A page is a script and a text of
its name in ``pages``: what it lets its reader change, what it draws, and what it says.
"""

import os
from itertools import pairwise
from pathlib import Path

__all__ = ["SUMMARIES", "write_all", "write_page"]

SUMMARIES = {
    "equivalence": "primal Frank-Wolfe and dual mirror steps, side by side",
    "race": "gaps beside their bounds over 1,000 passes, for three steps",
    "substitute-gradient": "the substitute gradient beside the true one, over time",
    "the-bound": "the gap, its exact expectation, and the theorem's bound",
    "mini-batch": "why batches need σ_b: the published step runs away",
    "two-geometries": "three prox functions for the dual step on one problem",
    "matrix-completion": "a picture being filled in from some of its pixels",
    "new-loss": "a loss by its formula: slope, conjugate, and a run with it",
}
"""What each page shows."""


def write_page(name: str, path: str | os.PathLike[str]) -> None:
    """Write the page ``name`` alone to ``path``."""
    from rcmd.lab.demos.page import page

    Path(path).write_text(page(name), encoding="utf-8")


def write_all(folder: str | os.PathLike[str]) -> list[Path]:
    """Write all pages, linked to one another, and ``index.html``, which lists them."""
    from rcmd.lab.demos.page import index, page

    names = list(SUMMARIES)
    made = {"index": index(SUMMARIES)}
    made |= {name: page(name, following) for name, following in pairwise([*names, names[0]])}
    for name, text in made.items():
        Path(folder, f"{name}.html").write_text(text, encoding="utf-8")
    return [Path(folder, f"{name}.html") for name in made]
