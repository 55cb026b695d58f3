r"""For quadratic losses the linear theorem is true, and more.

Paper: none; replaces the proof of Theorem 3.2 for quadratic losses (thm:strong-quadratic)
Claim: for quadratic losses of any curvatures up to $\gamma$, $\mathbb{E}[P(\bar\beta^{k-1}) -
    D(w^k)] \le \frac{\mathbb{E}[D(w^k) - D(w^0)]}{q^k - 1} \le \frac{D^{*} - D(w^0)}{q^k-1} \le
    \frac{D_{\max}}{q^k-1}$ with $q = \frac{n\sigma}{n\sigma-1}$.
Hypotheses: (A); (B); (S); every $l_j$ is quadratic, with curvature at most $\gamma$
Verdict: REPAIRED
Correction: $P(\tilde\beta^i) - D(w^i) = D_h(w^i, \hat w^i)$ with $\hat w^i = \nabla
    L(X\tilde\beta^i)$ known before $j_i$ is drawn. Smoothness and the mirror step give
    $\mathbb{E}_i\Delta_{i+1} \ge \sigma\,\mathbb{E}_iD_h(w^i, w^{i+1})$, $\Delta_m =
    D(w^m)-D(w^{m-1})$; a quadratic Bregman distance shrinks by $\sigma^2$ when its step does, so
    the atom's gap is at most $n\sigma\,\mathbb{E}_i\Delta_{i+1}$. Convexity of P and summation
    leave $\Delta_m$ the coefficient $n\sigma q^{m-1} - (n\sigma-1)(q^m-1) = n\sigma-1$. Last,
    $D^{*}-D(w^0) \le P(\tilde\beta^0)-D(w^0) = D_h(w^0,\hat w^0) = D_h(\hat w^0,w^0)$.
Proof: by hand, symbolic
Check: the coefficient symbolically; all sequences in fractions for drawn problems with p = 1 and
    p = 2; equality at k = 1 for equal rows and any n.
Tested: n ≤ 4, p ≤ 2, b = 1, k ≤ 4; squared losses
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import start
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import drawn, free, squared, zoo
from proofs_check.statement import Finding, Kind, check


def ascent_coefficient(T: Any, q: Any, m: Any) -> Any:
    """Of Δ_m: nσ q^{m−1} from the atoms' gaps, minus Σ_{i<m} q^i from D(w^k) − D(w^i)."""
    return T * q ** (m - 1) - (T - 1) * (q**m - 1)


@check(
    Kind.SYMBOLIC,
    ascent_coefficient,
    {
        "q^m for q^{m−1}": lambda T, q, m: ascent_coefficient(T, q, m) + T * (q**m - q ** (m - 1)),
        "nσ for nσ − 1": lambda T, q, m: ascent_coefficient(T, q, m) - (q**m - 1),
    },
)
def every_ascent_has_the_same_coefficient(coefficient: Any) -> Finding:
    """nσ − 1 for all m, with Σ_{i<m} q^i = (nσ−1)(q^m−1)."""
    T, m = sympy.symbols("T m", positive=True)
    q = T / (T - 1)
    rest = sympy.simplify(coefficient(T, q, m) - (T - 1))
    sums = sympy.simplify((T - 1) * (q ** (m + 1) - q**m) - q**m)
    return Finding(rest == 0 and sums == 0, f"rests {rest} and {sums}")


def chain(one: Strong, k: int, gap: Any) -> list[Any]:
    """The four sides, from the gap to D_max."""
    rise = one.dual_means(k)[k] - one.dual_start
    return [(one.q**k - 1) * gap, rise, one.value - one.dual_start, one.radius]


@check(
    Kind.EXACT,
    lambda sides: sides,
    {
        "the ascent at 99/100": lambda sides: [sides[0], sides[1] * Fraction(99, 100), *sides[2:]],
        "half of D_max": lambda sides: [*sides[:3], sides[3] / 2],
    },
)
def the_chain_holds_on_drawn_problems(change: Any) -> Finding:
    """Squared losses, k ≤ 4 (n ≤ 2) or 3; equality at k = 1 on equal rows."""
    squares = [one for one in zoo() if isinstance(one.problem.losses[0], Squared)]
    ordered, largest = True, Fraction(0)
    for one in squares:
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            sides = change(chain(one, k, gap))
            ordered &= all(a <= b for a, b in itertools.pairwise(sides))
            if one.n > 1 and sides[3]:
                largest = max(largest, sides[0] / sides[3])
    equal = [change(chain(one, *one.gaps(1)[0])) for one in (free(n, 2) for n in (1, 2, 3))]
    attained = all(sides[0] == sides[1] for sides in equal)
    return Finding(
        ordered and attained,
        f"{len(squares)} problems; largest gap/bound {float(largest):.4f} for n > 1",
        largest,
    )


def quadratic_rate(sigma: Any, n: Any) -> Any:
    """nσ, the atom's gap over the expected ascent."""
    return n * sigma


@check(
    Kind.EXACT,
    quadratic_rate,
    {
        "σ for nσ": lambda sigma, n: sigma,
        "n for nσ": lambda sigma, n: n,
        "nσ − 1/100": lambda sigma, n: n * sigma - Fraction(1, 100),
    },
)
def an_atom_s_gap_is_paid_by_the_ascent(rate: Any) -> Finding:
    """gap_i ≤ nσ E_iΔ_{i+1} at the start and after each first step, for p = 2 too."""

    def worst(one: Strong) -> Any:
        problem, found = one.problem, Fraction(-1000)
        for path in [start(problem, one.steps), *one.levels(1)[0][1]]:
            now = problem.dual(path.w[-1])
            gap = problem.primal(problem.atom(path.w[-1])) - now
            nexts = [path.extended((j,)).w[-1] for j in range(one.n)]
            rise = sum(problem.dual(w) for w in nexts) / one.n - now
            found = max(found, gap - rate(one.sigma, one.n) * rise)
        return found

    generator = default_rng(54)
    squares = [drawn(generator, squared, n, p=p) for n in (2, 3) for p in (1, 2) for _ in range(4)]
    largest = max(worst(one) for one in [*squares, free(2, 2), free(3, 1)])
    return Finding(largest == 0, f"largest excess {float(largest)}")
