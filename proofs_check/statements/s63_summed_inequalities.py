r"""The two lines before the summation by parts.

Paper: the summed inequalities in the proof of Theorem 3.2 (eq:strong-summed), Section 3.1
Claim: with $q = \frac{n\sigma}{n\sigma-1}$, $-\mathbb{E}\sum_{i=1}^knq^iD(w^i)$ is at most
    $\mathbb{E}[-\sum_{i=1}^k(n-1)q^iD(w^{i-1}) - \sum_{i=1}^kq^i\phi(\tilde\beta^{i-1},w) + n\sigma
    D_h(w,w^0)]$, and that at most the same with $(\sum_{i=1}^kq^i)\,\phi(\bar\beta^{k-1},w)$.
Hypotheses: (A); (B); b = 1; (S); w does not depend on any draw
Verdict: HOLDS
Correction: for w fixed beforehand. What the first line drops is $n\sigma
    q^k\,\mathbb{E}D_h(w,w^k)$: with it, line 1 is as tight as the first chain. The proof goes on to
    put in the random $\hat w^{k-1}$, its second gap beside the summation by parts (hello).
Proof: by hand
Check: both lines over all sequences in fractions, at w = w* and at the response to each extreme
    point of dom R; the line with the dropped term.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.problem import Vector
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check


def distance_weight(T: Any, q: Any, i: int) -> Any:
    """What stands before E D_h(w, w^i) on the right: nσ at the start, −nσq^k at the end."""
    return T if i == 0 else -T * q**i


def sides(one: Strong, k: int, paths: Any, at: Vector, weight: Any) -> list[Any]:
    """The left side, line 1 with the dropped term, line 1 and line 2."""
    problem, n, T, q = one.problem, one.n, one.T, one.q
    w, duals = problem.response(at), one.dual_means(k)
    powers = [q**i for i in range(1, k + 1)]
    left = -sum(n * p * dual for p, dual in zip(powers, duals[1:], strict=True))
    start = weight(T, q, 0) * problem.bregman(at, paths[0].s[0])
    end = weight(T, q, k) * mean(problem.bregman(at, path.s[-1]) for path in paths)
    values = [mean(problem.saddle(path.atoms[i], w) for path in paths) for i in range(k)]
    kept = sum((n - 1) * p * dual for p, dual in zip(powers, duals[:-1], strict=True))
    first = start - kept - sum(p * value for p, value in zip(powers, values, strict=True))
    average = mean(problem.saddle(path.beta, w) for path in paths)
    return [left, first + end, first, start - kept - sum(powers) * average]


@check(
    Kind.EXACT,
    distance_weight,
    {
        "half of nσ": lambda T, q, i: distance_weight(T, q, i) / (1 if i else 2),
        "nσ − 1": lambda T, q, i: distance_weight(T, q, i) + (i == 0) * -1,
        "the dropped term twice": lambda T, q, i: distance_weight(T, q, i) * (2 if i else 1),
    },
)
def both_lines_hold_at_fixed_w(weight: Any) -> Finding:
    """k ≤ 3."""
    smallest = None
    for one in zoo()[::3]:
        for k, paths in one.levels(3):
            for beta in (one.optimum, *one.corners):
                at = one.problem.predictions(beta)
                found = sides(one, k, paths, at, weight)
                if found != sorted(found):
                    return Finding(False, f"n = {one.n}, k = {k}: not increasing")
                rest = found[1] - found[0]
                smallest = rest if smallest is None else min(smallest, rest)
    assert smallest is not None
    return Finding(smallest == 0, f"line 1 with the dropped term is attained: {float(smallest)}",
                   1 if smallest == Fraction(0) else None)  # fmt: skip
