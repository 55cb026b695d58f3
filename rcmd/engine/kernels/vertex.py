"""The compiled loop for oracles whose atom is one entry (or zero), and the search for its place.

The atom is ``+size`` or ``-size`` at the coordinate of the largest key, what a vertex there can
gain, or zero when that key does not exceed ``threshold``:

| set or penalty                               | key   | threshold |
|----------------------------------------------|-------|-----------|
| sum |b_k| <= size                            | |d|   | -inf      |
| b >= 0, sum b_k = size                       | -d    | -inf      |
| b >= 0, sum b_k <= size                      | -d    | 0         |
| lambda sum |b_k| on sum |b_k| <= size        | |d|   | lambda    |

These numbers are the whole oracle here, and the loss is an address: one kernel serves all of them.

The largest key is found again cheaply after few entries of d changed. Entries are grouped in
blocks of `FANOUT`, blocks in blocks of blocks, and so on, and ``bounds`` holds for every block a
number that is *at least* its largest key:

- an entry whose key grew raises the bounds above it and stops at the first that is high enough
  (`raise_bounds`), almost always at once;
- an entry whose key fell changes nothing: a bound may be loose;
- the search (`find_largest`) goes down along the highest bounds, makes those on its path tight,
  and repeats until all of them were. Its answer is exact.

So an update costs one comparison, against log2(p) for a plain tournament tree, and only blocks
that claim to hold the maximum are ever looked at again.

Keys count in their leading bits (`rcmd.oracles.vectors.first_largest` says why). They, and the
bounds themselves, are masks on the bits of a double: `BOTH_SIGNS`, `POSITIVE`, (`ALL_BITS`,
`NO_BITS`), each a pair (keep, flip) for `instructions.masked`.
"""

from typing import Any

import numpy as np
from numba import njit

from rcmd.engine.kernels.layout import (
    column,
    entry,
    look_ahead,
    mirror_step,
    row_length,
    row_start,
    scatter,
    value,
)
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import coded_highest_of_64, first_of_64, highest_of_64, larger, masked
from rcmd.oracles.vectors import TRAILING_BITS

SHIFT = np.uint64(6)
FANOUT = np.uint64(64)
ALL_BITS, NO_BITS, SIGN_BIT = np.uint64(2**64 - 1), np.uint64(0), np.uint64(2**63)
LOW_BITS = np.uint64(2**TRAILING_BITS - 1)
BOTH_SIGNS = (ALL_BITS ^ SIGN_BIT ^ LOW_BITS, NO_BITS)
POSITIVE = (ALL_BITS ^ LOW_BITS, SIGN_BIT)


