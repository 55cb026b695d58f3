"""Sphinx settings: ``python -m sphinx -W -b html rcmd/docs OUT``, after ``pip install .[docs]``.

Pages need no network: formulas are MathML, made while building.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

project = "rcmd"
author = "The rcmd developers"
release = version = str(import_module("rcmd").__version__)

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
default_role = "code"
nitpicky = True  # a name that leads nowhere is a fault

toc_object_entries_show_parents = "hide"
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
html_sidebars: dict[str, list[str]] = {"index": [], "contributing": [], "changelog": []}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 2,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


NAMES = "{http://www.w3.org/1998/Math/MathML}"
ARGUMENTS = dict.fromkeys(("msub", "msup", "munder", "mover", "mfrac"), 2) | {"msubsup": 3}
"""What these elements of MathML hold; with more, browsers show an error."""


def mathml(tex: str, display: str) -> str:
    r"""MathML for TeX; ``display`` is ``"inline"`` or ``"block"``.

    Examples
    --------
    >>> mathml(r"\gamma", "inline").endswith("<mi>&#x003B3;</mi></mrow></math>")
    True
    >>> mathml(r"\arg x", "inline")
    Traceback (most recent call last):
    ValueError: the formula '\\arg x' is not understood; expected commands of latex2mathml
    """
    made = str(import_module("rcmd.lab.demos.page").formula(tex.strip(), display))
    nodes = ElementTree.fromstring(made).iter()
    if "\\" in made or any(len(n) != ARGUMENTS.get(n.tag[len(NAMES) :], len(n)) for n in nodes):
        raise ValueError(
            f"the formula {tex!r} is not understood; expected commands of latex2mathml"
        )
    return made


def write_formula(translator: Any, node: Any) -> None:
    """A formula in a line of words, or one of its own."""
    translator.body.append(mathml(node.astext(), "inline" if node.tagname == "math" else "block"))
    raise import_module("docutils.nodes").SkipNode


def without_marks(line: str) -> str:
    r"""The line with its |x| and β_· as they stand, which are marks of reStructuredText.

    Examples
    --------
    >>> print(without_marks("the largest |c_k|, by ``a | b``, of β_·"))
    the largest \|c_k\|, by ``a | b``, of β\_·
    """
    parts = re.split("(``.*?``)", line)
    parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", words) for words in parts[::2]]
    return "".join(parts)


def as_meant(lines: list[str]) -> list[str]:
    """A docstring written for people at a prompt, in reStructuredText.

    Displayed formulas keep their lines, and what looks like a mark is none.

    Examples
    --------
    >>> as_meant(["A step is", "", "    s = 1", "    w = |s|", "", "for all s."])
    ['A step is', '', '::', '', '    s = 1', '    w = |s|', '', 'for all s.']
    """
    meant: list[str] = []
    words, shown = True, False  # before the first section; in an example
    for at, line in enumerate(lines):
        words = words and not (at + 1 < len(lines) and lines[at + 1].startswith("---"))
        shown = line.lstrip().startswith(">>>") or (shown and bool(line.strip()))
        formula = words and line.startswith("    ")
        if formula and not lines[at - 1].strip():
            meant += ["::", ""]
        meant.append(line if shown or formula else without_marks(line))
    return meant


def with_entries(text: str) -> str:
    """A page on which ``.. shipped:: losses`` became what ``rcmd list losses`` lists, in sections.

    So a new loss or oracle is in the reference by being exported, a new method by being named.
    """
    return re.sub(r"^\.\. shipped:: (\w+)$", _shipped, text, flags=re.MULTILINE)


def _shipped(line: re.Match[str]) -> str:
    sections: dict[str, list[str]] = {}
    if line[1] == "methods":
        named = import_module("rcmd.methods").NAMED.values()
        sections["Others"] = [kind for module, kind in named if module not in ("rcmd", "corrected")]
        lines = [".. currentmodule:: rcmd.methods"]
    else:
        for row in getattr(import_module("rcmd.cli.list"), line[1])():
            heading = row.get("section", "Losses")
            sections.setdefault(heading.partition(";")[0], []).append(row["class"])
        lines = [".. currentmodule:: rcmd"]
    for heading, names in sections.items():
        lines += ["", heading, "-" * len(heading), "", ".. autosummary::", ""]
        lines += [f"   {name}" for name in names]
        lines += [f"\n.. autoclass:: {name}" for name in names]
    return "\n".join(lines)


def setup(app: Any) -> None:
    """Have formulas written as MathML, and pages and docstrings read as they are meant."""

    def read_page(app: Any, page: str, source: list[str]) -> None:
        source[0] = with_entries(source[0])

    def read_docstring(*where: Any) -> None:
        where[-1][:] = as_meant(where[-1])

    app.connect("source-read", read_page)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.connect("autodoc-process-docstring", read_docstring, priority=400)
