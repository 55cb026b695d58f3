"""Numbers at the ends of what doubles hold: the right answer or a clear error, never NaN.

Certificates are recomputed in ball arithmetic from nothing but the data and the pair.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    RCMD,
    Box,
    CappedSimplex,
    Corrected,
    ElasticNet,
    Ellipsoid,
    GroupL2Ball,
    GroupLasso,
    Huber,
    KSparseBall,
    KSupportBall,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    LInfBall,
    Logistic,
    LpBall,
    NuclearBall,
    NuclearPenalty,
    OWLBall,
    Problem,
    Result,
    Ridge,
    SeparableConjugate,
    Simplex,
    SmoothedHinge,
    certify,
    iterate,
    solve,
    truth,
    verify,
)

LAYOUTS: dict[str, Any] = {"dense": np.array, "csr": sp.csr_array}
ENGINES = ("compiled", "reference")


def numbers(n: int = 8, p: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, p)), rng.normal(size=n)


# ---- P and D again, in balls -------------------------------------------------------------------


LOSSES = (LeastSquares(), Logistic(), Huber(0.5), SmoothedHinge(1.0))
ORACLES: tuple[LinearMinOracle, ...] = (
    L1Ball(2.0), Simplex(1.5), Box(-1.0, 2.0), L2Ball(2.0), LInfBall(0.5), Ridge(0.5),
    Ridge(0.25, 3.0), L1Penalty(0.1), L1Penalty(0.1, 2.0), GroupL2Ball([0, 0, 1, 1], 2.0),
    GroupLasso([0, 0, 1, 1], 0.1), NuclearBall((2, 2), 2.0),
)  # fmt: skip


def check_pair(problem: Problem, result: Result) -> None:
    """The certificate is that of the pair, to the rounding of its own terms."""
    found = verify(result, problem)
    assert found.holds, found
    # Certificates allow for the rounding of Xᵀw in terms of |w_j| M_j.
    products = problem.mean(abs(result.w) * problem.prediction_bounds)
    rounding = 128 * found.rounding + 1e-13 * products + 1e-300
    for name in ("primal", "dual", "gap"):
        low, high = getattr(found, name)
        assert low - rounding <= getattr(result, name) <= high + rounding, name


# ---- columns and rows of any size --------------------------------------------------------------


HABITS: dict[str, Callable[[Any], Any]] = {
    "large": lambda X: X * 1e150,
    "small": lambda X: X * 1e-150,
    "one column large": lambda X: X * [1e150, 1, 1, 1],
    "one column small": lambda X: X * [1e-150, 1, 1, 1],
    "columns mixed": lambda X: X * [1e150, 1e-150, 1, 1e-300],
    "rows mixed": lambda X: X * np.array([1e150, 1e-150, 0, 1, 1, 1, 1e-310, 1])[:, None],
    "near the smallest squares": lambda X: X * 1e-160,
    "subnormal": lambda X: X * 1e-310,
    "zero": lambda X: 0 * X,
    "constant": lambda X: 0 * X + 3.0,
    "one row again and again": lambda X: 0 * X + X[0],
    "whole": np.round,
}


def on(engine: Any) -> Any:
    """The default method on that engine."""
    return Corrected(RCMD(engine=engine))


def problem_of(X: Any, y: Any, loss: SeparableConjugate, oracle: LinearMinOracle) -> Problem:
    return Problem(X, np.where(y > 0, 1.0, -1.0) if loss.label_fault(y) else y, loss, oracle)


@pytest.mark.parametrize("place", range(len(HABITS)), ids=list(HABITS))
def test_certificates_hold(place: int) -> None:
    """With every oracle; losses and engines take turns, so that every two of all meet."""
    X, y = numbers()
    habit = [*HABITS.values()][place]
    for k, oracle in enumerate(ORACLES):
        loss, engine = LOSSES[(k + place) % 4], ENGINES[(k // 4 + place) % 2]
        layout = LAYOUTS["dense" if k % 4 < 2 else "csr"]
        problem = problem_of(layout(habit(X)), y, loss, oracle)
        found = solve(problem, batch=2, tol=1e-6, max_iterations=40, method=on(engine))
        check_pair(problem, found)


# ---- the same problem in other units -----------------------------------------------------------


def in_units(oracle: LinearMinOracle, unit: float) -> LinearMinOracle:
    """The oracle for β·unit: radii grow by the unit, slopes shrink by it."""
    powers = {"radius": 1, "lower": 1, "upper": 1, "total": 1, "cap": 1}
    powers |= {"strength": -2 if isinstance(oracle, Ridge) else -1}
    powers |= {"l1_strength": -1, "l2_strength": -2}
    changes = {
        name: getattr(oracle, name) * unit**power
        for name, power in powers.items()
        if vars(oracle).get(name) is not None
    }
    return replace(oracle, **changes)  # type: ignore[type-var]


UNIT_ORACLES: tuple[LinearMinOracle, ...] = (
    *ORACLES, ElasticNet(0.1, 0.5), ElasticNet(0.1, 0.5, 0.3), NuclearPenalty(0.1, (2, 2)),
    KSparseBall(2, 1.0), KSupportBall(2, 1.0), LpBall(2.0, 3.0), CappedSimplex(2.5, 1.0),
    OWLBall([2.0, 1.0, 1.0, 0.0], 2.0), Ellipsoid([9.0, 4.0, 1.0, 1.0], 0.5),
)  # fmt: skip
BITS_KEPT = (L1Ball, Simplex, Box, LInfBall, L1Penalty, KSparseBall)
"""Oracles that only compare and multiply by the radius."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("exponent", [-500, 500])
def test_units_do_not_matter(exponent: int, engine: Any) -> None:
    # Powers of two round nothing: X·2ᵏ and β/2ᵏ have the predictions of X and β, to the last bit.
    X, y = numbers()
    unit = 2.0**exponent
    for k, oracle in enumerate(UNIT_ORACLES):
        loss, layout = LOSSES[k % 4], LAYOUTS["csr" if k % 2 else "dense"]
        plain = problem_of(layout(X), y, loss, oracle)
        other = problem_of(layout(X * unit), y, loss, in_units(oracle, 1 / unit))
        options: Any = {"batch": 2, "tol": 0.0, "max_iterations": 30, "method": RCMD(engine=engine)}
        here, there = (next(iterate(p, record_at=[30], **options)) for p in (plain, other))
        exact = isinstance(oracle, BITS_KEPT)
        for name in ("s", "w", "w_average", "primal", "dual", "gap"):
            a, b = getattr(here, name), getattr(there, name)
            assert np.array_equal(a, b) or not exact, (oracle, name)
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12, err_msg=f"{oracle} {name}")
        np.testing.assert_allclose(
            there.beta_average * unit, here.beta_average, rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(other.prediction_bounds, plain.prediction_bounds, rtol=1e-12)


@pytest.mark.parametrize("exponent", [-500, 500])
def test_solutions_in_other_units_are_those_of_cvxpy(exponent: int) -> None:
    X, y = numbers()
    unit = 2.0**exponent
    for oracle in UNIT_ORACLES[:12]:
        for loss in (LeastSquares(), Logistic()):
            best = truth.solve(problem_of(X, y, loss, oracle)).primal
            problem = problem_of(X * unit, y, loss, in_units(oracle, 1 / unit))
            found = solve(problem, batch=2, tol=1e-7, max_iterations=3000)
            assert found.success, (oracle, found)
            assert -1e-8 <= found.primal - best <= found.gap + 1e-8, (oracle, found, best)


@pytest.mark.parametrize("exponent", [-250, 250])
@pytest.mark.parametrize("engine", ENGINES)
def test_labels_in_other_units(exponent: int, engine: Any) -> None:
    # The squared loss of X·2ᵏ and y·2ᵏ is 4ᵏ times that of X and y.
    X, y = numbers()
    unit = 2.0**exponent
    options: Any = {"batch": 2, "tol": 0.0, "max_iterations": 30, "method": RCMD(engine=engine)}
    for oracle in ORACLES[:5]:
        plain = Problem(X, y, LeastSquares(), oracle)
        other = Problem(X * unit, y * unit, LeastSquares(), oracle)
        here, there = (next(iterate(p, record_at=[30], **options)) for p in (plain, other))
        assert there.gap == pytest.approx(here.gap * unit * unit, rel=1e-9, abs=0)
        np.testing.assert_allclose(there.beta_average, here.beta_average, rtol=1e-9)


# ---- radii -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "radius"), [*enumerate([1e-12, 1e12, 1e-300, 1e140])])
def test_radii(place: int, radius: float) -> None:
    X, y = numbers()
    for k, oracle in enumerate(ORACLES):
        loss, engine = LOSSES[k % 4], ENGINES[(k + place) % 2]
        if isinstance(oracle, Box):
            oracle = Box(-radius, 2 * radius)
        elif getattr(oracle, "radius", None) is not None:
            oracle = replace(oracle, radius=radius)  # type: ignore[type-var]
        else:
            oracle = replace(oracle, strength=1 / radius)  # type: ignore[type-var]
        problem = problem_of(X, y, loss, oracle)
        check_pair(problem, solve(problem, batch=2, max_iterations=40, method=on(engine)))


# ---- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_huge_labels_of_a_loss_that_grows_linearly(engine: Any) -> None:
    X, y = numbers()
    for oracle in ORACLES[:6]:
        problem = Problem(X, 1e300 * y, Huber(0.5), oracle)
        found = solve(problem, batch=2, tol=0.0, max_iterations=30, method=on(engine))
        check_pair(problem, found)
        rounding = 2.0**-52 * np.log(1e300)  # of sizes about 1e300, as the certificate has it
        assert found.gap <= 2 * rounding * found.primal  # those of l and of l*
        assert not found.success


@pytest.mark.parametrize("size", [1e155, 1e300])
def test_labels_whose_squares_overflow_are_refused(size: float) -> None:
    X, y = numbers()
    for oracle in (L1Ball(1.0), L1Penalty(1.0), Ridge(1.0), GroupLasso([0, 0, 1, 1], 1.0)):
        with pytest.raises(ValueError, match=r"y holds .* divide y by a power of ten"):
            Problem(X, y * size, LeastSquares(), oracle)
        with pytest.raises(ValueError, match=r"expected losses whose sum is below 1e\+307"):
            Problem(X, y, LeastSquares(), oracle, offset=y * size)
    assert solve(Problem(X, y * 1e150, LeastSquares(), L1Ball(1.0)), max_iterations=3).gap >= 0


def test_weights_whose_losses_overflow_are_refused() -> None:
    X, y = numbers()
    for weights in (np.full(8, 1e307), np.array([1e308, *np.ones(7)])):
        with pytest.raises(ValueError, match=r"expected losses whose sum is below 1e\+307"):
            Problem(X, np.sign(y), Logistic(), L1Ball(1.0), weights=weights)
    problem = Problem(X, np.sign(y), Logistic(), L1Ball(1.0), weights=np.full(8, 1e300))
    assert solve(problem, max_iterations=3).gap >= 0


@pytest.mark.parametrize("engine", ENGINES)
def test_data_whose_squares_overflow_are_refused(engine: Any) -> None:
    X, y = numbers()
    for oracle in (L1Ball(2.0), Box(-1.0, 1.0), L2Ball(1.0)):
        with pytest.raises(ValueError, match=r"predictions reach .* divide X by a power of ten"):
            solve(Problem(1e300 * X, y, LeastSquares(), oracle), method=on(engine))
        problem = Problem(1e300 * X, np.sign(y), Logistic(), oracle)
        check_pair(problem, solve(problem, batch=2, max_iterations=30, method=on(engine)))
    with pytest.raises(ValueError, match=r"squares overflow.*strongly convex.*divide X"):
        solve(Problem(1e300 * X, np.sign(y), Logistic(), Ridge(1.0)), method=on(engine))
    with pytest.raises(ValueError, match=r"predictions reach .* divide X by a power of ten"):
        solve(Problem(1e162 * X, y, LeastSquares(), L1Ball(1e-14)), method=on(engine))


# ---- how numbers are handed over ---------------------------------------------------------------

WHOLE = np.round(3 * numbers()[0])
LABELS = np.round(3 * numbers()[1])


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(float).max, reason="long is no longer")
def test_numbers_beyond_doubles_are_refused() -> None:
    X = WHOLE.astype(np.longdouble)
    X[2, 1] = np.longdouble("1e400")
    with pytest.raises(ValueError, match=r"X holds 1e\+400 at position \(2, 1\), beyond the range"):
        Problem(X, LABELS, LeastSquares(), L1Ball(1.0))
    with pytest.raises(ValueError, match=r"y holds 1e\+400 at position \(2,\), beyond the range"):
        Problem(WHOLE, X[:, 1], LeastSquares(), L1Ball(1.0))


def test_fractions_have_no_limits() -> None:
    tiny, huge = Fraction(1, 10**400), Fraction(10**400)
    X = np.array([[huge, 0], [0, tiny]], dtype=object)
    problem = Problem(X, [Fraction(1), Fraction(2)], LeastSquares(), Box(Fraction(0), tiny))
    found = solve(problem, batch=2, tol=0, max_iterations=3)
    again = certify(problem, found.beta, found.w)
    assert again.gap == problem.primal(found.beta) - problem.dual(found.w) == found.gap
