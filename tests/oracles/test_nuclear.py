"""Matrix oracles against dense decompositions, CVXPY, exact squares and planted bugs."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_cases import MATRICES, bound

from rcmd import (
    LeastSquares,
    LowRank,
    MatrixEntries,
    NuclearBall,
    NuclearPenalty,
    Problem,
    Spectrahedron,
    iterate,
    solve,
    truth,
)
from rcmd.oracles import leading
from rcmd.oracles.leading import Spectrum, gram, lanczos, probable_bound, symmetric
from rcmd.oracles.matrices import STEP_TOLERANCE
from rcmd.rows import as_rows


def slopes(shape: tuple[int, int], count: int = 20) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    drawn = [10.0 ** rng.integers(-2, 3) * rng.standard_normal(shape) for _ in range(count)]
    flat = np.outer(np.arange(shape[0]), np.ones(shape[1]))
    return [*drawn, np.zeros(shape), np.ones(shape), flat, np.eye(*shape), -np.eye(*shape)]


def plain_minimum(oracle: Any, c: np.ndarray) -> float:
    """The minimum once more, from a dense decomposition."""
    if isinstance(oracle, Spectrahedron):
        return oracle.trace * float(np.linalg.eigvalsh((c + c.T) / 2)[0])
    sigma = float(np.linalg.norm(c, 2))
    if isinstance(oracle, NuclearPenalty):
        return -oracle.radius * max(sigma - oracle.strength, 0)
    return -oracle.radius * sigma


# ---- the contract ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MATRICES)
def test_minimum_and_argmin_by_dense_decomposition(name: str) -> None:
    oracle = bound(name)
    for c in slopes(oracle.shape):
        expected = plain_minimum(oracle, c)
        room = 1e-10 * (1 + abs(expected) + abs(c).max())
        for form in (c.ravel(), c, sp.csr_array(c)):
            assert oracle.minimum(form) == pytest.approx(expected, abs=room)
            beta = oracle.argmin(form).dense(c.ravel())
            assert c.ravel() @ beta + oracle.penalty(beta) == pytest.approx(expected, abs=room)
            assert oracle.violation(beta) <= 1e-14
            assert oracle.fenchel_young(beta, form) <= room


@pytest.mark.parametrize("name", MATRICES)
def test_fenchel_young_of_sums_and_of_vectors(name: str) -> None:
    oracle = bound(name)
    costs = slopes(oracle.shape, 8)
    atoms = [oracle.argmin(c).dense(c.ravel()) for c in costs]
    members = np.random.default_rng(2).dirichlet(np.full(len(atoms), 0.3), 6) @ np.array(atoms)
    for c in costs:
        for beta in members:
            direct = c.ravel() @ beta + oracle.penalty(beta) - plain_minimum(oracle, c)
            room = 1e-9 * (1 + abs(c).max())
            for form in (beta, LowRank.of_array(beta.reshape(oracle.shape))):
                assert oracle.fenchel_young(form, sp.csr_array(c)) >= 0
                assert oracle.fenchel_young(form, c) == pytest.approx(direct, abs=room)
                assert oracle.value(form) == pytest.approx(oracle.penalty(beta), abs=1e-12)


def test_fenchel_young_does_not_cancel() -> None:
    """At β = argmin(c) + ε the gap is of the order of ε, and not of the rounding of ⟨c, β⟩."""
    ball = NuclearBall((3, 3), 1.0)
    c = 1e8 * np.diag([1.0, 0.5, 0.25])
    tilt = 1e-7
    beta = -np.outer([1.0, 0, 0], [math.cos(tilt), math.sin(tilt), 0])
    exact = 1e8 * (tilt**2 / 2)  # σ₁(1 − cos)
    assert ball.fenchel_young(beta.ravel(), c) == pytest.approx(exact, abs=1e-5)


def test_violation() -> None:
    ball = NuclearBall((2, 2), 2.0)
    assert ball.violation(np.array([3.0, 0, 0, 0])) == pytest.approx(0.5)
    assert ball.value(np.array([2.0, 0, 0, 0.0])) == 0
    assert ball.value(np.array([2.0, 0, 0, 1e-3])) == math.inf
    assert NuclearPenalty(0.5, (2, 2), 2.0).value(np.array([1.0, 0, 0, 0.5])) == 0.75
    cone = Spectrahedron(2, 1.0)
    assert cone.value(np.array([0.5, 0.2, 0.2, 0.5])) == 0
    for beta in ([0.5, 0.2, 0.1, 0.5], [1.1, 0, 0, -0.1], [0.4, 0, 0, 0.4], [0.5, 0.6, 0.6, 0.5]):
        assert cone.value(np.array(beta)) == math.inf
    slightly_bent = np.array([0.5, 0.1 + 1e-7, 0.1 - 1e-7, 0.5])
    assert cone.violation(slightly_bent) >= 1e-8


@pytest.mark.parametrize("name", MATRICES)
def test_prediction_range(name: str) -> None:
    oracle = bound(name)
    rng = np.random.default_rng(3)
    p = math.prod(oracle.shape)
    data = rng.standard_normal((5, p)) * (rng.random((5, p)) < 0.6)
    i, k = (side.ravel() for side in np.indices(oracle.shape))
    for rows in (as_rows(data), as_rows(sp.csr_array(data)), MatrixEntries(i, k, oracle.shape)):
        low, high = oracle.prediction_range(rows)
        for j in range(rows.n):
            x = rows.row(j).reshape(oracle.shape)
            if isinstance(oracle, Spectrahedron):
                values = oracle.trace * np.linalg.eigvalsh((x + x.T) / 2)[[0, -1]]
            else:
                values = oracle.radius * np.linalg.norm(x, 2) * np.array([-1, 1])
            assert [low[j], high[j]] == pytest.approx(list(values), abs=1e-10)


def test_ties_and_scales() -> None:
    ball = NuclearBall((2, 2), 1.0)
    for c in (np.zeros(4), np.array([1.0, 0, 0, 1.0])):
        first, second = (ball.argmin(c) for _ in range(2))
        assert np.array_equal(first.left, second.left)
        assert np.array_equal(first.right, second.right)
    c = np.array([3.0, 4.0, 0.0, 0.0])
    for scale in (1e-300, 1e-200, 1e200, 1e300):
        assert ball.minimum(scale * c) == pytest.approx(-5 * scale, rel=1e-12)
        beta = ball.argmin(scale * c).dense(c)
        assert np.allclose(beta, [-0.6, -0.8, 0, 0], atol=1e-12)


# ---- the leading vector and the bound ----------------------------------------------------------


def large(seed: int = 0, shape: tuple[int, int] = (110, 90)) -> Any:
    """A sparse matrix beyond the sides that are decomposed for a step."""
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(shape) * (rng.random(shape) < 0.2)
    return sp.csr_array(c)


@pytest.mark.parametrize("shape", [(110, 90), (90, 110), (70, 200)])
def test_step_atoms_of_larger_matrices(shape: tuple[int, int]) -> None:
    ball = NuclearBall(shape, 2.0)
    for seed in range(4):
        c = large(seed, shape)
        atom = ball.argmin(c)  # from the answer to the last c, which has nothing to do with it
        sigma = np.linalg.norm(c.toarray(), 2)
        left, right = atom.left / -2, atom.right
        assert [np.linalg.norm(left), np.linalg.norm(right)] == pytest.approx([1, 1], rel=1e-12)
        value = left @ (c @ right)
        assert 0.95 * sigma <= value <= sigma * (1 + 1e-12)
        inner, outer = (right, c) if shape[0] >= shape[1] else (left, c.T)
        residual = np.linalg.norm(outer.T @ (outer @ inner) - value**2 * inner)
        assert residual <= 1.001 * STEP_TOLERANCE * sigma**2
        assert atom.right[abs(atom.right).argmax()] > 0 or shape[0] < shape[1]
        assert -ball.minimum(c) / 2 == pytest.approx(sigma, rel=1e-9)


def stuck(c: Any) -> float:
    """Share of the leading eigenvalue reached from a start at the second eigenvector."""
    values, vectors = np.linalg.eigh((c.T @ c).toarray())
    found = gram(c).leading(vectors[:, -2], 1e-2, np.random.default_rng(0))
    return float(found @ (c.T @ (c @ found)) / values[-1])


def test_a_warm_start_cannot_get_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    c = sp.csr_array(np.diag(np.r_[2.0, 1.0, np.linspace(0.9, 0, 88)]))
    assert stuck(c) > 0.999
    monkeypatch.setattr(leading, "NOISE", 0.0)
    assert stuck(c) < 0.3


def test_the_bound_is_above_exact_squares() -> None:
    """σ₁² of an integer matrix of rank one is an integer, so rounding has nowhere to hide."""
    rng = np.random.default_rng(4)
    for height, width in ((3, 4), (40, 30), (100, 80)):
        for _ in range(20):
            a, b = rng.integers(-50, 50, height), rng.integers(-50, 50, width)
            square = int(a @ a) * int(b @ b)
            ball = NuclearBall((height, width), 1.0)
            for form in (np.outer(a, b).astype(float), sp.csr_array(np.outer(a, b).astype(float))):
                found = Fraction(ball.dual_norm(form)) ** 2
                assert square <= found <= square * (1 + Fraction(1, 10**9))
            start = np.random.default_rng(5)
            lanczos_bound = probable_bound(gram(form).apply, width, start, 1e-12)
            assert square <= Fraction(lanczos_bound) <= square * (1 + Fraction(1, 10**6))


def test_a_guess_that_is_too_low_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    for spectrum in (gram(large()), symmetric((large() @ large().T) / 9)):
        top = float(np.linalg.eigvalsh(spectrum.dense()[0])[-1])
        assert top <= spectrum.largest(np.random.default_rng(0)) <= top * (1 + 1e-8)
        for share in (0.5, 1 - 1e-6):
            monkeypatch.setattr(leading, "probable_bound", lambda *_, low=share * top: low)
            assert top <= spectrum.largest(np.random.default_rng(0)) <= top * (1 + 1e-8)
        monkeypatch.undo()


HARD = {
    "gaussian": np.random.default_rng(6).standard_normal((120, 80)),
    "tiny gap": np.diag(np.r_[1.0, np.full(79, 0.999)]),
    "flat": np.diag(np.sqrt(1 - np.linspace(0, 1, 80) ** 2)),
    "identity": np.eye(80),
    "one entry": np.eye(80)[:, :1] @ np.eye(80)[3:4],
    "zero": np.zeros((80, 80)),
}


@pytest.mark.parametrize("name", HARD)
def test_the_probable_bound_is_a_sharp_bound(name: str) -> None:
    matrix = HARD[name]
    top = np.linalg.norm(matrix, 2) ** 2
    for seed in range(5):
        found = probable_bound(gram(matrix).apply, 80, np.random.default_rng(seed), 1e-12)
        assert top * (1 - 1e-12) <= found <= top * (1 + 1e-8)


def failures(probability: float, starts: int = 400) -> tuple[float, float]:
    """How often the bound, and the plain Ritz value, fall below λ after five steps."""
    matrix = np.diag(np.sqrt(np.r_[1.0, 1 - np.linspace(0.05, 1, 39)]))
    below = ritz_below = 0
    for seed in range(starts):
        apply, rng = gram(matrix).apply, np.random.default_rng(seed)
        below += probable_bound(apply, 40, rng, probability) < 1
        start = np.random.default_rng(seed).standard_normal(40)
        ritz_below += lanczos(apply, start, rng, lambda _: False).ritz()[0][-1] < 1 - 1e-12
    return below / starts, ritz_below / starts


def test_unconverged_bounds_fail_no_more_often_than_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leading, "LONGEST", 5)
    for probability in (0.3, 0.05):
        rate, ritz_rate = failures(probability)
        assert rate <= probability + 3 * math.sqrt(probability / 400)
        assert ritz_rate == 1.0  # what a bound must not be made of
    assert failures(1e-12, 100)[0] == 0
    assert failures(1.0)[0] > 0.01, "a start without chance to fail would show nothing"


def test_beyond_the_dense_side_the_bound_is_by_lanczos(monkeypatch: pytest.MonkeyPatch) -> None:
    c = large()
    expected = NuclearBall((110, 90), 1.0).dual_norm(c)
    cone = Spectrahedron(90)
    square = (c[:90] + c[:90].T) / 2
    smallest = cone.minimum(square)
    monkeypatch.setattr(leading, "DENSE_SIDE", 20)
    monkeypatch.delattr(Spectrum, "_proved")
    assert NuclearBall((110, 90), 1.0).dual_norm(c) == pytest.approx(expected, rel=1e-8)
    assert cone.minimum(square) == pytest.approx(smallest, rel=1e-8)
    assert cone.minimum(square) <= np.linalg.eigvalsh(square.toarray())[0]


# ---- runs --------------------------------------------------------------------------------------


def observed(shape: tuple[int, int], count: int, seed: int = 0) -> tuple[MatrixEntries, Any]:
    """Noisy entries of a matrix of rank 2."""
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((shape[0], 2)), rng.standard_normal((shape[1], 2))
    i, k = np.divmod(rng.choice(shape[0] * shape[1], count, replace=False), shape[1])
    y = (left @ right.T)[i, k] + 0.2 * rng.standard_normal(count)
    return MatrixEntries(i, k, shape), y


SOLVED: dict[str, tuple[Any, Any]] = {
    "ball": (NuclearBall((9, 7), 8.0), (9, 7)),
    "open penalty": (NuclearPenalty(0.05, (9, 7)), (9, 7)),
    "spectrahedron": (Spectrahedron(7, 3.0), (7, 7)),
}


@pytest.mark.parametrize("name", SOLVED)
@pytest.mark.parametrize("batch", [5, 1.0])
@pytest.mark.parametrize("method", ["rcmd", "corrected"])
def test_certified_gaps_hold(name: str, batch: int | float, method: str) -> None:
    oracle, shape = SOLVED[name]
    rows, y = observed(shape, 35)
    problem = Problem(rows, y, LeastSquares(), oracle)
    optimum = truth.solve(problem)
    result = solve(problem, batch=batch, tol=1e-3, max_iterations=600, method=method)
    excess = result.primal - optimum.primal
    assert -1e-9 <= excess <= result.gap + 1e-9
    assert result.dual <= optimum.primal + 1e-9
    assert optimum.residuals["gap"] <= 1e-6
    assert excess <= 0.2


def test_an_open_radius_cuts_off_nothing() -> None:
    rows, y = observed((6, 5), 20)
    open_problem = Problem(rows, y, LeastSquares(), NuclearPenalty(0.02, (6, 5)))
    wide = Problem(rows, y, LeastSquares(), NuclearPenalty(0.02, (6, 5), 1e3))
    inside = truth.solve(open_problem)
    assert inside.primal == pytest.approx(truth.solve(wide).primal, abs=1e-7)
    norm = np.linalg.norm(inside.beta.reshape(6, 5), "nuc")
    assert norm <= open_problem.oracle.radius  # type: ignore[attr-defined]
    zero = Problem(rows, 0 * y, LeastSquares(), NuclearPenalty(0.02, (6, 5)))
    assert zero.oracle.radius == 1.0  # type: ignore[attr-defined]


def ending(problem: Problem, checkpoints: list[int], **options: Any) -> Any:
    run = iterate(problem, record_at=checkpoints, tol=0.0, max_iterations=12, **options)
    *_, last = run
    return last


@pytest.mark.parametrize("batch", [200, 1.0])
def test_runs_repeat_and_certificates_do_not_disturb_them(batch: int | float) -> None:
    rows, y = observed((100, 80), 2000)
    problem = Problem(rows, y, LeastSquares(), NuclearBall((100, 80), 100.0))
    first = ending(problem, [12], batch=batch)
    problem.oracle.argmin(large(1, (100, 80)))
    again = ending(problem, [12], batch=batch)
    certified = ending(problem, list(range(1, 13)), batch=batch)
    for other in (again, certified):
        assert np.array_equal(first.w, other.w)
        assert np.array_equal(first.beta_average.to_array(), other.beta_average.to_array())


def test_problems_do_not_share_a_warm_start() -> None:
    ball = NuclearBall((100, 80), 100.0)
    rows, y = observed((100, 80), 500)
    first, second = (Problem(rows, y, LeastSquares(), ball) for _ in range(2))
    first.oracle.argmin(large(1, (100, 80)))
    assert first.oracle._last  # type: ignore[attr-defined]
    assert not second.oracle._last  # type: ignore[attr-defined]
