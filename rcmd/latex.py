"""Formulas as the classes write them, in Unicode and words, for LaTeX."""

from __future__ import annotations

import re

from rcmd.description import Summary

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
"""Two letters that are two variables and no word."""

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
