"""A certificate is a proof: its gap is never below P(β) − P*, whatever (β, w)."""

import copy
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from planted import planted
from small_problems import (
    EXACT_ORACLES,
    LOSSES,
    ORACLES,
    data,
    dense,
    every_pair,
    exact_problem,
    fractions,
    problem,
)

from rcmd import (
    Certificate,
    Huber,
    L1Ball,
    LeastSquares,
    Poisson,
    Problem,
    SeparableConjugate,
    Simplex,
    certify,
    solve,
    truth,
)
from rcmd.model.certificate import BestPair, DualPoint, PrimalPoint

N_ROWS = 6


def feasible(problem: Problem, rng: np.random.Generator) -> Any:
    """A convex combination of atoms, sometimes a single one."""
    atoms = [problem.oracle.argmin(rng.standard_normal(4) * 3).dense(np.zeros(4)) for _ in range(3)]
    return rng.dirichlet([0.3, 0.3, 0.3]) @ np.array(atoms)


def dual_points(problem: Problem, rng: np.random.Generator) -> Iterator[Any]:
    """Responses to random predictions, and points anywhere in dom l*, ends included."""
    yield problem.losses.derivative(rng.standard_normal(problem.n) * 3)
    low, high = problem.losses.domain
    if np.isfinite(low).all():
        yield low + rng.random(problem.n) * (high - low)
        yield np.where(rng.random(problem.n) < 0.5, low, high)
    else:
        yield rng.standard_normal(problem.n) * 3


def is_proof(problem: Problem, optimal: float, beta: Any, w: Any) -> None:
    certificate = certify(problem, beta, w)
    suboptimality = float(problem.primal(beta)) - optimal
    scale = 1 + abs(float(certificate.primal)) + abs(float(certificate.dual))
    assert suboptimality >= -1e-9
    assert certificate.gap >= suboptimality - 1e-9
    assert certificate.dual <= optimal + 1e-9
    assert abs(certificate.gap - (certificate.primal - certificate.dual)) <= 1e-12 * scale
    assert certificate.loss_gap >= 0
    assert certificate.regularizer_gap >= 0


def always_proves(problem: Problem, optimum: truth.Truth, rounds: int = 10) -> None:
    """Random pairs prove no more than is true, and the optimal pair proves all of it."""
    rng = np.random.default_rng(11)
    for _ in range(rounds):
        beta = feasible(problem, rng)
        for w in (*dual_points(problem, rng), problem.response(beta), optimum.w):
            is_proof(problem, optimum.primal, beta, w)
    # The solver's β may miss the set by 1e-11; moved towards an atom it lies inside.
    atom = problem.oracle.argmin(problem.gradient(optimum.w)).dense(np.zeros(4))
    inside = (1 - 1e-6) * optimum.beta + 1e-6 * atom
    is_proof(problem, optimum.primal, inside, optimum.w)
    assert certify(problem, inside, optimum.w).gap < 1e-5


@every_pair
def test_certificate_is_a_proof(loss: str, oracle: str, layout: str, weighted: bool) -> None:
    small = problem(loss, oracle, n=N_ROWS, seed=5, layout=layout, weighted=weighted)
    always_proves(small, truth.solve(small))


@pytest.mark.parametrize("oracle", EXACT_ORACLES)
def test_fractions_give_fractions(oracle: str) -> None:
    exact = exact_problem(oracle)
    start = exact.losses.derivative(0 * exact.losses.y)
    beta = exact.oracle.argmin(exact.gradient(start)).dense(exact.gradient(start))
    for w in (start, exact.response(beta), fractions(data(4)[1])):
        certificate = certify(exact, beta, w)
        assert isinstance(certificate.gap, Fraction)
        assert certificate.gap == certificate.primal - certificate.dual
        assert certificate.gap >= 0
    atom_gap = certify(exact, beta, start)
    assert atom_gap.regularizer_gap == 0
    assert certify(exact, beta, exact.response(beta)).loss_gap == 0


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_outside_the_set_nothing_is_certified(loss: str, oracle: str) -> None:
    small = problem(loss, oracle, n=N_ROWS)
    certificate = certify(small, np.full(4, 100.0), small.response(np.zeros(4)))
    assert certificate.gap == math.inf
    assert certificate.primal == math.inf
    assert math.isfinite(certificate.dual)


