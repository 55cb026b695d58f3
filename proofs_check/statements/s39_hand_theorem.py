r"""Theorem 3.1 up to a factor of at most four, without a computer.

Paper: none; a short proof of Theorem 3.1 up to a constant (thm:hand)
Claim: For $B_k$ the first bound of Theorem 3.1 with N = n/b and $\nu_k = \frac{2\gamma M^2(N-1)
    \sum_{i\le k}(2N+i)^2}{c_kG}$: $\mathbb E[P(\bar\beta^k)-D(\bar w^k)] \le (\sqrt{B_k}+
    \sqrt{\nu_k})^2$ and $\nu_k \le \frac{4(N-1)\gamma M^2}{2N+k+1} \le B_k$, so that the gap is at
    most $4B_k$, and in the limit of large k at most $(1+\sqrt{\frac{N-1}{3N}})^2 B_k \le 2.49B_k$.
Hypotheses: (A); (U); (3.1)
Verdict: REPAIRED
Correction: Bound (II) of (lem:three-bounds) with $U_i \le 4\gamma M^2$: then $a+d \le GB_k$ and
    $y^2 \le G\nu_k$. It holds with $\frac1n\max_\beta\sum_j\gamma_j(x_j^T\beta)^2$ for $\gamma
    M^2$, though $\frac1n\sum_j\gamma_js_j^2$ exceeds that in single runs.
Proof: by hand, symbolic
Check: The two inequalities between $\nu_k$ and $B_k$ by polynomials without negative coefficients
    and the limit, symbolically; the theorem in fractions, with the smaller energy; and a run in
    which the energy of s is above it. Not tight: the runs reach at most .22 of the bound.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, at_most_with_roots, sample
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import start
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


def noise(N: Any, k: Any) -> Any:
    """ν_k/(γM²): 2(N−1) Σ(2N+i)²/(c_k G), the sum in closed form."""
    squares = (k + 1) * (4 * N**2 + 2 * N * k + k * (2 * k + 1) / 6)
    return 2 * (N - 1) * squares * 4 / ((2 * N + k) * (2 * N + k + 1) * (4 * N + k) * (k + 1))


PLANTED = {
    "coefficient 4 for 2": lambda N, k: 2 * noise(N, k),
    "index shifted": lambda N, k: noise(N, k + 1),
}


@check(Kind.SYMBOLIC, noise, planted=PLANTED)
def noise_is_below_the_bound(noise: Any) -> Finding:
    """ν_k ≤ 4(N−1)γM²/(2N+k+1) ≤ 8NγM²/(4N+k) for N = 1 + r, and the limit of their ratio."""
    r, k = sp.symbols("r k", nonnegative=True)
    N = 1 + r
    squares = noise(N, k) * (2 * N + k) * (2 * N + k + 1) * (4 * N + k) * (k + 1) / (8 * (N - 1))
    increment = sp.simplify(squares - squares.subs(k, k - 1) - (2 * N + k) ** 2)
    first = sp.simplify(squares.subs(k, 0) - 4 * N**2)
    middle = 4 * (N - 1) / (2 * N + k + 1)
    leading = 8 * N / (4 * N + k)
    limit = sp.limit(noise(N, k) / leading, k, sp.oo)
    polynomials = [
        sp.Poly(sp.expand(sp.numer(sp.together(difference))), r, k)
        for difference in (middle - noise(N, k), leading - middle)
    ]
    positive = all(c >= 0 for poly in polynomials for c in poly.coeffs())
    agrees = increment == 0 and first == 0 and positive
    agrees = agrees and sp.simplify(limit - (N - 1) / (3 * N)) == 0
    words = f"sum of squares off by {increment}; coefficients non-negative: {positive}"
    return Finding(bool(agrees), f"{words}; limit of nu_k/B_k: {sp.factor(limit)}")


def energy(run: Energies) -> Any:
    """max over dom R of (1/n) Σ γ_j (x_jᵀβ)², at an extreme point."""
    problem = run.fitted.problem
    return max(
        sum(
            loss.gamma * a**2
            for loss, a in zip(problem.losses, problem.predictions(corner), strict=True)
        )
        / problem.n
        for corner in run.fitted.corners
    )


@check(
    Kind.EXACT,
    (noise, 4),
    planted={
        "an eighth of the leading term": (noise, Fraction(1, 2)),
        "without noise and with half the bound": (lambda N, k: 0 * N, Fraction(1, 2)),
    },
)
def theorem_by_enumeration(subject: tuple[Callable[..., Any], Any]) -> Finding:
    """With the energy max (1/n)Σγ_j(x_jᵀβ)², and U_i ≤ 4 of it."""
    noise, leading = subject
    runs, largest = sample(equal=False), 0.0
    for run in runs:
        bound = (leading * run.N * (run.k + 1) * energy(run) + run.offset) / run.total
        extra = energy(run) * noise(run.N, run.k)
        if not at_most_with_roots(run.gap, bound, extra):
            return Finding(False, f"N = {run.N}, k = {run.k}: the gap is larger")
        if max(run.U) > 4 * energy(run):
            return Finding(False, f"N = {run.N}, k = {run.k}: some U_i is above 4 energies")
        largest = max(largest, float(run.gap) / (float(bound) ** 0.5 + float(extra) ** 0.5) ** 2)
    detail = f"{len(runs)} expectations, at most {largest:.4f} of the bound"
    return Finding(True, detail, largest)


@check(Kind.EXACT, Fraction(9, 10), planted={"a label that keeps s small": Fraction(0)})
def energy_of_s_in_a_single_run(y: Fraction) -> Finding:
    """X = I, ‖β‖₁ ≤ 1 and labels (1, y): after rows 0 and 1 were drawn ‖s‖²/2 > 1/2."""
    unit = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    problem = Small(unit, [Squared(Fraction(1)), Squared(y)], cross_polytope(2, Fraction(1)))
    path = start(problem, sublinear(Fraction(2)))
    largest = Fraction(0)
    for row in (0, 1):
        path = path.extended((row,))
        largest = max(largest, sum(s * s for s in path.s[-1]) / 2)
    return Finding(largest > Fraction(1, 2), f"energy of s {float(largest):.4f}, of Xβ at most 1/2")
