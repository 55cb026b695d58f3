r"""What the random $\hat w$ costs is one martingale.

Paper: none; part of the repaired proof of Theorem 3.1 (lem:sublinear-martingale)
Claim: Let $u^i = X\tilde\beta^i - s^i$, $g_i = 2N+i$, $c_i = \frac{g_i(g_i+1)}2$, $G = g_0+\ldots
    +g_k$, $\bar a = X\bar\beta^k$, $s = s^{k+1}$ and $1_i$ the indicator that row j is drawn at
    step i. (F1) $G(P(\bar\beta^k)-D(\bar w^k)) \le \frac1n\sum_j\{G l_j(\bar a_j) - \sum_i
    g_i[l_j(s^i_j)+l_j'(s^i_j)u^i_j]\}$ in expectation. (F2) This is at most $\mathbb
    E\frac1n\sum_j[G l_j(\bar a_j)-c_kl_j(s_j)+c_{-1}l_j(0)] + a$. (F3) $\nu = G\bar a - c_ks =
    \sum_i g_iu^i(1-N1_i)$, a martingale with $\mathbb E\frac1n\sum_j\gamma_j\nu_j^2 =
    (N-1)\sum_ig_i^2U_i$. (F4) $G l(\bar a)-c_kl(s)+c_{-1}l(0) = c_{-1}D_l(0,\bar a)-c_kD_l(s,\bar
    a) +l'(\bar a)\nu$, and $(l'(\bar a)-l'(s))\nu-c_kD_l(s,\bar a) \le \frac{\gamma\nu^2}{2c_k}$.
Hypotheses: (A); (U); (3.1)
Verdict: REPAIRED
Correction: Hence $\mathbb E[G\,\mathrm{gap}] \le a+d+y^2+\mathbb
    E\frac1n\sum_j(l_j'(s_j)-\kappa_j) \nu_j$ for any constants $\kappa_j$, with $d =
    c_{-1}D_{\max}$, $y^2 = \frac{N-1}{2c_k}\sum_i g_i^2U_i$. Only $P(j\in B_i\mid\mathrm{past}) =
    1/N$ is used: batches without replacement need nothing more, because rows enter one at a time.
Proof: by hand, symbolic
Check: The identities symbolically (Abel's sum by its increment, $\nu$ by telescoping, F4 for a
    generic loss); everything in fractions over all sequences of batches, N = 1, 3/2, 2, 3.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, height, martingale, sample, step, weight
from proofs_check.exact.paths import Path
from proofs_check.exact.problem import Vector
from proofs_check.statement import Finding, Kind, check


@check(
    Kind.SYMBOLIC,
    height,
    planted={
        "coefficient 1 for 1/2": lambda N, i: 2 * height(N, i),
        "index shifted": lambda N, i: height(N, i + 1),
        "2N + i - 1 for 2N + i + 1": lambda N, i: (2 * N + i) * (2 * N + i - 1) / 2,
    },
)
def sums_telescope(height: Any) -> Finding:
    """Each claim's increment from i − 1 to i, for a hit or missed row (1_i = 1 or 0)."""
    N, i, a, s, drawn, now, new = sp.symbols("N i a s drawn l_i l_new")
    g, eta, u = 2 * N + i, 2 * N / (2 * N + i + 1), a - s
    moved = s + eta * drawn * u
    # ν_i − ν_{i−1}, where ν_i = Σ_{m≤i} g_m a^m − c_i s^{i+1}.
    nu = g * a - height(N, i) * moved + height(N, i - 1) * s - g * u * (1 - N * drawn)
    abel = -g * now - height(N, i) * (new - now) + height(N, i) * new - height(N, i - 1) * now
    drift = height(N, i) * eta / N - g
    curvature = height(N, i) * eta**2 / (2 * N) - N * g / (g + 1)  # of U_i in a
    wrong = [sp.simplify(x) for x in (nu, abel, drift, curvature)]
    words = "increments of ν, of Abel's sum, c_iη_i/N − g_i and c_iη_i²/(2N) − Nρ_i"
    return Finding(not any(wrong), f"{words}: {wrong}")


def smoothness_terms(c: Any, first: Any, far: Any, near: Any, slope_nu: Any) -> Any:
    """c_{−1}D_l(0, ā) − c_k D_l(s, ā) + l'(ā)ν."""
    return first * far - c * near + slope_nu


