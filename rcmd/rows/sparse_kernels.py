"""Sparse rows, one by one: columns picked and put beside each other, sums, products.

Entries are written in any case and then kept or not, which leaves no branch to be guessed
wrong; so every output has room for one entry more. Unsigned places spare the tests for
negative ones.
"""

import numpy as np

from rcmd.jit.caching import kernel


@kernel
def count(columns, places):
    """How many entries stand in columns with ``places[k]`` ≥ 0."""
    total = 0
    for a in range(columns.size):
        total += places[np.uint64(columns[a])] >= 0
    return total


@kernel
def pick(values, columns, offsets, places, picked, where, starts):
    """The entries x_jk with ``places[k]`` ≥ 0, as column ``places[k]``."""
    end, one = np.uint64(0), np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
            place = places[np.uint64(columns[a])]
            picked[end] = values[a]
            where[end] = place
            end += np.uint64(place >= 0)
        starts[j + one] = end


@kernel
def weighted_sums(values, columns, offsets, weights, sums):
    """``sums[j]`` = Σ_k x_jk ``weights[k]``, in the order in which the entries stand."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        total = 0.0
        for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
            total += values[a] * weights[np.uint64(columns[a])]
        sums[j] = total


@kernel
def column_sums(values, columns, offsets, weights, sums):
    """``sums[k] += Σ_j weights[j] x_jk``."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        weight = weights[j]
        for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
            sums[np.uint64(columns[a])] += values[a] * weight


@kernel
def weighted_products(values, columns, offsets, weights, v, total):
    """``total += Σ_j weights[j] (x_jᵀv) x_j``."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        first, last = np.uint64(offsets[j]), np.uint64(offsets[j + one])
        product = 0.0
        for a in range(first, last):
            product += values[a] * v[np.uint64(columns[a])]
        product *= weights[j]
        for a in range(first, last):
            total[np.uint64(columns[a])] += product * values[a]


@kernel
def both_products(values, columns, offsets, beta, w, sums, total):
    """``sums[j]`` = x_jᵀβ and ``total += Σ_j w_j x_j``, in the order in which the entries stand."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        product, weight = 0.0, w[j]
        for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
            k = np.uint64(columns[a])
            product += values[a] * beta[k]
            total[k] += weight * values[a]
        sums[j] = product


@kernel
def peaks(values, offsets, out):
    """``out[j]`` = max_k |x_jk|, and 0 for an empty row."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        peak = 0.0
        for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
            peak = max(peak, abs(values[a]))
        out[j] = peak


@kernel
def join(left, right, places, shift, values, columns, offsets):
    """The columns i of ``left`` as ``places[i]`` where that is ≥ 0; ``right``, shifted."""
    left_values, left_columns, left_offsets = left
    right_values, right_columns, right_offsets = right
    end, one = np.uint64(0), np.uint64(1)
    for j in range(np.uint64(left_offsets.size - 1)):
        for a in range(np.uint64(left_offsets[j]), np.uint64(left_offsets[j + one])):
            place = places[np.uint64(left_columns[a])]
            values[end] = left_values[a]
            columns[end] = place
            end += np.uint64(place >= 0)
        for a in range(np.uint64(right_offsets[j]), np.uint64(right_offsets[j + one])):
            values[end] = right_values[a]
            columns[end] = right_columns[a] + shift
            end += one
        offsets[j + one] = end


@kernel
def sparse_gram(values, columns, offsets, curvatures, total):
    """``total += Σ_j c_j z_j z_jᵀ``, each pair of columns on one side of the diagonal."""
    one = np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        start = np.uint64(offsets[j])
        for a in range(start, np.uint64(offsets[j + one])):
            scaled, row = curvatures[j] * values[a], total[np.uint64(columns[a])]
            for b in range(start, a + one):
                row[np.uint64(columns[b])] += scaled * values[b]


@kernel
def grow_gram(values, columns, offsets, places, held, roots, buffers, total):
    """``total += Σ_j (r_j z_jk)(r_j z_jl)`` of new columns k and columns l taken.

    Column k of X is ``places[k]`` of those taken, or none below 0; from ``held`` on it is new and
    row ``places[k] − held`` of ``total``. Of two new ones the pair stands on one side only.
    """
    (found, where), one = buffers, np.uint64(1)
    for j in range(np.uint64(offsets.size - 1)):
        first, last, root = np.uint64(offsets[j]), np.uint64(offsets[j + one]), roots[j]
        new = np.uint64(0)
        for a in range(first, last):
            place = places[np.uint64(columns[a])]
            found[new], where[new] = root * values[a], place
            new += np.uint64(place >= held)
        if new == 0:
            continue
        end = new
        for a in range(first, last if held > 0 else first):
            place = places[np.uint64(columns[a])]
            found[end], where[end] = root * values[a], place
            end += np.uint64(0 <= place < held)
        for a in range(new):
            scaled, row = found[a], total[np.uint64(where[a] - held)]
            for b in range(a + one):
                row[np.uint64(where[b])] += scaled * found[b]
            for b in range(new, end):
                row[np.uint64(where[b])] += scaled * found[b]


@kernel
def entries(left, right, rows, columns, out):
    """``out[t]`` = Σ_r left_ir right_kr at the place (i, k) = (rows_t, columns_t)."""
    terms = left.shape[1]
    whole = terms // 4 * 4
    for t in range(rows.size):
        one, other = left[np.uint64(rows[t])], right[np.uint64(columns[t])]
        sums = (0.0, 0.0, 0.0, 0.0)  # side by side, which the processor adds at once
        for r in range(0, whole, 4):
            sums = (
                sums[0] + one[r] * other[r],
                sums[1] + one[r + 1] * other[r + 1],
                sums[2] + one[r + 2] * other[r + 2],
                sums[3] + one[r + 3] * other[r + 3],
            )
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        for r in range(whole, terms):
            total += one[r] * other[r]
        out[t] = total
