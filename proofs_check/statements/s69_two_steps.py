r"""The second linear inequality after two steps, for all losses.

Paper: none; proves the second inequality of Theorem 3.2 at k = 2 (thm:strong-two-steps)
Claim: for k = 1 and k = 2, all losses and all n, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{1}{q^k-1} \left(\mathbb{E}D_h(\hat
    w,w^0)+\frac{n-1}{n\sigma-1}\mathbb{E}[D(w^k)-D(w^0)]\right) \le \frac{\gamma M^2}{q^k-1}$.
Hypotheses: (A); (B); b = 1; (S)
Verdict: REPAIRED
Correction: k = 1: $\bar\beta^0$ is not random, so the bound for fixed w applies to $\hat w$. k =
    2, $n \ge 2$: the martingale term $\mathbb{E}\sum_j\{\hat w_j\nu_j-c\,D_{l_j}(s_j^2,\bar
    a_j)\}$ is at most 0. Fix j and let $u = a_j^0 > 0$; let $\bar a^{(m)}$ be $\bar a_j$ and $v_m
    = l_j'(\bar a^{(m)})$ when $j_0 = m$. $\hat w$ is known before $j_1$ is drawn, so
    $\mathbb{E}\hat w_j\nu_j = \frac1n\sum_{m\ne j}u(v_m-v_j)$. Relative smoothness says that
    $(\sigma-1)s_j+a_j$ does not decrease with $w_j$, and $a_j$ does not increase: after the
    update of row j itself, which brings $s_j$ from 0 to $u/\sigma$, $u/\sigma \le a_j^1 \le u$,
    so $\bar a^{(j)} \ge \theta u$ with $\theta = \frac{1+q/\sigma}{1+q}$. If $v_m > v_j$ then
    $\theta u \le \bar a^{(j)} < \bar a^{(m)}$ and $D_{l_j}(0,\bar a^{(m)}) = \int_0^{\bar
    a^{(m)}}(v_m-l_j'(t))\,dt \ge \bar a^{(j)}(v_m-v_j) \ge \theta u(v_m-v_j)$. If neither step
    takes row j then $s_j^2 = 0$, so $c\,\mathbb{E}D_{l_j}(s_j^2,\bar a_j) \ge
    c(1-\frac1n)\frac1n\sum_{m\ne j}D_{l_j}(0,\bar a^{(m)})$. And $c(1-\frac1n) \ge 2 \ge
    \frac1\theta$: $c = \frac{q^2}{q-1} \ge 4$ and $\frac{1}{\theta} \le \frac{1+q}{2q-1} \le 2$.
    For n = 1, $\nu = 0$.
Proof: by hand, symbolic
Check: the scalar inequalities symbolically, as squares and products of positive terms; the
    martingale term and the claim over all sequences in fractions.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 2; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.paths import Path
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s68_base_inequality import last_term


def scalars(q: Any, sigma: Any) -> tuple[Any, Any]:
    """c = (T−1)q² and θ, with T = q/(q−1)."""
    return q**2 / (q - 1), (1 + q / sigma) / (1 + q)


@check(
    Kind.SYMBOLIC,
    scalars,
    {
        "c = (T−1)q": lambda q, sigma: (q / (q - 1), scalars(q, sigma)[1]),
        "θ without the 1": lambda q, sigma: (scalars(q, sigma)[0], q / sigma / (1 + q)),
        "θ with weights 1 and q²": lambda q, sigma: (
            scalars(q, sigma)[0],
            (1 + q**2 / sigma) / (1 + q**2),
        ),
    },
)
def the_scalars_are_on_the_right_sides_of_two(formulas: Any) -> Finding:
    """c − 4, (1+q)θ − (2q−1) and 2(2q−1) − (1+q) in non-negative form; nσ = q/(q−1)."""
    q, sigma = sympy.symbols("q sigma", positive=True)
    n = q / ((q - 1) * sigma)
    c, theta = formulas(q, sigma)
    rests = [
        c - 4 - (q - 2) ** 2 / (q - 1),
        (1 + q) * theta - (2 * q - 1) - (n - 2) * (q - 1),
        2 * (2 * q - 1) - (1 + q) - 3 * (q - 1),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")


def without_distance(one: Strong, path: Path) -> Any:
    """The martingale term without −c D_l(s², ā)."""
    means = one.problem.predictions(path.beta)
    return last_term(one, path) + (one.T - 1) * one.q**2 * one.problem.bregman(means, path.s[-1])


def at_start(one: Strong, path: Path) -> Any:
    """D_h(ŵ, w²) in its place."""
    return one.problem.bregman(one.problem.predictions(path.beta), path.s[-1])


@check(
    Kind.EXACT,
    (last_term, 1),
    {
        "the Bregman term left out": (without_distance, 1),
        "a distance in its place": (at_start, 1),
        "half of the bound": (last_term, Fraction(1, 2)),
    },
)
def the_martingale_term_is_not_positive(subject: Any) -> Finding:
    """Its expectation after two steps, and the claimed bounds after one and two."""
    term, scale = subject
    largest, ratio, zero = Fraction(-(10**9)), Fraction(0), Fraction(0)
    for one in zoo():
        problem, share = one.problem, (one.n - 1) / (one.T - 1)
        for k, paths in one.levels(2):
            if k == 2 and one.n > 1:
                largest = max(largest, mean(term(one, path) for path in paths))
            far = mean(
                problem.bregman(problem.predictions(path.beta), (zero,) * one.n) for path in paths
            )
            right = scale * (far + share * (one.dual_means(k)[k] - one.dual_start))
            if right:
                ratio = max(ratio, (one.q**k - 1) * one.gaps(k)[-1][1] / right)
    return Finding(
        largest <= 0 and ratio <= 1,
        f"largest martingale term {float(largest):.3g}, largest gap/bound {float(ratio):.4f}",
        ratio,
    )
