"""Gaps of pairs made by hand, of any size, hold up to 1e-13: against balls of 400 bits."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from rcmd import Box, Problem, SeparableConjugate, certify
from rcmd.model import certificate
from rcmd.testing.enclosure.losses import TABLE, pair_of

PARAMETERS = {"SmoothedQuantile": (0.2, 0.3), "EpsilonInsensitive": (0.1, 0.2)}
NONE = ("LeastSquares", "Logistic", "SquaredHinge", "CrossEntropy", "Poisson", "Gamma",
        "Exponential")  # fmt: skip
SHIPPED = {
    kind.__name__: kind(*PARAMETERS.get(kind.__name__, () if kind.__name__ in NONE else (0.3,)))
    for kind in TABLE
}
FORMULAS = (
    "log(1 + exp(-y*s))", "log(1 + exp(-y*s)) + 0.01*s**2", "sqrt(1 + (s - y)**2) - 1",
    "exp(s) - y*s", "s + y*exp(-s)", "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2",
    "-log(normcdf(y*s))", "softplus(s) - y*s", "cosh(s - y) - 1",
)  # fmt: skip
LOSSES = SHIPPED | {formula: formula for formula in FORMULAS}


def label(loss: SeparableConjugate, rng: np.random.Generator) -> float:
    """A label that the loss takes, of any size where it may have one."""
    if "y*s)" in loss.formula or "cosh" in loss.formula:
        return float(rng.choice([-1.0, 1.0]))
    some = float(round(abs(rng.normal()) * 10.0 ** rng.uniform(0, 7))), 1.0, 0.25
    return next(y for y in some if not loss.label_fault(np.array([y])))


def missed(loss: SeparableConjugate, rng: np.random.Generator) -> float:
    """How far P(β) − D(w) is above the gap that is certified, in units of 1e-13."""
    y, offset = label(loss, rng), float(rng.choice([0, 1]) * rng.normal())
    x, beta = float(10.0 ** rng.uniform(-8, 1)), float(rng.normal())
    radius = abs(beta) * (1 + rng.random())
    there = rng.normal() * 10.0 ** rng.uniform(-4, 1) + rng.choice([0.0, math.log(y + 1.5)])
    low, high = loss.conjugate_domain(y)
    w = min(max(loss.derivative(float(there), y), low), high)
    problem = Problem([[x]], [y], loss, Box(-radius, radius), offset=[offset])
    found, formulas = certify(problem, np.array([beta]), np.array([w])), pair_of(loss)
    dual, conjugate = formulas.dual(arb(float(found.w[0])), arb(y))
    assert abs(dual - w) <= 1e-15 * (1 + abs(arb(w)))  # moved to an end of dom l*
    primal = formulas.value(arb(x) * beta + offset, arb(y))
    gap = primal + conjugate - dual * offset + abs(dual * x) * radius
    return float((gap - float(found.gap)).lower()) / 1e-13


TILTED = "s*atan(s) - log(1 + s**2)/2 - y*s/10", "log(1 + exp(s)) - y*s/1000", "exp(3*s) - y*s/3"
STEEP = "cosh(s - y) - 1", "exp(3*s) - y*s/3"


def suboptimality_missed(loss: SeparableConjugate, y: float, s: float, near: float) -> float:
    """How far P(β) − P* is above the gap, in units of it, where w = l'(near) and x = 1."""
    ends, w = (-5.0, y + 20 if "cosh" in loss.formula else 225.0), loss.derivative(near, y)
    problem = Problem([[1.0]], [y], loss, Box(*ends))
    found, value = certify(problem, np.array([s]), np.array([w])), pair_of(loss).value
    low, high = map(arb, ends)
    for _ in range(300):
        one, two = ((2 * low + high) / 3).mid(), ((low + 2 * high) / 3).mid()
        low, high = (low, two) if value(one, arb(y)) < value(two, arb(y)) else (one, high)
    gap = value(arb(s), arb(y)) - value(low.mid(), arb(y))
    return float(((gap - float(found.gap)) / float(found.gap)).lower())


@pytest.mark.parametrize("formula", TILTED)
def test_suboptimality_holds_where_conjugates_are_steep(formula: str) -> None:
    loss, rng = SeparableConjugate.from_expression(formula), np.random.default_rng(3)
    with ctx.workprec(400):
        for _ in range(30):
            y, s = float(round(10.0 ** rng.uniform(6, 9))), float(rng.normal())
            assert suboptimality_missed(loss, y, s, 10 * float(rng.normal())) <= 0


@pytest.mark.parametrize("formula", STEEP)
def test_values_of_any_size_hold(formula: str) -> None:
    loss = SeparableConjugate.from_expression(formula)
    with ctx.workprec(400):
        for y in range(500, 650, 7):
            s, near = (0.1, y) if "cosh" in formula else (y / 3.1, 1.0)
            assert suboptimality_missed(loss, float(y), s, near) <= 0


@pytest.mark.parametrize("name", LOSSES)
def test_gaps_of_pairs_made_by_hand_hold(name: str) -> None:
    loss = LOSSES[name]
    loss = SeparableConjugate.from_expression(loss) if isinstance(loss, str) else loss
    rng = np.random.default_rng(7)
    with ctx.workprec(400):
        assert max(missed(loss, rng) for _ in range(60)) <= 1


@pytest.mark.parametrize("name", ["Poisson", "LeastSquares", "NegativeBinomial"])
def test_they_would_not_without_what_rounding_may_change(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificate, "_doubt_of_terms", lambda *at: 0)
    rng = np.random.default_rng(7)
    with ctx.workprec(400):
        assert max(missed(SHIPPED[name], rng) for _ in range(60)) > 10
