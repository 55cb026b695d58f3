r"""How large the steps can be, all together.

Paper: none; part of the repaired proof of Theorem 3.1 (lem:energies)
Claim: Let $\gamma\bar M^2 = \frac1n\sum_j\gamma_jM_j^2 = 1$, $e_i = \eta_i/N$ and $\pi_i =
    (1-1/N)^i$. (E) $e_i(1-\eta_i)U_i \le (1-e_i)S_i - S_{i+1} + e_i$. (E0) $\sum_ig_iU_i \le
    G+2a-c_kS_{k+1}$. (E1) $\sum_i(1-\eta_i^2)U_i \le \sum_i(1+\eta_i) - \sum_i(\frac12+\eta_i)S_i
    - \frac{4N+k+1}{2}S_{k+1}$. Caps: $U_i \le 1+2\sqrt{(1-\pi_i)S_i}+S_i$, $U_i \le 4-3\pi_i$,
    $S_i \le 1-\frac{2N(2N-1)}{(2N+i)(2N+i-1)}$; and for $i+1 \le N$ $\pi_i \ge e^{-(i+1)/N}$ and
    $S_i \le 1-\eta_i^2$.
Hypotheses: (A); (U); (3.1)
Verdict: REPAIRED
Correction: (E) is the expectation of $\|s^{i+1}\|^2$ with $2\langle s,u\rangle = \|a\|^2-\|s\|^2
    -\|u\|^2$; (E0) is its sum with the weights $c_i$ and (E1) with $\frac{4N+i+1}{2}$. The caps
    hold because a row is untouched, and $s_j = 0$, with probability $\pi_i$.
Proof: by hand, symbolic
Check: The coefficients of (E0), (E1) and the two bounds for $i+1\le N$ symbolically; all of them
    in fractions over all sequences of batches, each row its own $\gamma_j$.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, sample, weight
from proofs_check.statement import Finding, Kind, check


def multipliers(N: Any, i: Any) -> tuple[Any, Any]:
    """What (E) is multiplied by before it is summed: to (E0), to (E1)."""
    return (2 * N + i) * (2 * N + i + 1) / 2, (4 * N + i + 1) / 2


@check(
    Kind.SYMBOLIC,
    multipliers,
    planted={
        "index shifted": lambda N, i: multipliers(N, i + 1),
        "coefficient 1 for 1/2": lambda N, i: tuple(2 * x for x in multipliers(N, i)),
        "3N for 4N": lambda N, i: (multipliers(N, i)[0], (3 * N + i + 1) / 2),
    },
)
def energy_inequalities_are_summed(multipliers: Any) -> Finding:
    """Coefficients of U_i, S_i and 1 after multiplication and summation by parts."""
    N, i = sp.symbols("N i", positive=True)
    a, s = sp.symbols("a s")
    eta = 2 * N / (2 * N + i + 1)
    e = eta / N
    c, m = multipliers(N, i)
    before = [x.subs(i, i - 1) for x in (c, m)]
    identities = {
        "2su": 2 * s * (a - s) - (a**2 - s**2 - (a - s) ** 2),
        "E0, U": c * e * (1 - eta) - (2 * N + i) * (1 - eta),
        "E0, S": c * (1 - e) - before[0],
        "E0, 1": c * e - (2 * N + i),
        "E0, a": (2 * N + i) * eta - 2 * N * (2 * N + i) / (2 * N + i + 1),
        "E1, U": m * e * (1 - eta) - (1 - eta**2),
        "E1, S": m * (1 - e) - before[1] + sp.Rational(1, 2) + eta,
        "E1, 1": m * e - (1 + eta),
    }
    wrong = [name for name, x in identities.items() if sp.simplify(sp.expand(x)) != 0]
    return Finding(not wrong, f"eight identities, wrong: {', '.join(wrong) or 'none'}")


def early_cap(N: Any, i: Any) -> Any:
    """1 − S_i is at least this, from (E) with U_i ≥ 0: c_{−1}/c_{i−1}."""
    return 2 * N * (2 * N - 1) / ((2 * N + i) * (2 * N + i - 1))


@check(
    Kind.SYMBOLIC,
    early_cap,
    planted={
        "half of it": lambda N, i: early_cap(N, i) / 2,
        "index shifted": lambda N, i: early_cap(N, i + 2),
    },
)
def caps_while_most_rows_are_untouched(cap: Any) -> Finding:
    """For N = i+1+r, r ≥ 0, both differences are polynomials with no negative coefficient.

    π_i ≥ e^{−(i+1)/N} because −ln(1−1/N) ≤ 1/(N−1) and i/(N−1) ≤ (i+1)/N.
    """
    i, r, x = sp.symbols("i r x", nonnegative=True)
    N = i + 1 + r
    ratio = sp.together(cap(N, i) - (2 * N / (2 * N + i + 1)) ** 2)
    exponent = sp.together((i + 1) / N - i / (i + r))
    numerators = [sp.Poly(sp.expand(sp.numer(part)), i, r) for part in (ratio, exponent)]
    signs = [all(c >= 0 for c in poly.coeffs()) for poly in numerators]
    product = sp.simplify(
        early_cap(x + 1, i + 1) / early_cap(x + 1, i) - (1 - 2 / (2 * (x + 1) + i + 1))
    )
    words = [str(poly.as_expr()) for poly in numerators]
    agrees = all(signs) and product == 0 and sp.simplify(cap(x + 1, 0) - 1) == 0
    return Finding(agrees, f"numerators {words[0]} and {words[1]}; recursion of the cap: {product}")


class Printed:
    """The inequalities for one run with energies divided by (1/n) Σ γ_j M_j²."""

    def __init__(self, run: Energies) -> None:
        unit = run.fitted.energy
        self.N, self.k, self.r = run.N, run.k, run.r
        self.U, self.S = [u / unit for u in run.U], [s / unit for s in run.S]
        self.a = run.drift / unit
        self.eta = [2 * self.N / (self.r * self.N + i + 1) for i in range(self.k + 1)]
        self.total, self.last = run.total, run.last

    def one_step(self, i: int) -> Any:
        """(E), right minus left side."""
        e = self.eta[i] / self.N
        left = e * (1 - self.eta[i]) * self.U[i]
        return (1 - e) * self.S[i] - self.S[i + 1] + e - left

    def zeroth(self) -> Any:
        """(E0)."""
        left = sum(weight(self.N, i, self.r) * u for i, u in enumerate(self.U))
        return self.total + 2 * self.a - self.last * self.S[-1] - left

    def first(self) -> Any:
        """(E1)."""
        left = sum((1 - e**2) * u for e, u in zip(self.eta, self.U, strict=True))
        paid = sum((Fraction(1, 2) + e) * s for e, s in zip(self.eta, self.S[:-1], strict=True))
        end = ((self.r + 2) * self.N + self.k + 1) / 2 * self.S[-1]
        return sum(1 + e for e in self.eta) - paid - end - left

    def untouched(self, i: int) -> Any:
        """π_i."""
        return (1 - 1 / self.N) ** i

    def caps(self, i: int) -> list[Any]:
        """The caps that have no root in them."""
        return [
            4 - 3 * self.untouched(i) - self.U[i],
            1 - early_cap(self.N, i) - self.S[i],
            *([1 - self.eta[i] ** 2 - self.S[i]] if i + 1 <= self.N else []),
        ]

    def rooted(self, i: int) -> bool:
        """U_i ≤ 1 + 2√((1−π_i)S_i) + S_i, by squaring."""
        rest = self.U[i] - 1 - self.S[i]
        return bool(rest <= 0 or rest**2 <= 4 * (1 - self.untouched(i)) * self.S[i])

    def sides(self) -> list[Any]:
        """Right minus left side of (E0), (E1), (E) and each cap without a root, at the worst i."""
        steps = range(self.k + 1)
        caps = zip_longest(*map(self.caps, steps), fillvalue=1)
        return [self.zeroth(), self.first(), min(map(self.one_step, steps)), *map(min, caps)]


class TwiceTheEnd(Printed):
    """(E1) with twice its last term."""

    def first(self) -> Any:
        return super().first() - (4 * self.N + self.k + 1) / 2 * self.S[-1]


class OneStepShort(Printed):
    """(E0) with c_{k+1} for c_k."""

    def zeroth(self) -> Any:
        return super().zeroth() - (2 * self.N + self.k + 1) * self.S[-1]


class HalfTheDrift(Printed):
    """(E0) with a for 2a."""

    def zeroth(self) -> Any:
        return super().zeroth() - self.a


class MoreUntouched(Printed):
    """π_i with one draw too few."""

    def untouched(self, i: int) -> Any:
        return (1 - 1 / self.N) ** max(i - 1, 0)


class WithoutStepSize(Printed):
    """(E) with U_i for (1 − η_i)U_i."""

    def one_step(self, i: int) -> Any:
        return super().one_step(i) - self.eta[i] ** 2 / self.N * self.U[i]


@check(
    Kind.EXACT,
    Printed,
    planted={
        "(E) with U_i for (1 - eta_i)U_i": WithoutStepSize,
        "(E0) with c_{k+1} for c_k": OneStepShort,
        "(E0) with half of 2a": HalfTheDrift,
        "(E1) with twice its last term": TwiceTheEnd,
        "one draw too few": MoreUntouched,
    },
)
def inequalities_in_fractions(inequalities: Callable[[Energies], Printed]) -> Finding:
    """All of them for every run, all but the last cap with equality in one."""
    tried = [inequalities(run) for run in sample(equal=False)]
    rooted = all(one.rooted(i) for one in tried for i in range(one.k + 1))
    *least, early = map(min, zip(*(one.sides() for one in tried), strict=True))
    detail = f"{len(tried)} runs, E, E0, E1 and the four caps in each; the last cap leaves"
    attained = least == [0] * 5 and early > 0
    return Finding(rooted and attained, f"{detail} {float(early):.4f}", 1 - early)
