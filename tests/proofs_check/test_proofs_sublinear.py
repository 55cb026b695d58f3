"""The engines behind the sublinear statements: exact energies, intervals, semidefinite programmes.

The statements' own checks, with their planted bugs, run with the rest of the ledger.
"""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from proofs_check.exact.energies import all_energies, at_most_with_roots, energies, sample
from proofs_check.exact.fitted import family, separable
from proofs_check.exact.one_row import separable_gap
from proofs_check.exact.problem import mix
from proofs_check.exact.schedules import sublinear
from proofs_check.intervals import certificate, discrete
from proofs_check.intervals.arithmetic import both
from proofs_check.intervals.relaxation import Drift, Relaxation
from proofs_check.statements.s45_one_step_is_tight import largest_one_step
from proofs_check.statements.s46_worst_case import worst_gap
from rcmd.theory.worst_cases.gram import Gram, Known

# ---- exact energies ----------------------------------------------------------------------------


@pytest.mark.parametrize("equal", [True, False])
def test_fitted_problems_have_no_gap_at_their_solution(equal):
    kinds = set()
    for fitted in family(7, 12, (1, 2, 3), equal=equal):
        problem = fitted.problem
        assert problem.primal(fitted.beta) == problem.dual(fitted.w) == fitted.optimum
        assert len({loss.gamma for loss in problem.losses}) == 1 or not equal
        kinds.add((type(problem.losses[0]), type(problem.regularizer)))
    assert len(kinds) > 5
    other = separable(2, F(1, 3))
    assert other.problem.primal((F(1, 3), F(1, 2))) > other.problem.dual(other.w)


def test_bounds_and_radius_hold_inside_the_domain():
    rng = np.random.default_rng(3)
    for fitted in family(8, 10, (1, 2, 3), equal=False):
        problem, point = fitted.problem, fitted.corners[0]
        for corner in fitted.corners[1:]:
            point = mix(point, corner, F(int(rng.integers(0, 9)), 8))
        predictions = problem.predictions(point)
        assert all(abs(s) <= m for s, m in zip(predictions, fitted.bounds, strict=True))
        assert problem.bregman(predictions, (F(0),) * problem.n) <= fitted.radius
        assert fitted.radius <= fitted.energy / 2


def test_energies_of_one_run_by_hand():
    """One row, y = 0: s = 0, 2/3, …; the first atom is +1, the second −1."""
    first, second = all_energies(separable(1, 0), 1, 1)
    assert first.U == (1,)
    assert (0, F(4, 9)) == first.S
    assert (1, F(25, 9)) == second.U
    assert (second.total, second.last, second.first) == (5, 6, 1)
    assert second.drift == F(2, 3) + F(3, 4) * F(25, 9)
    assert second.noise == 0


def test_gap_is_the_mean_of_the_paths_gaps():
    run = energies(separable(2, F(1, 4)), 1, 3)
    assert run.gap == run.mean(lambda path: path.gap())


@pytest.mark.parametrize(("n", "b", "k"), [(1, 1, 4), (2, 1, 4), (3, 1, 3), (3, 2, 3)])
def test_one_row_stands_for_all(n, b, k):
    for y in (F(0), F(-4, 5), F(1, 3)):
        N = F(n, b)
        assert separable_gap(N, k, y, sublinear(N)) == energies(separable(n, y), b, k).gap
        assert separable_gap(N + 1, k, y, sublinear(N + 1)) != energies(separable(n, y), b, k).gap


def test_sample_has_proper_batches_and_many_sizes():
    assert {run.N for run in sample()} == {F(1), F(4, 3), F(3, 2), F(2), F(3), F(4)}
    rows = [run.fitted.problem.rows for run in sample() if run.fitted.problem.n == 4]
    planes = [four for four in rows if len(four[0]) == 2]
    assert any(a * d != b * c for (a, b), (c, d), *_ in planes)


@pytest.mark.parametrize(("p", "q"), [(F(1), F(4)), (F(2), F(3)), (F(0), F(5))])
def test_comparison_with_roots(p, q):
    exact = (mpmath.sqrt(float(p)) + mpmath.sqrt(float(q))) ** 2
    assert at_most_with_roots(F(float(exact)) - F(1, 1000), p, q)
    assert not at_most_with_roots(F(float(exact)) + F(1, 1000), p, q)


# ---- intervals ---------------------------------------------------------------------------------


def drift_term(x, root):
    """What F must exceed at x for √S = root, in floats."""
    e = 2 / (2 + x)
    seen = np.sqrt(1 - np.exp(-x)) if x <= 1 else 1.0
    return 1 + e + e**2 * (1 + 2 * seen * root + root**2) - (0.5 + e) * root**2


MPMATH, ARB = both()
each_kind = pytest.mark.parametrize("numbers", both(), ids=lambda numbers: numbers.name)


def top(numbers, x):
    return float(numbers.above(x))


@each_kind
def test_majorant_exceeds_every_feasible_energy(numbers):
    relaxation, rational = Relaxation(numbers), numbers.rational
    for m in range(0, 1024, 31):
        upper = top(numbers, relaxation.capped(rational(m, 1024), rational(m + 1, 1024)))
        for x in np.linspace(m / 1024, (m + 1) / 1024, 5):
            cap = np.sqrt(1 - (2 / (2 + x)) ** 2)
            highest = max(drift_term(x, root) for root in np.linspace(0, cap, 101))
            assert highest <= upper + 1e-12
            assert upper < highest + 0.02
    for x in (1.25, 2.5, 20.0):
        upper = top(numbers, relaxation.smooth(2 / (2 + rational(1) * x)))
        highest = max(drift_term(x, root) for root in np.linspace(0, 1, 2001))
        assert highest <= upper < highest + 1e-5


