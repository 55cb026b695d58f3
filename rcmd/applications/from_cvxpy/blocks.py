"""The samples of an objective by their rows: one formula for all samples on the same rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.affine import Affine, weighted
from rcmd.applications.from_cvxpy.formulas import aligned, directions
from rcmd.applications.from_cvxpy.terms import Samples
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
    floors: list[tuple[Affine, Array, Array]] = field(default_factory=list)
    """Leaves that must be above the floor, each ratio·z + shift."""


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
    steep = ["floor" in samples.formula for samples in group for _ in samples.leaves]
    floors = [
        each[:3]
        for each in zip(leaves, ratios, shifts, steep, strict=True)
        if each[3] and each[0].parts
    ]
    start, offset = ratios[leaves.index(first)], np.zeros(size)
    inline = np.ptp(first.offset) == 0 and y is not None  # as in a hinge 1 − ys
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
        share = number_or_field(samples.weights / weights, fields)
        front = "" if share == "1.0" else f"{share}*"
        formulas.append(front + samples.formula.format(*(f"({text})" for text in own)))
    expressions = [samples.expression for samples in group]
    return Block(
        " + ".join(formulas), rows, weights, offset, np.zeros(size), fields, y,
        factor, expressions, floors,
    )  # fmt: skip


def _quotient(t: Any, scale: Any) -> Any:
    """t/scale, as a number where it is one."""
    found = np.asarray(t / scale, dtype=float)
    return float(found.flat[0]) if np.ptp(found) == 0 else found


def number_or_field(values: Array, fields: dict[str, Array]) -> str:
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
        return number_or_field(shift, fields)
    if y is not None and np.ptp(ratio) > 0 and np.ptp(ratio * y) == 0:
        front = _times(float((ratio * y)[0]), "y*s")
    elif np.ptp(ratio) == 0:
        front = _times(float(ratio[0]), "s")
    else:
        front = f"{number_or_field(ratio, fields)}*s"
    return front if not shift.any() else f"{front} + {number_or_field(shift, fields)}"


def _times(number: float, name: str) -> str:
    return {1.0: name, -1.0: f"-{name}"}.get(number, f"{number!r}*{name}")


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
