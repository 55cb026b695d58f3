"""The words of the teaching pages: a file a page, with TeX between dollar signs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Text:
    """What a page says.

    Attributes
    ----------
    lead, explanation
        Paragraphs above the figure and below it; one in $$…$$ is a displayed formula.
    tries
        What to try.
    panels, numbers
        Captions, and the names of the numbers beside the picture.
    """

    title: str
    lead: Sequence[str]
    explanation: Sequence[str]
    tries: Sequence[str]
    panels: Sequence[str]
    numbers: Sequence[str]


HEADINGS = ["What you see", "What to try", "Panels", "Numbers"]


def read_text(name: str) -> Text:
    """The text of the page of this name."""
    return parsed((files(__name__) / f"{name}.md").read_text(encoding="utf-8"))


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
