"""The proof of Theorem 3.2, with σ_b for σ, and where its published form breaks.

T = Nσ, q = T/(T−1), g_i = q^i. The published proof drops terms of its Abel summation that have
the wrong sign; what remains after them is the corrected bound. "chain 1" is the first chain of
inequalities of the published proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rcmd.model import bounds
from rcmd.theory.proof_trace.lines import (
    Moment,
    Relation,
    Sides,
    along_the_run,
    at_each_step,
    average_beta,
)
from rcmd.theory.proof_trace.sublinear import bounded_predictions, saddle_identity


@at_each_step("chain 1, 1st")
def relative_smoothness(m: Moment) -> Sides:
    """E[−D⁺] ≤ model with σ_b."""
    return -_expected_dual(m), _model(m)


@at_each_step("chain 1, 2nd", Relation.EQUAL)
def separability(m: Moment) -> Sides:
    """model = its separable form."""
    full = m.inner(m.w_all) - _sigma(m) * m.bregman(m.w_all, m.s)
    return _model(m), -m.dual - full / m.blocks


@at_each_step("ascent")
def ascent(m: Moment) -> Sides:
    """D ≤ E D⁺."""
    return m.dual, _expected_dual(m)


@at_each_step("chain 1, 3rd")
def three_points(m: Moment) -> Sides:
    """three points, for the fixed w."""
    sigma, w = _sigma(m), m.fixed
    left = sigma * m.bregman(m.w_all, m.s) - m.inner(m.w_all)
    return left, sigma * (m.bregman(w, m.s) - m.bregman(w, m.s_all)) - m.inner(w)


@at_each_step("Prop. 3.8", Relation.EQUAL)
def separable_expectation(m: Moment) -> Sides:
    """D_h(w,r) − D_h(w,wⁱ) = N·E[D_h(w,w⁺) − D_h(w,wⁱ)]."""
    before, after = m.bregman(m.fixed, m.s), m.expected(lambda s: m.bregman(m.fixed, s))
    return m.bregman(m.fixed, m.s_all) - before, m.blocks * (after - before)


@at_each_step("one step")
def one_step(m: Moment) -> Sides:
    """−N·E D⁺ ≤ −(N−1)D − φ(β̃,w) + D_h(w,·) terms."""
    product = m.blocks * _sigma(m)
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    paid = (product - 1) * m.bregman(m.fixed, m.s) - product * after
    right = paid - (m.blocks - 1) * m.dual - m.saddle(m.fixed)
    return -m.blocks * _expected_dual(m), right


@at_each_step("contraction")
def contraction(m: Moment) -> Sides:
    """Nδ⁺ + TV⁺ ≤ (N−1)δ + (T−1)V on average."""
    product, best = m.blocks * _sigma(m), m.problem.dual(m.fixed)
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    left = m.blocks * (best - _expected_dual(m)) + product * after
    before = (product - 1) * m.bregman(m.fixed, m.s)
    return left, (m.blocks - 1) * (best - m.dual) + before


@along_the_run("Abel summation", Relation.PUBLISHED)
def dropped_terms(moments: Sequence[Moment]) -> Sides:
    """the dropped Abel terms are ≥ 0."""
    last = moments[-1]
    sigma, blocks = _sigma(last), last.blocks
    ratio = blocks * sigma / (blocks * sigma - 1)
    duals = [m.dual for m in moments] + [last.problem.dual(last.response(last.s_next))]
    gains = [after - before for before, after in pairwise(duals)]
    terms = [
        blocks * ((sigma - 1) * ratio ** (m + 1) - sigma) * gain for m, gain in enumerate(gains)
    ]
    return 0 * last.dual, sum(terms[1:], start=terms[0])


@at_each_step("quadratic losses")
def quadratic_step(m: Moment) -> Sides:
    """P(β̃) − D ≤ Nσ·E[D⁺ − D]."""
    beta = m.atom.dense(m.problem.rows.zero())
    gain = _expected_dual(m) - m.dual
    return m.problem.primal(beta) - m.dual, m.blocks * _sigma(m) * gain


@along_the_run("Theorem 3.2, corrected", Relation.ON_AVERAGE)
def theorem(moments: Sequence[Moment]) -> Sides:
    """E[P(β̄) − D(w)] ≤ bound."""
    last = moments[-1]
    gap = last.problem.primal(average_beta(moments)) - last.problem.dual(last.response(last.s_next))
    return gap, bounds.best(last.constants, len(moments), "linear")[1]


LINES = (
    bounded_predictions,
    saddle_identity,
    relative_smoothness,
    separability,
    ascent,
    three_points,
    separable_expectation,
    one_step,
    contraction,
    dropped_terms,
    theorem,
)

QUADRATIC_LINES = (*LINES[:-1], quadratic_step, LINES[-1])
"""With the step that makes the published bound true for quadratic losses."""


def _sigma(m: Moment) -> Any:
    return m.constants.sigma


def _expected_dual(m: Moment) -> Any:
    return m.expected(lambda s: m.problem.dual(m.response(s)))


def _model(m: Moment) -> Any:
    """−D − E⟨g, w⁺−w⟩ + σ E D_h(w⁺, w)."""
    sigma = _sigma(m)
    steps = m.expected(lambda s: sigma * m.bregman(m.response(s), m.s) - m.inner(m.response(s)))
    return steps - m.dual
