"""Losses and oracles: how they are written, their formulas and constants, and the
cost of a call.

    rcmd list oracles
"""

import argparse
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.writing import FORMS
from rcmd.reporting.tables import WIDTH, say, write_json

SECTIONS = {
    "sets": "Sets",
    "regularizers": "Regularizers; a RADIUS left out is one that cuts off no optimum",
    "files": "Sets from files",
    "matrices": "Matrices; SHAPE is rows x columns, such as 50x40, or auto: that of the data",
    "decorators": "Around an oracle R",
}
"""The headings of the sections that oracles name."""

OPENING = {
    "losses": "--loss NAME:PARAMETER:…  Losses l(s; y) of a prediction s = xᵀβ and a label y, "
    "γ-smooth, or with a sup over the predictions of each sample. Each costs O(1) a row and is "
    "part of the compiled loop. The column strict says whether it is strictly convex.",
    "oracles": "--oracle NAME:PARAMETER:…  A set or a regularizer R, with M = max |xᵀβ| over it "
    "for a row x and, where R is strongly convex, its μ; and the cost of one call, of which "
    "Lanczos takes some steps of O(nonzeros). Oracles marked ● are part of the compiled loop (○ if "
    "R is), others are called from it. GROUPS is the size of all groups or a file with a label for "
    "each variable. VERTICES, A, B, MATRIX, WEIGHTS, SHIFT and EDGES are files of numbers (text or "
    ".npy); LOWER and UPPER may be.",
}


def losses() -> Iterator[dict[str, Any]]:
    """Every loss as plain data."""
    for spec in LOSSES.values():
        makes = spec.makes
        yield {
            "write": spec.text,
            "class": makes.__name__,
            "formula": makes.formula,
            "gamma": makes.gamma_words,
            "labels": makes.labels,
            "strictly_convex": makes.strictly_convex,
        }


def oracles() -> Iterator[dict[str, Any]]:
    """Every oracle as plain data, section by section."""
    for section, heading in SECTIONS.items():
        for spec in ORACLES.values():
            makes = spec.makes
            formula = re.sub("[{}]|^indicator of ", "", makes.formula)
            if section == (makes.section or ("sets" if makes.indicator else "regularizers")):
                yield {
                    "section": heading,
                    "write": spec.text,
                    "class": makes.__name__,
                    "formula": makes.short_formula or formula,
                    "bound": makes.bound_words,
                    "mu": makes.mu_words,
                    "cost": makes.cost,
                    "compiled": _compiled(makes),
                }


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="?", choices=("losses", "oracles"), metavar="losses|oracles", help="one only"
    )


def run(options: argparse.Namespace) -> int:
    wanted = {"losses": losses, "oracles": oracles}
    data = {name: list(rows()) for name, rows in wanted.items() if options.what in (None, name)}
    tables = {"losses": _loss_table, "oracles": _oracle_table}
    text = "\n\n".join("\n".join(tables[name](rows)) for name, rows in data.items())
    say(text, options.json)
    write_json(data, options.json)
    return 0


def _compiled(makes: type[LinearMinOracle]) -> bool | None:
    """Whether a compiled loop finds the atoms; ``None`` where that depends on the oracle inside."""
    if makes.blocks is not LinearMinOracle.blocks:
        return None
    own_rule = makes.vertex_rule is not LinearMinOracle.vertex_rule
    return own_rule or any(getattr(makes, form) is not None for form in FORMS)


MARKS = {True: "●", False: "", None: "○"}
LOSS_WIDTHS = (23, 25, 11, 7, 6)
ORACLE_WIDTHS = (22, 24, 15, 10, 1)


def _loss_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from textwrap.wrap(OPENING["losses"], WIDTH)
    yield ""
    yield from _line(("how to write it", "l(s; y)", "γ", "y", "strict"), LOSS_WIDTHS)
    for row in rows:
        strictly = "yes" if row["strictly_convex"] else "no"
        cells = (row["write"], row["formula"], row["gamma"], row["labels"], strictly)
        yield from _line(cells, LOSS_WIDTHS)


def _oracle_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from textwrap.wrap(OPENING["oracles"], WIDTH)
    yield ""
    yield from _line(("how to write it", "set, or R(β)", "M; μ", "cost", ""), ORACLE_WIDTHS)
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            yield from ("", section)
        apart = row["mu"] not in ("0", "as R")
        bound = f"{row['bound']}; μ = {row['mu']}" if apart else row["bound"]
        cells = (row["write"], row["formula"], bound, row["cost"], MARKS[row["compiled"]])
        yield from _line(cells, ORACLE_WIDTHS)


def _line(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A line of the table, as high as its longest cell needs."""
    folded = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*folded, fillvalue=""):
        yield "  ".join(f"{part:<{w}}" for part, w in zip(parts, widths, strict=True)).rstrip()


def _folded(text: str, width: int) -> list[str]:
    """The text in lines, broken between phrases, or between words where a phrase is too long.

    >>> _folded("‖β‖₁ ≤ k·radius, ‖β‖_∞ ≤ radius", 20), _folded("ridge:STRENGTH[:RADIUS]", 15)
    (['‖β‖₁ ≤ k·radius,', '‖β‖_∞ ≤ radius'], ['ridge:STRENGTH', '  [:RADIUS]'])
    """
    if len(text) <= width:
        return [text]
    phrases = re.findall(r".+?(?:[,;] | (?=on )|(?<!\[)(?=\[?:\S)|$)", text)
    pieces = chain.from_iterable(
        [phrase] if len(phrase) <= width else re.findall(r"\S+ ?", phrase) for phrase in phrases
    )
    lines = [""]
    for piece in pieces:
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("  " if piece[0] in ":[" else "")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
