"""A teaching page: its words, its code, its scenes, and the one HTML file with all of them.

Style, script, plotly.js, data and formulas are in the file, which loads nothing.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.resources import files
from inspect import getsource
from pathlib import Path
from typing import Any, NamedTuple

from rcmd import __version__
from rcmd.lab.demos.drawing import Drawing, Trace, legend


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
    scenes: Mapping[tuple[str, ...], Scene]  # by what the reader chose, an option of each choice
    code: str  # what made the numbers
    columns: int = 2  # panels side by side where the window is wide


def make(
    module: str,
    scenes: Mapping[Any, Scene],
    slider: str,
    choices: Sequence[Choice] = (),
    columns: int = 2,
) -> Page:
    """The page of a module, with the text of its name and the code above ``# The page``."""
    file = files(__package__) / "texts" / f"{module.rpartition('.')[2]}.md"
    text = parsed(file.read_text(encoding="utf-8"))
    code = getsource(import_module(module)).partition("\n# The page\n")[0]
    return Page(text, choices, slider, scenes, code, columns)


HEADINGS = ["What you see", "What to try", "Panels", "Numbers"]


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


LOWERED = r'<msup><mpadded height="0.75em">\1</mpadded>'
"""Browsers put superscripts above whatever stands below them; in print they ignore accents."""


def write_page(page: Page, path: str | os.PathLike[str], command: str) -> None:
    """Write the page to ``path``; ``command`` is what makes it again."""
    Path(path).write_text(html(page, command), encoding="utf-8")


def html(page: Page, command: str) -> str:
    """The whole file."""
    template, style, script = (
        (files(__package__) / name).read_text(encoding="utf-8")
        for name in ("page.html", "style.css", "page.js")
    )
    scenes = [
        {
            "key": key,
            "start": scene.start,
            "drawings": [drawing._asdict() for drawing in scene.drawings],
            "frames": [frame._asdict() for frame in scene.frames],
        }
        for key, scene in page.scenes.items()
    ]
    data = json.dumps({"scenes": scenes}, allow_nan=False, separators=(",", ":"))
    return template.format(
        title=escape(page.text.title),
        style=style,
        lead="\n".join(map(paragraph, page.text.lead)),
        choices="".join(_choice(place, choice) for place, choice in enumerate(page.choices)),
        slider=typeset(page.slider),
        columns=page.columns,
        panels="\n".join(map(_panel, page.text.panels, next(iter(page.scenes.values())).drawings)),
        readouts="".join(
            f"<div><dt>{typeset(name)}</dt><dd></dd></div>" for name in page.text.numbers
        ),
        explanation="\n".join(map(paragraph, page.text.explanation)),
        tries="\n".join(f"<li>{typeset(text)}</li>" for text in page.text.tries),
        code=escape(page.code, quote=False),
        command=escape(command, quote=False),
        version=__version__,
        # No data can end the element they stand in.
        data=data.replace("<", "\\u003c"),
        plotly=import_module("plotly.offline").get_plotlyjs(),
        script=script,
    )


def _choice(place: int, choice: Choice) -> str:
    options = "".join(
        f'<label><input type="radio" name="choice{place}" value="{escape(option)}"'
        f"{' checked' if option == choice.picked else ''}>{escape(option)}</label>"
        for option in choice.options
    )
    return (
        f"<fieldset><legend>{typeset(choice.label)}</legend>"
        f'<div class="options">{options}</div></fieldset>'
    )


def _panel(caption: str, drawing: Drawing) -> str:
    return (
        f"<figure><figcaption>{typeset(caption)}</figcaption>{legend(drawing.traces)}"
        '<div class="plot"></div></figure>'
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
