"""Problems and results in notebooks: HTML without script or colours of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from rcmd.model.constants import Summary

if TYPE_CHECKING:
    from rcmd.solver.result import Result

BOX = "border:1px solid;border-radius:4px;padding:.6em .9em;display:inline-block;max-width:60em"
FONT = "font-family:'STIX Two Math','Cambria Math','Latin Modern Math',serif"
FORMULA = f"{FONT};font-size:1.12em;line-height:1.5;margin:.3em 0"
RULE = '<hr style="border:0;border-top:1px solid;opacity:.3;margin:.5em 0">'
CELL = "text-align:left;padding:.1em 1.2em .1em 0;background:none;border:0;vertical-align:baseline"
TABLE = "border:0;margin:.2em 0;color:inherit;font:inherit"
FAINT = "opacity:.72"
INDEX = re.compile(r"_(\(\w\)|\w|[∞*])(?![A-Za-z0-9_])")


def problem_html(summary: Summary) -> str:
    """Formulas and constants."""
    title = f"<div><b>Problem, {summary.n:,} rows, {summary.p:,} variables</b></div>"
    return _div(BOX, title + _formulas(summary) + RULE + _constants(summary))


def result_html(result: Result) -> str:
    """The certificate and how the run ended; what was solved, folded away."""
    pair, last = result.certificate, result.history[-1]
    rows = [
        ("<i>P</i>(β)", _number(pair.primal, 10), "value of the solution"),
        ("<i>D</i>(w)", _number(pair.dual, 10), "a lower bound of the optimum"),
        ("gap", f"<b>{_number(pair.gap, 3)}</b>", "certified: P(β) is at most this above P*"),
        ("", _number(pair.loss_gap, 3), "of it from the losses"),
        ("", _number(pair.regularizer_gap, 3), "of it from the regularizer"),
        ("ground", escape(pair.ground), escape(pair.ground_text)),
    ]
    rows += [
        (escape(name), _number(value, 6), "at the last record") for name, value in last.own.items()
    ]
    spent = (
        f"{last.iteration:,} steps, {last.gradients:,} gradients, {last.oracle_calls:,} oracle "
        f"calls, {last.seconds:.3g} s"
    )
    title = escape(f"{'✓' if result.success else '✗'} {result.stop.value}")
    page = f"<div><b>{title}</b></div>{_table(rows)}{_div(FAINT, spent)}"
    if result.about is not None:
        options = ", ".join(f"{name} {value}" for name, value in result.options.items())
        inside = _formulas(result.about) + _constants(result.about) + _div(FAINT, escape(options))
        page += f"{RULE}<details><summary>what was solved</summary>{inside}</details>"
    return _div(BOX, page)


def text_html(text: str) -> str:
    """A table in letters of one width."""
    return _div(BOX, f"<pre style='margin:0;background:none'>{escape(text)}</pre>")


def _formulas(summary: Summary) -> str:
    weight = "ω<sub>j</sub> " if summary.weighted else ""
    offset = " + o<sub>j</sub>" if summary.shifted else ""
    linear = " − o<sub>j</sub> w<sub>j</sub>" if summary.shifted else ""
    conjugate = f"<i>l</i><sub>j</sub>*(w<sub>j</sub>){linear}"
    known = [escape(name) for name in ("y", *summary.fields)]
    labels = ", ".join(f"{name}<sub>j</sub>" for name in known)
    lines = (
        f"(P)&emsp;min<sub>β ∈ ℝ<sup>{summary.p}</sup></sub>&ensp;<sup>1</sup>⁄<sub>n</sub> "
        f"Σ<sub>j</sub> {weight}<i>l</i>(x<sub>j</sub><sup>T</sup>β{offset}; {labels}) + "
        f"<i>R</i>(β)",
        "(D)&emsp;max<sub>w ∈ ℝ<sup>n</sup></sub>&ensp;−<i>R</i>*(−X<sup>T</sup>w/n) − "
        f"<sup>1</sup>⁄<sub>n</sub> Σ<sub>j</sub> {f'[{conjugate}]' if linear else conjugate}",
        f"<i>l</i>(s; {', '.join(known)}) = {_indexed(summary.loss)}",
        f"<i>R</i>(β) = {_indexed(summary.regularizer)}",
    )
    return "".join(_div(FORMULA, line) for line in lines)


def _constants(summary: Summary) -> str:
    rows = "1 row" if summary.batch == 1 else f"{summary.batch:,} rows"
    return _div(FAINT, f"constants for {rows} a step") + _table(
        (re.sub("_(.+)", r"<sub>\1</sub>", escape(letter)), _number(value, 6), _indexed(meaning))
        for letter, meaning, value in summary.constants
    )


def _indexed(formula: str) -> str:
    """A formula of a class, escaped, with single letters after an underscore set below.

    >>> _indexed("‖β‖_∞ < my_name")
    '‖β‖<sub>∞</sub> &lt; my_name'
    """
    return INDEX.sub(r"<sub>\1</sub>", escape(formula))


def _table(rows: Iterable[tuple[str, str, str]]) -> str:
    lines = ""
    for letter, value, meaning in rows:
        cells = letter, value, f'<span style="{FAINT}">{meaning}</span>'
        inside = "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
        lines += f"<tr style='background:none'>{inside}</tr>"
    return f'<table style="{TABLE}">{lines}</table>'


def _number(value: Any, digits: int) -> str:
    return f"{float(value):.{digits}g}"


def _div(style: str, content: str) -> str:
    return f'<div style="{style}">{content}</div>'
