"""P(β), D(w) and their gap summed up in balls, sample by sample, from the data and the tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rcmd.model.constants import ROUNDING
from rcmd.model.problem import Problem
from rcmd.oracles.base import FEASIBILITY
from rcmd.rows import BilinearRows, DenseRows, DiskRows, MatrixEntries, SparseRows, as_rows
from rcmd.rows.lowrank import LowRank
from rcmd.solver.result import Result
from rcmd.testing.enclosure.balls import (
    ball,
    balls,
    blurred,
    inner,
    max_norm,
    outward,
    sizes,
    total,
)
from rcmd.testing.enclosure.losses import pair_of
from rcmd.testing.enclosure.oracles import regularizer_of


def enclosed(result: Result, problem: Problem) -> dict[str, Any]:
    """The fields of an ``Enclosure`` in this precision, and whether β is ``outside`` dom R."""
    pair, regularizer = pair_of(problem.loss), regularizer_of(problem.oracle)
    saved, duals = _entries(result.beta), balls(result.w)
    if not all(number.is_finite() for number in (*saved, *duals)):
        raise ValueError("result holds NaN or infinity in β or w; expected finite numbers")
    beta = regularizer.inside(saved)
    weights = problem.losses.weights
    omega = balls(np.ones(problem.n) if weights is None else weights)
    offsets = balls(np.zeros(problem.n) if problem.offset is None else problem.offset)
    labels = zip(balls(problem.losses.y), *map(balls, problem.losses.fields), strict=True)
    samples = zip(_rows(problem.rows), labels, offsets, duals, omega, strict=True)
    slope, slope_terms = [ball(0)] * problem.p, [0.0] * problem.p
    losses, conjugates, rounding = ball(0), ball(0), ball(0)
    moves = sizes(b - a for a, b in zip(saved, beta, strict=True))
    # A move counts as rounding where floats cannot tell that β lies outside.
    counted = float(problem.oracle.violation(result.beta) <= FEASIBILITY)
    pairs = zip(beta, moves, strict=True)
    errors = [ROUNDING * abs(float(b)) + counted * outward(move)[1] for b, move in pairs]
    for row, at, offset, w, weight in samples:
        s = total(x * beta[k] for k, x in row) + offset
        unit, conjugate = pair.dual(w / weight, *at)
        value, w = pair.value(s, *at), weight * unit
        losses += weight * value
        conjugates += weight * conjugate - offset * w
        size = abs(float(w))
        for k, x in row:
            slope[k] += x * w
            slope_terms[k] += abs(float(x)) * size
        blur = sum(abs(float(x)) * errors[k] for k, x in row) + ROUNDING * abs(float(offset))
        near, terms = blurred(s, blur), abs(value) + abs(conjugate)
        rounding += weight * (pair.value(near, *at).rad() + ROUNDING * terms)
        rounding += abs(w) * near.rad()
    c = [x / problem.n for x in slope]
    penalty, lowest = regularizer.value(beta), -regularizer.conjugate(c)
    primal, dual = losses / problem.n + penalty, lowest - conjugates / problem.n
    blurs = (ROUNDING * terms / problem.n for terms in slope_terms)
    around = [blurred(x, error) for x, error in zip(c, blurs, strict=True)]
    rounding = rounding / problem.n + regularizer.conjugate(around).rad()
    rounding += ROUNDING * (abs(penalty) + abs(lowest))
    rounding += counted * abs(regularizer.value(saved) - penalty)
    low, high = outward(primal - dual)
    return {
        "primal": outward(primal),
        "dual": outward(dual),
        "gap": (max(low, 0.0), high),  # weak duality
        "moved": outward(max_norm(moves))[1],
        "rounding": outward(rounding)[1],
        "assumes": pair.assumes,
        "outside": not counted,
    }


def _entries(beta: Any) -> list[Any]:
    """β as it was saved, entry by entry; of a ``LowRank``, the products added up."""
    if not isinstance(beta, LowRank):
        return balls(beta)
    left = [
        [a * w for a, w in zip(balls(row), balls(beta.weights), strict=True)] for row in beta.left
    ]
    right = [balls(row) for row in beta.right]
    return [inner(a, b) for a in left for b in right]


def _rows(rows: Any) -> Iterator[list[tuple[int, Any]]]:
    """The entries of each row that are not zero, with their columns; doubles as they are."""

    def numbers(array: Any) -> list[Any]:
        return balls(array) if array.dtype == object else array.tolist()

    if isinstance(rows, DiskRows):
        rows = as_rows(rows.mapped())
    if isinstance(rows, SparseRows):
        matrix = rows.matrix
        for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
            columns = matrix.indices[start:stop].tolist()
            yield list(zip(columns, numbers(matrix.data[start:stop]), strict=True))
    elif isinstance(rows, DenseRows):
        for x in rows.array:
            yield [(k, entry) for k, entry in enumerate(numbers(x)) if entry != 0]
    elif isinstance(rows, MatrixEntries):
        for i, k in zip(rows.rows.tolist(), rows.columns.tolist(), strict=True):
            yield [(i * rows.shape[1] + k, 1.0)]
    elif isinstance(rows, BilinearRows):
        right = [balls(x) for x in rows.right]
        for left in map(balls, rows.left):
            for other in right:
                yield list(enumerate(a * b for a in left for b in other))
    else:
        raise ValueError(
            f"X is {type(rows).__name__}, whose numbers are known by products in floats alone; "
            "expected an array, a sparse matrix, rows on disk or entries of a matrix"
        )
