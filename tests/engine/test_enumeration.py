"""The theorems' bounds against exact expectations over all sequences of batches."""

import functools
import math
from dataclasses import astuple, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from enumeration import Parabola, Path, TiltedHuber, levels, mean
from small_problems import EXACT_ORACLES, LOSSES, ORACLES, exact_problem, fractions, problem

from rcmd import Box, ExactProx, Huber, LeastSquares, Logistic, Problem, truth
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import ImportanceSampler
from rcmd.methods.rcmd import mean_constants
from rcmd.model.bounds import Bound, all_bounds, best, named, valid
from rcmd.model.schedules import HeadStart, LinearSchedule, SublinearSchedule, default_schedule

F = Fraction
ROUNDING = 1e-12


# ---- what each bound bounds --------------------------------------------------------------------


def optimal_value(problem: Problem) -> Any:
    return truth.solve(problem).primal


LEFT_SIDES = {
    "E[P(β̄^k) − D(w̄^k)]": lambda paths: mean(path.gap(True) for path in paths),
    "P(β̄^k) − D(w̄^k) in every run": lambda paths: max(path.gap(True) for path in paths),
    "E[D* − D(w̄^k)]": lambda paths: (
        optimal_value(paths[0].problem) - mean(float(path.dual(True)) for path in paths)
    ),
    "E[P(β̄^{k−1}) − D(w^k)]": lambda paths: mean(path.gap(False) for path in paths),
    "P(E β̄^{k−1}) − E D(w^k)": lambda paths: (
        paths[0].problem.primal(mean(path.engine.averages()[0] for path in paths))
        - mean(path.dual(False) for path in paths)
    ),
    "E[D* − D(w^k)]": lambda paths: (
        optimal_value(paths[0].problem) - mean(float(path.dual(False)) for path in paths)
    ),
}


def holds(bound: Bound, paths: list[Path], constants: Any, steps: int) -> None:
    measured = float(LEFT_SIDES[bound.what](paths))
    allowed = bound(constants, steps)
    assert measured <= allowed * (1 + ROUNDING) + ROUNDING, (bound.name, steps, measured, allowed)


def all_hold(problem: Problem, batch: int, steps: int) -> set[str]:
    """Assert every proved bound for its own schedule; return the names of those checked."""
    constants, checked = problem.constants(batch), set()
    schedules: list[Any] = [SublinearSchedule(constants.blocks), HeadStart(constants.blocks)]
    if constants.mu > 0:
        schedules.append(LinearSchedule(constants.blocks, constants.sigma))
    for schedule in schedules:
        for t, paths in enumerate(levels(problem, schedule, batch, steps), 1):
            for bound in valid(constants, t, schedule.theorem):
                # D* costs an interior-point solve: it is looked at once, at the last step.
                if t == steps or bound.of_a_run:
                    holds(bound, paths, constants, t)
                    checked.add(bound.name)
    return checked


def test_every_left_side_is_known() -> None:
    own = [bound for bound in all_bounds() if bound.schedule != "quartz"]  # no engine runs it
    assert {bound.what for bound in own} == set(LEFT_SIDES)


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_bounds_hold_in_floats(loss: str, oracle: str, batch: int) -> None:
    weighted = bool((batch + len(loss) + len(oracle)) % 2)
    small = problem(loss, oracle, n=3, seed=1 + weighted, weighted=weighted)
    checked = all_hold(small, batch, 3)
    assert {
        "sublinear-sharp",
        "head-start-energy",
        "head-start-sharp",
        "head-start-dual",
    } <= checked
    assert ("linear-any-loss" in checked) == ("ridge" in oracle)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("oracle", EXACT_ORACLES)
def test_bounds_hold_in_fractions(oracle: str, batch: int) -> None:
    for seed in range(2):
        small = exact_problem(oracle, n=2, seed=seed)
        assert "theorem-3.1-first" in all_hold(small, batch, 4)


