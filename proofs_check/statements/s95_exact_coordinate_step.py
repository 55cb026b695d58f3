r"""With exact coordinate steps the linear bound holds for all losses (Theorem I).

Paper: none; a step for which Theorem 3.2 is true (thm:exact-step)
Claim: let the drawn $s_j$ move to the root of $s^{+}+\kappa_jl_j'(s^{+}) = a_j+\kappa_jl_j'(s_j)$,
    $a = X\tilde\beta^i$, $\kappa_j = \frac{1}{n\mu}\left[\frac{n-b}{n-1}\|x_j\|^2+\frac{b-1}{n-1}
    \frac{S}{\gamma_j}\right]$, $S = \|\mathrm{diag}(\sqrt{\gamma})X\|_2^2$, and keep the draw and
    the weights $q^i$, $q = \frac{N\sigma_b}{N\sigma_b-1}$. Then
    $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le \frac{\mathbb{E}[D(w^k)-D(w^0)]}{q^k-1} \le
    \frac{P(\tilde\beta^0)-D(w^0)}{q^k-1} \le \frac{E/2}{q^k-1}$, $E =
    \frac1n\sum_j\gamma_jM_j^2$. Single rows drawn with probabilities as $\sigma_j =
    1+\gamma_j\kappa_j$: the same with $\frac1n\sum_j\sigma_j$ for $\sigma$.
Hypotheses: (A); (B); (M); (P); exact steps in the place of $1/\sigma$, weights $q^i$ as in Theorem
    3.2
Verdict: HOLDS
Correction: $R^{*}$ is $\frac1\mu$-smooth and the steps $\delta_j$ do not depend on the batch, so
    $\mathbb{E}_i\Delta_{i+1} \ge \frac{1}{Nn}\sum_jM_j(\delta_j)$, $M_j(\delta) = \delta
    a_j-l_j^{*}(w_j+\delta)+l_j^{*}(w_j)-\frac{\kappa_j}{2}\delta^2$, which the root maximizes. At
    $\delta = \frac{1}{\sigma_b}(l_j'(a_j)-w_j)$ the strong convexity of $l_j^{*}$ pays for the
    square, as $\gamma_j\kappa_j \le \sigma_b-1$: $M_j \ge \frac{1}{\sigma_b}[l_j(a_j)+
    l_j^{*}(w_j)-w_ja_j]$. So the atom's gap is at most $N\sigma_b\,\mathbb{E}_i\Delta_{i+1}$, and
    summation leaves every ascent the coefficient $N\sigma_b-1$, as for quadratic losses. For one
    row, $M_j \ge \frac{1}{\sigma_j}[\cdot]$, so that $p_j = \sigma_j/\sum_l\sigma_l$ gives
    $\sum_l\sigma_l$ in the place of $n\sigma$.
Proof: by hand
Check: the chain and the one-step inequality over all sequences of batches, b ≤ 3, n ≤ 4, in
    fractions, with losses whose kinks are not at 0; equality at k = 1 on equal rows.
Tested: n ≤ 4, p ≤ 2, b ≤ 3, k ≤ 4; squared, Huber-like and shifted losses
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.paths import Move, Path, all_batches, levels, start
from proofs_check.exact.problem import dot
from proofs_check.exact.shifted import root
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import drawn, free, huber, kinked, moved, squared
from proofs_check.statement import Finding, Kind, check


def curvature(one: Strong, j: int) -> Any:
    """κ_j."""
    x, loss = one.problem.rows[j], one.problem.losses[j]
    share = Fraction(one.b - 1, one.n - 1) if one.b > 1 else 0
    spectral = one.gamma * one.spectral if share else 0  # γ_j ≤ γ
    return ((1 - share) * dot(x, x) + share * spectral / loss.gamma) / (one.n * one.mu)


def exact(one: Strong, kappas: Any) -> Move:
    """The exact step on each row."""
    losses = one.problem.losses
    return lambda j, s, a: root(losses[j], kappas(one, j), s, a)


@cache
def instances() -> list[tuple[Strong, int]]:
    """Problems, and how many steps are enumerated."""
    generator = default_rng(95)
    sizes = [(1, 1, 4), (2, 1, 4), (3, 1, 3), (4, 1, 2)]
    sizes += [(2, 2, 3), (3, 2, 3), (4, 2, 2), (3, 3, 3), (4, 3, 2)]
    found = [(free(n, 2, b), k) for n, b, k in sizes]
    found += [(huber(n, b=b), k) for n, b, k in sizes if n > 1]
    for n, b, k in sizes:
        for loss in (squared, kinked, moved):
            found += [(drawn(generator, loss, n, b, p), k) for p in (1, 1, 2)]
    return found


def chain(one: Strong, paths: list[Path], k: int) -> list[Any]:
    """The four sides, from the gap to E/2."""
    rise = mean(one.problem.dual(path.w[-1]) for path in paths) - one.dual_start
    first = one.problem.primal(one.problem.atom(paths[0].w[0])) - one.dual_start
    gap = mean(path.last_gap() for path in paths)
    return [(one.q**k - 1) * gap, rise, first, one.energy / 2]


PLANTED = {
    "κ at 99/100": lambda one, j: curvature(one, j) * Fraction(99, 100),
    "κ at 101/100": lambda one, j: curvature(one, j) * Fraction(101, 100),
    "the coordinate's own for batches": lambda one, j: curvature(replace(one, b=1), j),
    "no square": lambda one, j: Fraction(0),
}


@check(Kind.EXACT, curvature, PLANTED)
def the_chain_holds_over_all_sequences(kappas: Any) -> Finding:
    """Ordered everywhere, and the first two sides equal at k = 1 on equal rows for every b."""
    ordered, attained, largest = True, True, Fraction(0)
    for one, steps in instances():
        runs = levels(one.problem, one.steps, one.b, steps, exact(one, kappas))
        for k, paths in enumerate(runs, 1):
            sides = chain(one, paths, k)
            ordered &= all(a <= b for a, b in itertools.pairwise(sides))
            if sides[2]:
                largest = max(largest, sides[0] / sides[2])
            if k == 1 and one.problem == free(one.n, 2, one.b).problem:
                attained &= sides[0] == sides[1]
    detail = f"{len(instances())} problems; largest gap/bound {float(largest):.4f}"
    return Finding(ordered and attained, detail, largest)


def probabilities(one: Strong) -> list[Any]:
    """p_j = σ_j/Σσ_l."""
    sigmas = [1 + loss.gamma * curvature(one, j) for j, loss in enumerate(one.problem.losses)]
    return [sigma / sum(sigmas) for sigma in sigmas]


def flatter(one: Strong) -> list[Any]:
    """One part in ten of the same for all rows."""
    return [p * Fraction(9, 10) + Fraction(1, 10 * one.n) for p in probabilities(one)]


@check(
    Kind.EXACT,
    probabilities,
    {"uniform": lambda one: [Fraction(1, one.n)] * one.n, "a tenth uniform": flatter},
)
def matched_probabilities_have_the_mean_for_sigma(likely: Any) -> Finding:
    """The atom's gap is at most Σσ_j times the expected ascent, at the start and a step later."""
    largest = None
    for one, _ in instances():
        if one.b > 1:
            continue
        problem, rows, move = one.problem, all_batches(one.n, 1), exact(one, curvature)
        total = one.n + sum(loss.gamma * curvature(one, j) for j, loss in enumerate(problem.losses))
        first = start(problem, one.steps)
        for path in [first, *first.children(rows, move)]:
            now = problem.dual(path.w[-1])
            gap = problem.primal(problem.atom(path.w[-1])) - now
            values = [problem.dual(child.w[-1]) for child in path.children(rows, move)]
            rise = sum(p * value for p, value in zip(likely(one), values, strict=True)) - now
            excess = gap - total * rise
            largest = excess if largest is None else max(largest, excess)
    return Finding(largest == 0, f"largest excess {float(largest or 0):.3g}")


def rate(one: Strong) -> Any:
    """Nσ_b, the atom's gap over the expected ascent."""
    return one.T


@check(
    Kind.EXACT,
    rate,
    {
        "σ_b for Nσ_b": lambda one: one.sigma,
        "1 % less": lambda one: one.T * Fraction(99, 100),
        "the paper's σ": lambda one: replace(one, printed=True).T,
    },
)
def an_atom_s_gap_is_paid_by_the_ascent(factor: Any) -> Finding:
    """At the start and after each first step; the largest excess is 0, on equal rows."""
    largest = None
    for one, _ in instances():
        problem, batches, move = one.problem, all_batches(one.n, one.b), exact(one, curvature)
        first = start(problem, one.steps)
        for path in [first, *first.children(batches, move)]:
            now = problem.dual(path.w[-1])
            gap = problem.primal(problem.atom(path.w[-1])) - now
            nexts = [child.w[-1] for child in path.children(batches, move)]
            excess = gap - factor(one) * (mean(problem.dual(w) for w in nexts) - now)
            largest = excess if largest is None else max(largest, excess)
    return Finding(largest == 0, f"largest excess {float(largest or 0):.3g}")
