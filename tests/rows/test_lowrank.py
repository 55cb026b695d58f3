"""Sums of rank-one matrices against plain arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import LowRank, MatrixEntries, RankOneAtom, SparseAtom
from rcmd.rows import lowrank

SHAPE = (9, 7)


def built(terms: int, rank: int = 7, seed: int = 0) -> tuple[LowRank, np.ndarray]:
    """A sum of random atoms from subspaces of dimension ``rank``, scaled now and then."""
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((9, rank)), rng.standard_normal((7, rank))
    total, array = LowRank(SHAPE), np.zeros(SHAPE)
    for t in range(terms):
        u, v = left @ rng.standard_normal(rank), right @ rng.standard_normal(rank)
        weight = rng.standard_normal()
        total.add(weight, u, v)
        array += weight * np.outer(u, v)
        if t % 10 == 9:
            total *= 0.5
            array *= 0.5
    return total, array


def differs(total: LowRank, array: np.ndarray) -> float:
    return float(abs(total.to_array() - array).max() / max(abs(array).max(), 1e-300))


@pytest.mark.parametrize("terms", [0, 1, 5, 16, 17, 40, 300])
def test_the_sum_is_the_sum(terms: int) -> None:
    total, array = built(terms)
    assert differs(total, array) <= 1e-12
    i, k = np.indices(SHAPE)
    assert np.allclose(total.at(i, k), array, rtol=0, atol=1e-12 * (1 + abs(array).max()))
    assert float(total.at(3, 4)) == pytest.approx(array[3, 4], abs=1e-12)


def test_recompression_keeps_the_terms_near_the_rank() -> None:
    total, array = built(1000, rank=2)
    assert total.terms <= 2 + lowrank.FIRST_ROOM
    assert differs(total, array) <= 1e-12
    assert len(total.singular_values()) == 2


def test_recompression_drops_rounding_and_nothing_else() -> None:
    total = LowRank(SHAPE)
    for weight, place in ((1.0, 0), (1e-12, 1), (1e-14, 2)):
        total.add(weight, np.eye(9)[place], np.eye(7)[place])
    assert total.singular_values() == pytest.approx([1.0, 1e-12], rel=1e-3)


@pytest.mark.parametrize("terms", [0, 1, 7, 60])
def test_singular_values(terms: int) -> None:
    total, array = built(terms)
    expected = np.linalg.svd(array, compute_uv=False)
    values = total.singular_values()
    assert np.allclose(values, expected[: len(values)], rtol=1e-10, atol=1e-13)
    assert expected[len(values) :].sum() <= 1e-12 * (expected.sum() + 1)
    assert total.nuclear_norm() == pytest.approx(expected.sum(), rel=1e-12)
    assert differs(total, array) <= 1e-12
    assert np.allclose(total.left.T @ total.left, np.eye(total.terms), atol=1e-12)


def test_an_array_becomes_a_sum() -> None:
    array = np.random.default_rng(0).standard_normal(SHAPE)
    assert differs(LowRank.of_array(array), array) <= 1e-13


def test_negative_and_zero_factors() -> None:
    total, array = built(5)
    total.decompose()
    total *= -2.0
    assert differs(total, -2 * array) <= 1e-12
    assert total.nuclear_norm() == pytest.approx(2 * np.linalg.norm(array, "nuc"), rel=1e-12)
    total *= 0
    assert total.nuclear_norm() == 0
    assert total.terms == 0


def test_copies_and_quotients_are_independent() -> None:
    total, array = built(20)
    half, copy = total / 2, total.copy()
    total.add(1.0, np.ones(9), np.ones(7))
    assert differs(half, array / 2) <= 1e-12
    assert differs(copy, array) <= 1e-12
    for _ in range(40):
        copy.add(1.0, np.ones(9), np.ones(7))
    assert differs(copy, array + 40) <= 1e-12


def test_reading_an_average_does_not_change_it() -> None:
    first, second = built(30)[0], built(30)[0]
    (first / 2).nuclear_norm()
    assert np.array_equal(first.to_array(), second.to_array())


def test_inner_products_with_a_matrix() -> None:
    total, array = built(12)
    c = np.random.default_rng(3).standard_normal(SHAPE)
    expected = pytest.approx((c * array).sum(), rel=1e-12)
    assert total.weights @ total.inner(c) == expected
    for form in (c, c.ravel(), sp.csr_array(c)):
        assert form @ total == expected


def test_entries_of_matrices_of_another_shape_are_refused() -> None:
    rows = MatrixEntries([8], [6], shape=SHAPE)
    with pytest.raises(ValueError, match=r"β has shape \(9, 6\); expected \(9, 7\)"):
        rows.matvec(LowRank((9, 6)))


def test_atoms_are_added() -> None:
    total = LowRank((2, 2))
    RankOneAtom(np.array([1.0, 2.0]), np.array([3.0, 0.0])).add_to(total, 0.5)
    SparseAtom((), ()).add_to(total, 1.0)  # the zero atom of a penalty
    assert total.to_array().tolist() == [[1.5, 0.0], [3.0, 0.0]]


def test_refusals() -> None:
    total, _ = built(3)
    with pytest.raises(ValueError, match="lengths 7 and 9; expected 9 and 7"):
        total.add(1.0, np.ones(7), np.ones(9))
    total.setflags(write=False)
    with pytest.raises(ValueError, match="belongs to a certificate"):
        total.add(1.0, np.ones(9), np.ones(7))
    with pytest.raises(ValueError, match="belongs to a certificate"):
        total *= 2.0
    total.copy().add(1.0, np.ones(9), np.ones(7))
    assert repr(total) == "LowRank(shape=(9, 7), terms=3)"
