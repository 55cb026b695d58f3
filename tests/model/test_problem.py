"""The functions P, D and φ and the constants, against their definitions."""

import copy
import itertools
import math
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
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
    Box,
    Huber,
    L1Ball,
    L1Penalty,
    LeastSquares,
    Logistic,
    MatrixEntries,
    NuclearBall,
    Problem,
    Ridge,
    Translated,
    iterate,
    truth,
)
from rcmd.model.constants import Constants
from rcmd.model.problem import FIXED

F = Fraction
CASES = list(itertools.product(LOSSES, ORACLES))


def atoms(problem: Problem, rng: np.random.Generator, count: int = 4) -> list[Any]:
    minimizers = [problem.oracle.argmin(rng.standard_normal(4)) for _ in range(count)]
    return [atom.dense(np.zeros(4)) for atom in minimizers]


# ---- P, D, φ -----------------------------------------------------------------------------------


def close(left: float, right: float) -> None:
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@every_pair
def test_saddle_inequalities(loss: str, oracle: str, layout: str, weighted: bool) -> None:
    """P(β) = φ(β, ∇L(Xβ)) ≥ φ(β, w) ≥ φ(β̃(w), w) = D(w)."""
    small, rng = problem(loss, oracle, layout=layout, weighted=weighted), np.random.default_rng(1)
    for beta in atoms(small, rng):
        for _ in range(4):
            w = small.losses.derivative(rng.standard_normal(small.n))
            atom = small.oracle.argmin(small.gradient(w)).dense(np.zeros(4))
            close(small.primal(beta), small.saddle(beta, small.response(beta)))
            close(small.dual(w), small.saddle(atom, w))
            assert small.saddle(beta, w) <= small.primal(beta) + 1e-12
            assert small.saddle(beta, w) >= small.dual(w) - 1e-12


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("oracle", EXACT_ORACLES)
def test_values_written_out_in_fractions(oracle: str, weighted: bool) -> None:
    small = exact_problem(oracle, n=3, weighted=weighted)
    X, y, w = dense(small), small.losses.y, fractions([0.5, -0.25, 1.0])
    weights = small.losses.weights if weighted else [1, 1, 1]
    beta = small.oracle.argmin(X.T @ w / 3).dense(X[0])
    prediction = [sum(X[j][k] * beta[k] for k in range(4)) for j in range(3)]
    penalty = small.oracle.penalty(beta)
    loss = sum(weights[j] * (prediction[j] - y[j]) ** 2 / 2 for j in range(3)) / 3
    # With ω l: (ω l)*(w) = ω l*(w/ω) = w²/(2ω) + wy.
    conjugate = sum(w[j] ** 2 / (2 * weights[j]) + w[j] * y[j] for j in range(3)) / 3
    slope = [sum(X[j][k] * w[j] for j in range(3)) / F(3) for k in range(4)]
    coupling = sum(w[j] * prediction[j] for j in range(3)) / 3
    assert small.primal(beta) == loss + penalty
    assert list(small.gradient(w)) == slope
    assert small.dual(w) == coupling + penalty - conjugate
    assert small.saddle(beta, w) == coupling - conjugate + penalty
    assert list(small.response(beta)) == [weights[j] * (prediction[j] - y[j]) for j in range(3)]


@pytest.mark.parametrize(("loss", "oracle"), CASES)
def test_infinite_outside_the_domains(loss: str, oracle: str) -> None:
    small = problem(loss, oracle)
    assert small.primal(np.full(4, 50.0)) == math.inf
    if loss == "logistic":
        assert small.dual(2.0 * small.losses.y) == -math.inf


# ---- the constants -----------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ORACLES)
def test_no_point_of_the_domain_predicts_more(oracle: str) -> None:
    small, rng = problem("logistic", oracle), np.random.default_rng(0)
    for beta in atoms(small, rng, 100):
        assert (abs(dense(small) @ beta) <= small.prediction_bounds * (1 + 1e-12)).all()