def level_offsets(p: int) -> Any:
    """Where each level of bounds starts (a whole number of blocks); the last is their end."""
    offsets, count = [0], p
    while count > 1:
        count = -(-count // 64)
        offsets.append(offsets[-1] + -(-count // 64) * 64)
    return np.array(offsets, np.uint64)


def incremental_pays(p: int, touched: float) -> bool:
    """Whether raising bounds at ``touched`` entries a step beats scanning all p (measured)."""
    return p > 10 * touched and p > 512


@njit(inline="always")
def window(block, p):
    """Where the block of d starts; the last one reaches back, so that all are full."""
    return min(block << SHIFT, p - FANOUT)


@kernel
def tighten_all(d, keep, flip, bounds, offsets):
    """Make every bound tight, from the blocks of d up; d has at least FANOUT entries."""
    bounds[:] = -np.inf
    p = np.uint64(d.size)
    for block in range((p + FANOUT - np.uint64(1)) >> SHIFT):
        bounds[block] = highest_of_64(d, window(block, p), keep, flip)
    for level in range(1, offsets.size - 1):
        below, here = offsets[level - 1], offsets[level]
        for block in range((here - below) >> SHIFT):
            start = below + (block << SHIFT)
            bounds[here + block] = highest_of_64(bounds, start, ALL_BITS, NO_BITS)


@njit(error_model="numpy", inline="always")
def raise_bounds(bounds, offsets, k, key):
    """Entry k's key is now ``key``: raise the bounds that are below it."""
    block = np.uint64(k) >> SHIFT
    if key > bounds[block]:
        bounds[block] = key
        for level in range(np.uint64(1), np.uint64(offsets.size - 1)):
            block >>= SHIFT
            if key <= bounds[offsets[level] + block]:
                break
            bounds[offsets[level] + block] = key


@njit(error_model="numpy")
def find_largest(d, keep, flip, bounds, offsets):
    """The first coordinate with the largest key, and that key."""
    levels = offsets.size - 1
    p, root = np.uint64(d.size), offsets[levels - 1]
    k, top = np.uint64(0), -np.inf
    for _ in range(offsets[levels] + np.uint64(1)):  # a turn lowers a bound: only nan goes on
        block = np.uint64(0)
        for level in range(levels - 1, 0, -1):  # down along the highest bounds
            below = offsets[level - 1]
            start = below + (block << SHIFT)
            top = highest_of_64(bounds, start, ALL_BITS, NO_BITS)
            bounds[offsets[level] + block] = top
            last = offsets[level] - below - np.uint64(1)  # where nan would lead beyond
            block = min(first_of_64(bounds, start, ALL_BITS, NO_BITS, top) - below, last)
        start = window(block, p)
        top = highest_of_64(d, start, keep, flip)
        if top == bounds[root]:  # every bound on the way down was tight
            k = first_of_64(d, start, keep, flip, top)
            break
        bounds[block] = top
    return k, top


@njit(error_model="numpy")
def scan(d, keep, flip):
    """The same answer by looking at all of d, at least FANOUT entries."""
    p = np.uint64(d.size)
    top, best = -np.inf, np.uint64(0)
    for block in range((p + FANOUT - np.uint64(1)) >> SHIFT):
        start = window(block, p)
        key = highest_of_64(d, start, keep, flip)
        best = start if key > top else best
        top = larger(top, key)
    return first_of_64(d, best, keep, flip, top), top


@njit(error_model="numpy")
def scan_coded(d, keep):
    """``scan`` where flip is 0 and p at most LOW_BITS: the place comes with the maximum."""
    p, top = np.uint64(d.size), np.uint64(0)
    for block in range((p + FANOUT - np.uint64(1)) >> SHIFT):
        top = max(top, coded_highest_of_64(d, window(block, p), keep, LOW_BITS))
    k = min(LOW_BITS - (top & LOW_BITS), p - np.uint64(1))  # where nan would lead beyond
    return k, masked(d[k], keep, NO_BITS)


@njit(error_model="numpy")
def scan_short(d, keep, flip):
    """The same again, for fewer entries than a block holds."""
    top, best = -np.inf, np.uint64(0)
    for k in range(np.uint64(d.size)):
        key = masked(d[k], keep, flip)
        if key > top:
            top, best = key, k
    return best, top


@njit(error_model="numpy")
def find_vertex(d, size, keep, flip, threshold, bounds, offsets):
    """The place of the atom's entry at d, and the entry; empty bounds ask for a scan of d."""
    if bounds.size > 0:
        k, _ = find_largest(d, keep, flip, bounds, offsets)
    elif flip == NO_BITS and FANOUT <= d.size <= LOW_BITS:
        k, _ = scan_coded(d, keep)
    elif d.size >= FANOUT:
        k, _ = scan(d, keep, flip)
    else:
        k, _ = scan_short(d, keep, flip)
    k = min(k, np.uint64(d.size - 1))  # where nan would lead beyond
    v = -size if d[k] > 0.0 and flip == NO_BITS else size
    return k, 0.0 if (abs(d[k]) if flip == NO_BITS else -d[k]) <= threshold else v


@kernel
def run_vertex(
    rows, batches, numbers, samples, gain, gain_mask, functions, d, beta_sum, rule, bounds, offsets
):
    """Take ``len(batches)`` steps of Algorithm 2 with a vertex oracle.

    Step i, with the atom v e_k at d^i: ``beta_sum[k] += c_i v``, and for every j of
    batch i: move sample j towards v x_jk (``layout.mirror_step``), then
    ``d += gain_j (change of w_j) x_j``.

    Parameters
    ----------
    rows
        A rows tuple, see ``layout``.
    batches
        The rows of each step, (steps, b) unsigned integers.
    numbers
        The arrays η_i, c_i, C_i of these steps.
    samples, functions
        See ``layout``.
    gain, gain_mask
        ω_j/n at ``gain[j & gain_mask]``; the mask 0 takes one number for all.
    d, beta_sum
        Vectors of length p.
    rule
        (size, keep, flip, threshold), the oracle.
    bounds, offsets
        The search's; empty bounds ask for a scan of d.

    Returns
    -------
    float
        The sum of the changes of w: not finite where a w was not.
    """
    eta, weights, cumulative = numbers
    size, keep, flip, threshold = rule
    incremental, health = bounds.size > 0, 0.0
    order, position = batches.reshape(-1), np.uint64(0)
    for i in range(batches.shape[0]):
        k, v = find_vertex(d, size, keep, flip, threshold, bounds, offsets)
        beta_sum[k] += weights[i] * v
        for _ in range(batches.shape[1]):
            j = np.uint64(order[position])
            look_ahead(rows, samples, functions, order, position)
            position += np.uint64(1)
            prediction = v * entry(rows, j, k)
            change = mirror_step(samples, j, prediction, eta[i], cumulative[i], functions)
            health += change
            pull = gain[j & gain_mask] * change
            if incremental:
                base = row_start(rows, j)
                for t in range(row_length(rows, j)):
                    c = column(rows, base, t)
                    d[c] += pull * value(rows, base, t)
                    raise_bounds(bounds, offsets, c, masked(d[c], keep, flip))
            else:
                scatter(rows, j, pull, d)
    return health