@pytest.mark.parametrize("seed", range(24))
def test_bounds_hold_where_the_set_is_large_and_the_labels_are_far(seed: int) -> None:
    """Two or three parallel rows of random length: the worst small problems are of this kind."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    batch = int(rng.integers(1, n + 1))
    reach, mu = rng.uniform(0.5, 8.0), 10.0 ** rng.uniform(-2, 1)
    rows = rng.choice([1.0, -1.0, 0.5], (n, 1))
    quadratic = bool(seed % 2)
    y = rng.choice([-1.0, 1.0], n) * (rng.uniform(0, 3) if quadratic else 1.0)
    oracle = Parabola(mu, rng.choice([-reach, reach, 0.0]), -reach, reach)
    worst = Problem(rows, y, LeastSquares() if quadratic else Logistic(), oracle)
    constants = worst.constants(batch)
    for schedule in (
        SublinearSchedule(constants.blocks),
        HeadStart(constants.blocks),
        LinearSchedule(constants.blocks, constants.sigma),
    ):
        for t, paths in enumerate(levels(worst, schedule, batch, 4), 1):
            for bound in valid(constants, t, schedule.theorem):
                if bound.of_a_run:
                    holds(bound, paths, constants, t)


@pytest.mark.parametrize("mu", [F(1), F(10), F(1000)])
def test_one_step_nearly_attains_the_bound_for_quadratic_losses(mu: Any) -> None:
    """n = 1, x = 1, y = 0, R = (μ/2)(β − 1)² on [0, 1]: the gap is 1/σ times V/(q − 1)."""
    tight = Problem([[F(1)]], [F(0)], LeastSquares(), Parabola(mu, F(1), F(0), F(1)))
    constants = tight.constants(1)
    (paths,) = levels(tight, LinearSchedule(constants.blocks, constants.sigma), 1, 1)
    ratio = float(paths[0].gap(False)) / best(constants, 1, "linear")[1]
    assert ratio == pytest.approx(float(1 / constants.sigma), rel=1e-12)


# ---- one variable, equal rows: the counterexamples ---------------------------------------------


def equal_rows(n: int, y: Any, loss: Any, oracle: Parabola) -> Problem:
    one = type(oracle.curvature)(1)
    return Problem([[one]] * n, [one * y] * n, loss, oracle)


@functools.cache
def expected_gaps(problem: Problem, batch: int, sigma: Any, steps: int) -> list[Any]:
    """E[P(β̄^{k−1}) − D(w^k)] for k = 1, …, steps."""
    schedule = LinearSchedule(problem.constants(batch).blocks, sigma)
    runs = levels(problem, schedule, batch, steps)
    return [mean(path.gap(False) for path in paths) for paths in runs]


HUBER = [
    # n, k, M, ε, E gap, bound
    (2, 1, 10, F(1, 1000), 4.90445, 1.10055),
    (2, 8, 10, F(1, 1000), 0.04023, 0.02236),
    (4, 4, 40, F(1, 100_000), 12.449, 0.352),
]


@pytest.mark.parametrize(("n", "k", "reach", "epsilon", "gap", "allowed"), HUBER)
def test_huber_counterexample_to_theorem_32(
    n: int, k: int, reach: int, epsilon: Any, gap: float, allowed: float
) -> None:
    loss = TiltedHuber(F(1), epsilon, F(-reach))
    small = equal_rows(n, 0, loss, Parabola(F(1), F(0), F(-reach), F(reach)))
    constants = small.constants(1)
    gaps = expected_gaps(small, 1, constants.sigma, k)
    half_a_digit = 5 * 10.0 ** -(1 + len(str(gap).split(".")[1]))
    assert isinstance(gaps[-1], Fraction)
    assert float(gaps[-1]) == pytest.approx(gap, abs=half_a_digit)
    assert named("theorem-3.2-first")(constants, k) == pytest.approx(allowed, abs=half_a_digit)
    assert gaps[-1] > named("theorem-3.2-first")(constants, k)
    for bound in valid(constants, k, "linear"):
        assert not bound.of_a_run or gaps[-1] <= bound(constants, k)


UNIT, SYMMETRIC = (F(1), F(0), F(1)), (F(0), F(-1), F(1))  # centre, lower, upper
BATCHES = [
    # n, b, k, μ, y, R, E gap, ratio to the D_max bound, ratio to the γM² bound
    (2, 2, 1, F(10), F(0), UNIT, F(41, 882), 1.859, 0.930),
    (3, 3, 1, F(10), F(0), UNIT, F(91, 1922), 2.841, 1.420),
    (10, 10, 1, F(10), F(0), UNIT, F(1001, 20402), 9.813, 4.906),
    (5, 4, 1, F(2), F(0), UNIT, F(57, 242), 1.256, 0.628),
    (5, 4, 4, F(3, 10), F(1, 5), SYMMETRIC, 0.15784, 4.002, 2.001),
    (3, 3, 7, F(1, 4), F(3, 5), SYMMETRIC, None, 3.942, 1.971),
    (3, 3, 12, F(1, 4), F(3, 5), SYMMETRIC, None, 91.539, 45.770),
]


@pytest.mark.parametrize(("n", "b", "k", "mu", "y", "R", "gap", "first", "second"), BATCHES)
def test_remark_34_fails_with_the_printed_sigma_and_holds_with_sigma_b(
    n: int, b: int, k: int, mu: Any, y: Any, R: Any, gap: Any, first: float, second: float
) -> None:
    small = equal_rows(n, y, LeastSquares(), Parabola(mu, *R))
    constants = small.constants(b)
    wrong = expected_gaps(small, b, constants.sigma_printed, k)
    printed = wrong[-1]
    if isinstance(gap, Fraction):
        assert printed == gap
    elif gap is not None:
        assert float(printed) == pytest.approx(gap, abs=5e-6)
    for name, ratio in (("remark-3.4-first", first), ("remark-3.4-second", second)):
        assert float(printed) / named(name)(constants, k) == pytest.approx(ratio, abs=5e-4)
    assert named("remark-3.4-first") not in valid(constants, k, "linear")
    with pytest.raises(AssertionError):
        quadratic_bound_holds(constants, constants.sigma_printed, wrong)
    gaps = expected_gaps(small, b, constants.sigma, k)
    quadratic_bound_holds(constants, constants.sigma, gaps)


def quadratic_bound_holds(constants: Any, sigma: Any, gaps: list[Any]) -> None:
    """V/(q^k − 1) with q made from the σ of the run that has these gaps."""
    energy = (sigma - 1) * constants.n * constants.mu
    used = replace(constants, row_energy=energy, spectral_energy=energy)
    for t, gap in enumerate(gaps, 1):
        assert float(gap) <= named("linear-quadratic")(used, t) * (1 + ROUNDING)


# ---- the step that Theorem 3.1's printed proof gets wrong --------------------------------------


def dual_distance(w: Any, z: Any, problem: Problem) -> Any:
    """D_h(w, z) = (1/n) Σ l*(w) − l*(z) − l*'(z)(w − z)."""
    losses = problem.losses
    slope = losses.conjugate_derivative(z) * (w - z)
    return problem.mean(losses.conjugate(w) - losses.conjugate(z) - slope)


