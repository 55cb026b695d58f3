r"""The linearized dual in terms of the saddle function.

Paper: second display of the proof of Theorem 3.2 (eq:strong_middle), Section 3.1
Claim: $-D(w^i) - \langle\nabla D(w^i), w-w^i\rangle + n\sigma D_h(w,w^i) - n\sigma D_h(w,w^{i+1})
    = -\phi(\tilde\beta^i, w) + (n\sigma-1)D_h(w,w^i) - n\sigma D_h(w,w^{i+1})$.
Hypotheses: (A); (B); b = 1; (S); w does not depend on $j_i$
Verdict: HOLDS
Correction: "multiplying (strong_middle)" two lines later means the unnumbered inequality
    between, $\mathbb{E}[-nD(w^{i+1})] \le \mathbb{E}[-(n-1)D(w^i) - \phi(\tilde\beta^i,w) +
    (n\sigma-1)D_h(w,w^i) - n\sigma D_h(w,w^{i+1})]$, which is right for a fixed w.
Proof: by hand
Check: exactly, both sides at all states of drawn problems, and the unnumbered inequality.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 2; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.paths import start
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check

TARGET = (Fraction(3, 4), Fraction(-1, 2), Fraction(5, 4), Fraction(-2))
"""Predictions whose response is w."""


def coefficient(T: Any) -> Any:
    """Of D_h(w, w^i) on the right."""
    return T - 1


@check(
    Kind.EXACT,
    coefficient,
    {"nσ": lambda T: T, "nσ + 1": lambda T: T + 1, "nσ − 2": lambda T: T - 2},
)
def both_sides_agree_and_the_inequality_follows(number: Any) -> Finding:
    """The terms with w^{i+1} are the same on both sides and left out of the equality."""
    equal = follows = True
    states = 0
    for one in zoo():
        problem, n, T = one.problem, one.n, one.T
        target = TARGET[:n]
        w = problem.response(target)
        for path in [start(problem, one.steps), *one.levels(1)[0][1]]:
            s, now = path.s[-1], path.w[-1]
            atom = problem.atom(now)
            a = problem.predictions(atom)
            moves = zip(w, now, a, s, strict=True)
            ascent = sum((v - u) * (c - x) for v, u, c, x in moves) / n
            near = problem.bregman(target, s)
            right = -problem.saddle(atom, w) + number(T) * near
            equal &= -problem.dual(now) - ascent + T * near == right
            nexts = [path.extended((j,)) for j in range(n)]
            left = -sum(problem.dual(new.w[-1]) for new in nexts)
            far = sum(problem.bregman(target, new.s[-1]) for new in nexts) / n
            follows &= left <= -(n - 1) * problem.dual(now) + right - T * far
            states += 1
    return Finding(equal and follows, f"{states} states")
