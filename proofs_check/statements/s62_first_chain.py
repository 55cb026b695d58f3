r"""Two signs in the chain that begins the linear theorem's proof.

Paper: first chain of the proof of Theorem 3.2 (eq:first_chain_strong), Section 3.1
Claim: $\mathbb{E}_{j_i}[-D(w^{i+1})]$ is at most each of five expressions, the second being
    $-D(w^i) - \frac1n\left(\langle\nabla D(w^i), r^{i+1}-w^i\rangle + \sigma
    D_h(r^{i+1},w^i)\right)$ and the third $-D(w^i)-\frac1n\left(\langle\nabla D(w^i),
    w-w^i\rangle + \sigma D_h(w,w^i) - \sigma D_h(w,r^{i+1})\right)$.
Hypotheses: (A); (B); b = 1; (S); w does not depend on $j_i$
Verdict: TYPO
Correction: the signs of the $\sigma D_h$ inside $-\frac1n(\cdot)$ are flipped in lines 2 and 3:
    they are $-\frac1n(\langle\nabla D(w^i), r^{i+1}-w^i\rangle - \sigma D_h(r^{i+1},w^i))$ and
    $-\frac1n(\langle\nabla D(w^i), w-w^i\rangle - \sigma D_h(w,w^i) + \sigma D_h(w,r^{i+1}))$.
    Lines 1, 4 and 5 are right, and all but the first inequality are equalities.
Proof: by hand
Check: exactly, one step from every state that a drawn problem reaches in at most one: the
    corrected lines agree with line 1, the printed ones do not.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 2; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.paths import Path, start
from proofs_check.exact.problem import Vector
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check

TARGET = (Fraction(3, 4), Fraction(-1, 2), Fraction(5, 4), Fraction(-2))
"""Predictions whose response is the chain's w."""


def lines(one: Strong, path: Path, signs: tuple[int, int]) -> list[Any]:
    """−E D(w^{i+1}), then the five lines; ``signs`` are those of the σD_h in lines 2 and 3."""
    problem, n, sigma = one.problem, one.n, one.sigma
    s, value = path.s[-1], problem.dual(path.w[-1])
    a = problem.predictions(problem.atom(path.w[-1]))
    full = tuple(x + (y - x) / sigma for x, y in zip(s, a, strict=True))
    target = TARGET[:n]
    nexts = [path.extended((j,)) for j in range(n)]

    def ascent(new: Vector) -> Any:
        moves = zip(problem.response(new), path.w[-1], a, s, strict=True)
        return sum((v - u) * (c - x) for v, u, c, x in moves) / n

    def mean(quantity: Any) -> Any:
        return sum(quantity(new.s[-1]) for new in nexts) / n

    first = mean(lambda new: -value - ascent(new) + sigma * problem.bregman(new, s))
    second = -value - (ascent(full) + signs[0] * sigma * problem.bregman(full, s)) / n
    drop = sigma * (problem.bregman(target, s) - problem.bregman(target, full))
    third = -value - (ascent(target) + signs[1] * drop) / n
    fourth = mean(
        lambda new: (
            -value
            - ascent(target) / n
            + sigma * (problem.bregman(target, s) - problem.bregman(target, new))
        )
    )
    fifth = fourth + value - ((n - 1) * value + value) / n
    left = -sum(problem.dual(new.w[-1]) for new in nexts) / n
    return [left, first, second, third, fourth, fifth]


@check(
    Kind.EXACT,
    (-1, -1),
    {"line 2 as printed": (1, -1), "line 3 as printed": (-1, 1), "both as printed": (1, 1)},
)
def the_corrected_lines_are_equal(signs: tuple[int, int]) -> Finding:
    """And none is below E[−D(w^{i+1})]."""
    ordered = equal = True
    states = 0
    for one in zoo():
        for path in [start(one.problem, one.steps), *one.levels(1)[0][1]]:
            left, *right = lines(one, path, signs)
            ordered &= left <= right[0]
            equal &= all(line == right[0] for line in right)
            states += 1
    return Finding(ordered and equal, f"{states} states")