def test_w_is_brought_into_the_domain_first() -> None:
    small = problem("logistic", "l1-ball", n=N_ROWS, weighted=True)
    low, high = small.losses.domain
    outside, beta = np.where(high > 0, 9.0, -9.0), np.zeros(4)
    apart, together = BestPair(small), BestPair(small)
    apart.offer_primal(beta)
    apart.offer_dual(outside)
    together.offer_pair(beta, outside, slope=small.gradient(outside))
    for certificate in (certify(small, beta, outside), apart.certificate(), together.certificate()):
        assert np.array_equal(certificate.w, np.where(high > 0, high, low))
        assert certificate.dual == small.dual(certificate.w)
        assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, rel=1e-12)


def test_a_term_that_rounding_makes_negative_is_zero() -> None:
    wrong = planted(L1Ball, 4.0, fenchel_young=lambda *_: -1e-12)
    right, w = problem("logistic", L1Ball(4.0)), np.array([0.1, -0.3, 0.2, -0.4, 0.5])
    small = Problem(right.X, right.y, "logistic", wrong, verify=False)
    beta = small.oracle.argmin(small.gradient(small.losses.clip(w))).dense(np.zeros(4))
    assert certify(small, beta, w).regularizer_gap == 0


def test_a_pair_that_was_saved_goes_on_as_it_would_have() -> None:
    small, rng = problem("logistic", "l2-ball", n=N_ROWS, weighted=True), np.random.default_rng(0)
    offers = [(feasible(small, rng), next(dual_points(small, rng))) for _ in range(12)]
    for saved in range(1, 9):
        whole, again = BestPair(small), BestPair(small)
        for beta, w in offers[:saved]:
            whole.offer_pair(beta, w)
        whole.forget()
        state = copy.deepcopy(whole.state())
        again.load_state(state)
        state["primal"][0][:], state["w"][:] = 7.0, 7.0  # the pair is its own
        for beta, w in [(None, None), *offers[saved:]]:
            for best in (whole, again) if beta is not None else ():
                best.offer_primal(beta)
                best.offer_dual(w)
            for name, value in vars(whole.certificate()).items():
                found = getattr(again.certificate(), name)
                if name == "ground_text":
                    assert found == value == "proved"
                    continue
                np.testing.assert_allclose(found, value, rtol=1e-13, err_msg=name)
                assert not getattr(getattr(found, "flags", None), "writeable", False)


def test_best_pair_keeps_the_best_of_each_side() -> None:
    small, rng = problem("logistic", "l2-ball", n=N_ROWS), np.random.default_rng(0)
    best = BestPair(small)
    with pytest.raises(ValueError, match="no pair was offered yet"):
        best.certificate()
    betas = [feasible(small, rng) for _ in range(10)]
    ws = [w for _ in range(10) for w in dual_points(small, rng)]
    best.offer_primal(betas[0])
    for k, w in enumerate(ws, 1):
        best.offer_dual(w)
        best.offer_primal(betas[k % 10])
        certificate, seen = best.certificate(), betas[: k + 1]
        assert certificate.primal == min(small.primal(beta) for beta in seen)
        assert certificate.dual == max(small.dual(w) for w in ws[:k])
        assert certificate.gap == certify(small, certificate.beta, certificate.w).gap


@pytest.mark.parametrize("oracle", ["l1-ball", "l2-ball"])
def test_a_pair_is_the_same_as_its_two_sides(oracle: str) -> None:
    small, rng = problem("logistic", oracle, n=N_ROWS), np.random.default_rng(0)
    together, apart = BestPair(small), BestPair(small)
    for _ in range(8):
        beta, w = feasible(small, rng), next(dual_points(small, rng))
        s = small.rows.matvec(beta)
        losses = small.losses.value(s)
        known = s, small.mean(losses), small.mean(abs(losses))
        assert np.array_equal(together.offer_pair(beta, w, known, small.gradient(w)), s)
        apart.offer_primal(beta)
        apart.offer_dual(w)
        one, other = together.certificate(), apart.certificate()
        assert one.primal == other.primal
        assert one.dual == other.dual
        assert one.gap == pytest.approx(other.gap, rel=1e-13)
        together.forget()


