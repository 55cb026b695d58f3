"""The proof of Theorem 3.1: the published lines for a fixed w, and those of its repair.

"display 1" is the first display of the published proof, whose inequalities are numbered.

The published proof bounds φ(β̄, w) − D(w̄) for a w fixed beforehand and then puts in the response
ŵ to β̄, which depends on the draws. The repair goes through the losses at s instead: with
u = a − s, N = n/b, g_i = 2N + i, c_i = (2N+i)(2N+i+1)/2 and G = Σ g_i.
"""

from typing import Any

import numpy as np

from rcmd.model import bounds
from rcmd.theory.proof_trace.lines import Moment, ProofLine, Relation, Sides, line


@line("Prop. 3.3")
def bounded_predictions(m: Moment) -> Sides:
    """|s_j| ≤ M."""
    return abs(m.s).max(), m.constants.prediction_bound


@line("Cor. 3.1")
def bounded_gradients(m: Moment) -> Sides:
    """E ‖g̃‖² ≤ 4bM²/n²."""
    size = m.problem.n**2
    largest = m.constants.batch * m.constants.prediction_bound**2
    moved = m.expected(lambda s: (np.where(s != m.s, m.gap, 0 * m.gap) ** 2).sum())
    return moved / size, 4 * largest / size


@line("Prop. 3.5", Relation.EQUAL)
def saddle_identity(m: Moment) -> Sides:
    """φ(β̃,w) = D + ⟨g,w−wⁱ⟩ − D_h(w,wⁱ)."""
    return m.saddle(m.fixed), m.dual + m.inner(m.fixed) - m.bregman(m.fixed, m.s)


@line("display 1, 1st")
def three_points(m: Moment) -> Sides:
    """three points, for the fixed w."""

    def step(s: Any) -> Any:
        w = m.response(s)
        distances = m.bregman(w, m.s) + m.bregman(m.fixed, s) - m.bregman(m.fixed, m.s)
        return distances / m.eta - m.inner(w)

    return m.blocks * m.expected(step), -m.inner(m.fixed)


@line("display 1, 2nd")
def strong_convexity(m: Moment) -> Sides:
    """h is 1/(nγ)-strongly convex."""
    half = m.expected(lambda s: m.mean((m.response(s) - m.w) ** 2 / (2 * m.gammas)))
    return half, m.expected(lambda s: m.bregman(m.response(s), m.s))


@line("display 1, 3rd")
def young(m: Moment) -> Sides:
    """⟨x,y⟩ ≤ ½|x|² + ½|y|²."""

    def step(s: Any) -> Any:
        w = m.response(s)
        return m.inner(w) - m.mean((w - m.w) ** 2 / (2 * m.gammas)) / m.eta

    return m.blocks * m.expected(step), m.eta * m.mean(m.gammas * m.gap**2) / 2


@line("display 1, 4th")
def uniform_gradients(m: Moment) -> Sides:
    """½η·mean γu² ≤ 2γM²η."""
    gamma, bound = m.constants.gamma, m.constants.prediction_bound
    return m.eta * m.mean(m.gammas * m.gap**2) / 2, 2 * gamma * bound * bound * m.eta


@line("one step")
def one_step(m: Moment) -> Sides:
    """gᵢ(φ(β̃,w) − D) ≤ noise + D_h(w,·) before − after."""
    twice, gamma, bound = 2 * m.blocks + m.i, m.constants.gamma, m.constants.prediction_bound
    noise = 4 * m.blocks * gamma * bound * bound * twice / (twice + 1)
    after = m.expected(lambda s: m.bregman(m.fixed, s))
    paid = twice * ((twice - 1) * m.bregman(m.fixed, m.s) - (twice + 1) * after) / 2
    return m.weight * (m.saddle(m.fixed) - m.dual), noise + paid


@line("Jensen")
def fixed_point_gap(m: Moment) -> Sides:
    """φ(β̄,w) − D(w̄) ≤ Σgᵢ(φ(β̃,w) − D)/G."""
    left = m.problem.saddle(m.beta_average, m.fixed) - m.problem.dual(m.w_average)
    return left, m.mean_so_far(lambda k: k.saddle(k.fixed) - k.dual)


@line("repair F2")
def losses_descend(m: Moment) -> Sides:
    """E l(s⁺) − l(s) ≤ (η l'u + γη²u²/2)/N."""
    losses = m.problem.losses
    change = m.expected(lambda s: m.mean(losses.value(s) - losses.value(m.s)))
    curved = m.eta * m.eta * m.mean(m.gammas * m.gap**2) / 2
    return change, (m.eta * m.mean(m.w * m.gap) + curved) / m.blocks


@line("repair I")
def gap_by_squares(m: Moment) -> Sides:
    """P(β̄) − D(w̄) ≤ Σgᵢ mean(γu²)/2G."""
    return _gap(m), m.mean_so_far(lambda k: k.mean(k.gammas * k.gap**2) / 2)


@line("repair F3", Relation.EQUAL)
def martingale(m: Moment) -> Sides:
    """Gā − c s = Σ gᵢ u (1 − N·1ᵢ)."""
    drawn = m.sum_so_far(lambda k: k.gap * (1 - k.blocks * k.drawn))
    return abs(_noise(m) - drawn).max(), 0 * m.eta


@line("repair F4")
def co_coercivity(m: Moment) -> Sides:
    """(l'(ā) − l'(s))ν − c D_l(s,ā) ≤ γν²/2c."""
    noise, scale = _noise(m), _scale(m)
    w, s = m.response(m.problem.rows.matvec(m.beta_average)), m.s_next
    left = m.mean((w - m.response(s)) * noise) - scale * m.bregman(w, s)
    return left, m.mean(m.gammas * noise**2) / (2 * scale)


@line("repair E")
def energy(m: Moment) -> Sides:
    """e(1−η)U ≤ (1−e)S − E S⁺ + e·mean γM²."""
    share = m.eta / m.blocks
    before, after = _energy(m, m.s), m.expected(lambda s: _energy(m, s))
    left = share * (1 - m.eta) * _energy(m, m.gap)
    return left, (1 - share) * before - after + share * m.constants.prediction_energy


@line("pathwise")
def pathwise(m: Moment) -> Sides:
    """P(β̄) − D(w̄) ≤ 2·mean γM²."""
    return _gap(m), 2 * m.constants.prediction_energy


@line("Theorem 3.1", Relation.ON_AVERAGE)
def theorem(m: Moment) -> Sides:
    """E[P(β̄) − D(w̄)] ≤ bound."""
    return _gap(m), bounds.named("theorem-3.1-first")(m.constants, m.i + 1)


LINES = tuple(part for part in globals().values() if isinstance(part, ProofLine))
"""As they stand above."""

EVERY_SCHEDULE = tuple(
    part for part in LINES if part not in (one_step, martingale, co_coercivity, theorem)
)
"""Those that hold for any η_i in [0, 1] and any weights g_i ≥ 0."""


def _energy(m: Moment, values: Any) -> Any:
    return m.mean(m.gammas * values**2)


def _scale(m: Moment) -> Any:
    """c_k = (2N+k)(2N+k+1)/2."""
    twice = 2 * m.blocks + m.i
    return twice * (twice + 1) / 2


def _noise(m: Moment) -> Any:
    """ν = Gā − c_k s^{k+1}."""
    return m.sum_so_far(lambda k: k.predictions) - _scale(m) * m.s_next


def _gap(m: Moment) -> Any:
    return m.problem.primal(m.beta_average) - m.problem.dual(m.w_average)
