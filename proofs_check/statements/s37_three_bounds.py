r"""Three bounds of the expected gap by the energies of the steps.

Paper: none; part of the repaired proof of Theorem 3.1 (lem:three-bounds)
Claim: With a, d, $y^2$ and $U_i$ of (lem:sublinear-martingale) and $S_{k+1} = \mathbb
    E\frac1n\sum_j\gamma_j (s^{k+1}_j)^2$: (I) $\mathbb E[G\,\mathrm{gap}] \le
    \frac12\sum_ig_iU_i$; (II) $\mathbb E[G\,\mathrm{gap}] \le (\sqrt{a+d}+y)^2$; (III) $\mathbb
    E[G\,\mathrm{gap}] \le a+d+y^2+2y\sqrt{c_kS_{k+1}/2}$.
Hypotheses: (A); (U); (3.1); for the second a minimizer $\beta^*$ exists
Verdict: REPAIRED
Correction: (I) is $l(s)+l'(s)u \ge l(s+u)-\frac{\gamma}{2}u^2$ and Jensen in (F1). (III) is (F4)
    with $\kappa = l'(0)$. (II) is (F4) with $\kappa = w^*$: $\mathbb
    E\frac1n\sum_j(w^{k+1}_j-w^*_j)^2/ \gamma_j \le 2\,\mathbb E D_h(w^*,w^{k+1})$ and $c_k\mathbb
    E D_h(w^*,w^{k+1}) \le a+c_{-1} D_h(w^*,w^0)$, since $\sum_j(w^i_j-w^*_j)(a^i_j-s^*_j) \le 0$:
    $\tilde\beta^i$ minimizes at $w^i$ and $\beta^*$ at $w^*$.
Proof: by hand
Check: The three, and the distance to w*, in fractions over all sequences of batches of problems
    with known $\beta^*$, each row its own $\gamma_j$; roots are compared by squaring.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from proofs_check.exact.energies import Energies, at_most_with_roots, sample, weight
from proofs_check.exact.paths import Path
from proofs_check.exact.problem import Vector
from proofs_check.statement import Finding, Kind, check


def half_the_energies(run: Energies) -> Any:
    """½ Σ g_i U_i."""
    return sum(weight(run.N, i, run.r) * u for i, u in enumerate(run.U)) / 2


@check(
    Kind.EXACT,
    half_the_energies,
    planted={
        "half of it": lambda run: half_the_energies(run) / 2,
        "energies of the step before": lambda run: (
            sum(weight(run.N, i) * u for i, u in enumerate(run.U[:-1])) / 2
        ),
    },
)
def first_bound(bound: Callable[[Energies], Any]) -> Finding:
    """(I)."""
    runs = sample(equal=False)
    for run in runs:
        if run.total * run.gap > bound(run):
            return Finding(False, f"N = {run.N}, k = {run.k}: the gap is larger")
    largest = max(run.total * run.gap / bound(run) for run in runs if bound(run) > 0)
    detail = f"{len(runs)} expectations, at most {float(largest):.4f} of (I)"
    return Finding(True, detail, largest)


def ascent(run: Energies) -> Any:
    """a + c_{−1} D_h(w*, w⁰)."""
    problem = run.fitted.problem
    best = problem.predictions(run.fitted.beta)
    return run.drift + run.first * problem.bregman(best, run.paths[0].s[0])


def distance_of(path: Path, best: Vector) -> Any:
    """D_h(w*, w^{k+1}) for best = Xβ*."""
    return path.problem.bregman(best, path.s[-1])


def spread_of(path: Path, w: Vector) -> Any:
    """(1/n) Σ (w_j^{k+1} − w_j)²/γ_j."""
    rows = zip(path.w[-1], w, path.problem.losses, strict=True)
    return sum((v - x) ** 2 / loss.gamma for v, x, loss in rows) / path.problem.n


@check(
    Kind.EXACT,
    ascent,
    planted={
        "without a": lambda run: ascent(run) - run.drift,
        "without the start": lambda run: run.drift,
    },
)
def distance_to_the_optimum(ascent: Callable[[Energies], Any]) -> Finding:
    """E(1/n)Σ(w−w*)²/γ_j ≤ 2E D_h(w*, w^{k+1}), and c_k times the latter."""
    runs, first, second = sample(equal=False), Fraction(0), Fraction(0)
    for run in runs:
        problem = run.fitted.problem
        best = problem.predictions(run.fitted.beta)
        distance = run.mean(partial(distance_of, best=best))
        spread = run.mean(partial(spread_of, w=run.fitted.w))
        if spread > 2 * distance or run.last * distance > ascent(run):
            return Finding(False, f"N = {run.N}, k = {run.k}: w^(k+1) is further from w*")
        if distance:
            first = max(first, spread / (2 * distance))
            second = max(second, run.last * distance / ascent(run))
    return Finding(True, f"{len(runs)} expectations of D_h(w*, w^(k+1))", first * second)


def at_optimum(run: Energies) -> tuple[Any, Any, Any]:
    """(II): E[G gap] ≤ x + y² + 2√(x y²) at x = a + d, as the three numbers of it."""
    x = run.drift + run.offset
    return x + run.noise, x, run.noise


def at_start(run: Energies) -> tuple[Any, Any, Any]:
    """(III), as the same three."""
    return run.drift + run.offset + run.noise, run.last * run.S[-1] / 2, run.noise


def scaled(bound: Callable[[Energies], Any], share: Any) -> Callable[[Energies], Any]:
    """The bound times ``share``."""
    return lambda run: tuple(share * x for x in bound(run))


@check(
    Kind.EXACT,
    (at_optimum, at_start),
    planted={
        "(II) without a": (lambda run: (run.offset, run.offset, run.noise), at_start),
        "half of (II)": (scaled(at_optimum, Fraction(1, 2)), at_start),
        "half of (III)": (at_optimum, scaled(at_start, Fraction(1, 2))),
    },
)
def second_and_third_bound(bounds: tuple[Callable[[Energies], Any], ...]) -> Finding:
    """(II) and (III)."""
    runs, largest = sample(equal=False), {"II": 0.0, "III": 0.0}
    for run in runs:
        for bound, name in zip(bounds, largest, strict=True):
            plain, p, q = bound(run)
            if not at_most_with_roots(run.total * run.gap - plain + p + q, p, q):
                return Finding(False, f"N = {run.N}, k = {run.k}: the gap is larger than ({name})")
            if right := float(plain) + 2 * math.sqrt(p * q):
                largest[name] = max(largest[name], float(run.total * run.gap) / right)
    detail = f"{len(runs)} expectations, none above (II) or (III)"
    return Finding(True, detail, math.prod(largest.values()))
