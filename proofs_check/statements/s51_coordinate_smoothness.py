r"""The dual is smooth along coordinates relative to h.

Paper: Proposition 3.7, part 1 (prop:coordinate smoothness), Section 3.1
Claim: $-D$ is coordinate-wise $\left(\frac{\gamma\max_j\|x_j\|_2^2}{n\mu}+1\right)$-smooth
    relative to $h$ when R is $\mu$-strongly convex.
Hypotheses: (A); (W); (M); b = 1
Verdict: TIGHT
Correction: it is about one coordinate at a time (b = 1), and $\sigma \ge 1$ always; Theorem 3.2
    then says "D is $\sigma$-smooth" where $-D$ is meant. Proof: $R^{*}$ is $1/\mu$-smooth, so
    $-D(w+te_j) \le -D(w) - t\,\partial_jD(w) + D_h(w+te_j,w) + t^2\|x_j\|^2/(2n^2\mu)$, and $t^2
    \le 2n\gamma D_h(w+te_j,w)$.
Proof: by hand
Check: the three lines of the printed proof and, from them, the claim exactly, over drawn problems
    and pairs $w, w+te_j$; with equality for squared losses, equal rows and an R that no bound cuts.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), no steps; squared, Huber-like and shifted
    losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.problem import dot
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import free, zoo
from proofs_check.statement import Finding, Kind, check


def relative_constant(gamma: Any, row: Any, n: int, mu: Any) -> Any:
    """1 + γ max‖x_j‖²/(nμ)."""
    return 1 + gamma * row / (n * mu)


def slacks(one: Strong, sigma: Any) -> list[Any]:
    """σD_h(w+te_j, w) − [−D(w+te_j) + D(w) + t ∂_jD(w)] at points w = ∇L(s)."""
    problem, found = one.problem, []
    for step in range(-3, 4):
        s = tuple(Fraction(step * (i + 1), 3) for i in range(one.n))
        w = problem.response(s)
        a = problem.predictions(problem.atom(w))
        for j in range(one.n):
            for move in (Fraction(-2), Fraction(1, 2), Fraction(3)):
                new = tuple(x + move if i == j else x for i, x in enumerate(s))
                w_new = problem.response(new)
                linear = (w_new[j] - w[j]) * (a[j] - s[j]) / one.n
                left = problem.dual(w) - problem.dual(w_new) + linear
                found.append(sigma * problem.bregman(new, s) - left)
    return found


@check(
    Kind.EXACT,
    relative_constant,
    {
        "1/(2μ) for 1/μ": lambda gamma, row, n, mu: 1 + gamma * row / (2 * n * mu),
        "1 of h forgotten": lambda gamma, row, n, mu: gamma * row / (n * mu),
        "n forgotten": lambda gamma, row, n, mu: 1 + gamma * row / mu,
    },
)
def the_constant_is_enough_and_attained(constant: Any) -> Finding:
    """No pair violates it, and for squared losses every pair attains it."""

    def sigma(one: Strong) -> Any:
        return constant(one.gamma, one.row, one.n, one.mu)

    smallest = min(min(slacks(one, sigma(one))) for one in zoo()[::3])
    tight = free(2, 2)
    largest = max(abs(x) for x in slacks(tight, sigma(tight)))
    return Finding(
        smallest >= 0 and largest == 0,
        f"smallest slack {float(smallest):.3g}; with squared losses all slacks are {largest}",
        1,
    )


def square_over(mu: Any, n: int, squared_norm: Any, t: Any) -> Any:
    """t²‖x_j‖²/(2n²μ)."""
    return t**2 * squared_norm / (2 * n**2 * mu)


@check(
    Kind.EXACT,
    square_over,
    {
        "a quarter": lambda *given: square_over(*given) / 4,
        "n for n²": lambda mu, n, square, t: square_over(mu, n, square, t) * n,
    },
)
def the_printed_proof_line_by_line(square: Any) -> Finding:
    """R*(−Xᵀw₂/n) less its linear part is at most the square, and that the distance's multiple."""
    ordered, smallest = True, None
    for one in [*zoo()[::6], free(2, 2), free(3, 1)]:
        problem = one.problem
        for shift in (-1, 0, 2):
            s = tuple(Fraction(shift * (i + 1), 3) for i in range(one.n))
            w = problem.response(s)
            a = problem.predictions(problem.atom(w))
            for j, row in enumerate(problem.rows):
                new = tuple(x + Fraction(3, 2) * (i == j) for i, x in enumerate(s))
                after = problem.response(new)
                t = after[j] - w[j]
                # R*(−Xᵀw/n) = −D(w) − h(w), its slope along e_j −a_j/n.
                rise = problem.dual(w) + problem.conjugate(w)
                rise -= problem.dual(after) + problem.conjugate(after)
                first = square(one.mu, one.n, dot(row, row), t)
                share = one.gamma * dot(row, row) / (one.n * one.mu)
                ordered &= rise + t * a[j] / one.n <= first <= share * problem.bregman(new, s)
                rest = first - rise - t * a[j] / one.n
                smallest = rest if smallest is None else min(smallest, rest)
    return Finding(ordered and smallest == 0, f"smallest rest of line 1: {smallest}")
