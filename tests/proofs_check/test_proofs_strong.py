"""The strongly convex part of the exact engine, and its semidefinite programme."""

from dataclasses import fields
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest

from proofs_check.exact.losses import Softplus, Squared, TiltedHuber
from proofs_check.exact.paths import Path, expectation, levels
from proofs_check.exact.problem import Small, dot, mix
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.shifted import Shifted, kinks, through
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import (
    drawn,
    free,
    huber,
    kinked,
    labelled,
    logistic,
    pull,
    squared,
    zoo,
)
from proofs_check.ledger import ledger
from proofs_check.statements.s55_strong_second import attained, worst_ratio
from proofs_check.statements.s79_rcmd_linear_bounds import cases, constants
from rcmd import LeastSquares, Logistic, Problem, Ridge, Translated
from rcmd.model.bounds import all_bounds
from rcmd.theory.worst_cases import printed_sigma

F = Fraction


def values_at_the_optimum(one):
    w = one.problem.response(one.problem.predictions(one.optimum))
    return one.problem.primal(one.optimum), one.problem.dual(w)


def test_optimum_has_no_duality_gap():
    for one in (one for b in (1, 2, 3) for one in zoo(b)):
        assert values_at_the_optimum(one) == (one.value, one.value)
    with mpmath.workdps(50):
        primal, dual = values_at_the_optimum(logistic())
        assert abs(primal - dual) < 1e-45


def test_shifted_loss_meets_fenchel_young_with_equality():
    loss = Shifted(TiltedHuber(F(1, 2), F(1, 10), F(3, 4)), F(-5, 4))
    for s in (F(-3), F(-7, 4), F(-1), F(0), F(2)):
        w = loss.derivative(s)
        assert loss.value(s) + loss.conjugate(w) == w * s
        assert loss.value(s + 1) + loss.conjugate(w) > w * (s + 1)


def test_kinks_are_where_the_slope_changes():
    loss = Shifted(TiltedHuber(F(1, 2), F(1, 10), F(0)), F(2))
    assert kinks(loss) == (F(3, 2), F(5, 2))
    assert kinks(Squared(F(1))) == kinks(Softplus(1)) == ()
    low, high = kinks(loss)
    step = F(1, 100)

    def bend(s):
        return loss.derivative(s + step) - 2 * loss.derivative(s) + loss.derivative(s - step)

    assert bend(low) > 0 > bend(high)
    assert bend(F(2)) == bend(F(0)) == bend(F(4)) == 0


def test_levels_and_means_agree_with_the_plain_enumeration():
    one = huber(3)
    for (k, paths), plain in zip(one.levels(3), levels(one.problem, one.steps, 1, 3), strict=True):
        assert [path.s for path in paths] == [path.s for path in plain]
        assert one.gaps(k)[-1] == (k, expectation(plain, Path.last_gap))
        mean = expectation(plain, lambda path: one.problem.dual(path.w[-1]))
        assert one.dual_means(k)[k] == mean


def test_longer_runs_extend_shorter_ones():
    one = huber(2)
    short = list(one.gaps(1)), list(one.dual_means(1))
    assert one.gaps(3)[:1] == short[0]
    assert one.dual_means(3)[:2] == short[1]


def test_spectral_norm_in_the_plane_is_just_above():
    generator = np.random.default_rng(5)
    for _ in range(20):
        one = drawn(generator, squared, 3, p=2)
        exact = np.linalg.norm(np.array(one.problem.rows, dtype=float), 2) ** 2
        assert float(one.spectral) < exact + 1e-9
        first, second = zip(*one.problem.rows, strict=True)
        a, c, d = dot(first, first), dot(first, second), dot(second, second)
        assert (one.spectral - a) * (one.spectral - d) >= c * c


def test_constants_by_hand():
    one = pull(3, 10, 3, printed=False)
    assert (one.gamma, one.printed_energy, one.energy, one.radius) == (1, 1, 1, F(1, 2))
    assert one.sigma == one.sigma_full == 1 + F(3, 30)
    assert (one.T, one.q) == (F(11, 10), 11)
    assert pull(3, 10, 3).sigma == 1 + F(1, 30)
    assert pull(3, 10, 2, printed=False).sigma == 1 + F(1, 30) * (F(1, 2) + F(3, 2))


@pytest.mark.parametrize("b", [1, 2, 3])
def test_sigma_lies_between_its_ends(b):
    for one in (drawn(np.random.default_rng(seed), kinked, 3, b) for seed in range(20)):
        single = Strong(one.problem).sigma
        assert single <= one.sigma <= 1 + b * (single - 1)
        assert one.sigma <= one.sigma_full <= 1 + one.N * (one.sigma - 1)


