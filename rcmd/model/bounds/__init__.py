"""The theorems' bounds: as the paper prints them, as they hold, and where each applies.

They are about the algorithm started at w⁰ = ∇L(0), with h = L*/n but for Theorem I, and batches of
b rows drawn uniformly without replacement. ``iterations`` counts the steps done: after t of them
the algorithm has β̄^{t−1}, w̄^{t−1} and w^t, so Theorem 3.1 ("sublinear"), and the same with the
steps of ``HeadStart`` ("head-start"), is read at k = t − 1 and Theorem 3.2 ("linear", η = 1/σ_b)
at k = t. Theorem I ("exact") is ours: Theorem 3.2's weights with
the exact coordinate steps of ``ExactProx``. There P(β̃^i) − D(w^i) ≤ Nσ_b E_i[D(w^{i+1}) − D(w^i)]
for all losses; by convexity of P, Σ_i q^i (P(β̄^{k−1}) − D(w^k)) has an expectation of at most
Σ_m (Nσ_b q^{m−1} − Σ_{i<m} q^i) E[D(w^m) − D(w^{m−1})], where every coefficient is Nσ_b − 1.
"quartz" is the method of Qu, Richtárik and Zhang (2015), ``Quartz``, whose k is the steps done.

N = n/b; σ is the paper's coordinate-wise relative smoothness, σ_b the one in expectation over
batches (σ_1 = σ), s_n the one in every direction; q = Nσ_b/(Nσ_b − 1); E = (1/n) Σ γ_j M_j² ≤ γM²;
and V = min{D_max, E/2}, since D_h(ŵ, w⁰) ≤ E/2 for every response ŵ (half of Prop. 3.1's γM²).
``bound`` has what an inequality is, ``hypotheses`` what it asks of a run; ``sublinear``, ``linear``
and ``exact`` have the theorems, and ``registry`` finds those that hold.

PROVED: for every problem with these constants. REFUTED: some problem breaks the statement, and no
proof covers the case at hand. A bound is about runs that keep all of its ``hypotheses``.

Examples
--------
>>> import math
>>> from rcmd.model.constants import Constants
>>> logistic = Constants(n=2, batch=1, gamma=0.25, prediction_bound=10.0, prediction_energy=25.0,
...                      bregman_radius=math.log(2), mu=1.0, row_energy=0.25, spectral_energy=0.5,
...                      quadratic=False)
>>> round(named("theorem-3.2-first")(logistic, 1), 6)  # a problem whose expected gap is 2.059730
0.866434
>>> named("theorem-3.2-first").verdict_for(logistic, 1).name
'REFUTED'
>>> bound, value = best(logistic, 8, "linear")
>>> bound.name, round(value, 4)
('linear-any-loss', 0.1224)
"""

from rcmd.model.bounds.bound import SIDES as SIDES
from rcmd.model.bounds.bound import Bound, Verdict
from rcmd.model.bounds.hypotheses import Hypothesis, RunFacts
from rcmd.model.bounds.hypotheses import Kind as Kind
from rcmd.model.bounds.registry import LEAST as LEAST
from rcmd.model.bounds.registry import all_bounds, asked, best, named, valid, why_none

__all__ = [
    "Bound",
    "Hypothesis",
    "RunFacts",
    "Verdict",
    "all_bounds",
    "asked",
    "best",
    "named",
    "valid",
    "why_none",
]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
