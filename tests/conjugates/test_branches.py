"""Trees of comparisons: where leaves meet, and what is asked of parameters so that they do not."""

import numpy as np
import sympy as sp

from rcmd.conjugates.expressions.branches import Branch, joints, leaves, tree_of
from rcmd.conjugates.expressions.intervals import positive_somewhere
from rcmd.conjugates.expressions.symbolic import R

K, T = sp.symbols("k t", real=True)


def pinball(slope: sp.Expr) -> sp.Expr:
    """Quantiles of level t smoothed over a width k, whose right piece has a slope of its own."""
    right = slope * (R - K * T) + K * T**2 / 2
    left = -(1 - T) * R - K * (1 - T) ** 2 / 2
    inner = sp.Piecewise((left, R <= -(1 - T) * K), (R**2 / (2 * K), True))
    return sp.Piecewise((right, R >= K * T), (inner, True))


def proved(core: sp.Expr, k: float, t: float) -> bool:
    found = joints(tree_of(core))
    assert found is not None
    named = {"k": np.array([k]), "t": np.array([t])}
    return all(positive_somewhere(joint, named) for joint in found)


def test_pieces_that_meet_smoothly_for_some_widths_only() -> None:
    assert proved(pinball(T), 0.5, 0.3)
    assert not proved(pinball(T), -0.5, 0.3)  # the pieces overlap
    assert not proved(pinball(T * sp.Rational(101, 100)), 0.5, 0.3)  # a kink of one per cent


def test_every_case_is_a_leaf_with_its_conditions() -> None:
    tree = tree_of(sp.Abs(R) * T + sp.Max(R, K) ** 2)
    assert isinstance(tree, Branch)
    for leaf, conditions in leaves(tree):
        assert not leaf.has(sp.Abs, sp.Max, sp.Piecewise)
        assert len(conditions) == 2
    found = {leaf for leaf, _ in leaves(tree)}
    assert found == {a * R * T + b**2 for a in (1, -1) for b in (R, K)}


def test_where_a_switch_cannot_be_solved_for_nothing_is_known() -> None:
    assert joints(tree_of(sp.Piecewise((R**2, R + sp.asinh(R) < K), (R, True)))) is None