def test_a_pair_takes_one_sweep_over_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    small, rng = problem("logistic", "l1-ball", n=N_ROWS), np.random.default_rng(0)
    betas = [feasible(small, rng) for _ in range(2)]
    betas.sort(key=small.primal)  # the better one first
    good, bad = 0.5 * small.response(betas[0]), 0 * small.y
    sweeps: list[str] = []
    for name in ("products", "matvec", "rmatvec"):
        raw = getattr(small.rows, name)

        def counted(*given: Any, name: str = name, raw: Any = raw) -> Any:
            before = len(sweeps)
            found = raw(*given)
            sweeps[before:] = [name]
            return found

        monkeypatch.setattr(small.rows, name, counted, raising=False)

    def taken(best: BestPair, *pair: Any) -> list[str]:
        sweeps.clear()
        best.offer_pair(*pair)
        best.certificate()
        best.forget()
        return sweeps

    best = BestPair(small)
    assert taken(best, betas[1], bad) == ["products"]
    assert taken(best, betas[0], bad) == ["products", "rmatvec"]  # of the best w
    assert taken(best, betas[1], good) == ["products", "matvec"]  # of the best β
    assert taken(best, betas[1], bad) == ["products"]  # no better


def test_a_slope_of_another_point_is_refused() -> None:
    small, rng = problem("logistic", "l1-ball", n=N_ROWS), np.random.default_rng(0)
    w = next(dual_points(small, rng))
    best = BestPair(small)
    best.offer_pair(feasible(small, rng), w, slope=small.gradient(0.5 * w))
    with pytest.raises(ValueError, match="expected the same number"):
        best.certificate()


# ---- solve() against the ground truth ----------------------------------------------------------


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_solve_reaches_the_optimum(loss: str, oracle: str) -> None:
    small = problem(loss, oracle, n=N_ROWS, seed=5)
    strongly_convex = small.oracle.mu > 0
    tol = 1e-8 if strongly_convex else 2e-3
    batch = 1 if strongly_convex else N_ROWS
    result = solve(small, batch=batch, tol=tol, max_iterations=20_000)
    optimal = truth.solve(small).primal
    assert result.success
    assert result.gap <= tol
    assert -1e-9 <= result.primal - optimal <= result.gap + 1e-9
    assert -1e-9 <= optimal - result.dual <= result.gap + 1e-9
    assert small.oracle.violation(result.beta) <= 1e-10
    is_proof(small, optimal, result.beta, result.w)


# ---- what contradicts itself, and what rounding hides ------------------------------------------


@pytest.mark.parametrize("share", [1e-6, -1e-6, math.nan], ids=str)
@pytest.mark.parametrize("part", ["conjugate", "value", "minimum"])
def test_a_class_that_contradicts_itself_certifies_nothing(part: str, share: float) -> None:
    """Not even in the seventh digit."""
    loss, oracle = LeastSquares(), L1Ball(1.0)
    if part == "minimum":
        oracle = planted(L1Ball, 1.0, minimum=lambda b, c: (1 + share) * L1Ball.minimum(b, c))
    else:
        honest = getattr(LeastSquares, part)
        loss = planted(LeastSquares, **{part: lambda self, *at: (1 + share) * honest(self, *at)})
    X, y, w = np.eye(3), np.array([1.0, -1.0, 2.0]), np.array([1.0, 0.5, -2.0])
    assert certify(Problem(X, y, LeastSquares(), L1Ball(1.0)), np.zeros(3), w).gap > 0
    with pytest.raises(ValueError, match=r"check them with rcmd\.testing\.check_conjugate"):
        certify(Problem(X, y, loss, oracle, verify=False), np.zeros(3), w)
    with pytest.raises(ValueError, match=r"verify=False"):
        Problem(X, y, loss, oracle)


def unequal_rows(scale: float = 1e150) -> Problem:
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((6, 3)), rng.standard_normal(6)
    X[2] *= scale
    return Problem(X, y, LeastSquares(), Simplex(1.0))


def exact_primal(problem: Problem, beta: np.ndarray) -> Fraction:
    x = [Fraction(float(entry)) for entry in beta]
    offset = np.zeros(problem.n) if problem.offset is None else problem.offset
    total = Fraction(0)
    for row, label, own in zip(problem.rows.as_matrix(), problem.losses.y, offset, strict=True):
        prediction = sum(Fraction(float(entry)) * b for entry, b in zip(row, x, strict=True))
        total += (prediction + Fraction(float(own)) - Fraction(float(label))) ** 2 / 2
    return total / problem.n