def agree(problem: Problem, batch: int, constants: Constants) -> None:
    """The constants, from X, the weights and M_j by NumPy."""
    n, X, bounds = problem.n, dense(problem), problem.prediction_bounds
    weights = np.ones(n) if problem.losses.weights is None else problem.losses.weights
    gammas = weights * (0.25 if isinstance(problem.loss, Logistic) else 1.0)
    rows = gammas * (X * X).sum(axis=1)
    assert (constants.n, constants.batch) == (n, batch)
    close(constants.blocks, n / batch)
    close(constants.gamma, gammas.max())
    sizes = [abs(X).max(), math.sqrt((X * X).sum(axis=1).max())]
    close(problem.row_sizes, np.array(sizes))
    close(constants.prediction_bound, bounds.max())
    close(constants.prediction_energy, (gammas * bounds**2).mean())
    assert constants.row_energy is None or constants.mu > 0
    if constants.mu > 0:
        close(constants.row_energy, rows.max())
    assert constants.mu == problem.oracle.mu
    assert constants.quadratic == isinstance(problem.loss, LeastSquares)
    if isinstance(problem.loss, LeastSquares):
        close(constants.bregman_radius, (weights * bounds**2).mean() / 2)
    else:
        v = 1 / (1 + np.exp(-bounds))
        entropy = -v * np.log(v) - (1 - v) * np.log(1 - v)
        close(constants.bregman_radius, (weights * (math.log(2) - entropy)).mean())
    if constants.mu == 0:
        assert constants.spectral_energy is None
        return
    spectral = np.linalg.norm(np.sqrt(gammas)[:, None] * X, 2) ** 2
    assert spectral <= constants.spectral_energy * (1 + 1e-12)
    assert constants.spectral_energy == pytest.approx(spectral, rel=2e-9)
    mixed = ((n - batch) * rows.max() + (batch - 1) * spectral) / (n - 1)
    assert constants.sigma_printed == pytest.approx(1 + rows.max() / (n * constants.mu), rel=1e-12)
    assert constants.sigma == pytest.approx(1 + mixed / (n * constants.mu), rel=2e-9)
    assert constants.sigma_full == pytest.approx(1 + spectral / (n * constants.mu), rel=2e-9)


@every_pair
def test_constants(loss: str, oracle: str, layout: str, weighted: bool) -> None:
    small = problem(loss, oracle, layout=layout, weighted=weighted)
    for batch in (1, 2, 5):
        agree(small, batch, small.constants(batch))


def test_constants_in_fractions() -> None:
    small = Problem(
        fractions([[1, 2], [-3, 0]]), [F(1), F(2)], LeastSquares(), Box(F(-1), F(2)), weights=[1, 3]
    )
    constants = small.constants(2)
    assert list(small.prediction_bounds) == [6, 6]
    assert (constants.blocks, constants.gamma, constants.prediction_bound) == (F(1), 3, 6)
    assert (constants.prediction_energy, constants.bregman_radius) == (72, 36)
    assert constants.row_energy is None
    assert isinstance(constants.blocks, Fraction)
    assert isinstance(constants.prediction_energy, Fraction)


def test_sigma_b_bounds_the_expected_curvature() -> None:
    """E‖Xᵀ√γ Δ_B‖² ≤ (b/n)·n μ (σ_b − 1)‖Δ‖² over batches B, for every Δ."""
    small = problem("logistic", "ridge", weighted=True)
    X = np.sqrt(small.losses.gammas)[:, None] * dense(small)
    rng = np.random.default_rng(0)
    for batch in range(1, 6):
        constants = small.constants(batch)
        energy = (constants.sigma - 1) * constants.n * constants.mu
        for delta in rng.standard_normal((50, 5)):
            batches = list(itertools.combinations(range(5), batch))
            moved = [X[list(rows)].T @ delta[list(rows)] for rows in batches]
            expected = sum(float(v @ v) for v in moved) / len(batches)
            assert expected <= batch / 5 * energy * (delta @ delta) * (1 + 1e-12)


