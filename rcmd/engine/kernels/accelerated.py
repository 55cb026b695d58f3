"""The compiled loop of accelerated dual coordinate ascent (see ``rcmd.methods.dual_ascent``)."""

import numpy as np
from numba import njit

from rcmd.engine.kernels.layout import add, column, row_length, row_start, value
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import call_scalar

FADING, LASTING = 0, 1  # u and v of the sequences ±ρ^k u + v, and in columns Xᵀu/n and Xᵀv/n
GUESS, LABEL = 2, 3  # the last s_j with l_j'(s_j) = w_j, y_j
WEIGHT, GAMMA, PULL = 0, 1, 2  # ω_j, γ_j, A_j


@njit(error_model="numpy")
def response(functions, guess, label, weight, kappa, target, steepness):
    """The s with s + κ ω l'(s) = target, by Illinois' false position.

    The left side rises at least by ``steepness``, so that a first point brackets the root
    together with a second one.
    """
    derivative, theta = functions
    kappa = kappa * weight
    left = guess
    f_left = left + kappa * call_scalar(derivative, theta, left, label, 0.0) - target
    if f_left == 0.0:
        return left
    right = left - f_left / steepness
    f_right = right + kappa * call_scalar(derivative, theta, right, label, 0.0) - target
    for _ in range(200):
        if f_right == 0.0 or f_left == f_right:
            return right
        middle = right - f_right * (right - left) / (f_right - f_left)
        if middle == left or middle == right:
            return right
        f_middle = middle + kappa * call_scalar(derivative, theta, middle, label, 0.0) - target
        if (f_middle > 0.0) == (f_right > 0.0):
            f_left = f_left / 2.0
        else:
            left, f_left = right, f_right
        right, f_right = middle, f_middle
    return right


@kernel
def run_accelerated(rows, order, records, columns, table, functions, strength, share, rho, power):
    """A step for each row of ``order``; returns ρ^k, and the sum of the changes of z.

    ``records`` and ``columns`` hold u, v and their images side by side, ``table`` the
    constants of the rows; ``power`` is the ρ^k to begin with, ``share`` is nα.
    """
    n, health = records.shape[0], 0.0
    for t in range(order.size):
        power *= rho
        j = np.uint64(order[t])
        base, length, total = row_start(rows, j), row_length(rows, j), 0.0
        for e in range(length):
            k = column(rows, base, e)
            slope = power * columns[k, FADING] + columns[k, LASTING]
            total = add(total, value(rows, base, e) * slope)
        faded = power * records[j, FADING]
        y, z = records[j, LASTING] + faded, records[j, LASTING] - faded
        weight, gamma, pull = table[j, WEIGHT], table[j, GAMMA], table[j, PULL]
        target = pull * z - y / gamma - total / strength
        kappa, label = pull - 1.0 / gamma, records[j, LABEL]
        steepness = min(1.0, pull * gamma)
        s = response(functions, records[j, GUESS], label, weight, kappa, target, steepness)
        change = weight * call_scalar(functions[0], functions[1], s, label, 0.0) - z
        health += change
        fading, lasting = (share - 1.0) / (2.0 * power) * change, (1.0 + share) / 2.0 * change
        records[j, GUESS] = s
        records[j, FADING] += fading
        records[j, LASTING] += lasting
        for e in range(length):
            k, x = column(rows, base, e), value(rows, base, e) / n
            columns[k, FADING] += fading * x
            columns[k, LASTING] += lasting * x
    return power, health
