"""The samples of an objective as one loss of rcmd, with rows, labels, offset, weights, fields."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.affine import Affine, shown, weighted
from rcmd.applications.from_cvxpy.terms import HUBER, Samples, aligned, directions
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

DENSE_FROM = 0.3
"""Share of nonzeros from which rows of several parts are kept as an array."""


@dataclass
class Block:
    """Samples on the same rows: Σ_j weights_j (f(s_j) + slope_j s_j) + constant.

    ``formula`` is in s, y and the ``fields``; s_j = z_j + offset_j with z = ``rows``,
    and the first leaf is turn_j z_j and a constant.
    """

    formula: str
    rows: Affine
    weights: Array
    offset: Array
    slope: Array
    fields: dict[str, Array]
    y: Array | None
    turn: Array
    expressions: list[Any] = field(default_factory=list)


class Losses(NamedTuple):
    """What ``Problem`` is given, the rows by ``rows``; the objective is ``scale`` times its P."""

    loss: SeparableConjugate
    y: Array
    weights: Array | None
    offset: Array | None
    fields: dict[str, Array]
    scale: float


def blocks_of(
    samples: list[Samples], linear: list[tuple[Affine, Array]]
) -> tuple[list[Block], float, list[tuple[Affine, Array]]]:
    """The samples by their rows, what a constant adds, and linear terms that have rows of no loss.

    A linear term is taken up by the loss with its rows, as the labels of a likelihood are.
    """
    groups: list[list[Samples]] = []
    for one in samples:
        fitting = (g for g in groups if _aligned([*g[0].leaves, *one.leaves]))
        group = next(fitting, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    alone = len(groups) == 1
    made = [_block(group, alone) for group in groups]
    rest, constant = [], 0.0
    for leaf, weights in linear:
        for block, group in zip(made, groups, strict=True):
            leaves = [*group[0].leaves, leaf]
            if _aligned(leaves):
                slope = weights * directions(leaves)[1][-1] * block.turn
                constant += float(weights @ leaf.offset - slope @ block.offset)
                block.slope = block.slope + slope / block.weights
                break
        else:
            rest.append((leaf, weights))
    return made, constant, rest


def _aligned(leaves: list[Affine]) -> bool:
    return len({leaf.offset.size for leaf in leaves}) == 1 and aligned(leaves)


def _block(group: list[Samples], alone: bool) -> Block:
    """One formula for all samples of a group; ``alone``, its rows are those of the user's data."""
    leaves = [leaf for samples in group for leaf in samples.leaves]
    first, ratios = directions(leaves)
    size = first.offset.size
    scale = next(iter(first.parts.values()))[0]
    y = None
    if alone and np.ndim(scale) and (abs(scale) == 1).all() and np.ptp(scale) > 0:
        y, factor = -scale, scale
    elif alone and not np.ndim(scale) and abs(scale) == 1:
        factor = np.full(size, scale)
    else:
        scale, factor = 1.0, np.ones(size)
    rows = Affine(
        {k: (_quotient(t, scale), A) for k, (t, A) in first.parts.items()}, np.zeros(size)
    )
    ratios = [ratio * factor for ratio in ratios]
    shifts = [leaf.offset for leaf in leaves]
    start, offset = ratios[leaves.index(first)], np.zeros(size)
    inline = np.ptp(first.offset) == 0 and alone
    if not inline:
        offset = first.offset / start
        shifts = [shift - ratio * offset for shift, ratio in zip(shifts, ratios, strict=True)]
    fields: dict[str, Array] = {}
    texts = [_leaf(r, d, y, fields) for r, d in zip(ratios, shifts, strict=True)]
    formulas, count = [], 0
    weights = group[0].weights
    for samples in group:
        own = texts[count : count + len(samples.leaves)]
        count += len(samples.leaves)
        share = _number(samples.weights / weights, fields)
        front = "" if share == "1.0" else f"{share}*"
        formulas.append(front + samples.formula.format(*(f"({text})" for text in own)))
    expressions = [samples.expression for samples in group]
    return Block(
        " + ".join(formulas), rows, weights, offset, np.zeros(size), fields, y,
        factor, expressions,
    )  # fmt: skip


def _quotient(t: Any, scale: Any) -> Any:
    """t/scale, as a number where it is one."""
    found = np.asarray(t / scale, dtype=float)
    return float(found.flat[0]) if np.ptp(found) == 0 else found


def _number(values: Array, fields: dict[str, Array]) -> str:
    """A number that all samples share, or the name of a new field."""
    if np.ptp(values) <= 1e-15 * abs(values).max():
        return repr(float(values[0]))
    for name, known in fields.items():
        if np.array_equal(known, values):
            return name
    name = f"c{len(fields)}"
    fields[name] = values
    return name


def _leaf(ratio: Array, shift: Array, y: Array | None, fields: dict[str, Array]) -> str:
    """ratio·s + shift."""
    if not ratio.any():
        return _number(shift, fields)
    if y is not None and np.ptp(ratio) > 0 and np.ptp(ratio * y) == 0:
        front = _times(float((ratio * y)[0]), "y*s")
    elif np.ptp(ratio) == 0:
        front = _times(float(ratio[0]), "s")
    else:
        front = f"{_number(ratio, fields)}*s"
    return front if not shift.any() else f"{front} + {_number(shift, fields)}"