def two_sides(path: Path) -> tuple[Any, Any]:
    """Both sides of the printed chain at ŵ = ∇L(Xβ̄) before M is put in, for one run.

    Σ (2n+i)(φ(β̃^i, ŵ) − D(w^i)) and Σ c_i D_h(w^i, w^{i+1}) + n(2n−1) D_h(ŵ, w⁰),
    c_i = (2n+i)(2n+i+1)/2.
    """
    problem, n = path.problem, path.problem.n
    response = problem.response(path.engine.averages()[0])
    start = w = problem.losses.derivative(0 * problem.losses.y)
    left, right = 0, n * (2 * n - 1) * dual_distance(response, start, problem)
    for i, step in enumerate(path.steps):
        atom, after = step.atom.dense(0 * path.engine.averages()[0]), w.copy()
        after[step.batch] += step.change
        left += (2 * n + i) * (problem.saddle(atom, response) - problem.dual(w))
        right += F((2 * n + i) * (2 * n + i + 1), 2) * dual_distance(w, after, problem)
        w = after
    assert list(w) == list(path.engine.w)
    return left, right


def test_a_random_response_breaks_the_printed_chain() -> None:
    square = Problem(fractions(np.eye(2)), [F(7, 12)] * 2, LeastSquares(), Box(F(-1), F(1)))
    *_, paths = levels(square, SublinearSchedule(F(2)), 1, 4)
    left, right = (mean(side) for side in zip(*map(two_sides, paths), strict=True))
    assert (left, right) == (F(90347, 6930), F(70624, 5445))
    assert left > right
    holds(named("theorem-3.1-first"), paths, square.constants(1), 4)


