"""The samples of an objective as one loss of rcmd, with rows, labels, offset, weights, fields."""

import re
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


def shipped(block: Block) -> tuple[Any, float, Array] | None:
    """The class for a formula that rcmd has, the factor of the weights, and its labels, if any.

    The labels of an even loss take up the offset.
    """
    formula = block.formula.replace(", -0.0)", ", 0.0)")
    width = next(iter(re.findall(r"<= (\S+), square", formula)), "1.0")
    centre = None if block.slope.any() else -block.offset
    labels = None if block.slope.any() else block.y
    rate = 0.0 - block.slope  # of a likelihood l(s) − ys
    counts = rate if (rate >= 0).all() else None
    hinge, size = "max((-y*s + 1.0), 0.0)", float(width)
    known: dict[str, Any] = {
        "softplus((-y*s))": (Logistic(), 1.0, labels),
        f"square({hinge})": (SquaredHinge(), 2.0, labels),
        HUBER.format(hinge, width): (SmoothedHinge(size), 2 * size, labels),
        "exp((-y*s))": (Exponential(), 1.0, labels),
        "softplus((s))": (CrossEntropy(), 1.0, counts if (rate <= 1).all() else None),
        "exp((s))": (Poisson(), 1.0, counts),
    }
    for base in ("(s)", "(-s)"):
        known[f"square({base})"] = LeastSquares(), 2.0, centre
        known[HUBER.format(base, width)] = Huber(size), 2.0, centre
    found = known.get(formula)
    return None if found is None or found[2] is None else found


def assemble(blocks: list[Block], floor: float) -> Losses:
    """One loss for all samples, and their data; weights have the mean 1.

    Below ``floor`` what is steep at 0 is continued.
    """
    block = joined(blocks)
    offset = block.offset if block.offset.any() else None
    if (found := shipped(block)) is not None:
        loss, factor, y = found
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