def _times(number: float, name: str) -> str:
    return {1.0: name, -1.0: f"-{name}"}.get(number, f"{number!r}*{name}")


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


def assemble(blocks: list[Block], ends: Callable[[Affine], tuple[float, float]]) -> Losses:
    """One loss for all samples, and their data; weights have the mean 1.

    ``ends`` bound s over the bounds of the variables: logarithms are continued beyond them.
    """
    if any(LOGARITHM in block.formula for block in blocks):
        blocks = [
            _continued(block, *ends(block.rows._replace(offset=block.offset))) for block in blocks
        ]
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
    formula, fields = block.formula, dict(block.fields)
    if block.slope.any():
        formula = f"{formula} + ({_number(block.slope, fields)})*s"
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


LOGARITHM = "log((s))"


def _continued(block: Block, low: float, high: float) -> Block:
    """Logarithms of predictions from ``low`` to ``high`` continued to all numbers.

    Below by the parabola and above by the tangent that touch them there.
    """
    if not 0 < low < np.inf:
        return block
    own = f"log({low!r}) + (s - {low!r})/{low!r} - (s - {low!r})**2/(2*{low!r}**2)"
    own = f"where(s > {low!r}, log(s), {own})"
    if np.isfinite(high):
        own = f"where(s > {high!r}, log({high!r}) + (s - {high!r})/{high!r}, {own})"
    return replace(block, formula=block.formula.replace(LOGARITHM, own))


def _scaled(loss: Any, y: Array, weights: Array, offset: Any, fields: dict[str, Array]) -> Losses:
    scale = float(weights.sum())
    relative = weights * (len(weights) / scale)
    equal = np.ptp(weights) <= 1e-14 * weights.max()
    return Losses(loss, y, None if equal else relative, offset, fields, scale)


def joined(blocks: list[Block]) -> Block:
    """All blocks as one: of the same formula, or Σ_b k_b f_b with the weights as fields k_b."""
    if len(blocks) == 1:
        return blocks[0]
    sizes = [len(block.weights) for block in blocks]
    ends = np.cumsum([0, *sizes])

    def stacked(number: int, values: Array, rest: float = 0.0) -> Array:
        whole = np.full(ends[-1], rest)
        whole[ends[number] : ends[number + 1]] = values
        return whole

    weights, offset, slope = (
        np.concatenate([getattr(block, name) for block in blocks])
        for name in ("weights", "offset", "slope")
    )
    expressions = [e for block in blocks for e in block.expressions]
    nowhere = Affine({}, np.zeros(ends[-1]))
    shared = blocks[0].formula
    alike = all(b.formula == shared and b.fields.keys() == blocks[0].fields.keys() for b in blocks)
    if alike:
        names = blocks[0].fields
        fields = {name: np.concatenate([b.fields[name] for b in blocks]) for name in names}
        return Block(shared, nowhere, weights, offset, slope, fields, None, weights, expressions)
    fields, texts = {}, []
    for number, block in enumerate(blocks):
        text = block.formula
        for name, values in block.fields.items():
            text = re.sub(rf"\b{name}\b", f"b{number}{name}", text)
            fields[f"b{number}{name}"] = stacked(number, values, float(values[0]))
        fields[f"k{number}"] = stacked(number, block.weights)
        texts.append(f"k{number}*({text})")
    # The weights went into the fields, those of the slopes with them.
    mean = float(weights.mean())
    for number in range(len(blocks)):
        fields[f"k{number}"] = fields[f"k{number}"] / mean
    slope = slope * weights / mean
    text = " + ".join(texts)
    even = np.full(ends[-1], mean)
    return Block(text, nowhere, even, offset, slope, fields, None, weights, expressions)


def rows_of(blocks: Sequence[Block], columns: dict[int, Array], p: int) -> Any:
    """The matrix of all samples, whose column k belongs to β_k; the user's own where it can be.

    ``columns`` says which β each entry of a variable is.
    """
    stack = [_matrix(block, columns, p) for block in blocks]
    if len(stack) == 1:
        return stack[0]
    filled = sum(m.nnz if sp.issparse(m) else m.size for m in stack)
    if filled < DENSE_FROM * sum(m.shape[0] for m in stack) * p:
        return sp.vstack([sp.csr_array(m) for m in stack], format="csr")
    return np.vstack([m.toarray() if sp.issparse(m) else m for m in stack])


def _matrix(block: Block, columns: dict[int, Array], p: int) -> Any:
    size, parts = len(block.weights), block.rows.parts
    made = {k: weighted(t, A, size) for k, (t, A) in parts.items()}
    if len(made) == 1:
        ((k, matrix),) = made.items()
        if matrix.shape[1] == p and (columns[k] == np.arange(p)).all():
            return matrix
    filled = sum(m.nnz if sp.issparse(m) else m.size for m in made.values())
    if filled < DENSE_FROM * size * p:
        total = sp.csr_array((size, p))
        for k, matrix in made.items():
            coo = sp.coo_array(matrix)
            total += sp.csr_array((coo.data, (coo.row, columns[k][coo.col])), shape=(size, p))
        return total
    whole = np.zeros((size, p))
    for k, matrix in made.items():
        whole[:, columns[k]] += matrix.toarray() if sp.issparse(matrix) else matrix
    return whole
