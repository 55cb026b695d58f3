"""Teaching pages: each one HTML file that needs no network, with the numbers of its own runs.

A module for each page: above its line ``# The page`` stands the code that computes its numbers and
that the page shows, below it what is drawn. The words are in ``texts/``. ``page`` says what a page
consists of and writes its file, ``drawing`` has curves and axes in one style.
"""

from importlib import import_module

from rcmd.lab.demos.page import Page, write_page

__all__ = ["SUMMARIES", "make_page", "write_page"]

SUMMARIES = {
    "equivalence": "primal Frank-Wolfe steps and dual mirror steps, side by side",
    "substitute-gradient": "the substitute gradient d beside the true gradient, over time",
    "the-bound": "the gap, its exact expectation and the theorem's bound, for n, k and b",
    "mini-batch": "why batches need σ_b: the published step size diverging beside the right one",
    "two-geometries": "three prox functions for the dual step on one problem",
    "matrix-completion": "a picture being filled in from some of its pixels",
    "new-loss": "a new loss in one line: derived, checked and solved with",
}
"""What each page shows; the module has the same name."""


def make_page(name: str, seed: int = 0) -> Page:
    """Run what the page ``name`` shows; same seed, same numbers."""
    page: Page = import_module(f"rcmd.lab.demos.{name.replace('-', '_')}").page(seed)
    return page
