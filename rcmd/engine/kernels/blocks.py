"""The compiled loop for oracles that write their atoms, and for products of such.

The variables are cut into blocks, each with its own rule for its part of the atom: a vertex rule
(see ``vertex``), or a function that writes it (see ``rcmd.jit.writers``), called by its address.
So one kernel serves all oracles. Entries of sparse parts stand in a list; where there is a dense
part, or where they are many, the atom is spread out as a vector, and a row is multiplied with it.
A translation by ``shift`` costs nothing: it adds x_jᵀshift to the predictions and c_i·shift to
β's sum, once and for all.
"""

import numpy as np
from numba import njit

from rcmd.engine.kernels.layout import (
    add,
    column,
    entry,
    look_ahead,
    mirror_step,
    row_length,
    row_start,
    scatter,
    value,
)
from rcmd.engine.kernels.vertex import find_vertex, raise_bounds
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import call_writer, masked, part

FEW = 4
"""Entries up to which a row is searched for each; a product with the row is about as dear."""


@njit(error_model="numpy")
def dot(rows, j, atom):
    """x_jᵀ atom."""
    base, total = row_start(rows, j), 0.0
    for t in range(row_length(rows, j)):
        total = add(total, value(rows, base, t) * atom[column(rows, base, t)])
    return total


@njit(error_model="numpy")
def scale(vector, factor, out):
    """``out[:] = factor · vector``; spelled thus, numba compiles 40 functions for its error."""
    for k in range(out.size):
        out[k] = factor * vector[k]


@njit(error_model="numpy")
def accumulate(total, weight, vector):
    """``total += weight · vector``."""
    for k in range(total.size):
        total[k] += weight * vector[k]


@njit(error_model="numpy")
def gather(start, stop, found, count, indices, values, factor, atom):
    """Append the entries of a block, which stand from ``start`` on, to the ``count`` before them.

    The atom gains them, times ``factor``. Returns how many there are now, or -1 where they are none
    of a vector on the variables from ``start`` to ``stop``.
    """
    if found < 0 or found > stop - start:
        return -1
    first, last, here = np.uint64(start), np.uint64(stop), np.uint64(count)
    for e in range(np.uint64(found)):
        k, v = first + np.uint64(indices[first + e]), factor * values[first + e]
        if k < first or k >= last:  # a place below zero wraps around
            return -1
        indices[here + e], values[here + e], atom[k] = k, v, v
    return count + found


@kernel
def run_blocks(
    rows, batches, numbers, samples, gain, gain_mask, functions, d, beta_sum, blocks, search, moved,
    work, running
):  # fmt: skip
    """Take ``len(batches)`` steps of Algorithm 2; see ``vertex.run_vertex`` for what is not here.

    Parameters
    ----------
    blocks
        For each block, its first variable and the one after its last; the address of its writer
        and of that one's θ, 0 for a vertex rule, and whether it is dense; the factor of its costs
        and atoms; and (size, threshold) and (keep, flip) of the rule.
    search
        The bounds, their offsets, and the block of the incremental search.
    moved
        x_jᵀshift at ``moved[0][j & moved[1]]``.
    work
        Vectors of length p: the atom, which is 0 outside dense blocks between steps, the scaled
        costs, and the entries' indices and values, where the next step finds the last (see
        ``rcmd.oracles.vectors.write_largest``).
    running
        The sum of all c_i, and the number of the block that wrote wrong entries, plus one.
    """
    eta, weights, cumulative = numbers
    ends, calls, factors, rules, masks = blocks
    bounds, offsets, searched = search
    atom, costs, indices, values = work
    first, last = np.uint64(ends[searched, 0]), np.uint64(ends[searched, 1])
    keep, flip = masks[searched, 0], masks[searched, 1]
    incremental, health, dense = bounds.size > 0, 0.0, False
    for b in range(ends.shape[0]):
        dense = dense or calls[b, 2] != 0
    order, position = batches.reshape(-1), np.uint64(0)
    for i in range(batches.shape[0]):
        count = 0
        for b in range(ends.shape[0]):
            start, stop, factor = ends[b, 0], ends[b, 1], factors[b]
            c, places = part(d, start, stop), part(indices, start, stop)
            if calls[b, 0] == 0:
                own = part(bounds, 0, bounds.size if b == searched else 0)
                size, threshold = rules[b, 0], rules[b, 1]
                k, v = find_vertex(c, size, masks[b, 0], masks[b, 1], threshold, own, offsets)
                indices[start], values[start], found, factor = k, v, 1, 1.0
            else:
                if factor != 1.0:
                    c = part(costs, start, stop)
                    scale(part(d, start, stop), factor, c)
                own = part(atom if calls[b, 2] else values, start, stop)
                found = call_writer(calls[b, 0], calls[b, 1], c, places, own)
                if calls[b, 2]:
                    if factor != 1.0:
                        scale(own, factor, own)
                    continue
            count = gather(start, stop, found, count, indices, values, factor, atom)
            if count < 0:
                running[1] = b + 1
                return health
        running[0] += weights[i]
        spread = dense or count > FEW
        for _ in range(batches.shape[1]):
            j = np.uint64(order[position])
            look_ahead(rows, samples, functions, order, position)
            position += np.uint64(1)
            prediction = moved[0][j & moved[1]]
            if spread:
                prediction += dot(rows, j, atom)
            else:
                for e in range(count):
                    prediction += values[e] * entry(rows, j, np.uint64(indices[e]))
            change = mirror_step(samples, j, prediction, eta[i], cumulative[i], functions)
            health += change
            pull = gain[j & gain_mask] * change
            if incremental:
                base = row_start(rows, j)
                for t in range(row_length(rows, j)):
                    k = np.uint64(column(rows, base, t))
                    d[k] += pull * value(rows, base, t)
                    if first <= k < last:
                        raise_bounds(bounds, offsets, k - first, masked(d[k], keep, flip))
            else:
                scatter(rows, j, pull, d)
        for b in range(ends.shape[0]):  # now, as what was just written is slow to read
            if calls[b, 2]:
                start, stop = ends[b, 0], ends[b, 1]
                accumulate(part(beta_sum, start, stop), weights[i], part(atom, start, stop))
        for e in range(np.uint64(count)):
            k = np.uint64(indices[e])
            beta_sum[k] += weights[i] * values[e]
            atom[k] = 0.0
    return health
