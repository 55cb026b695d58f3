"""Ellipsoids whose Cholesky factor is rounded, against fractions."""

from fractions import Fraction as F

import numpy as np
import pytest

from rcmd import Ellipsoid, Problem, solve


def cases():
    """Ill-conditioned matrices with slopes that they almost annihilate, and harmless ones."""
    random = np.random.default_rng(0)
    for case in range(150):
        p = 2 + case % 3
        root = np.linalg.qr(random.normal(size=(p, p)))[0] * np.geomspace(1, 10.0 ** -(case % 7), p)
        full = root @ root.T
        c = np.linalg.svd(full)[0][:, -1] + 1e-5 * random.normal(size=p)
        yield np.tril(full) + np.tril(full, -1).T, c, random.normal(size=p)


def exactly(*arrays):
    return [np.vectorize(F, otypes=[object])(array) for array in arrays]


def solved(matrix, right):
    """A⁻¹b in fractions, by elimination."""
    table = np.column_stack([matrix, right])
    for i in range(len(table)):
        table[i] = table[i] / table[i, i]
        for j in range(len(table)):
            if j != i:
                table[j] = table[j] - table[j, i] * table[i]
    return table[:, -1]


def faults(kind=Ellipsoid):
    """How often the minimum is no lower bound, a term too small, an atom or a point outside."""
    wrong = {"minimum": 0, "fenchel_young": 0, "atom": 0, "violation": 0}
    for matrix, c, start in cases():
        oracle = kind(matrix, 1.0)
        atom, other = oracle.argmin(c).vector, oracle.argmin(start).vector
        A, slope, atom_, other_ = exactly(matrix, c, atom, other)
        size = slope @ A @ slope
        wrong["minimum"] += F(float(oracle.minimum(c))) ** 2 < size
        for beta, beta_ in ((atom, atom_), (other, other_)):
            room = F(float(oracle.fenchel_young(beta, c))) - slope @ beta_
            wrong["fenchel_young"] += room < 0 or room**2 < size
            wrong["atom"] += beta_ @ solved(A, beta_) > 1
            outside = beta * (1 + 1e-8)
            (exact,) = exactly(outside)
            wrong["violation"] += exact @ solved(A, exact) > 1 + 2 * F(oracle.violation(outside))
    return wrong


def test_nothing_is_promised_that_the_matrix_does_not_keep():
    assert set(faults().values()) == {0}


@pytest.mark.parametrize(
    ("broken", "members"),
    [
        ("minimum", {"_at_least": lambda self, pulled, size: pulled}),
        ("fenchel_young", {"_size": lambda self, c: 0.0}),
        ("atom", {"distortion": 0.0}),
        ("violation", {"distortion": 0.0}),
    ],
)
def test_a_factor_that_is_trusted_breaks_it(broken, members):
    assert faults(type("Trusting", (Ellipsoid,), members))[broken] > 10


def test_a_certificate_says_what_rounding_hides():
    problem = Problem([[1e3, -3e3]], [1.0], "least-squares", Ellipsoid([[3, 1], [1, 1 / 3 + 1e-8]]))
    assert 9.7e-10 < solve(problem, tol=1e-10, max_gradients=200).gap < 1e-6


def test_a_set_that_its_factor_does_not_tell_is_refused():
    with pytest.raises(ValueError, match=r"the condition number .*e\+1\d; expected one whose"):
        Ellipsoid([[3.0, 1.0], [1.0, 1 / 3 + 1e-15]])
