"""Numbers with proved errors: python-flint's ``arb``, a midpoint and a radius.

Every operation on balls gives a ball that holds the true result for all numbers in them; a
comparison is true only where it holds for all of them.
"""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from numbers import Rational
from typing import Any

import numpy as np
from flint import arb, arb_mat

Ball = Any
Vector = list[Any]


def ball(number: Any) -> Ball:
    """A number that Python holds: a double as it is, a fraction enclosed."""
    if isinstance(number, Rational):
        return arb(int(number.numerator)) / int(number.denominator)
    return arb(float(number))


def balls(numbers: Any) -> Vector:
    """Those of an array, entry by entry."""
    return [ball(number) for number in np.ravel(numbers).tolist()]


def outward(value: Ball) -> tuple[float, float]:
    """Doubles below and above all of a ball; infinite where nothing is known."""
    if not value.is_finite():
        return -math.inf, math.inf
    low, high = float(value.lower()), float(value.upper())
    low = low if arb(low) <= value.lower() else math.nextafter(low, -math.inf)
    return low, high if arb(high) >= value.upper() else math.nextafter(high, math.inf)


def blurred(x: Ball, error: float) -> Ball:
    """x ± error."""
    return x + arb(0, error)


def positive(x: Ball) -> Ball:
    """max(x, 0), in a ball without negative numbers."""
    return x.nonnegative_part()


def greatest(values: Iterable[Ball]) -> Ball:
    """The largest of some numbers."""
    return reduce(arb.max, values)


def total(values: Iterable[Ball]) -> Ball:
    """Their sum."""
    return sum(values, arb(0))


def inner(left: Sequence[Ball], right: Sequence[Ball]) -> Ball:
    """Σ_k left_k right_k."""
    return total(a * b for a, b in zip(left, right, strict=True))


def sizes(values: Iterable[Ball]) -> Vector:
    """|x|, entry by entry, in balls without negative numbers."""
    return [positive(abs(x)) for x in values]


def descending(values: Sequence[Ball]) -> Vector:
    """The values by size: the i-th largest lies between the i-th largest lower and upper ends."""
    lows = sorted((x.lower() for x in values), reverse=True)
    highs = sorted((x.upper() for x in values), reverse=True)
    return [low.union(high) for low, high in zip(lows, highs, strict=True)]


def power(x: Ball, exponent: Ball) -> Ball:
    """x to an exponent > 0, for x ≥ 0."""
    return x**exponent if x > 0 else arb(0).union(x.upper() ** exponent)


def xlogx(x: Ball) -> Ball:
    """x log x for x ≥ 0, and 0 at 0; near 0 it decreases from 0."""
    if x > 0:
        return x * x.log()
    top = x.upper()
    return arb(0).union(top * top.log()) if 0 < top < 0.25 else arb(0) if top == 0 else arb.nan()


def max_norm(values: Iterable[Ball]) -> Ball:
    """max |x_k|."""
    return greatest(sizes(values))


def euclidean(values: Iterable[Ball]) -> Ball:
    """‖x‖₂."""
    return positive(total(x * x for x in values)).sqrt()


# ---- symmetric matrices ------------------------------------------------------------------------


def positive_definite(matrix: Any) -> bool:
    """Whether elimination proves it: every pivot of a symmetric matrix is > 0."""
    rows = matrix.tolist()
    for i, pivot in enumerate(rows):
        if not pivot[i] > 0:
            return False
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            for k in range(i + 1, len(row)):
                row[k] -= factor * pivot[k]
    return True


def top_eigenvalue(matrix: Any) -> Ball:
    """The largest λ of a symmetric G: vᵀGv/vᵀv ≤ λ < h for any v, and any h with hI − G > 0.

    NumPy proposes v, and h is tried a little above it; nothing rests on NumPy's accuracy.
    """
    count, entries = matrix.nrows(), matrix.entries()
    size = total(sizes(entries)).upper()
    if not (size > 0 and size.is_finite()):
        return size
    scaled = np.array([float((x / size).mid()) for x in entries]).reshape(count, count)
    v = arb_mat(count, 1, balls(np.linalg.eigh((scaled + scaled.T) / 2)[1][:, -1]))
    low = (v.transpose() * matrix * v)[0, 0] / (v.transpose() * v)[0, 0]
    identity, above = arb_mat(count, count, balls(np.eye(count))), size / 2**100
    while not positive_definite(identity * (low.upper() + above) - matrix):
        above *= 2**10
    return low.union(low.upper() + above)


def spectral_norm(c: Sequence[Ball], shape: tuple[int, int]) -> Ball:
    """σ₁ of a matrix, read row by row."""
    matrix = arb_mat(*shape, list(c))
    if shape[0] <= shape[1]:
        return positive(top_eigenvalue(matrix * matrix.transpose())).sqrt()
    return positive(top_eigenvalue(matrix.transpose() * matrix)).sqrt()


def nuclear_norm(beta: Sequence[Ball], shape: tuple[int, int]) -> Ball:
    """At least ⟨β, UVᵀ⟩/σ₁(UVᵀ), at most Σ_i s_i‖u_i‖‖v_i‖ + √k·‖β − USVᵀ‖₂, for any U, S, V.

    k is the shorter side; NumPy's decomposition of β rounded proposes them.
    """
    rounded = np.array([float(b.mid()) for b in beta]).reshape(shape)
    parts = np.linalg.svd(rounded, full_matrices=False)
    weights, count = balls(parts[1]), len(parts[1])
    left = arb_mat(shape[0], count, balls(parts[0]))
    right = arb_mat(count, shape[1], balls(parts[2]))
    stretched = arb_mat([[w * x for x in v] for w, v in zip(weights, right.tolist(), strict=True)])
    missed = euclidean(map(arb.__sub__, beta, (left * stretched).entries()))
    lengths = [
        [*map(euclidean, vectors)] for vectors in (left.transpose().tolist(), right.tolist())
    ]
    high = total(map(math.prod, zip(weights, *lengths, strict=True))) + arb(count).sqrt() * missed
    signs = (left * right).entries()
    low = inner(beta, signs) / spectral_norm(signs, shape)
    return low.union(high)