def test_radius_is_the_largest_distance_of_a_response():
    for one in zoo()[::3]:
        zero = (F(0),) * one.n
        pairs = combinations(one.corners, 2)
        points = [mix(low, high, F(i, 12)) for low, high in pairs for i in range(13)]
        largest = max(one.problem.bregman(one.problem.predictions(p), zero) for p in points)
        assert largest <= one.radius <= one.energy / 2
        if len(one.problem.rows[0]) == 1 or isinstance(one.problem.losses[0], Squared):
            assert largest == one.radius


def test_zoo_has_planes_and_four_rows():
    rows = [one.problem.rows for one in zoo() if one.n == 4]
    assert any(a * d != b * c for (a, b), (c, d), *_ in rows)
    assert len(rows) == 9


def test_a_loss_can_be_led_through_a_point():
    for loss in (Squared(F(1), F(2)), TiltedHuber(F(1, 2), F(1, 10), F(0)),
                 Shifted(TiltedHuber(F(1, 2), F(1, 10), F(3)), F(2))):  # fmt: skip
        led = through(loss, F(7, 3), F(-5))
        assert led.derivative(F(7, 3)) == -5
        change = led.derivative(F(4)) - loss.derivative(F(4))
        assert change == led.derivative(F(0)) - loss.derivative(F(0))
        assert led.gamma == loss.gamma


@pytest.mark.parametrize(("n", "mu"), [(1, 0.5), (2, 1.0), (3, 0.2)])
def test_programme_after_one_step_is_its_closed_form(n, mu):
    assert worst_ratio(n, 1, mu) == pytest.approx(1 / (2 * n * printed_sigma(n, mu)), abs=2e-5)


def test_programme_is_above_what_is_attained_and_errors_move_it():
    found, below = worst_ratio(2, 2, 1.0), float(attained(2, 2, F(1)))
    assert below - 1e-5 < found < 1.03 * below
    assert worst_ratio(2, 2, 1.0, strength=0.5) > found + 1e-3
    assert abs(worst_ratio(2, 2, 1.0, step=lambda n, i: 0.8) - found) > 1e-3
    assert abs(worst_ratio(2, 2, 1.0, weight=lambda n, i: 1.0) - found) > 1e-3


@pytest.mark.parametrize("b", [1, 2])
def test_constants_agree_with_those_of_an_rcmd_problem(b):
    parabola = Parabola(F(3), F(1, 2), F(-3, 2), F(5, 2))
    rows = ((F(1),), (F(-1, 2),), (F(2),))
    ours = Strong(Small(rows, [Squared(F(y)) for y in (1, 0, -2)], parabola), b)
    oracle = Translated(Ridge(3.0, 2.0), np.array([0.5]))
    X = np.array(rows, dtype=float)
    theirs = Problem(X, np.array([1.0, 0.0, -2.0]), LeastSquares(), oracle).constants(b)
    mine = constants(ours)
    names = {field.name for field in fields(mine)} - {"bregman_radius"}
    for name in (*names, "sigma"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name), rel=1e-12), name
    assert mine.bregman_radius <= theirs.bregman_radius * (1 + 1e-12)
    assert mine.sigma == pytest.approx(float(ours.sigma), rel=1e-12)
    assert mine.quadratic


def test_linear_bounds_are_checked_for_many_problems_of_every_batch_size():
    assert {b: sum(one.b == b for one in cases()) for b in (1, 2, 3)} == {1: 57, 2: 42, 3: 23}


def test_logistic_constants_agree_with_those_of_an_rcmd_problem():
    with mpmath.workdps(30):
        mine = constants(logistic(radius=10))
    oracle = Translated(Ridge(1.0, 10.0), np.array([-10.0]))
    theirs = Problem(np.ones((2, 1)), np.ones(2), Logistic(), oracle).constants()
    assert mine.gamma == theirs.gamma == 0.25
    assert mine.sigma == theirs.sigma == 1.125
    assert mine.quadratic is theirs.quadratic is False


def test_every_bound_of_rcmd_has_words_and_an_entry_of_the_ledger():
    labels = {statement.label for statement in ledger()}
    for bound in all_bounds():
        assert set(bound.entry.split(", ")) <= labels, bound.name
        assert bound.words, bound.name
        assert len(bound.described()) <= 94, bound.described()


def test_free_problems_never_meet_their_bounds_and_pulled_ones_always_do():
    for one, inside in ((free(2, 2), True), (free(3, 1), True), (labelled(2, 99, 100, 1), False)):
        atoms = [atom[0] for path in one.levels(2)[-1][1] for atom in path.atoms]
        assert {abs(atom) < one.problem.regularizer.upper for atom in atoms} == {inside}
