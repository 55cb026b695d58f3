"""A page as one HTML file: style, script, plotly.js and data are all in it."""

from __future__ import annotations

import json
import os
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from rcmd import __version__
from rcmd.demos.formulas import paragraph, typeset
from rcmd.demos.legends import legend
from rcmd.demos.page import Choice, Drawing, Page


def write_page(page: Page, path: str | os.PathLike[str], command: str) -> None:
    """Write the page to ``path``; ``command`` is what makes it again."""
    Path(path).write_text(html(page, command), encoding="utf-8")


def html(page: Page, command: str) -> str:
    """The whole file."""
    resources = files("rcmd.demos")
    return TEMPLATE.format(
        title=escape(page.text.title),
        style=(resources / "style.css").read_text(encoding="utf-8"),
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
        data=_script_safe(json.dumps(scenes(page), allow_nan=False, separators=(",", ":"))),
        plotly=import_module("plotly.offline").get_plotlyjs(),
        script=(resources / "page.js").read_text(encoding="utf-8"),
    )


def scenes(page: Page) -> dict[str, Any]:
    """What the script needs to know."""
    return {
        "scenes": [
            {
                "key": key,
                "start": scene.start,
                "drawings": [vars(drawing) for drawing in scene.drawings],
                "frames": [
                    {
                        "label": frame.label,
                        "readouts": frame.readouts,
                        "changes": [
                            {"places": list(change), "data": list(change.values())}
                            for change in frame.changes
                        ],
                    }
                    for frame in scene.frames
                ],
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


def _script_safe(data: str) -> str:
    """JSON that cannot end the element it stands in."""
    return data.replace("<", "\\u003c")


TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title} · rcmd</title>
<style>
{style}</style>
</head>
<body>
<header>
<p class="series">rcmd · teaching pages</p>
<h1>{title}</h1>
{lead}
</header>
<main>
<section class="stage" aria-label="Figure">
<div class="controls">{choices}
<div class="time"><button type="button" id="play">Play</button>
<label for="position">{slider}</label>
<input type="range" id="position" min="0" max="0" value="0" step="1" autocomplete="off">
<output id="label" for="position"></output></div></div>
<div class="panels" style="--columns: {columns}">
{panels}
</div>
<dl class="readouts">{readouts}</dl>
</section>
<div class="words">
<section>
<h2>What you see</h2>
{explanation}
</section>
<section>
<h2>What to try</h2>
<ul>
{tries}
</ul>
</section>
</div>
<h2>The code that made it <button type="button" id="copy">Copy</button></h2>
<pre><code>{code}</code></pre>
</main>
<footer>Made by <code>{command}</code> with rcmd {version}; every number comes from that run.
This file needs no network.</footer>
<script type="application/json" id="page">{data}</script>
<script>{plotly}</script>
<script>
{script}</script>
</body>
</html>
"""
