"""The compiled loop for oracles whose atom is one entry (or zero).

The l1 ball, the simplex, their nonnegative and penalised relatives: the atom is
``+size`` or ``-size`` at the coordinate of the largest key (see ``tournament``), or zero
when that key does not exceed ``threshold``:

| set or penalty                               | key   | threshold |
|----------------------------------------------|-------|-----------|
| sum |b_k| <= size                            | |d|   | -inf      |
| b >= 0, sum b_k = size                       | -d    | -inf      |
| b >= 0, sum b_k <= size                      | -d    | 0         |
| lambda sum |b_k| on sum |b_k| <= size        | |d|   | lambda    |

These numbers are the whole oracle here, and the loss is an address: one kernel
serves all of them.
"""

from __future__ import annotations

import numpy as np

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
from rcmd.engine.kernels.tournament import (
    FANOUT,
    LOW_BITS,
    NO_BITS,
    find_largest,
    raise_bounds,
    scan,
    scan_coded,
    scan_short,
)
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import masked


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
        See ``tournament``; empty bounds ask for a scan of d.

    Returns
    -------
    float
        The sum of the changes of w: not finite where a w was not.
    """
    eta, weights, cumulative = numbers
    size, keep, flip, threshold = rule
    incremental, health = bounds.size > 0, 0.0
    coded = flip == NO_BITS and FANOUT <= d.size <= LOW_BITS
    order, position = batches.reshape(-1), np.uint64(0)
    for i in range(batches.shape[0]):
        if incremental:
            k, _ = find_largest(d, keep, flip, bounds, offsets)
        elif coded:
            k, _ = scan_coded(d, keep)
        elif d.size >= FANOUT:
            k, _ = scan(d, keep, flip)
        else:
            k, _ = scan_short(d, keep, flip)
        k = min(k, np.uint64(d.size - 1))  # where nan would lead beyond
        v = -size if d[k] > 0.0 and flip == NO_BITS else size
        if (abs(d[k]) if flip == NO_BITS else -d[k]) <= threshold:
            v = 0.0
        beta_sum[k] += weights[i] * v
        for _ in range(batches.shape[1]):
            j = np.uint64(order[position])
            look_ahead(rows, samples, order, position)
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