# ---- Theorem I: exact coordinate steps ---------------------------------------------------------

UNEQUAL = [[1], [F(-1, 2)], [2], [F(3, 2)]], [1, F(-1, 2), 2, 0], [1, F(1, 2), 3, F(1, 4)]
EQUAL = [[1]] * 3, [1] * 3, [1] * 3
CUT, WIDE = Parabola(F(1, 10), F(1, 2), F(-3), F(1)), Parabola(F(2), F(0), F(-100), F(100))


def exact_chain(
    data: Any, loss: Any, oracle: Parabola, batch: int, steps: int, matched: bool = False
) -> list[list[Any]]:
    """(q^k − 1)E[P(β̄) − D(w^k)], E[D(w^k) − D(w⁰)], the gap of the start and E/2, for every k.

    With ``matched`` rows are drawn with probabilities as σ_j = 1 + γ_j‖x_j‖²/(nμ).
    """
    X, y, weights = (np.array(part, dtype=object) + F(0) for part in data)
    if not loss.quadratic:
        X, y, weights = (part.astype(float) for part in (X, y, weights))
        oracle = Parabola(*(float(number) for number in astuple(oracle)))
    problem = Problem(X, y, loss, oracle, weights=weights)
    constants, likely = (
        problem.constants(batch),
        np.array([1] * math.comb(problem.n, batch), dtype=object),
    )
    if matched:
        sigmas = 1 + problem.losses.gammas * X[:, 0] ** 2 / (problem.n * oracle.mu)
        constants, likely = mean_constants(problem, constants), sigmas / sigmas.mean()
        assert constants.sigma == sigmas.mean()
        found = ImportanceSampler.matching(problem, np.random.default_rng(0)).probabilities
        np.testing.assert_allclose(found, (sigmas / sigmas.sum()).astype(float), rtol=1e-12)
    engine: Any = functools.partial(ReferenceEngine, prox=ExactProx().bind(constants))
    schedule = default_schedule(constants, unit_steps=True)
    start = problem.dual(problem.response(problem.rows.zero()))
    growth = 1 + 1 / (constants.blocks * constants.sigma - 1)
    last = [constants.start_gap, constants.prediction_energy / 2]
    chains, weights = [], np.array([1], dtype=object)
    for k, paths in enumerate(levels(problem, schedule, batch, steps, engine), 1):
        weights = np.outer(weights, likely).ravel()
        gap, dual = (
            mean(weight * value for weight, value in zip(weights, values, strict=True))
            for values in ([p.gap(averaged=False) for p in paths], [p.dual(False) for p in paths])
        )
        chains.append([(growth**k - 1) * gap, dual - start, *last])
        assert float(gap) <= best(constants, k, "exact")[1] * (1 + 1e-12)
    return chains


@pytest.mark.parametrize("loss", [LeastSquares(), Huber(0.5), Logistic()], ids=repr)
@pytest.mark.parametrize(
    ("batch", "steps", "matched"), [(1, 3, False), (2, 2, False), (3, 3, False), (1, 3, True)]
)
def test_theorem_one_over_all_sequences(loss: Any, batch: int, steps: int, matched: bool) -> None:
    # The kinks of Huber's loss are at y ± ½, away from the start; the labels of the logistic ±1.
    data = UNEQUAL if loss != Logistic() else (UNEQUAL[0], [1, -1, -1, 1], UNEQUAL[2])
    for sides in exact_chain(data, loss, CUT, batch, steps, matched):
        room = 0 if loss.quadratic else 1e-12
        assert all(a <= b + room for a, b in pairwise(sides))


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_theorem_one_is_attained(batch: int) -> None:
    gap, rise, *_ = exact_chain(EQUAL, LeastSquares(), WIDE, batch, 1)[0]
    assert 1 - 1e-8 < gap / rise <= 1  # ‖X‖₂² is raised by 1e-9