@check(
    Kind.SYMBOLIC,
    smoothness_terms,
    planted={
        "sign of D_l(s, abar)": lambda c, first, far, near, nu: first * far + c * near + nu,
        "weights exchanged": lambda c, first, far, near, nu: c * far - first * near + nu,
        "half of the martingale": lambda c, first, far, near, nu: first * far - c * near + nu / 2,
    },
)
def losses_to_bregman_distances(terms: Any) -> Finding:
    """F4's equality for a generic loss, and its inequality as a square."""
    c, first, mean, s, at_mean, at_s, at_zero, slope = sp.symbols("c c_ abar s l_a l_s l_0 slope")
    total = c - first
    far, near = at_zero - at_mean + slope * mean, at_s - at_mean - slope * (s - mean)
    right = terms(c, first, far, near, slope * (total * mean - c * s))
    wrong = sp.expand(total * at_mean - c * at_s + first * at_zero - right)
    # 2c·[γν²/(2c) − (l'(ā)−l'(s))ν + cΔ²/(2γ)] ≥ 0 for Δ = l'(ā) − l'(s): co-coercivity's square.
    nu, change, gamma = sp.symbols("nu Delta gamma", positive=True)
    square = gamma * nu**2 / (2 * c) - change * nu + c * change**2 / (2 * gamma)
    rest = sp.simplify(square - (gamma * nu - c * change) ** 2 / (2 * c * gamma))
    return Finding(wrong == 0 and rest == 0, f"F4: {wrong}; the square of F4's bound: {rest}")


def summed(path: Path, N: Any, late: int = 0) -> Vector:
    """Σ_i g_{i+late} u^i (1 − N 1_i), row by row."""
    total = [Fraction(0)] * path.problem.n
    for i, batch in enumerate(path.batches):
        for j, u in enumerate(step(path, i)):
            total[j] += weight(N, i + late) * u * (1 - N * (j in batch))
    return tuple(total)


@check(
    Kind.EXACT,
    summed,
    planted={
        "n for N": lambda path, N: summed(path, Fraction(path.problem.n)),
        "weights of the step after": lambda path, N: summed(path, N, late=1),
    },
)
def martingale_and_its_variance(summed: Callable[[Path, Any], Vector]) -> Finding:
    """ν path by path, its mean and its energy."""
    runs = sample(equal=False)
    for run in runs:
        for path in run.paths:
            if martingale(path) != summed(path, run.N):
                return Finding(False, f"N = {run.N}, k = {run.k}: the sum is not nu")
        means = [sum(column) for column in zip(*map(martingale, run.paths), strict=True)]
        if any(means) or run.energy(martingale) != 2 * run.last * run.noise:
            return Finding(False, f"N = {run.N}, k = {run.k}: mean {means} or the variance is off")
    return Finding(True, f"{len(runs)} runs: nu equal in every path, mean 0, variance as claimed")


def chain(run: Energies) -> list[Any]:
    """E[G gap], then the right sides of F1, F2 and F4, κ = 0 and D_h(ŵ, w⁰) for D_max."""
    problem, zero = run.fitted.problem, run.paths[0].s[0]
    losses, n = problem.losses, problem.n

    def total(at: Vector) -> Any:
        return sum(loss.value(s) for loss, s in zip(losses, at, strict=True)) / n

    def tangents(path: Path) -> Any:
        mean = problem.predictions(path.beta)
        linear = [
            total(path.s[i]) + sum(w * u for w, u in zip(path.w[i], step(path, i), strict=True)) / n
            for i in range(run.k + 1)
        ]
        weighted = sum(weight(run.N, i) * value for i, value in enumerate(linear))
        return run.total * total(mean) - weighted

    def ends(path: Path) -> Any:
        mean = problem.predictions(path.beta)
        rest = run.first * total(zero) - run.last * total(path.s[-1])
        return run.total * total(mean) + rest

    def distances(path: Path) -> Any:
        nu, mean = martingale(path), problem.predictions(path.beta)
        turned = sum(w * v for w, v in zip(path.w[-1], nu, strict=True)) / n
        return run.first * problem.bregman(mean, zero) + turned

    return [
        run.total * run.gap,
        run.mean(tangents),
        run.mean(ends) + run.drift,
        run.mean(distances) + run.drift + run.noise,
    ]


def with_less(place: int, share: Any) -> Callable[[Energies], list[Any]]:
    """The chain with part of a (place 2) or of y² (place 3) left out."""

    def wrong(run: Energies) -> list[Any]:
        found = chain(run)
        found[place] -= share * (run.drift if place == 2 else run.noise)
        return found

    return wrong


@check(
    Kind.EXACT,
    chain,
    planted={
        "F2 with half of a": with_less(2, Fraction(1, 2)),
        "F4 with half of y squared": with_less(3, Fraction(1, 2)),
    },
)
def inequalities_in_fractions(chain: Callable[[Energies], list[Any]]) -> Finding:
    """E[G gap] and the right sides of F1, F2 and F4 must increase."""
    runs, largest = sample(equal=False), [Fraction(0)] * 3
    for run in runs:
        found = chain(run)
        if found != sorted(found):
            shown = ", ".join(f"{float(x):.5f}" for x in found)
            return Finding(False, f"N = {run.N}, k = {run.k}: not increasing: {shown}")
        for place, (left, right) in enumerate(pairwise(found)):
            largest[place] = max(largest[place], left / right if right else Fraction(0))
    detail = f"{len(runs)} expectations, E[G gap] ≤ F1 ≤ F2 ≤ F4 in each"
    return Finding(True, detail, min(largest))