# ---- the radii that problems fill in -----------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_open_radii_hold_every_optimum(loss: str) -> None:
    """A large explicit radius has the same optimum, so the open one cuts nothing off."""
    for seed in range(3):
        for narrow, wide in (
            (L1Penalty(0.05), L1Penalty(0.05, 1e3)),
            (Ridge(0.25), Ridge(0.25, 1e3)),
            (Translated(Ridge(0.25), np.ones(4)), Translated(Ridge(0.25, 1e3), np.ones(4))),
        ):
            left = truth.solve(problem(loss, narrow, seed=seed)).primal
            right = truth.solve(problem(loss, wide, seed=seed)).primal
            assert left == pytest.approx(right, abs=1e-7)


# ---- input -------------------------------------------------------------------------------------


def test_words_stand_for_losses_and_oracles() -> None:
    X, y = np.arange(8.0).reshape(2, 4), [1.0, -1.0]
    words = Problem(X, y, "huber:0.5", "group-l2:2:3", intercept=2.0)
    assert words.loss == Huber(0.5)
    assert words.regularizer.groups.tolist() == [0, 0, 1, 1]  # type: ignore[attr-defined]
    assert words.p == 5
    assert words.with_oracle("l1:5").regularizer == L1Ball(5.0)
    entries = MatrixEntries([0, 1], [2, 0], (2, 3))
    assert Problem(entries, y, "logistic", "nuclear:auto:3").oracle == NuclearBall((2, 3), 3.0)


def test_copies_are_as_fresh_ones() -> None:
    small, twin = (problem("logistic", "ridge", weighted=True) for _ in range(2))
    as_fresh(small, twin)
    as_fresh(copy.deepcopy(small), twin)
    as_fresh(pickle.loads(pickle.dumps(small)), twin)


def test_labels_and_weights_are_the_problems_own() -> None:
    y, weights = np.array([1.0, -1.0]), np.array([1.0, 2.0])
    own = Problem(np.eye(2), y, Logistic(), L1Ball(1.0), weights=weights)
    before = own.primal(np.zeros(2))
    y[:], weights[:] = 5.0, -1.0
    assert own.primal(np.zeros(2)) == before
    with pytest.raises(ValueError, match="read-only"):
        own.losses.y[0] = 7.0


@pytest.mark.parametrize("name", FIXED)
def test_what_was_checked_is_not_assigned(name: str) -> None:
    own = problem("logistic", "ridge", weighted=True)
    before = getattr(own, name)
    with pytest.raises(AttributeError, match=rf"{name} of a Problem .*; expected a new one"):
        setattr(own, name, before)
    assert getattr(own, name) is before or before == {}


def test_data_are_read_as_they_were_given() -> None:
    X, y, weights = np.eye(2, dtype=np.float32), np.array([1.0, -1.0]), np.array([1.0, 2.0])
    own = Problem(X, y, Logistic(), L1Ball(1.0), weights=weights)
    assert own.X is X
    np.testing.assert_array_equal([own.y, own.weights], [y, weights])
    sparse = Problem(sp.csr_array(X), y, Logistic(), L1Ball(1.0), intercept=1.0)
    np.testing.assert_array_equal(sparse.X.toarray(), [[1, 0, 1], [0, 1, 1]])
    assert sparse.weights is None


@dataclass(frozen=True)
class Ragged(Box):
    groups: Any = ((0, 1), (2,))


