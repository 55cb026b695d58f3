"""The proof of Theorem 3.1: the published lines for a fixed w, and those of its repair.

"display 1" is the first display of the published proof, whose inequalities are numbered.

The published proof bounds φ(β̄, w) − D(w̄) for a w fixed beforehand and then puts in the response
ŵ to β̄, which depends on the draws. The repair goes through the losses at s instead: with
u = a − s, N = n/b, g_i = 2N + i, c_i = (2N+i)(2N+i+1)/2 and G = Σ g_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcmd.model import bounds
from rcmd.theory.proof_trace.lines import (
    Moment,
    Relation,
    Sides,
    along_the_run,
    at_each_step,
    average_beta,
    total_weight,
    weighted_sum,
)


@at_each_step("Prop. 3.3")
def bounded_predictions(m: Moment) -> Sides:
    """|s_j| ≤ M."""
    return abs(m.s).max(), m.constants.prediction_bound


@at_each_step("Cor. 3.1")
def bounded_gradients(m: Moment) -> Sides:
    """E ‖g̃‖² ≤ 4bM²/n²."""
    size = m.problem.n**2
    return m.expected(lambda s: _moved_square(m, s)) / size, 4 * _largest_square(m) / size


@at_each_step("Prop. 3.5", Relation.EQUAL)
def saddle_identity(m: Moment) -> Sides:
    """φ(β̃,w) = D + ⟨g,w−wⁱ⟩ − D_h(w,wⁱ)."""
    return m.saddle(m.fixed), m.dual + m.inner(m.fixed) - m.bregman(m.fixed, m.s)


@at_each_step("display 1, 1st")
def three_points(m: Moment) -> Sides:
    """three points, for the fixed w."""

    def step(s: Any) -> Any:
        w = m.response(s)
        distances = m.bregman(w, m.s) + m.bregman(m.fixed, s) - m.bregman(m.fixed, m.s)
        return distances / m.eta - m.inner(w)

    return m.blocks * m.expected(step), -m.inner(m.fixed)


@at_each_step("display 1, 2nd")
def strong_convexity(m: Moment) -> Sides:
    """h is 1/(nγ)-strongly convex."""
    half = m.expected(lambda s: m.mean((m.response(s) - m.w) ** 2 / (2 * m.gammas)))
    return half, m.expected(lambda s: m.bregman(m.response(s), m.s))


@at_each_step("display 1, 3rd")
def young(m: Moment) -> Sides:
    """⟨x,y⟩ ≤ ½|x|² + ½|y|²."""

    def step(s: Any) -> Any:
        w = m.response(s)
        return m.inner(w) - m.mean((w - m.w) ** 2 / (2 * m.gammas)) / m.eta

    return m.blocks * m.expected(step), m.eta * m.mean(m.gammas * m.gap**2) / 2


@at_each_step("display 1, 4th")
def uniform_gradients(m: Moment) -> Sides:
    """½η·mean γu² ≤ 2γM²η."""
    gamma, bound = m.constants.gamma, m.constants.prediction_bound
    return m.eta * m.mean(m.gammas * m.gap**2) / 2, 2 * gamma * bound * bound * m.eta


@at_each_step("one step")
def one_step(m: Moment) -> Sides:
    """gᵢ(φ(β̃,w) − D) ≤ noise + D_h(w,·) before − after."""
    twice, gamma, bound = 2 * m.blocks + m.i, m.constants.gamma, m.constants.prediction_bound
    noise = 4 * m.blocks * gamma * bound * bound * twice / (twice + 1)
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    paid = twice * ((twice - 1) * m.bregman(m.fixed, m.s) - (twice + 1) * after) / 2
    return m.weight * (m.saddle(m.fixed) - m.dual), noise + paid


@along_the_run("Jensen")
def fixed_point_gap(moments: Sequence[Moment]) -> Sides:
    """φ(β̄,w) − D(w̄) ≤ Σgᵢ(φ(β̃,w) − D)/G."""
    last = moments[-1]
    beta, w = average_beta(moments), _average_dual(moments)
    left = last.problem.saddle(beta, last.fixed) - last.problem.dual(w)
    right = weighted_sum(moments, lambda m: m.saddle(m.fixed) - m.dual)
    return left, right / total_weight(moments)


@at_each_step("repair F2")
def losses_descend(m: Moment) -> Sides:
    """E l(s⁺) − l(s) ≤ (η l'u + γη²u²/2)/N."""
    losses = m.problem.losses
    change = m.expected(lambda s: m.mean(losses.value(s) - losses.value(m.s)))
    curved = m.eta * m.eta * m.mean(m.gammas * m.gap**2) / 2
    return change, (m.eta * m.mean(m.w * m.gap) + curved) / m.blocks


@along_the_run("repair I")
def gap_by_squares(moments: Sequence[Moment]) -> Sides:
    """P(β̄) − D(w̄) ≤ Σgᵢ mean(γu²)/2G."""
    squares = weighted_sum(moments, lambda m: m.mean(m.gammas * m.gap**2) / 2)
    return _gap(moments), squares / total_weight(moments)


@along_the_run("repair F3", Relation.EQUAL)
def martingale(moments: Sequence[Moment]) -> Sides:
    """Gā − c s = Σ gᵢ u (1 − N·1ᵢ)."""
    drawn = weighted_sum(moments, lambda m: m.gap * (1 - m.blocks * m.drawn))
    return abs(_noise(moments) - drawn).max(), 0 * moments[-1].eta


@along_the_run("repair F4")
def co_coercivity(moments: Sequence[Moment]) -> Sides:
    """(l'(ā) − l'(s))ν − c D_l(s,ā) ≤ γν²/2c."""
    last, noise, scale = moments[-1], _noise(moments), _scale(moments[-1])
    mean_prediction = last.problem.rows.matvec(average_beta(moments))
    w, s = last.response(mean_prediction), last.s_next
    lead = last.mean((w - last.response(s)) * noise)
    return (
        lead - scale * last.bregman(w, s),
        last.mean(last.gammas * noise**2) / (2 * scale),
    )


@at_each_step("repair E")
def energy(m: Moment) -> Sides:
    """e(1−η)U ≤ (1−e)S − E S⁺ + e·mean γM²."""
    share = m.eta / m.blocks
    before, after = _energy(m, m.s), m.expected(lambda s: _energy(m, s))
    left = share * (1 - m.eta) * _energy(m, m.gap)
    return left, (1 - share) * before - after + share * m.constants.prediction_energy


@along_the_run("pathwise")
def pathwise(moments: Sequence[Moment]) -> Sides:
    """P(β̄) − D(w̄) ≤ 2·mean γM²."""
    return _gap(moments), 2 * moments[-1].constants.prediction_energy


@along_the_run("Theorem 3.1", Relation.ON_AVERAGE)
def theorem(moments: Sequence[Moment]) -> Sides:
    """E[P(β̄) − D(w̄)] ≤ bound."""
    constants = moments[-1].constants
    return _gap(moments), bounds.named("theorem-3.1-first")(constants, len(moments))


LINES = (
    bounded_predictions,
    bounded_gradients,
    saddle_identity,
    three_points,
    strong_convexity,
    young,
    uniform_gradients,
    one_step,
    fixed_point_gap,
    losses_descend,
    gap_by_squares,
    martingale,
    co_coercivity,
    energy,
    pathwise,
    theorem,
)


def _moved_square(m: Moment, s: Any) -> Any:
    """Σ_j u_j² over the rows that moved."""
    return (np.where(s != m.s, m.gap, 0 * m.gap) ** 2).sum()


def _largest_square(m: Moment) -> Any:
    return m.constants.batch * m.constants.prediction_bound**2


def _energy(m: Moment, values: Any) -> Any:
    return m.mean(m.gammas * values**2)


def _scale(m: Moment) -> Any:
    """c_k = (2N+k)(2N+k+1)/2."""
    twice = 2 * m.blocks + m.i
    return twice * (twice + 1) / 2


def _noise(moments: Sequence[Moment]) -> Any:
    """ν = Gā − c_k s^{k+1}."""
    last = moments[-1]
    weighted = weighted_sum(moments, lambda m: m.predictions)
    return weighted - _scale(last) * last.s_next


def _average_dual(moments: Sequence[Moment]) -> Any:
    return weighted_sum(moments, lambda m: m.w) / total_weight(moments)


def _gap(moments: Sequence[Moment]) -> Any:
    problem = moments[-1].problem
    return problem.primal(average_beta(moments)) - problem.dual(_average_dual(moments))
