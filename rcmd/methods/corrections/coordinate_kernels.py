"""Coordinate descent on dᵀδ + ½ δᵀHδ + Σ_k r_k(β_k + δ_k), H known by columns or as a matrix.

``rules`` are the rows l1, l2, lower, upper of a ``CoordinateRule``. A sweep takes the coordinates
in turn; the last is that where no step times its curvature is above ``accuracy``, and the largest
such product is returned. ``beta`` becomes β + δ.
"""

import numpy as np

from rcmd.jit.caching import kernel


@kernel
def best_at(pull, curvature, rule):
    """argmin_b (curvature/2) b² − pull·b + r(b)."""
    over = abs(pull) - rule[0]
    b = np.copysign(max(over, 0.0), pull) / (curvature + rule[1])
    return min(max(b, rule[2]), rule[3])


@kernel
def crossing(matrix, places, part):
    """``part`` = the rows and columns ``places`` of a matrix."""
    for i in range(places.size):
        row = matrix[np.uint64(places[i])]
        for k in range(places.size):
            part[i, k] = row[np.uint64(places[k])]


@kernel
def descend_by_columns(columns, weights, slopes, diagonal, damped, beta, rules, moved, bounds):
    """H = Zᵀ diag(weights) Z + damping·I with sparse columns of Z; ``moved`` becomes Zδ."""
    values, places, starts = columns
    (damping, start), (sweeps, accuracy) = damped, bounds
    one, largest = np.uint64(1), np.inf
    for _ in range(sweeps):
        largest = 0.0
        for k in range(np.uint64(beta.size)):
            slope, first, last = slopes[k], np.uint64(starts[k]), np.uint64(starts[k + one])
            for a in range(first, last):
                j = np.uint64(places[a])
                slope += values[a] * weights[j] * moved[j]
            slope += damping * (beta[k] - start[k])
            best = best_at(diagonal[k] * beta[k] - slope, diagonal[k], rules[k])
            step = best - beta[k]
            if step != 0.0:
                beta[k] = best
                largest = max(largest, abs(step) * diagonal[k])
                for a in range(first, last):
                    moved[np.uint64(places[a])] += step * values[a]
        if largest <= accuracy:
            break
    return largest


@kernel
def descend_by_matrix(matrix, slopes, beta, rules, bounds):
    """H is ``matrix``; ``slopes`` become d + Hδ."""
    sweeps, accuracy = bounds
    largest = np.inf
    for _ in range(sweeps):
        largest = 0.0
        for k in range(beta.size):
            curvature = matrix[k, k]
            best = best_at(curvature * beta[k] - slopes[k], curvature, rules[k])
            step = best - beta[k]
            if step != 0.0:
                beta[k] = best
                largest = max(largest, abs(step) * curvature)
                for i in range(beta.size):
                    slopes[i] += step * matrix[k, i]
        if largest <= accuracy:
            break
    return largest


@kernel
def steepest_falls(beta, slope, rules):
    """How steeply dᵀβ + Σ_k r_k(β_k) falls along each coordinate, d being ``slope``."""
    falls = np.empty(beta.size)
    for k in range(beta.size):
        kink, b = rules[k, 0], beta[k]
        rise = slope[k] + rules[k, 1] * b
        right = -(rise + kink) if b >= 0.0 else kink - rise
        left = rise + kink if b > 0.0 else rise - kink
        right, left = right if b < rules[k, 3] else -np.inf, left if b > rules[k, 2] else -np.inf
        falls[k] = np.maximum(right, left)
    return falls
