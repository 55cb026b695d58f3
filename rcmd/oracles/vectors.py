"""Norms, directions and largest entries of vectors, safe from overflow."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.validation import Array

SMALL, LARGE = 1e-200, 1e200
"""Sums of squares between them have neither overflowed nor lost terms that count."""

TRAILING_BITS = 9
"""Of a double's 52 bits, how many do not count when keys are compared."""

BISECTIONS = 24
"""Rounds after which a level between two neighbours of a million keys is found as a rule."""

FEW = 32
"""Entries up to which a list of pairs is cheaper than a vector: its loops are Python's."""


def direction(vector: Array, length: Any = 1, out: Array | None = None) -> Array:
    """length·vector/‖vector‖₂, or 0 for 0; entries may be so small that 1/‖vector‖₂ overflows.

    ``out`` is memory that the answer may use: fresh pages cost more than the arithmetic.

    Examples
    --------
    >>> direction(np.array([3e-310, -4e-310]), 5.0).round(6)
    array([ 3., -4.])
    """
    square = _square(vector)
    if SMALL < square < LARGE and SMALL < abs(length) < LARGE:
        return np.multiply(vector, length / math.sqrt(square), out=out)
    if vector.dtype != object:
        vector = vector / (float(abs(vector).max()) or 1.0)
    size = norm(vector)
    return vector / size * length if size > 0 else 0 * vector


def norm(vector: Array) -> Any:
    """‖vector‖₂; for fractions only where the root is one."""
    if vector.dtype == object:
        return _rational_norm(vector)
    square = _square(vector)
    if SMALL < square < LARGE:
        return math.sqrt(square)
    # Scaled by the largest entry, so that squares neither overflow nor vanish.
    largest = float(abs(vector).max())
    if largest == 0 or math.isinf(largest):
        return largest
    scaled = vector / largest
    return largest * math.sqrt(scaled @ scaled)


def _square(vector: Array) -> float:
    """vectorᵀvector, overflowed or vanished as may be; 0 where the numbers are no doubles."""
    if vector.dtype != float:
        return 0.0
    return float(np.vdot(vector, vector))  # which, unlike @, does not warn


def _rational_norm(vector: Array) -> Fraction:
    square: Any = vector @ vector
    square = Fraction(square)
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root != square:
        raise ValueError(
            f"the Euclidean norm of a vector with square {square} is irrational; exact runs "
            "need an oracle without square roots (l1 ball, box, simplex, or ridge in a larger ball)"
        )
    return root


def row_norms(entries: Array, order: float) -> Array:
    """‖·‖_order of every row, scaled so that powers neither overflow nor all vanish."""
    sizes = np.abs(entries, dtype=float)
    scales = sizes.max(axis=1)
    sizes /= np.where(scales > 0, scales, 1.0)[:, None]
    sizes **= order
    norms: Array = scales * sizes.sum(axis=1) ** (1 / order)
    return norms


def first_largest(keys: Array) -> int:
    """The first k with the largest key, keys alike in their leading 43 bits being equal.

    Sums that are equal on paper differ in their last digits by the order of summation; so
    most of such ties are broken alike on every engine. The answer is the largest key to 2⁻⁴³
    of itself. Fractions are compared exactly. ``keys`` are overwritten: the bits that do not
    count are cleared.
    """
    if keys.dtype == float:
        bits = keys.view(np.int64)
        bits &= -(1 << TRAILING_BITS)
    return int(keys.argmax())


def largest_first(keys: Array, count: int) -> Array:
    """The places of the ``count`` largest keys, the largest first."""
    places = np.arange(len(keys))
    if count < len(keys):
        places = np.argpartition(-keys, count - 1)[:count]
    return places[np.argsort(-keys[places], kind="stable")]


def largest(keys: Array, count: int) -> Array:
    """The places of the ``count`` largest keys, in increasing order; of equals the first."""
    if count >= len(keys):
        return np.arange(len(keys))
    return reaching(keys, np.partition(keys, -count)[-count], count)


def reaching(keys: Array, level: object, count: int) -> Array:
    """The first ``count`` places whose keys reach ``level``; keys above it go first."""
    places = np.flatnonzero(keys >= level)
    if len(places) > count:
        equal = np.flatnonzero(keys[places] == level)
        places = np.delete(places, equal[count - len(places) :])
    return places


def largest_of_rows(entries: Array, count: int) -> Array:
    """The ``count`` largest |entries| of every row, or all where there are fewer."""
    sizes = abs(entries)
    if count >= sizes.shape[1]:
        return sizes
    return np.partition(sizes, -count, axis=1)[:, -count:]


# ---- in loops, for methods that numba compiles (see ``rcmd.oracles.writing``) -------------------


