r"""The second linear inequality with a factor that depends on the losses' curvatures alone.

Paper: none; replaces the second inequality of Theorem 3.2 (thm:strong-curvature)
Claim: let $\rho_0 = \max_j\frac{\sup l_j''}{\inf l_j''} < \infty$ on $[-M_j,M_j]$, $\kappa =
    \sigma-1$ and $r = \frac1\sigma(\sqrt{\rho_0}-1)(2+\kappa(\sqrt{\rho_0}+1)) \le \rho_0-1$.
    For all n and k, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{1}{q^k-1}\left[(1+r)(D^{*}-D(w^0))+rD_h(w^{*},w^0)\right] \le
    (\frac12+r)\frac{\gamma M^2}{q^k-1}$: the factor is at most $\rho_0-\frac12$, whatever n, k and
    $\sigma$ are; for logistic losses it is at most $\cosh^2\frac M2-\frac12$.
Hypotheses: (A); (B); (S); (M); (P); $\inf l_j'' > 0$ on $[-M_j,M_j]$
Verdict: REPAIRED
Correction: in the proof of (thm:strong-early), $\sqrt{D_l(a,s)} \le
    \sqrt{D_l(s',s)}+\sqrt{\frac{\gamma_j}2}\frac\kappa\sigma|u|$ and $D_l(s',s) \ge
    \frac{\gamma_j}{2\rho_0}\frac{u^2}{\sigma^2}$, as $s'$ lies between s and a, so $D_l(a,s) \le
    (1+\kappa\sqrt{\rho_0})^2D_l(s',s)$. Hence the atom's gap is at most $\rho
    T\,\mathbb{E}_i\Delta_{i+1}$ with $\rho = \frac{1}{\sigma^2}(1+\kappa\sqrt{\rho_0})^2 =
    1+\frac{r\kappa}{\sigma}$, and no energy is left over: go on as for (thm:strong-spectrum) with
    $\tau = r$, $b = 0$. For batches write $N = n/b$ and $\sigma_b$.
Proof: by hand, symbolic
Check: $\rho$ and r symbolically; the one-step inequality in fractions along all sequences, with
    equality for squared losses; the bound over all sequences, p = 1 and 2, n to 4, for squared
    losses and for kinked ones with $\rho_0$ to 9. Not tight for $\rho_0 > 1$,
    as far as is known.
Tested: n ≤ 4, p ≤ 2, b ≤ 2, k ≤ 4; squared and shifted Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

import sympy
from numpy.random import Generator, default_rng

from proofs_check.exact.losses import TiltedHuber
from proofs_check.exact.paths import all_batches, start
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.shifted import Shifted
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import drawn, eighths, free, squared
from proofs_check.statement import Finding, Kind, check

F = Fraction


def paid(root: Any, sigma: Any) -> Any:
    """ρ, for √ρ₀ = root."""
    return ((1 + (sigma - 1) * root) / sigma) ** 2


def excess(root: Any, sigma: Any) -> Any:
    """r."""
    return (root - 1) * (2 + (sigma - 1) * (root + 1)) / sigma


@check(
    Kind.SYMBOLIC,
    excess,
    {
        "1 for 2": lambda root, sigma: (root - 1) * (1 + (sigma - 1) * (root + 1)) / sigma,
        "r at 99/100": lambda root, sigma: F(99, 100) * excess(root, sigma),
    },
)
def the_number_of_the_ascents(formula: Any) -> Finding:
    """ρ = 1 + rκ/σ, and ρ₀ − 1 − r as a product of non-negative terms; κ = σ − 1."""
    kappa, root = sympy.symbols("kappa root", positive=True)
    sigma = 1 + kappa
    r = sympy.nsimplify(formula(root, sigma))
    rests = [
        paid(root, sigma) - 1 - r * kappa / sigma,
        root**2 - 1 - r - (root - 1) ** 2 / sigma,
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")


def curved(generator: Generator) -> Shifted:
    """A kinked loss of curvature 1/8 to 3 outside its middle and 1 more inside."""
    loss = TiltedHuber(eighths(generator, 1, 12), eighths(generator, 1, 24), F(0))
    return Shifted(loss, eighths(generator, -12, 12))


def late() -> Strong:
    """One row, l'' = 1/8 up to the first step's end at 1/2, then 9/8; σ = 2."""
    loss = Shifted(TiltedHuber(F(1, 2), F(1, 8), F(5, 8)), F(1))
    return Strong(Small(((F(1),),), [loss], Parabola(F(9, 8), F(1), F(0), F(1))))


