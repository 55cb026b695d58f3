"""The worst case of one step of Theorem 3.1's proof at a fixed w."""

from __future__ import annotations

from proofs_check.semidefinite.gram import Gram, Known


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
