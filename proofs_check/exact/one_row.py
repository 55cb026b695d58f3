"""Many rows at the price of one: the separable problem, row by row.

For X = I, l_j = (s−y)²/2 and ‖β‖_∞ ≤ 1 the atom, P and D split into rows, and a row sees of the
batches only whether it is in them, which happens with probability 1/N at every step. So 2^k
histories of one row give the expectation for every n and b with n/b = N.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.schedules import Steps


def separable_gap(N: Fraction, k: int, y: Fraction, steps: Steps) -> Any:
    """E[P(β̄^k) − D(w̄^k)]."""
    total = sum(steps.weight(i) for i in range(k + 1))

    def expected(i: int, s: Any, atoms: Any, duals: Any) -> Any:
        """From step i on, given s and the weighted sums of atoms and duals so far."""
        w = s - y
        atom = Fraction(-1 if w > 0 else 1)
        atoms, duals = atoms + steps.weight(i) * atom, duals + steps.weight(i) * w
        if i == k:
            beta, mean = atoms / total, duals / total
            return (beta - y) ** 2 / 2 + mean**2 / 2 + y * mean + abs(mean)
        missed = expected(i + 1, s, atoms, duals)
        hit = expected(i + 1, s + steps.eta(i) * (atom - s), atoms, duals)
        return hit / N + (1 - 1 / N) * missed

    zero = Fraction(0)
    return expected(0, zero, zero, zero)
