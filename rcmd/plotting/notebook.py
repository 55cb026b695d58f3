"""Problems and results in notebooks: HTML without script or colours of its own, and LaTeX."""

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

SIGNS = {
    "β": r"\beta ",
    "ω": r"\omega ",
    "Σ": r"\sum ",
    "·": r"\cdot ",
    "×": r"\times ",
    "½": r"\tfrac{1}{2}",
    "−": "-",
    "√": r"\surd ",
    "∞": r"\infty ",
    "≤": r"\leq ",
    "≥": r"\geq ",
    "⪰": r"\succeq ",
    "‖": r"\| ",
    "ᵀ": "^T",
    "π": r"\pi ",
    "γ": r"\gamma ",
    "…": r"\dots ",
    "\\": r"\backslash ",
    "~": r"\sim ",
    "^": r"\hat{} ",
    **{sign: rf"\{sign}" for sign in "{}%$#&"},
}
FUNCTIONS = ("exp", "log", "ln", "cosh", "sinh", "tanh", "sin", "cos", "tan", "max", "min")
PRODUCTS = ("ys", "xy")
"""Pairs of letters that are two variables, not a word."""

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊", "0123456789+")

TOKEN = re.compile(
    r"_(?P<index>\(\w\)|·?[A-Za-z0-9]·?|[∞*])(?![A-Za-z0-9])"
    r"|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)"
    r"|(?P<lowered>[₀-₉₊]+)"
    r"|(?P<words> ?[A-Za-z]{2,}(?: [A-Za-z]{2,})* ?)"
    r"|(?P<sign>.)",
    re.DOTALL,
)


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


def _formulas(summary: Summary) -> str:
    weight = "ω<sub>j</sub> " if summary.weighted else ""
    lines = (
        f"(P)&emsp;min<sub>β ∈ ℝ<sup>{summary.p}</sup></sub>&ensp;<sup>1</sup>⁄<sub>n</sub> "
        f"Σ<sub>j</sub> {weight}<i>l</i>(x<sub>j</sub><sup>T</sup>β; y<sub>j</sub>) + "
        f"<i>R</i>(β)",
        "(D)&emsp;max<sub>w ∈ ℝ<sup>n</sup></sub>&ensp;−<i>R</i>*(−X<sup>T</sup>w/n) − "
        "<sup>1</sup>⁄<sub>n</sub> Σ<sub>j</sub> <i>l</i><sub>j</sub>*(w<sub>j</sub>)",
        f"<i>l</i>(s; y) = {_indexed(summary.loss)}",
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


def latex(formula: str) -> str:
    r"""A formula for LaTeX's mathematics; words are set as text.

    >>> print(latex("½·‖β‖₂² on ‖β‖₂ ≤ 5"))
    \tfrac{1}{2}\cdot \| \beta \| _{2}^{2}\text{ on }\| \beta \| _{2} \leq  5
    """
    return "".join(map(_token, TOKEN.finditer(formula)))


def summary_latex(summary: Summary) -> str:
    """(P), (D), l and R as a display for a notebook's LaTeX."""
    weight = r"\omega_j\, " if summary.weighted else ""
    lines = (
        rf"(P)\quad & \min_{{\beta \in \mathbb{{R}}^{{{summary.p}}}}}\ \frac{{1}}{{{summary.n}}} "
        rf"\sum_{{j=1}}^{{{summary.n}}} {weight}l(x_j^T\beta;\, y_j) + R(\beta)",
        r"(D)\quad & \max_{w \in \mathbb{R}^n}\ -R^*(-X^T w/n) - \frac{1}{n} \sum_j l_j^*(w_j)",
        rf"& l(s;\, y) = {latex(summary.loss)}",
        rf"& R(\beta) = {latex(summary.regularizer)}",
    )
    return "$\\displaystyle \\begin{aligned}" + " \\\\ ".join(lines) + "\\end{aligned}$"


def _token(found: re.Match[str]) -> str:
    kind, text = found.lastgroup, found.group()
    if kind == "index":
        return "_{" + "".join(SIGNS.get(sign, sign) for sign in found["index"]) + "}"
    if kind == "raised":
        return "^{" + text.translate(RAISED) + "}"
    if kind == "lowered":
        return "_{" + text.translate(LOWERED) + "}"
    if kind == "words":
        word = text.strip()
        if word in FUNCTIONS:
            return rf"\{word} "
        return word if word in PRODUCTS else rf"\text{{{text}}}"
    return r"\_" if text == "_" else SIGNS.get(text, text)
