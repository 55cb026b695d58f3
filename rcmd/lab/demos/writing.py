"""A page as one HTML file: style, script, plotly.js, data and formulas are all in it."""

from __future__ import annotations

import json
import os
import re
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from rcmd import __version__
from rcmd.lab.demos.drawing import legend
from rcmd.lab.demos.page import Choice, Drawing, Frame, Page

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
        data=json.dumps(scenes(page), allow_nan=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
        plotly=import_module("plotly.offline").get_plotlyjs(),
        script=script,
    )


def scenes(page: Page) -> dict[str, Any]:
    """What the script needs to know."""

    def moved(frame: Frame) -> dict[str, Any]:
        changes = [{"places": list(c), "data": list(c.values())} for c in frame.changes]
        return frame._asdict() | {"changes": changes}

    return {
        "scenes": [
            {
                "key": key,
                "start": scene.start,
                "drawings": [drawing._asdict() for drawing in scene.drawings],
                "frames": [moved(frame) for frame in scene.frames],
            }
            for key, scene in page.scenes.items()
        ]
    }


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
    if displayed:
        return f'<div class="formula">{formula(displayed.group(1), "block")}</div>'
    return f"<p>{typeset(text)}</p>"


def formula(tex: str, display: str) -> str:
    """MathML for TeX, where an accent lifts no superscript."""
    mathml: str = import_module("latex2mathml.converter").convert(tex, display=display)
    return re.sub(r"<msup>(<mover>.*?</mover>)", LOWERED, mathml)


def _words(text: str) -> str:
    parts = escape(text, quote=False).split("`")
    return "".join(
        f"<code>{part}</code>" if place % 2 else re.sub(r"\*(.+?)\*", r"<em>\1</em>", part)
        for place, part in enumerate(parts)
    )