def check_primal(problem: Problem, beta: np.ndarray) -> None:
    """P(β) is no more than is certified, in exact arithmetic."""
    value = PrimalPoint.at(problem, beta).value
    assert exact_primal(problem, beta) <= value * (1 + Fraction(1, 10**12))


def across_the_large_row(problem: Problem) -> Iterator[np.ndarray]:
    """Points of the simplex at which x_2ᵀβ is 0 but for rounding."""
    row, rng = problem.rows.as_matrix()[2], np.random.default_rng(0)
    row = row / abs(row).max()
    for share in rng.uniform(size=50):
        ends = [np.array([a, b, 0.0]) for a, b in ((share, 1 - share), (1.0, 0.0))]
        ends.append(np.array([0.0, share, 1 - share]))
        low, high = min(ends, key=lambda e: row @ e), max(ends, key=lambda e: row @ e)
        if row @ low < 0 < row @ high:
            yield low + (high - low) * (row @ low) / (row @ low - row @ high)


def test_what_rounding_hides_is_in_the_certificate() -> None:
    """One row of 10¹⁵⁰ beside others: Xβ is rounding there, and P 10²⁶⁵ for every double β."""
    for case in (unequal_rows(), unequal_rows(1.0)):
        result = solve(case, batch=2, tol=1e-3, max_iterations=2000)
        assert result.gap >= result.primal - result.dual - 1e-9 * abs(result.primal)
        check_primal(case, result.beta)
    for beta in across_the_large_row(unequal_rows()):
        check_primal(unequal_rows(), beta)


@pytest.mark.parametrize("loss", [LeastSquares(), Huber(0.5)], ids=repr)
def test_the_doubt_is_what_its_formula_says(loss: SeparableConjugate) -> None:
    """(1/n) Σ_j ρ_j·max|l_j'(s_j ± ρ_j)|, ρ = 2⁻⁵⁰|X||β|, in P and in the gap."""
    plain, weights = unequal_rows(1e20), np.linspace(0.5, 2.0, 6)
    case = Problem(dense(plain), plain.losses.y, loss, Simplex(1.0), weights=weights)
    points = list(across_the_large_row(case))
    assert len(points) > 5
    for beta in points:
        errors = 2.0**-50 * abs(dense(case)) @ abs(beta)
        slopes = abs(case.response(beta)) + weights * errors
        if isinstance(loss, Huber):
            slopes = np.minimum(slopes, 0.5 * weights)
        doubt = np.mean(errors * slopes)
        certificate = certify(case, beta, case.response(beta))
        assert certificate.primal == pytest.approx(case.primal(beta) + doubt, rel=1e-12)
        assert certificate.loss_gap == pytest.approx(doubt, rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "label", "x", "prediction"),
    [(Poisson(), 1e6, 10.0, 1.000001e-6), (LeastSquares(), 0.0, 1e9, 1e-2)],
    ids=repr,
)
def test_a_small_loss_does_not_hide_a_rounding(
    loss: SeparableConjugate, label: float, x: float, prediction: float
) -> None:
    """exp(s) − ys is 0 at s ≈ 1/y, where its slope is −y; s²/2 is small with s, whose slope is 0
    at the start: an upper bound of P all the same, up to 1e-13.
    """
    case = Problem([[x, -x]], [label], loss, Simplex(1.0))
    share = 0.5 + prediction / (2 * x)
    missed = []
    with mp.workdps(50):
        for ulps in range(-3, 4):
            beta = np.array([share + ulps * 2.0**-53, 1.0])
            beta[1] -= beta[0]
            s = mp.mpf(x) * (mp.mpf(beta[0]) - mp.mpf(beta[1]))
            true = mp.exp(s) - label * s if isinstance(loss, Poisson) else s * s / 2
            point = PrimalPoint.at(case, beta)
            assert true <= mp.mpf(float(point.value)) + 1e-13
            missed.append(abs(true - mp.mpf(float(point.loss))))
    assert max(missed) > 1e-10


def test_ordinary_rounding_is_not_spoken_of() -> None:
    problem = unequal_rows(1.0)
    assert PrimalPoint.at(problem, np.array([0.2, 0.3, 0.5])).doubt == 0
    assert DualPoint.at(problem, problem.losses.y).doubt == 0


