"""A rigorous second opinion: the gap of a pair (β, w) as an enclosure, in ball arithmetic.

``verify`` needs nothing of rcmd but the numbers: data are read as exact doubles, sums are plain
loops, l, l*, R and R* come from the tables in ``losses`` (``expressions``) and ``oracles``, written
from the mathematics, and ``balls`` are python-flint's, with the error of every operation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

from rcmd.model.constants import ROUNDING
from rcmd.model.problem import Problem, check_problem
from rcmd.oracles.base import FEASIBILITY
from rcmd.rows import BilinearRows, DenseRows, DiskRows, MatrixEntries, SparseRows, as_rows
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import check_kind, pip_install
from rcmd.solver.result import Result

BITS = (128, 256, 512, 1024)
"""Precisions, tried in turn."""

SHARE = 1e-3
"""Share of the gap that its enclosure may be wide."""


@dataclass(frozen=True)
class Enclosure:
    """What is proved about a pair (β, w), and what was stated.

    Attributes
    ----------
    primal, dual, gap
        Lower and upper bounds of P(β), D(w) and P(β) − D(w) ≥ P(β) − P*, at the points next to
        the saved ones that lie in dom R and in dom l*.
    moved
        How far β was moved into dom R, in its largest entry.
    stated
        The gap that the result states.
    rounding
        What a stated gap may miss: by 2⁻⁵⁰ of the terms of Xβ, Xᵀw and its own sums, which is
        the rounding of floats, and by the move of β if it was outside by 1e-10 or less.
    assumes
        What is taken for granted; empty for what rcmd ships.
    fault
        What is wrong beside the gap: β outside dom R by more than 1e-10, a P(β) that is stated too
        low or a D(w) too high; empty if nothing is.
    bits, seconds
        The precision, and the time it took.
    """

    primal: tuple[float, float]
    dual: tuple[float, float]
    gap: tuple[float, float]
    moved: float
    stated: float
    rounding: float
    assumes: str
    fault: str
    bits: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether something is proved, and nothing that is stated is better than that."""
        enough = self.stated + self.rounding >= self.gap[0]
        return math.isfinite(self.gap[1]) and not self.fault and enough

    def __str__(self) -> str:
        if not math.isfinite(self.gap[1]):
            return "Nothing is proved: D(w) or P(β) may be infinite next to this pair."
        low, high = _rounded(self.gap[0], ROUND_FLOOR), _rounded(self.gap[1], ROUND_CEILING)
        given = f" if {self.assumes}" if self.assumes else ""
        wrong = self.fault or f"the gap of the pair is at least {low}"
        verdict = "which holds" if self.holds else f"WRONG: {wrong}"
        moved = f"by at most {_rounded(self.moved, ROUND_CEILING)} to lie in dom R exactly"
        return (
            f"The suboptimality is at most {high}, proved{given} ({self.bits} bits, "
            f"{self.seconds:.3g} s).\nThe result states a gap of {self.stated:.4g}, {verdict}."
            + (f"\nThat is said of β moved {moved}." if self.moved > 0 else "")
        )


def verify(result: Result, problem: Problem) -> Enclosure:
    """Recompute the gap of ``result`` for ``problem`` rigorously, from the data and the pair alone.

    β is moved into dom R and w into dom l* first, where they miss them by rounding. Losses and
    oracles of your own are refused, and so are ``CvxpyOracle`` and rows known by products alone.
    Needs python-flint: ``pip install 'rcmd-opt[verify]'``.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic, Problem, solve, verify
    >>> problem = Problem([[1.0, 2.0], [0.5, -1.0]], [1.0, -1.0], Logistic(), L1Ball(1.0))
    >>> found = verify(solve(problem, tol=1e-6), problem)
    >>> found.holds, found.gap[0] <= found.gap[1] <= 1e-6
    (True, True)
    >>> print(found)  # doctest: +ELLIPSIS
    The suboptimality is at most ..., proved (128 bits, ... s).
    The result states a gap of ..., which holds.
    """
    started = time.perf_counter()
    check_kind("result", result, Result, "a Result, as solve and load_result return")
    check_problem(problem)
    _check_same(result, problem)
    try:
        from flint import ctx
    except ImportError:
        raise ImportError(
            "verify needs the package python-flint, which is not installed; expected it to be: "
            f"{pip_install('verify')}"
        ) from None
    width = math.inf
    for bits in BITS:
        with ctx.workprec(bits):
            found = _enclosed(result, problem)
        low, high = found["gap"]
        if high < math.inf and (high - low <= SHARE * high or not high - low < width / 2):
            break
        width = high - low
    primal, dual, rounding = found["primal"][0], found["dual"][1], found["rounding"]
    if found.pop("outside"):
        fault = "β lies outside dom R, where P is infinite"
    elif not result.primal >= primal - rounding:
        fault = f"P(β) is at least {_rounded(primal, ROUND_FLOOR)}, and not {result.primal:.4g}"
    elif not result.dual <= dual + rounding:
        fault = f"D(w) is at most {_rounded(dual, ROUND_CEILING)}, and not {result.dual:.4g}"
    else:
        fault = ""
    seconds = time.perf_counter() - started
    return Enclosure(**found, fault=fault, stated=float(result.gap), bits=bits, seconds=seconds)


def _enclosed(result: Result, problem: Problem) -> dict[str, Any]:
    from rcmd.testing.enclosure.balls import (
        ball,
        balls,
        blurred,
        max_norm,
        outward,
        sizes,
        total,
    )
    from rcmd.testing.enclosure.losses import pair_of
    from rcmd.testing.enclosure.oracles import regularizer_of

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
    from rcmd.testing.enclosure.balls import balls, inner

    if not isinstance(beta, LowRank):
        return balls(beta)
    left = [
        [a * w for a, w in zip(balls(row), balls(beta.weights), strict=True)] for row in beta.left
    ]
    right = [balls(row) for row in beta.right]
    return [inner(a, b) for a in left for b in right]


def _rows(rows: Any) -> Iterator[list[tuple[int, Any]]]:
    """The entries of each row that are not zero, with their columns; doubles as they are."""
    from rcmd.testing.enclosure.balls import balls

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


def _check_same(result: Result, problem: Problem) -> None:
    """Refuse a result of another problem, as far as one can see."""
    if problem.spread:
        raise ValueError("problem has rows on other processes; expected a Problem with all rows")
    told = {"w": (problem.n,), "beta": problem.rows.zero().shape}
    for name, shape in told.items():
        if getattr(result, name).shape != shape:
            raise ValueError(
                f"{name} of result has shape {getattr(result, name).shape}; expected {shape}: it "
                "is the result of another problem"
            )
    about = result.about
    if about is not None:
        here = {"loss": problem.loss.formula, "regularizer": problem.oracle.describe()}
        for name, formula in here.items():
            if getattr(about, name) != formula:
                raise ValueError(
                    f"result was found with the {name} {getattr(about, name)} and problem has "
                    f"{formula}; expected the same problem"
                )


def _rounded(number: float, way: str) -> str:
    """Four digits, rounded up or down."""
    return f"{float(Context(prec=4, rounding=way).create_decimal(Decimal(number))):.4g}"
