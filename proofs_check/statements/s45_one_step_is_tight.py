r"""One step of Theorem 3.1's proof cannot be improved at a fixed w.

Paper: the inequality under the second display of the proof of Theorem 3.1 (step:tight), Section
    3.1
Claim: The constant of $\langle g^i,w-w^i\rangle + \frac n{\eta_i}\mathbb E_{j_i}D_h(w,w^{i+1}) -
    \frac n{\eta_i}D_h(w,w^i) \le 2\gamma M^2\eta_i$ is the best one that $|s_j|,
    |x_j^T\tilde\beta| \le M$ allow, for every n and i.
Hypotheses: $l_j$ convex and $\gamma$-smooth; $|s_j|, |x_j^T\tilde\beta| \le M$; w fixed
Verdict: TIGHT
Correction: The left side is $\frac1{n\eta_i}\sum_jD_{l_j}(s_j+\eta_iu_j,s_j) \le
    \frac{\gamma\eta_i}{2n} \sum_ju_j^2$, equal for the squared loss at $s_j = -M$,
    $x_j^T\tilde\beta = M$. What makes the theorem loose is not the step but that no run has such
    steps one after the other.
Proof: by hand; the formula in the correction
Check: A semidefinite programme in six vectors, one row at a time, over all smooth convex losses;
    and the extremal step in fractions.
Tested: n ≤ 1000, p = 1, b = 1, i ≤ 500; all smooth losses of vectors, and a squared loss
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.statement import Finding, Kind, check
from rcmd.theory.worst_cases.gram import Gram, Known


def largest_one_step(eta: float) -> float:
    """The largest left side of the one-step inequality in units of η, for γ = M = 1.

    With w fixed and g^i = (a − s)/n, the display under (eq:nonsmooth-theonehand) asks that

        ⟨g^i, w − w^i⟩ + (n/η) E_i D_h(w, w^{i+1}) − (n/η) D_h(w, w^i) ≤ 2γM²η.

    Row j is drawn with probability 1/n, and D_h(w, w^i) = (1/n) Σ_j D_{l_j}(s_j, ŝ_j) for
    w_j = l_j'(ŝ_j); so the left side is the mean over j of

        (a−s)(w − l'(s)) + (1/η)[D_l(s + η(a−s), ŝ) − D_l(s, ŝ)],

    one row at a time: six vectors s, a, ŝ and the gradients at s, s + η(a−s), ŝ, and three values
    of l. Only ‖s‖, ‖a‖ ≤ 1 is known.
    """
    gram = Gram(["s", "a", "hat", "l'(s)", "l'(new)", "w"], ["l(s)", "l(new)", "l(hat)"])
    s, a, hat, w = (gram.vector(name) for name in ("s", "a", "hat", "w"))
    new = s + eta * (a - s)
    at_s = Known(s, gram.vector("l'(s)"), gram.number("l(s)"))
    at_new = Known(new, gram.vector("l'(new)"), gram.number("l(new)"))
    at_hat = Known(hat, w, gram.number("l(hat)"))
    gram.interpolate([at_s, at_new, at_hat])
    gram.at_most(gram.product(s, s), 1.0)
    gram.at_most(gram.product(a, a), 1.0)
    # D_l(new, ŝ) − D_l(s, ŝ): the terms at ŝ cancel.
    change = at_new.value - at_s.value - gram.product(w, new - s)
    return gram.maximum(gram.product(a - s, w - at_s.gradient) / eta + change / eta**2)


_largest = cache(largest_one_step)
PAIRS = [(1, 0), (1, 5), (1, 50), (2, 0), (2, 7), (3, 1), (10, 3), (10, 40), (100, 9), (1000, 500)]


def printed(n: int, i: int) -> float:
    """2γM²η_i for γ = M = 1."""
    return 4 * n / (2 * n + i + 1)


@check(
    Kind.SEMIDEFINITE,
    printed,
    planted={
        "coefficient 1 for 2": lambda n, i: printed(n, i) / 2,
        "coefficient 4 for 2": lambda n, i: printed(n, i) * 2,
        "index shifted": lambda n, i: printed(n, i + 1),
        "off by 1e-4": lambda n, i: printed(n, i) * (1 + 1e-4),
    },
)
def worst_step_over_all_losses(printed: Callable[[int, int], float]) -> Finding:
    """The programme over the printed right side is 1."""
    ratios = []
    for n, i in PAIRS:
        eta = 2 * n / (2 * n + i + 1)
        ratios.append(_largest(eta) * eta / printed(n, i))
    worst = max(abs(ratio - 1) for ratio in ratios)
    words = f"ratios from {min(ratios):.6f} to {max(ratios):.6f} for {len(ratios)} pairs (n, i)"
    return Finding(worst < 1e-5, words, max(ratios))


@check(
    Kind.EXACT,
    2,
    planted={"coefficient 1 for 2": 1, "coefficient 4 for 2": 4},
)
def extremal_step_in_fractions(coefficient: int) -> Finding:
    """s = −1, a = 1 and a squared loss."""
    for eta in (Fraction(2, 3), Fraction(4, 5), Fraction(1, 7)):
        loss, s, a = Squared(Fraction(1, 3)), Fraction(-1), Fraction(1)
        new = s + eta * (a - s)
        step: Any = loss.value(new) - loss.value(s) - loss.derivative(s) * (new - s)
        if step / eta != coefficient * eta:
            return Finding(False, f"eta = {eta}: the left side is {step / eta}")
    return Finding(True, "s = -1, a = 1, a squared loss: 2 eta for three values of eta", 1)
