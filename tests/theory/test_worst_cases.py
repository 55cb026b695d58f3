"""Worst cases: rational certificates, closed forms, and instances that come near."""

from fractions import Fraction as F

import numpy as np
import pytest

from rcmd.theory import worst_case
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


def test_steps_and_weights_of_ones_own():
    half = worst_case(2, 2, step=lambda i: F(1, 2), weight=lambda i: 1, evaluations=25)
    assert 0.3906 < half.upper < 0.3907
    assert half.lower <= half.upper
    shrunk = worst_case(2, 2, step=lambda i: F(99, 200), weight=lambda i: 1, evaluations=25)
    assert shrunk.upper > half.upper


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n is 0; expected a whole number from 1 on"),
        ({"n": 3, "iterations": 5}, "has 121 sequences of rows; expected at most 40"),
        ({"mu": -1}, "mu is -1; expected a number from 0 on"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        worst_case(**{"n": 1, "iterations": 1, **options})
