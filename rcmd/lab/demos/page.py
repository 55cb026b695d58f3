"""A teaching page: its words and its script, in one HTML file that loads nothing."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple

from rcmd import __version__


class Text(NamedTuple):
    """What a page says; a paragraph in $$…$$ is a displayed formula."""

    title: str
    lead: Sequence[str]  # paragraphs above the figure
    explanation: Sequence[str]  # and below it
    tries: Sequence[str]  # what to try
    panels: Sequence[str]  # captions
    numbers: Sequence[str]  # the names of the numbers beside the picture
    program: str  # the same in Python; the page fills in what stands in {braces}


SCRIPTS = "formulas.js", "rcmd.js", "live.js"
HEADINGS = ["What you see", "What to try", "Panels", "Numbers", "In Python"]


def parsed(source: str) -> Text:
    """A title, paragraphs, and the five sections in their order; lines are broken at will."""
    opening, *rest = re.split(r"^## (.*)$", source, flags=re.MULTILINE)
    title, *lead = _paragraphs(opening)
    if rest[::2] != HEADINGS or not title.startswith("# "):
        raise ValueError(
            f"the text {title!r} has the sections {rest[::2]}; expected a title and {HEADINGS}"
        )
    see, *lists, program = rest[1::2]
    tries, panels, numbers = map(_items, lists)
    title, program = title.removeprefix("# "), program.strip("\n")
    return Text(title, lead, _paragraphs(see), tries, panels, numbers, program)


def _paragraphs(source: str) -> list[str]:
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", source) if block.strip()]


def _items(source: str) -> list[str]:
    return [" ".join(item.split()) for item in re.split(r"^- ", source, flags=re.MULTILINE)[1:]]


@cache
def part(name: str) -> str:
    """One of the files from which pages are made."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def text_of(name: str) -> Text:
    """The words of the page ``name``."""
    return parsed(part(f"pages/{name}.md"))


def page(name: str, following: str = "") -> str:
    """The whole file, with a link to the page ``following`` beside it, if there is one."""
    text = text_of(name)
    return part("page.html").format(
        name=name,
        title=escape(text.title),
        links=_links(following) if following else "<span>rcmd · teaching pages</span>",
        style=part("style.css"),
        lead="\n".join(map(paragraph, text.lead)),
        slider="Steps",
        columns=len(text.panels),
        panels="\n".join(map(_panel, text.panels)),
        readouts="".join(f"<div><dt>{typeset(one)}</dt><dd></dd></div>" for one in text.numbers),
        explanation="\n".join(map(paragraph, text.explanation)),
        tries="\n".join(f"<li>{typeset(one)}</li>" for one in text.tries),
        program=escape(text.program, quote=False),
        version=__version__,
        script="".join(map(part, [*SCRIPTS, f"pages/{name}.js"])),
    )


def _links(following: str) -> str:
    title = escape(text_of(following).title)
    return (
        '<a href="index.html">rcmd · teaching pages</a>'
        f'<a href="{following}.html" rel="next">Next: {title} →</a>'
    )


def index(summaries: dict[str, str]) -> str:
    """The page that lists the others."""
    entries = "\n".join(
        f'<li><a href="{name}.html">{escape(text_of(name).title)}</a> {escape(summary)}</li>'
        for name, summary in summaries.items()
    )
    return part("index.html").format(style=part("style.css"), entries=entries, version=__version__)


def _panel(caption: str) -> str:
    return (
        f'<figure><figcaption>{typeset(caption)}</figcaption><ul class="legend"></ul>'
        '<svg class="plot"><g class="ink"></g><g class="handles"></g></svg></figure>'
    )


def typeset(text: str) -> str:
    """Words escaped, TeX between dollar signs as MathML, `code` and *stress* marked.

    >>> typeset("1 < 2, *not* `a*b*c`")
    '1 &lt; 2, <em>not</em> <code>a*b*c</code>'
    """
    parts = re.split(r"\$(.+?)\$", text)
    if any("$" in words for words in parts[::2]):
        raise ValueError(f"a formula has no closing dollar sign in {text!r}; expected $…$ in pairs")
    return "".join(
        formula(part, "inline") if place % 2 else _words(part) for place, part in enumerate(parts)
    )


def paragraph(text: str) -> str:
    """A paragraph, or a displayed formula if the text is one in $$…$$."""
    displayed = re.fullmatch(r"\$\$(.+)\$\$", text.strip(), re.DOTALL)
    return formula(displayed[1], "block") if displayed else f"<p>{typeset(text)}</p>"


LOWERED = r'<msup><mpadded height="0.75em">\1</mpadded>'
"""Browsers put superscripts above whatever stands below them; in print they ignore accents."""
LETTER, PRIME = r"<m[in]>[^<]*</m[in]>", "<mi>(&#x0203[234];)</mi>"


def formula(tex: str, display: str) -> str:
    """MathML for TeX, where an accent lifts no superscript; a "block" scrolls if it is wide.

    Primes are letters of their own: a browser sets them small and high as superscripts.
    """
    mathml: str = import_module("latex2mathml.converter").convert(tex, display=display)
    lowered = re.sub(r"<msup>(<mover>.*?</mover>)", LOWERED, mathml)
    lowered = re.sub(rf"<msup>({LETTER}){PRIME}</msup>", r"<mrow>\1<mo>\2</mo></mrow>", lowered)
    primed = r"<mrow><msub>\1</msub><mo>\2</mo></mrow>"
    lowered = re.sub(rf"<msubsup>({LETTER}{LETTER}){PRIME}</msubsup>", primed, lowered)
    return f'<div class="formula">{lowered}</div>' if display == "block" else lowered


def _words(text: str) -> str:
    parts = escape(text, quote=False).split("`")
    return "".join(
        f"<code>{part}</code>" if place % 2 else re.sub(r"\*(.+?)\*", r"<em>\1</em>", part)
        for place, part in enumerate(parts)
    )