def test_the_dual_doubt_is_what_its_formula_says() -> None:
    """2⁻⁵⁰ (1/n) Σ_j |w_j| M_j, in D and in the gap."""
    plain, weights = unequal_rows(1e5), np.linspace(0.5, 2.0, 6)
    case = Problem(dense(plain), plain.losses.y, LeastSquares(), L1Ball(3.0), weights=weights)
    beta, w = np.zeros(3), 1e3 * weights * plain.losses.y
    doubt = np.mean(abs(w) * 3.0 * abs(dense(case)).max(axis=1)) * 2.0**-50
    assert doubt > 1e-8
    certificate, slope = certify(case, beta, w), case.gradient(w)
    assert DualPoint.at(case, w).doubt == pytest.approx(doubt, rel=1e-12)
    assert certificate.dual < case.dual(w)
    apart = case.oracle.fenchel_young(beta, slope)
    assert certificate.regularizer_gap == pytest.approx(apart + doubt, rel=1e-16)


@pytest.mark.parametrize("size", [1e8, 1e12])
def test_offsets_beside_which_predictions_round(size: float) -> None:
    """P is no more, and D no less far below it, than certified, for offsets as large as labels."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        X, offset = rng.standard_normal((5, 1)), size * rng.uniform(1, 2, 5)
        case = Problem(
            X, offset + rng.standard_normal(5), LeastSquares(), L1Ball(1.0), offset=offset
        )
        beta, apart = (
            rng.uniform(-1, 1, 1),
            [
                Fraction(y) - Fraction(o)
                for y, o in zip(case.y.tolist(), offset.tolist(), strict=True)
            ],
        )
        w = case.response(beta)
        found = certify(case, beta, w)
        assert exact_primal(case, beta) <= Fraction(float(found.primal))
        v, x = [Fraction(a) for a in w.tolist()], [Fraction(a) for a in X[:, 0].tolist()]
        pull = abs(sum(a * b for a, b in zip(v, x, strict=True)))
        dual = -pull - sum(a * a / 2 + a * b for a, b in zip(v, apart, strict=True))
        assert Fraction(float(found.dual)) <= dual / 5
        assert exact_primal(case, beta) - dual / 5 <= Fraction(float(found.gap))
    assert solve(case, method="rcmd", tol=0.0, max_iterations=20).gap < 1


def test_a_slope_that_rounding_hides_is_in_the_gap() -> None:
    """Xᵀw/n is 1/3 and rounds to 0, so that β = 0 looks optimal and is not."""
    labels = np.array([-1e16, -1.0, 1e16])
    case = Problem(np.ones((3, 1)), labels, LeastSquares(), L1Ball(0.1))
    better = exact_primal(case, np.zeros(1)) - exact_primal(case, np.array([-0.1]))
    assert better > Fraction(28, 1000)
    assert certify(case, np.zeros(1), -labels).gap >= better


def pairs_of_any_scale(seed: int) -> tuple[Certificate, Fraction]:
    """The best pair of a run on rows of 1e-8 to 1e8, and its P(β) − D(w) in exact arithmetic."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(1, 8), rng.integers(1, 6)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-8, 8, (n, 1))
    y, radius = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 9), 10.0 ** rng.uniform(-3, 6)
    case = Problem(X, y, LeastSquares(), L1Ball(radius))
    found = solve(case, tol=1e-12, batch=int(n), max_iterations=60).certificate
    w, label = (np.array(list(map(Fraction, v.tolist())), dtype=object) for v in (found.w, y))
    slope = w @ np.array([list(map(Fraction, row)) for row in X.tolist()], dtype=object) / int(n)
    dual = -Fraction(radius) * max(abs(slope)) - (w * w / 2 + w * label).sum() / int(n)
    return found, exact_primal(case, found.beta) - dual


@pytest.mark.parametrize("seed", range(2, 18))
def test_gaps_of_any_scale_in_exact_arithmetic(seed: int) -> None:
    found, exact = pairs_of_any_scale(seed)
    assert exact <= Fraction(float(found.gap)) * (1 + Fraction(1, 10**9)) + Fraction(1, 10**13)


def test_a_rounding_is_found_where_the_largest_entry_bounds_it() -> None:
    """ε|x||β| times the slope, 2⁻⁵⁰·30·29: of a hundredth of it nothing would be seen."""
    problem = Problem([[1.0]], [1.0], LeastSquares(), Simplex())
    found = PrimalPoint.at(problem, np.array([30.0])).doubt
    assert found == pytest.approx(2.0**-50 * 30 * 29, rel=1e-3, abs=0)
