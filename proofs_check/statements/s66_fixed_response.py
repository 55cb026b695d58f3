r"""What the linear theorem's proof does prove, for every fixed w.

Paper: none; what remains of the proof of Theorem 3.2 (thm:strong-fixed)
Claim: for every fixed w, $\mathbb{E}[\phi(\bar\beta^{k-1},w)-D(w^k)] \le
    \frac{1}{q^k-1}\left(D_h(w,w^0) + \frac{n-1}{n\sigma-1}\mathbb{E}[D(w^k)-D(w^0)]\right)$, so
    that $P(\mathbb{E}\bar\beta^{k-1}) - \mathbb{E}D(w^k)$ and $\mathbb{E}[D^{*}-D(w^k)]$ are at
    most $\frac{\gamma M^2}{q^k-1}$; moreover $\mathbb{E}[D^{*}-D(w^k)] \le
    \frac{D_h(w^{*},w^0)+r(D^{*}-D(w^0))}{q^k-1+r}$ with $r = \frac{n-1}{n\sigma-1}$, and
    $\mathbb{E}[D^{*}-D(w^k)] \le \left(1-\tfrac{1}{n\sigma}\right)^k\left(D^{*}-D(w^0)+\sigma
    D_h(w^{*},w^0)\right)$.
Hypotheses: (A); (B); (S); w does not depend on any draw
Verdict: REPAIRED
Correction: multiply $\mathbb{E}[-nD(w^{i+1})] \le \mathbb{E}[-(n-1)D(w^i)-\phi(\tilde\beta^i,w) +
    (n\sigma-1)D_h(w,w^i) - n\sigma D_h(w,w^{i+1})]$ by $q^{i+1}$ and sum: the Bregman terms
    telescope, and $\Delta_m$ is left with $n\sigma-n(\sigma-1)q^m \le (n-1)q$. Dividing by
    $n\sigma(q^k-1)$ gives $\frac{n-1}{n\sigma-1} \le \frac1\sigma$. With $D^{*}-D(w^0) \le
    P(\tilde\beta^0)-D(w^0) = D_h(w^0,\hat w^0) \le \frac12\gamma M^2$ and $D_h(w,w^0) \le
    \frac12\gamma M^2$ for responses w, the bound is $\frac{\gamma
    M^2}{2}(1+\frac1\sigma)/(q^k-1)$. For the last claim take $w = w^{*}$, where
    $\phi(\tilde\beta^i,w^{*}) \ge D^{*}$: $n(D^{*}-D)+n\sigma D_h(w^{*},\cdot)$ shrinks by
    $1-\frac{1}{n\sigma}$ in each step, as $n-1 \le n(1-\frac{1}{n\sigma})$. For $n\sigma = 1$ (n
    = 1, X = 0) read $\frac{n-1}{n\sigma-1} = 0$ and $q = \infty$.
Proof: by hand, symbolic
Check: all sequences in fractions: w = w*, the response to the expected $\bar\beta$, and the
    response to each end of dom R.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check


def ascent_share(n: Any, T: Any) -> Any:
    """(n−1)/(nσ−1)."""
    return (n - 1) / (T - 1)


@check(
    Kind.SYMBOLIC,
    ascent_share,
    {
        "n for n − 1": lambda n, T: n / (T - 1),
        "T for T − 1": lambda n, T: (n - 1) / T,
        "halved": lambda n, T: ascent_share(n, T) / 2,
    },
)
def the_share_of_the_ascent_is_at_most_one_over_sigma(share: Any) -> Finding:
    """n − 1 ≤ (T−1)/σ and (n−1)q ≤ n: the differences are (σ−1) times positive factors."""
    n, sigma = sympy.symbols("n sigma", positive=True)
    T = n * sigma
    rests = [
        1 / sigma - share(n, T) - (sigma - 1) / (sigma * (T - 1)),
        n - share(n, T) * T - n * (sigma - 1) / (T - 1),
        (T - 1) / sigma - (n - 1) - (sigma - 1) / sigma,
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(not any(found), f"rests {found}")


def sides(one: Strong, k: int, paths: Any, share: Any) -> list[tuple[Any, Any]]:
    """(q^k−1)·left and right, for each w; the third kind is P(E β̄) itself."""
    problem, zero = one.problem, (Fraction(0),) * one.n
    mean_dual = one.dual_means(k)[k]
    ascent = share(one.n, one.T) * (mean_dual - one.dual_start)
    mean_beta = tuple(map(mean, zip(*(path.beta for path in paths), strict=True)))
    found = []
    for beta in (one.optimum, mean_beta, *one.corners):
        predicted = problem.predictions(beta)
        w = problem.response(predicted)
        left = mean(problem.saddle(path.beta, w) for path in paths) - mean_dual
        if beta == mean_beta:
            left = max(left, problem.primal(beta) - mean_dual)
        found.append(((one.q**k - 1) * left, problem.bregman(predicted, zero) + ascent))
    return found


@check(
    Kind.EXACT,
    ascent_share,
    {
        "nothing, as printed": lambda n, T: 0 * T,
        "(n−1)/(nσ+1)": lambda n, T: (n - 1) / (T + 1),
        "(n−2)/(nσ−1)": lambda n, T: max(n - 2, 0) / (T - 1),
        "half of it": lambda n, T: ascent_share(n, T) / 2,
    },
)
def the_bound_holds_for_every_fixed_w(share: Any) -> Finding:
    """k ≤ 2; equality is met at n = 1."""
    found = [
        (one.n, left, right)
        for one in zoo()
        for k, paths in one.levels(2)
        for left, right in sides(one, k, paths, share)
    ]
    smallest = min(right - left for _, left, right in found)
    ratio = max(left / right for n, left, right in found if n > 1 and right > 0)
    return Finding(smallest == 0, f"smallest slack {float(smallest):.3g}", ratio)


def missing_bound(one: Strong, growth: Any) -> Any:
    """(D_h(w*, w⁰) + share·(D* − D(w⁰)))/(q^k − 1 + share)."""
    share = ascent_share(one.n, one.T)
    return (one.start_radius + share * (one.value - one.dual_start)) / (growth - 1 + share)


@check(
    Kind.EXACT,
    missing_bound,
    {
        "without the share above": lambda one, growth: (
            one.start_radius / (growth - 1 + ascent_share(one.n, one.T))
        ),
        "q^{2k}": lambda one, growth: missing_bound(one, growth**2),
        "half of it": lambda one, growth: missing_bound(one, growth) / 2,
    },
)
def the_dual_value_has_the_same_bound(bound: Any) -> Finding:
    """At w = w*, with D(w^k) on both sides solved for; k ≤ 3."""
    largest = Fraction(0)
    for one in zoo():
        for k, mean_dual in enumerate(one.dual_means(3)):
            if k and one.start_radius:
                largest = max(largest, (one.value - mean_dual) / bound(one, one.q**k))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)


@check(
    Kind.EXACT,
    lambda T, k: (1 - 1 / T) ** k,
    {
        "exponent 2k": lambda T, k: (1 - 1 / T) ** (2 * k),
        "1 − 2/(nσ)": lambda T, k: (1 - 2 / T) ** k,
        "half of it": lambda T, k: (1 - 1 / T) ** k / 2,
    },
)
def the_dual_value_converges_linearly(decrease: Any) -> Finding:
    """E[D* − D(w^k)] + σE D_h(w*, w^k) ≤ (1−1/(nσ))^k (D* − D(w⁰) + σD_h(w*, w⁰)), k ≤ 3."""
    largest = Fraction(0)
    for one in zoo():
        problem, solved = one.problem, one.problem.predictions(one.optimum)
        begun = one.value - one.dual_start + one.sigma * one.start_radius
        for k, paths in one.levels(3):
            missing = one.value - one.dual_means(k)[k]
            far = mean(problem.bregman(solved, path.s[-1]) for path in paths)
            if begun:
                ratio = (missing + one.sigma * far) / (abs(decrease(one.T, k)) * begun)
                largest = max(largest, ratio)
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)
