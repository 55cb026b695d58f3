"""Sphinx settings: ``python -m sphinx -W -b html rcmd/docs OUT`` (``pip install 'rcmd[docs]'``).

Pages need no network: formulas are MathML, made while building.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

project = "rcmd"
author = "The rcmd developers"
release = version = str(import_module("rcmd").__version__)

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["CITATION.cff"]
nitpicky = False
default_role = "code"

autosummary_generate = False  # pages stand here by hand: a build writes nothing beside them
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"rcmd {release}"
html_static_path = ["style"]
html_css_files = ["guide.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "changelog": []}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 2,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def mathml(tex: str, display: str) -> str:
    r"""MathML for TeX; ``display`` is ``"inline"`` or ``"block"``.

    Examples
    --------
    >>> mathml(r"\gamma", "inline").endswith("<mi>&#x003B3;</mi></mrow></math>")
    True
    """
    return str(import_module("latex2mathml.converter").convert(tex.strip(), display=display))


def write_inline(translator: Any, node: Any) -> None:
    """A formula in a line of words."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise import_module("docutils.nodes").SkipNode


def write_block(translator: Any, node: Any) -> None:
    """A formula of its own, which scrolls where it is wider than the page."""
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise import_module("docutils.nodes").SkipNode


def without_marks(line: str) -> str:
    r"""The line with bars that are absolute values, not substitutions of reStructuredText.

    Examples
    --------
    >>> print(without_marks("the largest |c_k|, by ``a | b``"))
    the largest \|c_k\|, by ``a | b``
    """
    parts = re.split("(``.*?``)", line)
    return "".join(part if at % 2 else part.replace("|", r"\|") for at, part in enumerate(parts))


def plain_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written for people at a prompt: their |x| is an absolute value."""
    shown = False
    for at, line in enumerate(lines):
        shown = line.lstrip().startswith(">>>") or (shown and bool(line.strip()))
        if not shown:
            lines[at] = without_marks(line)


def setup(app: Any) -> None:
    """Have formulas written as MathML and docstrings read as they are meant."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    app.connect("autodoc-process-docstring", plain_bars, priority=400)
