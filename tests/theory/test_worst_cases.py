"""Worst cases: rational certificates, closed forms, and instances that come near."""

from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from rcmd import Box, LeastSquares, Problem
from rcmd.model.bounds import Bound
from rcmd.model.schedules import Schedule, ShortStep
from rcmd.theory import expected_gap, worst_case
from rcmd.theory.worst_cases.gram import Gram, _positive


def test_certificates_by_hand():
    """xᵀy for ‖x‖ ≤ 1, ‖y‖ ≤ 2 is at most 2; a number must be bounded as well."""
    gram = Gram(["x", "y"], ["t"], F(1))
    x, y, t = gram.vector("x"), gram.vector("y"), gram.number("t")
    gram.at_most(gram.product(x, x), F(1))
    gram.at_most(gram.product(y, y), F(4))
    gram.at_most(t - gram.product(x, x), F(0))
    found = gram.certified(gram.product(x, y) + t)
    exact = gram.maximum(gram.product(x, y) + t)
    assert isinstance(found, F)
    assert exact - 1e-6 <= found <= exact + 1e-4


def test_what_nothing_bounds_has_no_certificate():
    """Of a free number no equality is left over, nor of a vector without a square."""
    gram = Gram(["x", "y"], ["t"], F(1))
    x, y = gram.vector("x"), gram.vector("y")
    gram.at_most(gram.product(x, x), F(1))
    for free in (gram.number("t"), gram.product(x, y), F(1, 100) * gram.product(x, y)):
        with pytest.raises(RuntimeError, match="nothing bounds the expression"):
            gram.certified(gram.product(x, x) + free)
    assert 1 <= gram.certified(gram.product(x, x)) < 1 + F(1, 10**4)


def test_a_matrix_is_positive_if_its_pivots_are():
    matrix = np.array([[F(2), F(1)], [F(1), F(1, 2)]])
    assert not _positive(matrix)
    assert _positive(matrix + np.array([[F(0), F(0)], [F(0), F(1, 10**30)]]))


@pytest.mark.parametrize(
    ("n", "iterations", "mu", "wanted"),
    [(2, 2, 0, F(1, 2) + F(2, 81)), (1, 1, F(1, 2), F(1, 3)), (2, 1, F(1, 2), F(3, 8))],
)
def test_closed_forms_are_certified_within_a_little(n, iterations, mu, wanted):
    """1/2 + 2(n−1)/(4n+1)², and (q − 1)⁻¹/(2nσ)."""
    found = worst_case(n, iterations, mu=mu, evaluations=25)
    assert wanted <= found.upper < wanted + F(1, 10**4)
    assert 0.1 < found.lower <= found.upper


@dataclass(frozen=True)
class Equal(Schedule):
    """Steps that are all one number, equal weights."""

    eta: Any

    def step(self, i):
        return self.eta + 0 * i

    def mixing(self, i):
        return 1 / (i + 1)

    def growth(self, i, base):
        return (i + 1) / (base + 1)


def test_steps_and_weights_of_ones_own():
    half = worst_case(2, 2, schedule=Equal(0.5), evaluations=25)
    assert 0.3906 < half.upper < 0.3907
    assert half.lower <= half.upper
    assert "Equal(eta=0.5)" in half.instance.code
    assert worst_case(2, 2, schedule=Equal(0.495), evaluations=25).upper > half.upper


@pytest.mark.parametrize(("share", "proved"), [(0.3907, True), (0.3868, False)])
def test_a_bound_of_ones_own_is_proved_or_one_per_cent_too_small(share, proved):
    """Of E[gap]/E the worst is 0.39066 after two steps of 1/2; D_max counts as nothing."""
    mine = Bound(
        "mine", schedule=Equal, value=lambda c, k: share * c.prediction_energy + c.bregman_radius
    )
    found = worst_case(2, 2, schedule=Equal(0.5), bound=mine, evaluations=25)
    assert (found.upper <= 1) is proved
    assert found.lower <= found.upper
    assert found.instance.bound is mine


def test_a_bound_by_name():
    """8NE/(4N+k) at N = 2, k = 1, and σE/(2σ−2) at σ = 3."""
    plain = worst_case(2, 2, evaluations=25)
    named = worst_case(2, 2, bound="sublinear-energy", evaluations=25)
    assert named.upper == plain.upper / F(16 / 9)
    strong = worst_case(1, 1, mu=F(1, 2), bound="linear-uniform", evaluations=25)
    assert strong.upper == worst_case(1, 1, mu=F(1, 2), evaluations=25).upper / F(3, 4)


def test_rows_of_different_lengths_do_not_exceed_the_worst_of_equal_ones():
    """Squared loss on a box, weights that make E uneven: the closed form is for equal rows."""
    worst = worst_case(2, 2, evaluations=25).upper
    ratios = []
    for second in (0.1, 0.5, 1.0):
        problem = Problem(
            [[1.0, 0.0], [0.0, second]], [1.0, second], LeastSquares(), Box(-1.0, 1.0)
        )
        ratios.append(expected_gap(problem, 2) / problem.constants().prediction_energy)
    assert max(ratios) == ratios[-1] <= worst


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n is 0; expected a whole number from 1 on"),
        ({"n": 3, "iterations": 5}, "has 121 sequences of rows; expected at most 40"),
        ({"mu": -1}, "mu is -1; expected a number from 0 on"),
        (
            {"schedule": ShortStep(Equal(0.5))},
            "schedule ShortStep sees the run; expected a schedule",
        ),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        worst_case(**{"n": 1, "iterations": 1, **options})
