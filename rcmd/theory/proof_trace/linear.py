"""The proof of Theorem 3.2, with σ_b for σ, and where its published form breaks.

T = Nσ, q = T/(T−1), g_i = q^i. The published proof drops terms of its Abel summation that have
the wrong sign; what remains after them is the corrected bound. "chain 1" is the first chain of
inequalities of the published proof.
"""

from itertools import pairwise
from typing import Any

from rcmd.model import bounds
from rcmd.theory.proof_trace import sublinear
from rcmd.theory.proof_trace.lines import Moment, ProofLine, Relation, Sides, line


@line("chain 1, 1st")
def relative_smoothness(m: Moment) -> Sides:
    """E[−D⁺] ≤ model with σ_b."""
    return -_expected_dual(m), _model(m)


@line("chain 1, 2nd", Relation.EQUAL)
def separability(m: Moment) -> Sides:
    """model = its separable form."""
    full = m.inner(m.w_all) - m.constants.sigma * m.bregman(m.w_all, m.s)
    return _model(m), -m.dual - full / m.blocks


@line("ascent")
def ascent(m: Moment) -> Sides:
    """D ≤ E D⁺."""
    return m.dual, _expected_dual(m)


@line("chain 1, 3rd")
def three_points(m: Moment) -> Sides:
    """three points, for the fixed w."""
    sigma, w = m.constants.sigma, m.fixed
    left = sigma * m.bregman(m.w_all, m.s) - m.inner(m.w_all)
    return left, sigma * (m.bregman(w, m.s) - m.bregman(w, m.s_all)) - m.inner(w)


@line("Prop. 3.8", Relation.EQUAL)
def separable_expectation(m: Moment) -> Sides:
    """D_h(w,r) − D_h(w,wⁱ) = N·E[D_h(w,w⁺) − D_h(w,wⁱ)]."""
    before, after = m.bregman(m.fixed, m.s), m.expected(lambda s: m.bregman(m.fixed, s))
    return m.bregman(m.fixed, m.s_all) - before, m.blocks * (after - before)


@line("one step")
def one_step(m: Moment) -> Sides:
    """−N·E D⁺ ≤ −(N−1)D − φ(β̃,w) + D_h(w,·) terms."""
    product = m.blocks * m.constants.sigma
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    paid = (product - 1) * m.bregman(m.fixed, m.s) - product * after
    right = paid - (m.blocks - 1) * m.dual - m.saddle(m.fixed)
    return -m.blocks * _expected_dual(m), right


@line("contraction")
def contraction(m: Moment) -> Sides:
    """Nδ⁺ + TV⁺ ≤ (N−1)δ + (T−1)V on average."""
    product, best = m.blocks * m.constants.sigma, m.problem.dual(m.fixed)
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    left = m.blocks * (best - _expected_dual(m)) + product * after
    before = (product - 1) * m.bregman(m.fixed, m.s)
    return left, (m.blocks - 1) * (best - m.dual) + before


@line("Abel summation", Relation.PUBLISHED)
def dropped_terms(m: Moment) -> Sides:
    """the dropped Abel terms are ≥ 0."""
    sigma, blocks = m.constants.sigma, m.blocks
    ratio = blocks * sigma / (blocks * sigma - 1)
    duals = [*(k.dual for k in m.past), m.dual, m.problem.dual(m.response(m.s_next))]
    gains = [after - before for before, after in pairwise(duals)]
    terms = [
        blocks * ((sigma - 1) * ratio ** (k + 1) - sigma) * gain for k, gain in enumerate(gains)
    ]
    return 0 * m.dual, sum(terms[1:], start=terms[0])


@line("quadratic losses")
def quadratic_step(m: Moment) -> Sides:
    """P(β̃) − D ≤ Nσ·E[D⁺ − D]."""
    beta = m.atom.dense(m.problem.rows.zero())
    gain = _expected_dual(m) - m.dual
    return m.problem.primal(beta) - m.dual, m.blocks * m.constants.sigma * gain


@line("Theorem 3.2, corrected", Relation.ON_AVERAGE)
def theorem(m: Moment) -> Sides:
    """E[P(β̄) − D(w)] ≤ bound."""
    gap = m.problem.primal(m.beta_average) - m.problem.dual(m.response(m.s_next))
    return gap, bounds.best(m.constants, m.i + 1, "linear")[1]


QUADRATIC_LINES = (
    sublinear.bounded_predictions,
    sublinear.saddle_identity,
    *(part for part in globals().values() if isinstance(part, ProofLine)),
)
"""As they stand above, with the step that makes the published bound true for quadratic losses."""

LINES = tuple(part for part in QUADRATIC_LINES if part is not quadratic_step)


def _expected_dual(m: Moment) -> Any:
    return m.expected(lambda s: m.problem.dual(m.response(s)))


def _model(m: Moment) -> Any:
    """−D − E⟨g, w⁺−w⟩ + σ E D_h(w⁺, w)."""
    sigma = m.constants.sigma
    steps = m.expected(lambda s: sigma * m.bregman(m.response(s), m.s) - m.inner(m.response(s)))
    return steps - m.dual
