r"""An accelerated linear rate exists.

Paper: Remark 3.5 (rem:acceleration), Section 3.1
Claim: an accelerated rate can be achieved for strongly convex R with known proof techniques,
    "however, the accelerated version may not have a natural interpretation in the primal
    variables".
Hypotheses: (A); (M); b = 1; the accelerated proximal coordinate steps of the check
Verdict: HOLDS
Correction: for the dual value and with proximal steps in place of mirror steps. $-D = f+h$ with
    $f(w) = R^{*}(-X^Tw/n)$, whose coordinates have Lipschitz constants
    $\frac{\|x_j\|^2}{n^2\mu}$, and h $\frac{1}{n\gamma}$-strongly convex; moving that strong
    convexity into f gives it the modulus $\frac1\sigma$ relative to its own coordinate constants,
    so accelerated proximal coordinate descent has $\mathbb{E}[D^{*}-D(w^k)] \le
    \left(1-\frac{1}{n\sqrt\sigma}\right)^k\left(D^{*}-D(w^0)+\frac{1}{2\sigma}
    \|w^0-w^{*}\|_L^2\right)$, $n\sqrt\sigma = \sqrt{n(n+\gamma\max\|x_j\|^2/\mu)}$ steps instead
    of $n\sigma$. The remark gives no rate and no statement about the primal.
Proof: none; the rate is a theorem of other papers
Check: the second moments of that method in fractions, k up to 60, for two squared losses with
    equal rows and $\sigma$ = 4, 25, 100, where $\sqrt\sigma$ is rational.
Tested: n = 2, p = 1, b = 1, k ≤ 60; squared losses
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

from proofs_check.statement import Finding, Kind, check

F = Fraction
Matrix = list[list[Fraction]]


def momentum(sigma: int) -> Fraction:
    """α = 1/(n√σ), n = 2."""
    return F(1, 2 * isqrt(sigma))


def curvature(sigma: int) -> Matrix:
    """∇²(−D) for x_j = 1, γ = 1, nμ = 1/(σ−1): σ/2 on the diagonal, (σ−1)/2 beside it."""
    return [[F(sigma, 2), F(sigma - 1, 2)], [F(sigma - 1, 2), F(sigma, 2)]]


def step(sigma: int, alpha: Fraction, j: int) -> Matrix:
    """(x, z) − (w*, w*) after a step on coordinate j, as a matrix of 4 rows.

    y = (x + αz)/(1+α); z⁺ = (1−α)z + αy, less ∇_jF(y)/(nαL_j) in coordinate j; and
    x⁺ = y + nα(z⁺−z) + nα²(z−y): accelerated proximal coordinate descent, whose separable part
    is linear here once the strong convexity of h is moved into f.
    """
    hessian, n, lipschitz = curvature(sigma), 2, F(sigma, 2)
    units = [[F(i == m) for m in range(4)] for i in range(4)]
    x, z = units[:2], units[2:]

    def combine(*terms: tuple[Any, list[Fraction]]) -> list[Fraction]:
        return [sum((c * row[m] for c, row in terms), F(0)) for m in range(4)]

    y = [combine((1 / (1 + alpha), x[i]), (alpha / (1 + alpha), z[i])) for i in range(2)]
    new = [combine((1 - alpha, z[i]), (alpha, y[i])) for i in range(2)]
    slope = combine(*zip(hessian[j], y, strict=True))
    new[j] = combine((1, new[j]), (-1 / (n * alpha * lipschitz), slope))
    ahead = [
        combine((1 - n * alpha**2, y[i]), (n * alpha, new[i]), (n * alpha**2 - n * alpha, z[i]))
        for i in range(2)
    ]
    return ahead + new


def product(a: Matrix, b: Matrix) -> Matrix:
    """ab."""
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)]
        for row in a
    ]


def errors(sigma: int, alpha: Fraction, k: int) -> tuple[list[Fraction], Fraction]:
    """E[D* − D(w^i)] for i ≤ k from w⁰ − w* = (1, −1), and the theorem's scale."""
    begun = [F(1), F(-1)] * 2
    moments = [[a * b for b in begun] for a in begun]
    maps = [step(sigma, alpha, j) for j in range(2)]
    hessian, found = curvature(sigma), []
    for _ in range(k + 1):
        pairs = [(i, m) for i in range(2) for m in range(2)]
        found.append(sum((hessian[i][m] * moments[i][m] for i, m in pairs), F(0)) / 2)
        images = [
            product(product(a, moments), [list(r) for r in zip(*a, strict=True)]) for a in maps
        ]
        moments = [
            [(u + v) / 2 for u, v in zip(*rows, strict=True)] for rows in zip(*images, strict=True)
        ]
    return found, found[0] + F(sigma, 2) * 2 / (2 * sigma)


@check(
    Kind.EXACT,
    momentum,
    {
        "no momentum": lambda sigma: F(1),
        "α = 1/(nσ)": lambda sigma: F(1, 2 * sigma),
        "α = 1/n": lambda sigma: F(1, 2),
    },
)
def the_accelerated_rate_holds(alpha: Any) -> Finding:
    """The method with α against (1 − 1/(n√σ))^i, 1 ≤ i ≤ 60."""
    largest = F(0)
    for sigma in (4, 25, 100):
        found, scale = errors(sigma, alpha(sigma), 60)
        rate = 1 - momentum(sigma)
        largest = max(largest, *(e / (rate**i * scale) for i, e in enumerate(found) if i))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)
