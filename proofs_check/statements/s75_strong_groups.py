r"""Identical samples count once in the martingale.

Paper: none; sharpens the second inequality of Theorem 3.2 (thm:strong-groups)
Claim: let the samples be groups of $n_g$ identical ones, same $x_j$ and $l_j$, and let G be the
    largest of $\frac n{n_g}$ over groups with $n_g > 1$ and of $n-1$ where a sample is alone. The
    bounds of (thm:strong-martingale) and (thm:strong-recentred) hold with G for $n-1$ in
    $\frac{n-1}{n(\sigma-1)}$ and in $\zeta$. If all $n \ge 2$ samples are identical,
    $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le 2.85\frac{\gamma M^2}{q^k-1}$ for all n, k and
    $\sigma$.
Hypotheses: (A); b = 1; (U); (S); (M); (P)
Verdict: REPAIRED
Correction: in a group $\hat w_j$ and $\bar a_j$ are the same, and $D_l(\cdot,\bar a)$ is convex:
    the martingale term of (thm:strong-base) only grows if $s_j^k$ and $\nu_j$ are replaced by
    their means $\bar s_g$ and $\bar\nu_g$ over the group. In the two proofs put $l'(\bar s_g)$
    for $w_j^k$: $D_l(\cdot,s^{*})$ is convex too, so $V_k$ still bounds its distance. $\bar\nu_g$
    is a martingale whose step has the variance $\frac{n}{n_g^2}\sum_{j\in g}u_j^2-\bar u_g^2$,
    which for $n_g = 1$ is $(n-1)u_j^2$; the sum over g of $n_g$ times it is at most
    $G\|u\|^2$. If all are identical $G = 1$ and $s_n-1 = n(\sigma-1) = y$, so $\zeta = 1$; with
    $t = \frac1\varphi = \varphi-1$, $C = \frac12\left[(1+\frac1\sigma)\varphi^2+\frac\varphi
    y\right]$ is at most $\varphi^2+\frac{\varphi}{2y}$, and $C \le \frac12(2+y)$ by
    (thm:strong-spectrum): one of them is at most 2.85.
Proof: by hand, exact
Check: the variance exactly over all sequences, and below G; the bound over all sequences with
    groups of up to 4, p = 1 and 2; the number 2.85 in fractions. Not tight, as far
    as is known.
Tested: n ≤ 4, p ≤ 2, b = 1, k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.problem import Small
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import drawn, kinked, moved, squared
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s68_base_inequality import martingale
from proofs_check.statements.s72_strong_martingale import moves, square

F = Fraction
SIZES: tuple[tuple[int, ...], ...] = ((2,), (3,), (4,), (2, 1), (2, 2), (3, 1), (1, 2, 1))


@cache
def instances() -> list[tuple[Strong, tuple[int, ...]]]:
    """Problems and the sizes of their groups, whose samples follow each other."""
    generator = default_rng(77)
    found = []
    for sizes in SIZES:
        for p in (1, 2):
            for loss in (squared, kinked, moved):
                one = drawn(generator, loss, len(sizes), p=p).problem
                rows = [row for row, size in zip(one.rows, sizes, strict=True) for _ in range(size)]
                losses = [x for x, size in zip(one.losses, sizes, strict=True) for _ in range(size)]
                found.append((Strong(Small(tuple(rows), losses, one.regularizer)), sizes))
    return found


def parts(vector: Any, sizes: tuple[int, ...]) -> list[Any]:
    """A vector cut into groups."""
    left = iter(vector)
    return [[next(left) for _ in range(size)] for size in sizes]


def variance(n: int, u: list[Any]) -> Any:
    """Of a step of the group's martingale."""
    return F(n, len(u) ** 2) * square(u) - mean(u) ** 2


def largest_group_number(n: int, sizes: tuple[int, ...]) -> Any:
    """G."""
    return max(F(n, size) if size > 1 else n - 1 for size in sizes)


@check(
    Kind.EXACT,
    (variance, largest_group_number),
    {
        "(n/n_g − 1) times the mean square": (
            lambda n, u: (F(n, len(u)) - 1) * square(u) / len(u),
            largest_group_number,
        ),
        "1 % more of it": (lambda n, u: F(101, 100) * variance(n, u), largest_group_number),
        "n/n_g − 1 for G": (variance, lambda n, sizes: max(F(n, size) - 1 for size in sizes)),
    },
)
def the_martingale_of_the_means(formulas: Any) -> Finding:
    """k ≤ 3: E Σ n_g ν̄_g² exactly, and at most G Σ q^{2i} E‖u^i‖²."""
    of_step, number = formulas
    exact = below = total = 0
    for one, sizes in instances():
        for k, paths in one.levels(3):
            found = mean(
                sum(len(nu) * mean(nu) ** 2 for nu in parts(martingale(one, path), sizes))
                for path in paths
            )
            steps = [[moves(one, path)[i] for path in paths] for i in range(k)]
            expected = sum(
                one.q ** (2 * i)
                * mean(sum(len(g) * of_step(one.n, g) for g in parts(u, sizes)) for u in us)
                for i, us in enumerate(steps)
            )
            size = sum(one.q ** (2 * i) * mean(square(u) for u in us) for i, us in enumerate(steps))
            total += 1
            exact += found == expected
            below += found <= number(one.n, sizes) * size
    return Finding(exact == below == total, f"{exact} and {below} of {total} levels")


def factor(one: Strong, sizes: tuple[int, ...]) -> Any:
    """C for a rational t near the root of t(1+t)ζ = 1, and nσ/2."""
    noise = largest_group_number(one.n, sizes) / (one.n * (one.sigma - 1))
    zeta = noise * (one.sigma_full - 1)
    t = F(isqrt(int((1 + 4 / zeta) * 10**12)) - 10**6, 2 * 10**6)
    recentred = (1 + 1 / one.sigma) * (1 + max((1 + t) * zeta, 1 / t)) + (1 + t) * noise
    return min(recentred, one.T) / 2


@check(
    Kind.EXACT,
    factor,
    {
        "a twentieth": lambda one, sizes: factor(one, sizes) / 20,
        "1/20": lambda one, sizes: F(1, 20),
    },
)
def the_bound_holds_over_all_sequences(number: Any) -> Finding:
    """k ≤ 3."""
    largest = F(0)
    for one, sizes in instances():
        for k, gap in one.gaps(3):
            largest = max(largest, (one.q**k - 1) * gap / (number(one, sizes) * one.energy))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)


@check(Kind.EXACT, F(285, 100), {"1 % less": F(285, 100) * F(99, 100), "5/2": F(5, 2)})
def all_identical_samples(number: Any) -> Finding:
    """(2+y)/2 grows and φ² + φ/(2y) falls: both are below at one y; φ < 1.61804."""
    phi, y = F(161804, 100000), 2 * number - 2
    found = phi**2 + phi / (2 * y)
    agrees = phi**2 > phi + 1 and (2 + y) / 2 <= number and found <= number
    return Finding(agrees, f"{float(found):.4f} at y = {float(y):g}", found / number)
