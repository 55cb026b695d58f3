"""The samples of an objective as one loss of rcmd, with rows, labels, offset, weights, fields."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rcmd.applications.from_cvxpy.affine import shown
from rcmd.applications.from_cvxpy.blocks import Block, joined, number_or_field
from rcmd.applications.from_cvxpy.formulas import HUBER
from rcmd.conjugates import (
    CrossEntropy,
    Exponential,
    Huber,
    LeastSquares,
    Logistic,
    Poisson,
    SeparableConjugate,
    SmoothedHinge,
    SquaredHinge,
)
from rcmd.conjugates.expressions import ExpressionError
from rcmd.rows.validation import Array


class Losses(NamedTuple):
    """What ``Problem`` is given, the rows by ``rows``; the objective is ``scale`` times its P."""

    loss: SeparableConjugate
    y: Array
    weights: Array | None
    offset: Array | None
    fields: dict[str, Array]
    scale: float


# ---- losses that ship --------------------------------------------------------------------------

SHIFTED = "(<sign>s<shift>)"
HINGE = "max((-y*s + 1.0), <zero>)"
SHIPPED: list[tuple[str, Callable[..., Any]]] = [
    # formula; the loss, the factor of the weights and the labels, or None where it has none
    (f"square({SHIFTED})", lambda b, m: (LeastSquares(), 2.0, _centre(b, m))),
    (
        HUBER.format(SHIFTED, "<width>"),
        lambda b, m: (Huber(float(m["width"])), 2.0, _centre(b, m)),
    ),
    ("softplus((-y*s))", lambda b, m: (Logistic(), 1.0, b.y)),
    (f"square({HINGE})", lambda b, m: (SquaredHinge(), 2.0, b.y)),
    (
        HUBER.format(HINGE, "<width>"),
        lambda b, m: (SmoothedHinge(float(m["width"])), 2 * float(m["width"]), b.y),
    ),
    ("exp((-y*s))", lambda b, m: (Exponential(), 1.0, b.y)),
    ("softplus((s))", lambda b, m: _likelihood(CrossEntropy(), b, 1.0)),
    ("exp((s))", lambda b, m: _likelihood(Poisson(), b, np.inf)),
]
"""Formulas that rcmd has a class for; ``from_expression`` makes one of any other."""

NUMBER = r"-?[\d.e+-]+"
PARTS = {"sign": "-?", "shift": rf"(?: \+ {NUMBER})?", "zero": r"-?0\.0", "width": NUMBER}
"""What stands in those formulas between < and >; the same wherever it is repeated."""


def matched(formula: str, shape: str) -> Any:
    """The parts of a formula that has this shape, by their names; else ``None``."""
    pattern = re.escape(shape)
    for name, part in PARTS.items():
        first, *rest = pattern.split(f"<{name}>")
        if rest:
            pattern = f"{first}(?P<{name}>{part}){f'(?P={name})'.join(rest)}"
    return re.fullmatch(pattern, formula)


def _centre(block: Block, match: Any) -> Array | None:
    """The labels of an even loss, which take up offset and shift."""
    if block.slope.any():
        return None
    shift = float(match["shift"].removeprefix(" + ") or 0.0)
    return -(block.offset + (-shift if match["sign"] else shift))


def _likelihood(loss: Any, block: Block, most: float) -> Any:
    """The loss l(s) − ys, where its labels are allowed."""
    y = 0.0 - block.slope
    return (loss, 1.0, y) if (y >= 0).all() and (y <= most).all() else (loss, 1.0, None)


def assemble(blocks: list[Block], floor: float) -> Losses:
    """One loss for all samples, and their data; weights have the mean 1.

    Below ``floor`` what is steep at 0 is continued.
    """
    block = joined(blocks)
    offset = block.offset if block.offset.any() else None
    for shape, build in SHIPPED:
        match = matched(block.formula, shape)
        if match is None:
            continue
        loss, factor, y = build(block, match)
        takes_slope = isinstance(loss, CrossEntropy | Poisson)
        if y is not None and (takes_slope or not block.slope.any()):
            even = isinstance(loss, LeastSquares | Huber)
            return _scaled(loss, y, factor * block.weights, None if even else offset, {})
    inner = "" if len(block.expressions) > 1 else r"\1"
    formula = re.sub("«(.*?)»", inner, block.formula).replace("floor", repr(floor))
    fields = dict(block.fields)
    if block.slope.any():
        formula = f"{formula} + ({number_or_field(block.slope, fields)})*s"
    y = np.zeros(len(block.weights)) if block.y is None else block.y
    # A field that a number took the place of, or that only a name held, is not read.
    fields = {name: v for name, v in fields.items() if re.search(rf"\b{name}\b", formula)}
    try:
        labels = None if block.y is None else "±1"
        loss = SeparableConjugate.from_expression(formula, labels=labels, fields=list(fields))
    except ExpressionError as fault:
        parts = " + ".join(dict.fromkeys(shown(e) for e in block.expressions))
        raise ValueError(
            f"{parts} is no smooth convex loss of one prediction for each sample: {fault}"
        ) from None
    return _scaled(loss, y, block.weights, offset, fields)


def _scaled(loss: Any, y: Array, weights: Array, offset: Any, fields: dict[str, Array]) -> Losses:
    scale = float(weights.sum())
    relative = weights * (len(weights) / scale)
    equal = np.ptp(weights) <= 1e-14 * weights.max()
    return Losses(loss, y, None if equal else relative, offset, fields, scale)