def dot(a: Any, b: Any) -> Any:
    """aᵀb in four sums side by side, which a processor adds at once."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    whole = len(a) // 4 * 4
    for k in range(0, whole, 4):
        one += a[k] * b[k]
        two += a[k + 1] * b[k + 1]
        three += a[k + 2] * b[k + 2]
        four += a[k + 3] * b[k + 3]
    for k in range(whole, len(a)):
        one += a[k] * b[k]
    return (one + two) + (three + four)


def largest_size(vector: Any) -> Any:
    """max |vector_k|."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0  # as in ``dot``
    whole = len(vector) // 4 * 4
    for k in range(0, whole, 4):
        one, two = max(one, abs(vector[k])), max(two, abs(vector[k + 1]))
        three, four = max(three, abs(vector[k + 2])), max(four, abs(vector[k + 3]))
    for k in range(whole, len(vector)):
        one = max(one, abs(vector[k]))
    return max(max(one, two), max(three, four))


def write_direction(vector: Any, length: Any, out: Any) -> None:
    """``direction`` into ``out``, which may be ``vector`` itself."""
    square = dot(vector, vector)
    if SMALL < square < LARGE and SMALL < abs(length) < LARGE:
        factor = length / math.sqrt(square)
        for k in range(len(vector)):
            out[k] = vector[k] * factor
        return
    unit = largest_size(vector)
    for k in range(len(vector)):
        out[k] = vector[k] / unit if unit > 0 else 0.0
    size = math.sqrt(dot(out, out)) if unit > 0 else 1.0
    for k in range(len(vector)):
        out[k] = out[k] / size * length


def put_last(keys: Any, count: int) -> None:
    """Put the ``count`` largest keys last, the least of them first."""
    low, high, place = 0, len(keys) - 1, len(keys) - count
    while low < high:  # Hoare's selection
        pivot, i, j = keys[place], low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        low = i if place >= i else low
        high = j if place <= j else high
        if j < place < i:
            break


def key_of(cost: Any, both_signs: bool) -> Any:
    """The key |c_k| or −c_k of c_k."""
    return abs(cost) if both_signs else -cost


def write_reaching(c: Any, both_signs: bool, keys: Any, count: int, indices: Any) -> int:
    """``reaching`` of the places that stand in ``indices``, as many as ``keys``.

    The ``count`` largest keys stand last, least first. Returns how many places were written.
    """
    level, equal, found = keys[len(keys) - count], 0, 0
    for e in range(len(keys) - count, len(keys)):
        equal += 1 if keys[e] == level else 0
    for e in range(len(keys)):
        k = indices[e]
        key = key_of(c[k], both_signs)
        if key >= level and (key > level or equal > 0):
            indices[found] = k
            found += 1
            equal -= 1 if key == level else 0
    return found


def write_largest(c: Any, both_signs: bool, count: int, indices: Any, keys: Any) -> int:
    """``largest`` for such keys, with ``keys`` as scratch.

    Where ``indices`` hold the answer for costs nearby, as from one step to the next, few others
    reach the least key there, and only these are searched; whatever else they hold costs time. A
    level with as many keys above it is found by bisection, whose counts have no branches to guess
    wrong; where some keys are too close to each other, by a selection.
    """
    count = min(count, len(c))
    low, high, before, found = math.inf, -math.inf, -1, 0
    for e in range(count):
        k = indices[e]
        if not before < k < len(c):
            high = largest_size(c)
            low = -high
            break
        key = key_of(c[k], both_signs)
        low, high, before = min(low, key), max(high, key), k
    for k in range(len(c)):
        found += 1 if key_of(c[k], both_signs) >= low else 0
    if found == count < len(c):
        return count
    found = 0
    for k in range(len(c)):
        key = key_of(c[k], both_signs)
        indices[found], keys[found] = k, key
        found += 1 if key >= low else 0
    if found == count:
        return count
    for _ in range(BISECTIONS):
        level, above, kept = (low + high) / 2, 0, 0
        for e in range(found):
            above += 1 if keys[e] > level else 0
        if above == count:
            for e in range(found):
                indices[kept] = indices[e]
                kept += 1 if keys[e] > level else 0
            return count
        low, high = (level, high) if above > count else (low, level)
    put_last(keys[:found], count)
    return write_reaching(c, both_signs, keys[:found], count, indices)


def leading(key: Any) -> Any:
    """The bits of a double that count in ``first_largest``."""
    fraction, exponent = math.frexp(key)
    bits = 53 - TRAILING_BITS
    return math.ldexp(float(int(math.ldexp(fraction, bits))), exponent - bits)


def atom_on(places: Array, values: Array, p: int) -> Atom:
    """The vector of length p with these values at these places, and zeros."""
    if len(places) <= FEW:
        return SparseAtom(tuple(places.tolist()), tuple(values.tolist()))
    vector = np.zeros(p, dtype=values.dtype)
    vector[places] = values
    return DenseAtom(vector)
