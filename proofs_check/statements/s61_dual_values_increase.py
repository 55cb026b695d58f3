r"""Single-row steps never decrease the dual value.

Paper: first display of the proof of Theorem 3.2 (eq:monotone-dual), Section 3.1
Claim: $-D(w^{i+1}) \le -D(w^i) - \langle\tilde g^i, w^{i+1}-w^i\rangle + \sigma D_h(w^{i+1}, w^i)
    \le -D(w^i)$.
Hypotheses: (A); b = 1; (S)
Verdict: HOLDS
Correction: more precisely $D(w^{i+1}) - D(w^i) \ge \sigma D_h(w^i, w^{i+1})$, as the middle term
    is $-\sigma(D_h(w^{i+1},w^i)+D_h(w^i,w^{i+1})) + \sigma D_h(w^{i+1},w^i)$. It is about single
    rows: with batches and the same $\sigma$ the dual value can fall.
Proof: by hand
Check: exactly, all paths of drawn problems; a batch of all three rows whose dual value falls.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from proofs_check.exact.paths import start
from proofs_check.exact.schedules import linear
from proofs_check.exact.strong_instances import F, labelled, zoo
from proofs_check.statement import Finding, Kind, check


def step_length(sigma: Any) -> Any:
    """The σ whose 1/σ is the step."""
    return sigma


@check(
    Kind.EXACT,
    step_length,
    {
        "η = 3/σ": lambda sigma: sigma / 3,
        "η = 1": lambda sigma: 0 * sigma + 1,
    },
)
def every_step_gains_what_the_proof_says(length: Any) -> Finding:
    """D(w^{i+1}) − D(w^i) − σD_h(w^i, w^{i+1}) ≥ 0 over three steps, all sequences."""
    ratio = Fraction(0)
    for one in zoo():
        problem, sigma = one.problem, one.sigma
        paths = [start(problem, linear(one.n, length(sigma) if one.n > 1 else sigma))]
        for _ in range(3):
            new = [path.extended((j,)) for path in paths for j in range(one.n)]
            for path in new:
                rise = problem.dual(path.w[-1]) - problem.dual(path.w[-2])
                promised = sigma * problem.bregman(path.s[-2], path.s[-1])
                if rise < promised:
                    return Finding(False, f"a step gains {float(promised - rise):.3g} too little")
                ratio = max(ratio, promised / rise if rise else Fraction(0))
            paths = new
    return Finding(True, f"at most {float(ratio):.4f} of the gain", ratio)


@check(Kind.EXACT, True, {"σ_b for σ": False})
def batches_with_the_same_sigma_may_fall(printed: bool) -> Finding:
    """n = b = 3, μ = 1/4, y = 3/5 on [−1, 1]."""
    one = labelled(3, F(1, 4), F(3, 5), 3, printed=printed)
    values = [one.dual_start, *(one.problem.dual(paths[0].w[-1]) for _, paths in one.levels(8))]
    falls = [a - b for a, b in itertools.pairwise(values) if b < a]
    return Finding(
        bool(falls), f"{len(falls)} of 8 steps fall, by up to {float(max(falls, default=0)):.4f}"
    )
