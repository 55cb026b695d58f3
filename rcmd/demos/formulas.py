"""TeX in words, typeset as MathML, which browsers show without a network."""

from __future__ import annotations

import re
from html import escape
from importlib import import_module

LOWERED = r'<msup><mpadded height="0.75em">\1</mpadded>'
"""Browsers put superscripts above whatever stands below them; in print they ignore accents."""


def typeset(text: str) -> str:
    """Words escaped, TeX between dollar signs as MathML, `code` and *stress* marked.

    Examples
    --------
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