@each_kind
def test_drift_is_the_integral_of_the_majorant_and_decreases_on_average(numbers):
    relaxation = Relaxation(numbers)
    drift = Drift(relaxation)

    def majorant(x):
        return top(numbers, relaxation.smooth(2 / (2 + numbers.rational(1) * float(x))))

    for m in (0, 16, 160, 368):
        tail = mpmath.quad(majorant, [1, 1 + m / 16])
        assert 0 <= top(numbers, drift(m)) - top(numbers, drift.head) - tail < 0.01
    assert top(numbers, drift(0)) == top(numbers, drift.head)
    averages = [top(numbers, drift.average(m)) for m in range(0, 369, 8)]
    assert averages == sorted(averages, reverse=True)


def test_both_kinds_of_intervals_give_the_same_certificate():
    """But for where the third range's boxes are split."""
    first, second = (certificate.certify(Relaxation(numbers)) for numbers in (MPMATH, ARB))
    assert first._replace(late=0) == pytest.approx(second._replace(late=0), rel=1e-12)
    assert max(first.late, second.late) <= 3.93 + 1e-12


@each_kind
def test_ends_are_apart_and_close_to_the_number(numbers):
    """Thirds are in no binary format; nor are their roots, exponentials and logarithms."""
    third, unit = numbers.rational(1, 3), 10**18
    with mpmath.workdps(40):
        x = mpmath.mpf(1) / 3
        cases = [
            (third, x),
            (numbers.sqrt(third), mpmath.sqrt(x)),
            (numbers.exp(third), mpmath.exp(x)),
            (numbers.log(third), mpmath.log(x)),
        ]
        for value, true in cases:
            k = int(mpmath.floor(true * unit))
            ends = numbers.rational(k, unit), numbers.rational(k + 1, unit)
            low, high = numbers.below(value), numbers.above(value)
            assert numbers.above(ends[0]) < low < high < numbers.below(ends[1])
    hull = numbers.hull(numbers.rational(0), third)
    assert numbers.below(hull) <= 0
    assert numbers.above(third) <= numbers.above(hull)
    assert numbers.largest(third, numbers.rational(1, 7)) == numbers.above(third)


def test_late_bound_exceeds_sampled_points():
    relaxation, drift = Relaxation(MPMATH), Drift(Relaxation(MPMATH))
    rational, claimed = MPMATH.rational, certificate.certify(relaxation).late
    rng = np.random.default_rng(5)
    for _ in range(200):
        m, z = int(rng.integers(relaxation.late, 368)), rational(int(rng.integers(0, 2000)), 1000)
        t, alpha = 1 + rational(m, 16), drift.average(m)
        one, three = relaxation.jensen(t, alpha, z), relaxation.at_start(t, alpha, z, z)
        assert min(top(MPMATH, one), top(MPMATH, three)) <= claimed


@each_kind
def test_the_late_range_has_no_end(numbers):
    """Boxes reach up to z = 8; what holds beyond is asked at that z."""

    class Late(Relaxation):
        def jensen(self, t, alpha, z):
            beyond = numbers.below(z) >= 8
            return numbers.rational(5) if beyond else super().jensen(t, alpha, z)

    assert certificate.certify(Late(numbers)).late == 5


def test_discrete_values_stay_below_the_certificate():
    """The sums are below the integral, so no N may exceed what holds for all of them."""
    ceiling = max(certificate.certify(Relaxation(ARB))) / 4
    for N in (1, 1.5, 3, 10, 100):
        ratio, _ = discrete.largest_ratio(N, 40)
        assert ratio < ceiling + 1e-3  # cells of S are 1/100 wide


def test_narrower_cells_lower_the_discrete_bound(monkeypatch):
    wide = discrete.largest_ratio(3, 40)[0]
    monkeypatch.setattr(discrete, "CELLS", 1000)
    assert wide - 5e-3 < discrete.largest_ratio(3, 40)[0] < wide


# ---- semidefinite programmes -------------------------------------------------------------------


def test_interpolation_gives_the_largest_smooth_function():
    """l(0) = 0, l'(0) = 0 and |x| ≤ 1: l(x) is at most γ/2."""
    gram = Gram(["x", "slope"], ["value"])
    x, zero, nothing = gram.vector("x"), 0 * gram.vector("x"), 0 * gram.number("value")
    value = gram.number("value")
    gram.at_most(gram.product(x, x), 1.0)
    gram.interpolate([Known(zero, zero, nothing), Known(x, gram.vector("slope"), value)], 3.0)
    assert gram.maximum(value) == pytest.approx(1.5, abs=1e-5)


def test_an_unbounded_programme_is_refused():
    gram = Gram(["x"], [])
    gram.at_most(-gram.product(gram.vector("x"), gram.vector("x")), 0.0)
    with pytest.raises(RuntimeError, match=r"the solver ended with .*; expected an optimum"):
        gram.maximum(gram.product(gram.vector("x"), gram.vector("x")))


def test_one_step_is_two_for_every_step_size():
    assert [largest_one_step(eta) for eta in (0.1, 0.5, 1.0)] == pytest.approx([2] * 3, abs=1e-4)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_first_gap_is_at_most_one_half(n):
    assert worst_gap(n, 0) == pytest.approx(0.5, abs=1e-5)


def test_programmes_are_above_every_run():
    for n, k in ((1, 2), (1, 4), (2, 1)):
        ceiling = worst_gap(n, k)
        for y in range(-4, 5):
            assert float(energies(separable(n, F(y, 4)), 1, k).gap) <= ceiling + 1e-5
