"""``rcmd list``: losses and oracles with their formulas, constants and costs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from rcmd.conjugates import SeparableConjugate
from rcmd.json_output import check_json, say, write_json
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.coordinatewise import Coordinatewise
from rcmd.oracles.decorated import Decorated
from rcmd.specs import LOSSES, ORACLES, REFUSED

GAMMAS = {
    "logistic": "1/4",
    "least-squares": "1",
    "huber": "1",
    "pseudo-huber": "1",
    "log-cosh": "1",
    "fair": "1",
    "smoothed-hinge": "1/width",
    "squared-hinge": "1",
    "softplus-hinge": "1/(4·width)",
    "quantile": "1/width",
    "insensitive": "1/width",
}
"""γ of every loss, in its parameters."""


class Words(NamedTuple):
    """M = max |xᵀβ| over dom R, the cost of a call, μ, and R where the class does not say it."""

    bound: str
    cost: str
    mu: str = "0"
    formula: str = ""


SECTIONS = {
    "Sets": {
        "l1": Words("radius·‖x‖_∞", "O(p)"),
        "l2": Words("radius·‖x‖₂", "O(p)"),
        "linf": Words("radius·‖x‖₁", "O(p)"),
        "lp": Words("radius·‖x‖_q, 1/q = 1 − 1/order", "O(p)", formula="‖β‖_order ≤ radius"),
        "box": Words("at a corner", "O(p)"),
        "simplex": Words("radius·‖x‖_∞", "O(p)"),
        "capped-simplex": Words("at a vertex", "O(p)"),
        "k-sparse": Words("radius·(sum of the k largest |x_i|)", "O(p)"),
        "k-support": Words("radius·(norm of the k largest |x_i|)", "O(p)"),
        "group-l2": Words("radius·max_g ‖x_g‖₂", "O(p)", formula="Σ_g ‖β_g‖₂ ≤ radius"),
        "owl": Words("radius·max_k Σ_{i≤k}|x|_(i) / Σ_{i≤k}w_i", "O(p log p)"),
        "ellipsoid": Words(
            "radius·√(xᵀAx)",
            "O(p) or O(p²)",
            formula="βᵀA⁻¹β ≤ radius², A a matrix or its diagonal",
        ),
    },
    "Regularizers; a RADIUS left out is one that cuts off no optimum": {
        "ridge": Words("radius·‖x‖₂", "O(p)", "strength"),
        "l1-penalty": Words("radius·‖x‖_∞", "O(p)"),
        "elastic-net": Words("radius·‖x‖₂", "O(p)", "l2_strength"),
        "group-lasso": Words(
            "radius·max_g ‖x_g‖₂",
            "O(p)",
            formula="strength·Σ_g ‖β_g‖₂ on Σ_g ‖β_g‖₂ ≤ radius",
        ),
        "entropy": Words("radius·‖x‖_∞", "O(p)", "2·strength/radius"),
    },
    "Sets out of files": {
        "hull": Words("max_v |xᵀv|", "O(m·p)", formula="convex hull of m vertices v"),
        "polytope": Words("by two calls a row", "LP on HiGHS", formula="Aβ ≤ b"),
        "flow": Words("by two calls a row", "O(edges)", formula="flows from source to sink"),
        "cvxpy": Words("by two calls a row", "CLARABEL", formula="the function's own"),
    },
    "Matrices; SHAPE is rows x columns, such as 50x40, or auto: that of the data": {
        "nuclear": Words("radius·σ₁(x)", "Lanczos", formula="‖β‖_* ≤ radius"),
        "nuclear-penalty": Words(
            "radius·σ₁(x)", "Lanczos", formula="strength·‖β‖_* on ‖β‖_* ≤ radius"
        ),
        "spectrahedron": Words("trace·max |λ(x)|", "Lanczos", formula="β ⪰ 0, tr β = trace"),
        "birkhoff": Words(
            "by two calls a row", "O(order³)", formula="β ≥ 0, rows and columns sum to 1"
        ),
        "cur": Words(
            "≤ radius·(row or column sum of |x|)",
            "LP on HiGHS",
            formula="Σ_i ‖β_i·‖_∞ ≤ radius, Σ_j ‖β_·j‖_∞ ≤ radius",
        ),
    },
    "Around an oracle R": {
        "scaled": Words("factor·M_R", "as R", "μ_R/factor²", "R(β/factor)"),
        "translated": Words("M_R, shifted by xᵀshift", "as R", "as R", "R(β − shift)"),
        "product": Words("Σ_k M_k", "sum of all", "min_k μ_k", "Σ_k R_k(β_k), in blocks"),
        "caching": Words("as R", "O(p) or as R", "as R", "R, by atoms of earlier calls"),
        "counting": Words("as R", "as R", "as R", "R, counting the calls"),
    },
}

OPENING = {
    "losses": "--loss NAME:PARAMETER:…  Losses l(s; y) of a prediction s = xᵀβ and a label y, "
    "γ-smooth. Each costs O(1) a row and is part of the compiled loop. The column strict says "
    "whether it is strictly convex.",
    "oracles": "--oracle NAME:PARAMETER:…  A set or a regularizer R, with M = max |xᵀβ| over it "
    "for a row x and, where R is strongly convex, its μ; and the cost of one call, of which "
    "Lanczos takes some steps of O(nonzeros). Oracles marked ● are part of the compiled loop (box "
    "if its ends are numbers; ○ if R is l1, l1-penalty or simplex), others are called from it. "
    "GROUPS is the size of all groups or a file with a label for each variable. VERTICES, A, B, "
    "MATRIX, WEIGHTS, SHIFT and EDGES are files of numbers (text or .npy); LOWER and UPPER may be.",
}


def losses() -> Iterator[dict[str, Any]]:
    """Every loss as plain data; those that are refused have no γ."""
    for name, form in LOSSES.items():
        yield _loss(form.shown(name), form.makes, GAMMAS[name])
    for name, refused in REFUSED.items():
        yield _loss(name, refused, None)


def _loss(form: str, makes: type[SeparableConjugate], gamma: str | None) -> dict[str, Any]:
    signs_only = makes.label_fault(makes, [0.5])  # type: ignore[arg-type] # asks the class alone
    return {
        "write": form,
        "class": makes.__name__,
        "formula": makes.formula,
        "gamma": gamma,
        "labels": "±1" if signs_only else "any",
        "strictly_convex": makes.strictly_convex,
    }


def oracles() -> Iterator[dict[str, Any]]:
    """Every oracle as plain data."""
    for section, names in SECTIONS.items():
        for name, words in names.items():
            form = ORACLES[name]
            yield {
                "section": section,
                "write": form.shown(name),
                "class": form.makes.__name__,
                "formula": words.formula or _formula(form.makes),
                "bound": words.bound,
                "mu": words.mu,
                "cost": words.cost,
                "compiled": _compiled(form.makes),
            }


def run_list(what: str | None, json_target: str | None) -> int:
    """The command: print one list or both, as tables or as JSON."""
    check_json(json_target)
    wanted = {"losses": losses, "oracles": oracles}
    data = {name: list(rows()) for name, rows in wanted.items() if what in (None, name)}
    tables = {"losses": _loss_table, "oracles": _oracle_table}
    text = "\n\n".join("\n".join(tables[name](rows)) for name, rows in data.items())
    say(text, json_target)
    write_json(data, json_target)
    return 0


def _formula(makes: type[LinearMinOracle]) -> str:
    """The formula of the class with the names of its parameters."""
    return makes.formula.replace("{", "").replace("}", "").removeprefix("indicator of ")


def _compiled(makes: type[LinearMinOracle]) -> bool | None:
    """Whether a compiled loop finds the atoms; ``None`` where that is up to the oracle inside."""
    own_rule = makes.vertex_rule is not LinearMinOracle.vertex_rule
    if own_rule and issubclass(makes, Decorated):
        return None
    return own_rule or issubclass(makes, Coordinatewise)


MARKS = {True: "●", False: "", None: "○"}
WIDTH = 100
LOSS_WIDTHS = (29, 43, 11, 3, 6)
ORACLE_WIDTHS = (28, 31, 20, 12, 1)


def _loss_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from textwrap.wrap(OPENING["losses"], WIDTH)
    yield ""
    yield from _line(("how to write it", "l(s; y)", "γ", "y", "strict"), LOSS_WIDTHS)
    for row in rows:
        if row["gamma"] is not None:
            strictly = "yes" if row["strictly_convex"] else "no"
            cells = (row["write"], row["formula"], row["gamma"], row["labels"], strictly)
            yield from _line(cells, LOSS_WIDTHS)
    refused = [f"{row['write']}, {row['formula']}" for row in rows if row["gamma"] is None]
    yield f"refused, for no γ bounds their second derivatives: {'; '.join(refused)}"


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
