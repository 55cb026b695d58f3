r"""The step sizes $\alpha_i$ of Theorem 3.1 average with the weights $2n+i$.

Paper: Proposition 3.6 (robfriday), Section 3
Claim: With $\alpha_i = \frac{2(2n+i)}{(4n+i)(i+1)}$ and $\bar\beta^i = (1-\alpha_i)\bar\beta^{i-1}
    + \alpha_i\tilde\beta^i$ one has $\bar\beta^k = \sum_{i\le k}(2n+i)\tilde\beta^i / \sum_{i\le
    k}(2n+i)$ and $\sum_{i\le k}(2n+i) = \frac{(4n+k)(k+1)}{2}$.
Hypotheses: (3.1)
Verdict: HOLDS
Correction: It holds for every real $N = n/b \ge 1$ in place of n. Since $\alpha_0 = 1$ the start
    $\bar\beta^{-1}$ does not matter, and $1-\alpha_i = \frac{i(4N+i-1)}{(i+1)(4N+i)} \ge 0$.
Proof: by hand, symbolic; induction
Check: The sum by its first term and its increment, the recursion by $\alpha_i G_i = g_i$ and
    $(1-\alpha_i)G_i = G_{i-1}$, for symbolic N and i; the telescoping of the step sizes $\eta_i =
    \frac{2N}{2N+i+1}$ against the weights; and a recursion run in fractions.
Tested: all n, p = 1, k ≤ 11; integers in the place of atoms, no losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.statement import Finding, Kind, check

N, i = sp.symbols("N i", positive=True)


def alpha(N: Any, i: Any) -> Any:
    """α_i as printed, for N."""
    return 2 * (2 * N + i) / ((4 * N + i) * (i + 1))


def eta(N: Any, i: Any) -> Any:
    """η_i as printed, for N."""
    return 2 * N / (2 * N + i + 1)


def total(N: Any, k: Any) -> Any:
    """G_k, the sum of the weights."""
    return (4 * N + k) * (k + 1) / 2


@check(
    Kind.SYMBOLIC,
    alpha,
    planted={
        "coefficient 3 for 2": lambda N, i: 3 * (2 * N + i) / ((4 * N + i) * (i + 1)),
        "weight of the step after": lambda N, i: 2 * (2 * N + i + 1) / ((4 * N + i) * (i + 1)),
        "index shifted": lambda N, i: alpha(N, i + 1),
    },
)
def recursion_gives_the_weighted_mean(alpha: Any) -> Finding:
    """Six identities that carry the induction."""
    weight = 2 * N + i
    identities = {
        "G_0 = g_0": total(N, 0) - 2 * N,
        "G_i - G_{i-1} = g_i": total(N, i) - total(N, i - 1) - weight,
        "alpha_i G_i = g_i": alpha(N, i) * total(N, i) - weight,
        "(1 - alpha_i) G_i = G_{i-1}": (1 - alpha(N, i)) * total(N, i) - total(N, i - 1),
        "alpha_0 = 1": alpha(N, 0) - 1,
        "1 - alpha_i": 1 - alpha(N, i) - i * (4 * N + i - 1) / ((i + 1) * (4 * N + i)),
    }
    wrong = [name for name, difference in identities.items() if sp.simplify(difference) != 0]
    return Finding(not wrong, f"six identities in N and i, wrong: {', '.join(wrong) or 'none'}")


@check(
    Kind.SYMBOLIC,
    eta,
    planted={
        "without the 1": lambda N, i: 2 * N / (2 * N + i),
        "coefficient 1 for 2": lambda N, i: N / (2 * N + i + 1),
        "index shifted": lambda N, i: eta(N, i + 1),
    },
)
def step_sizes_telescope(eta: Any) -> Finding:
    """With c_i = g_i N/η_i, what the proofs use of η_i."""
    weight = 2 * N + i
    height = weight * N / eta(N, i)
    before = height.subs(i, i - 1)
    identities = {
        "c_i = (2N+i)(2N+i+1)/2": height - (2 * N + i) * (2 * N + i + 1) / 2,
        "c_i - c_{i-1} = g_i": height - before - weight,
        "(N/eta_i - 1) g_i = c_{i-1}": (N / eta(N, i) - 1) * weight - before,
        "c_{-1} = N(2N-1)": before.subs(i, 0) - N * (2 * N - 1),
        "1 - eta_i = (i+1)/(2N+i+1)": 1 - eta(N, i) - (i + 1) / (2 * N + i + 1),
    }
    wrong = [name for name, difference in identities.items() if sp.simplify(difference) != 0]
    return Finding(not wrong, f"five identities in N and i, wrong: {', '.join(wrong) or 'none'}")


@check(
    Kind.EXACT,
    alpha,
    planted={
        "index shifted": lambda N, i: alpha(N, i + 1),
        "alpha_0 = 1/2": lambda N, i: alpha(N, i) / (1 if i else 2),
    },
)
def recursion_run_in_fractions(alpha: Any) -> Finding:
    """Started at 100, which α_0 = 1 must forget."""
    generator = np.random.default_rng(30)
    checked = 0
    for size in (Fraction(1), Fraction(3, 2), Fraction(7)):
        atoms = [Fraction(int(v)) for v in generator.integers(-9, 10, 12)]
        mean = Fraction(100)
        for k, atom in enumerate(atoms):
            mean += alpha(size, k) * (atom - mean)
            weights = [2 * size + m for m in range(k + 1)]
            expected = sum(g * v for g, v in zip(weights, atoms, strict=False)) / sum(weights)
            if mean != expected:
                return Finding(False, f"N = {size}, k = {k}: {mean} instead of {expected}")
            checked += 1
    return Finding(True, f"{checked} averages of integers, started at 100, equal to the mean")
