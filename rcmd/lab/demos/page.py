"""What a teaching page consists of: its words, its code, its scenes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.resources import files
from inspect import getsource
from typing import Any, NamedTuple

Trace = dict[str, Any]
"""A curve, in the words of plotly.js."""

Key = tuple[str, ...]
"""What the reader chose: one option of each of the page's choices."""

BELOW_THE_CODE = "\n# The page\n"
"""The line of a page's module where the code that it shows ends."""


class Text(NamedTuple):
    """What a page says; a paragraph in $$…$$ is a displayed formula."""

    title: str
    lead: Sequence[str]  # paragraphs above the figure
    explanation: Sequence[str]  # and below it
    tries: Sequence[str]  # what to try
    panels: Sequence[str]  # captions
    numbers: Sequence[str]  # the names of the numbers beside the picture


class Choice(NamedTuple):
    """A few options of which the reader picks one; ``picked`` is at first."""

    label: str
    options: Sequence[str]
    picked: str


class Drawing(NamedTuple):
    """A panel before the slider moves."""

    traces: Sequence[Trace]
    layout: dict[str, Any]


class Frame(NamedTuple):
    """One position of the slider."""

    label: str  # what the slider says there
    readouts: Sequence[str]  # the numbers beside the picture, in words
    changes: Sequence[Mapping[int, Trace]]  # for each panel: traces by place, always the same ones


class Scene(NamedTuple):
    """What one choice of the reader shows: panels, and what the slider does to them."""

    drawings: Sequence[Drawing]
    frames: Sequence[Frame]
    start: int = 0


class Page(NamedTuple):
    """A teaching page."""

    text: Text
    choices: Sequence[Choice]
    slider: str  # its name
    scenes: Mapping[Key, Scene]  # by what the reader chose
    code: str  # what made the numbers
    columns: int = 2  # panels side by side where the window is wide


def make(
    module: str,
    scenes: Mapping[Any, Scene],
    slider: str,
    choices: Sequence[Choice] = (),
    columns: int = 2,
) -> Page:
    """The page of a module, with the text of its name and the code that it shows."""
    text = read_text(module.rpartition(".")[2])
    return Page(text, choices, slider, scenes, shown_code(module), columns)


def shown_code(module: str) -> str:
    """What a module has above its line ``# The page``, with those of its imports that it uses."""
    code = getsource(import_module(module)).partition(BELOW_THE_CODE)[0]
    about, *nodes = ast.parse(code).body
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = code.splitlines()[imports[-1].end_lineno :]
    used = {node.id for node in ast.walk(ast.parse("\n".join(rest))) if isinstance(node, ast.Name)}
    lines, last = [ast.get_source_segment(code, about) or ""], 0
    for node in imports:
        node.names = [name for name in node.names if (name.asname or name.name) in used]
        if node.names:
            lines += [""] * (node.lineno > last + 1) + [ast.unparse(node)]
        last = node.end_lineno or last
    return "\n".join([*lines, *rest, ""])


HEADINGS = ["What you see", "What to try", "Panels", "Numbers"]


def read_text(name: str) -> Text:
    """The text of the page of this name: a file with TeX between dollar signs."""
    return parsed((files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8"))


def parsed(source: str) -> Text:
    """A title, paragraphs, and the four sections in their order; lines are broken at will."""
    opening, *rest = re.split(r"^## (.*)$", source, flags=re.MULTILINE)
    title, *lead = _paragraphs(opening)
    if rest[::2] != HEADINGS or not title.startswith("# "):
        raise ValueError(
            f"the text {title!r} has the sections {rest[::2]}; expected a title and {HEADINGS}"
        )
    see, *lists = rest[1::2]
    return Text(title.removeprefix("# "), lead, _paragraphs(see), *map(_items, lists))


def _paragraphs(source: str) -> list[str]:
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", source) if block.strip()]


def _items(source: str) -> list[str]:
    return [" ".join(item.split()) for item in re.split(r"^- ", source, flags=re.MULTILINE)[1:]]
