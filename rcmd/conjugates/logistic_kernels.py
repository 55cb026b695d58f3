"""The arithmetic of the logistic pair around its exponentials and logarithms, which are NumPy's."""

from __future__ import annotations

from rcmd.jit.caching import kernel


@kernel
def exponents(s, y, out):
    """−|ys|."""
    for j in range(s.size):
        out[j] = -abs(y[j] * s[j])


@kernel
def expand(s, y, tails, values, slopes):
    """From log(1 + exp(−|ys|)) in ``values`` and exp(−|ys|) in ``tails``: l there, l'' here."""
    for j in range(s.size):
        margin, tail = y[j] * s[j], tails[j]
        share = 1.0 / (1.0 + tail)
        rest = tail * share
        values[j] -= min(margin, 0.0)
        slopes[j] = -y[j] * (rest if margin > 0.0 else share)
        tails[j] = rest * share


@kernel
def shares(s, w, y, low, rest, exponents):
    """The lesser of v and 1−v for v = −yw, minus that, and −|ys|; returns the least v, 1−v."""
    least = 0.0
    for j in range(s.size):
        v = -y[j] * w[j]
        smaller = min(v, 1.0 - v)
        least = min(least, smaller)
        low[j] = smaller
        rest[j] = -smaller
        exponents[j] = -abs(y[j] * s[j])
    return least


@kernel
def pair(s, w, y, low, rest_logs, conjugates, terms):
    """l* and the Fenchel–Young terms, from log v and log(1 + exp(−|ys|)) in their places."""
    for j in range(s.size):
        v, margin = -y[j] * w[j], y[j] * s[j]
        entropy = conjugates[j] * low[j] + rest_logs[j] * (1.0 - low[j])
        conjugates[j] = entropy
        terms[j] = abs(margin) * (v if margin > 0.0 else 1.0 - v) + terms[j] + entropy