@cache
def instances() -> list[Strong]:
    """One variable and two."""
    generator = default_rng(76)
    sizes = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 1, 2), (3, 1, 2), (4, 1, 2), (3, 2, 1)]
    found = [late(), free(1, 2), free(2, 2), free(3, 1, 2)]
    return found + [
        drawn(generator, loss, n, b, p)
        for n, b, p in sizes
        for loss in (squared, curved)
        for _ in range(6)
    ]


def root_of(one: Strong) -> Any:
    """√ρ₀, rounded up to six decimals."""
    ratios = [1] + [
        loss.gamma / loss.loss.curvature for loss in one.problem.losses if isinstance(loss, Shifted)
    ]
    return F(isqrt(int(max(ratios) * 10**12 - 1)) + 1, 10**6)


@check(
    Kind.EXACT,
    paid,
    {
        "99/100 of it": lambda root, sigma: F(99, 100) * paid(root, sigma),
        "1, as for squared losses": lambda root, sigma: 1,
    },
)
def an_atom_s_gap_is_paid_by_the_ascent(number: Any) -> Finding:
    """At the start and after each of two steps."""
    largest, met = F(-1), 0
    for one in instances():
        problem, batches = one.problem, all_batches(one.n, one.b)
        rho = number(root_of(one), one.sigma)
        later = (path for _, paths in one.levels(2) for path in paths)
        for path in [start(problem, one.steps), *later]:
            now = problem.dual(path.w[-1])
            gap = problem.primal(problem.atom(path.w[-1])) - now
            rise = mean(problem.dual(child.w[-1]) for child in path.children(batches)) - now
            largest, met = max(largest, gap - rho * one.T * rise), met + 1
    return Finding(largest == 0, f"{met} cases, largest excess {float(largest):.3g}")


def factor(one: Strong) -> Any:
    """C."""
    return F(1, 2) + excess(root_of(one), one.sigma)


@check(
    Kind.EXACT,
    factor,
    {
        "1/4 for 1/2": lambda one: factor(one) - F(1, 4),
        "ninety-nine hundredths for squared losses": lambda one: (
            F(99, 100) * factor(one) if root_of(one) == 1 else factor(one)
        ),
    },
)
def the_factor_holds_over_all_sequences(number: Any) -> Finding:
    """k ≤ 4; and where one variable is, the bound with D* − D(w⁰) and D_h(w*, w⁰)."""
    largest, inner = F(0), F(0)
    for one in instances():
        r = number(one) - F(1, 2)
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            growth = one.q**k - 1
            largest = max(largest, growth * gap / (number(one) * one.energy))
            if len(one.problem.rows[0]) == 1:
                right = (1 + r) * (one.value - one.dual_start) + r * one.start_radius
                if right:
                    inner = max(inner, growth * gap / right)
    detail = f"largest ratio {float(largest):.4f}; {float(inner):.4f} with the distances"
    return Finding(largest <= 1 and inner <= 1, detail, inner)


@check(
    Kind.SYMBOLIC,
    lambda s: sympy.exp(s) / (1 + sympy.exp(s)) ** 2,
    {
        "tanh's": lambda s: 1 / sympy.cosh(s) ** 2,
        "1 % wider": lambda s: 1 / (4 * sympy.cosh(s * F(101, 200)) ** 2),
    },
)
def the_ratio_of_logistic_losses(second: Any) -> Finding:
    """l''(0)/l''(M) = cosh²(M/2); l'' is even and falls with |s|."""
    s = sympy.symbols("s", positive=True)
    ratio = second(sympy.Integer(0)) / second(s)
    rest = sympy.simplify((ratio - sympy.cosh(s / 2) ** 2).rewrite(sympy.exp))
    return Finding(rest == 0, f"rest {rest}")
