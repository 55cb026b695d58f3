"""Teaching pages: each one HTML file that needs no network, its numbers from runs made for it."""

from rcmd.demos.catalogue import SUMMARIES, make_page
from rcmd.demos.writing import write_page

__all__ = ["SUMMARIES", "make_page", "write_page"]