def test_fields_of_lists_of_different_lengths() -> None:
    X, y = np.eye(3), np.ones(3)
    own = Problem(X, y, LeastSquares(), Ragged(-1.0, 1.0))
    assert own.oracle.groups == ((0, 1), (2,))
    other = own.with_oracle(Ragged(-1.0, 1.0, ((0, 2), (1,))))
    assert own.fingerprint()["oracle"] != other.fingerprint()["oracle"]
    exact = np.array([[F(1), F(0), F(2)]], dtype=object)
    assert Problem(exact, [F(1)], LeastSquares(), Ragged(F(-1), F(1))).oracle.groups[1] == (2,)
    with pytest.raises(ValueError, match=r"groups of Ragged is the float .* X holds fractions"):
        Problem(exact, [F(1)], LeastSquares(), Ragged(F(-1), F(1), ((0.5, 1), (2,))))


def test_constants_take_shares_and_refuse_what_solve_refuses() -> None:
    own = Problem(np.eye(4), np.ones(4), LeastSquares(), L1Ball(1.0))
    assert own.constants(0.5) == own.constants(2)
    for batch in (0, 5, 1.5):
        with pytest.raises(ValueError, match="batch is"):
            own.constants(batch)
        with pytest.raises(ValueError, match="batch is"):
            own.describe(batch)


def as_fresh(changed: Problem, fresh: Problem) -> None:
    """All that a problem tells, and all that it remembers, for every batch."""
    assert changed.n == fresh.n
    np.testing.assert_allclose(changed.prediction_bounds, fresh.prediction_bounds, rtol=1e-14)
    close(changed.row_sizes, fresh.row_sizes)
    close(changed.start_slope, fresh.start_slope)
    for batch in range(1, fresh.n + 1):
        assert changed.constants(batch) == fresh.constants(batch)
    assert changed.describe(2) == fresh.describe(2)
    beta, w = 0.1 * np.ones(fresh.p), fresh.response(np.zeros(fresh.p))
    close(changed.primal(beta), fresh.primal(beta))
    close(changed.dual(w), fresh.dual(w))


@pytest.mark.parametrize("intercept", [None, 1.0])
@pytest.mark.parametrize(("before", "after"), [("ridge-cut", "box"), ("box", "ridge")])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_another_oracle_or_fewer_samples_are_as_a_fresh_problem(
    layout: Any, before: str, after: str, intercept: float | None
) -> None:
    X, y, weights = data(11)
    X[3] *= 10.0  # what is largest is not among every other sample

    def fresh(oracle: str, stride: int = 1) -> Problem:
        rows, own = layout(X[::stride]), {"weights": weights[::stride], "intercept": intercept}
        return Problem(rows, np.sign(y[::stride]), Logistic(), ORACLES[oracle], **own)

    used, twin = fresh(before), fresh(before)
    as_fresh(used, twin)  # and everything is remembered
    as_fresh(used.with_oracle(ORACLES[after]), fresh(after))
    as_fresh(used.with_oracle(ORACLES[after]).with_oracle(ORACLES[before]), twin)
    fewer = used.thinned(2)
    assert fewer is not None
    as_fresh(fewer, fresh(before, 2))
    as_fresh(fewer.with_oracle(ORACLES[after]), fresh(after, 2))
    as_fresh(used, twin)


def test_reprs_are_short() -> None:
    own = Problem(np.ones((50, 40)), np.ones(50), LeastSquares(), Ridge(0.5))
    run = iterate(own, max_iterations=3, record_at=[3])
    state = next(run)
    result = run.result()
    things = [own, state, result, result.certificate, result.history, truth.solve(own)]
    assert all("array" not in repr(thing) and len(repr(thing)) < 400 for thing in things)


def test_what_is_compiled_is_not_pickled() -> None:
    """It holds addresses, which mean nothing in another process."""
    X = np.random.default_rng(0).standard_normal((20, 2))
    losses = Problem(X, X[:, 0], "huber:0.3", "l1:1").losses
    losses.scalar("derivative")
    assert "_record" in vars(losses)
    assert "_record" not in vars(pickle.loads(pickle.dumps(losses)))
