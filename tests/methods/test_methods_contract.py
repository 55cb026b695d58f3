"""One contract for all methods: counts, starts, callbacks, and what is refused in a sentence."""

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pytest
from small_problems import EXACT_ORACLES, exact_problem, named, problem

from rcmd import (
    RCMD,
    Corrected,
    Counting,
    L1Ball,
    LeastSquares,
    Logistic,
    MatrixEntries,
    NuclearBall,
    Problem,
    Ridge,
    SeparableConjugate,
    Simplex,
    Spectrahedron,
    iterate,
    solve,
)
from rcmd.conjugates.scalars import entropy_gap, expit, margin_of_share, negative_entropy, softplus
from rcmd.engine.kernels.accelerated import LASTING
from rcmd.methods import NAMED, SCGM, Apcg, FrankWolfe, Method, Progress, Quartz, Sdca, method_named
from rcmd.methods.base import Batches
from rcmd.methods.step_rules import StepRule
from rcmd.model.specs import PROXES
from rcmd.rows import DenseRows

SAMPLED = [*map(method_named, ["scgm", "sfw", "svrf", "sag", "scgs", "storc", "online", "sarah"])]
ACTIVE_SET = [*map(method_named, ["away", "pairwise", "bpcg"])]
PRIMAL = [FrankWolfe(), *ACTIVE_SET, *SAMPLED]
DUAL: list[Method] = [Sdca(), Quartz(), Apcg()]


# Counts

SEEN: list[float] = []


@dataclass(frozen=True)
class Counted(LeastSquares):
    """Every derivative leaves a trace, which no compiled code can do."""

    def derivative(self, s: Any, y: Any) -> Any:
        SEEN.append(s)
        return s - y


def counted_run(method: Method, batch: int | None = None, oracle: Any = None) -> Any:
    X, y = np.random.default_rng(0).standard_normal((40, 6)), np.linspace(-1.0, 1.0, 40)
    instance = Problem(X, y, Counted(), Counting(oracle or L1Ball(5.0)))
    run = method.start(instance, batch, np.random.default_rng(0))
    SEEN.clear()
    return run


@named(SAMPLED)
@pytest.mark.parametrize(("batch", "oracle"), [(None, Simplex(2.0)), (7, L1Ball(5.0))])
def test_counts_are_what_was_done_and_was_announced(
    method: Method, batch: int | None, oracle: Any
) -> None:
    run = counted_run(method, batch, oracle)
    for _ in range(60):
        announced = run.gradients + run.step_gradients
        run.advance(1)
        assert announced == run.gradients == len(SEEN)
    assert run.oracle_calls == run.problem.oracle.calls["argmin"]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(("method", "first"), [(Sdca(), 0), (Quartz(), 1)])
def test_sdca_and_quartz_touch_the_rows_that_they_count(
    method: Method, first: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = exact_problem(Counting(EXACT_ORACLES["ridge"]))
    run: Any = method.start(instance, batch, np.random.default_rng(0))
    touched, plain = [], DenseRows.predict

    def counted(rows: Any, chosen: Any, atom: Any) -> Any:
        touched.extend(chosen)
        return plain(rows, chosen, atom)

    monkeypatch.setattr(DenseRows, "predict", counted)
    run.advance(20)
    assert run.gradients == len(touched) == 20 * batch == 20 * run.step_gradients
    assert run.oracle_calls == instance.oracle.calls["argmin"] == 20 + first


def test_apcg_touches_one_row_a_step() -> None:
    run: Any = Apcg().start(problem("logistic", "ridge", n=9), None, np.random.default_rng(0))
    for step in range(1, 30):
        before = run._records[:, LASTING:].copy()
        run.advance(1)
        assert np.count_nonzero((run._records[:, LASTING:] != before).any(axis=1)) <= 1
        assert run.gradients == run.oracle_calls == step
        assert run.step_gradients == 1


# Compiled batches


def batch_errors(layout: str, weighted: bool) -> float:
    """How far compiled derivatives and sums are from those of NumPy, relative."""
    instance = problem("logistic", "l1-ball", n=30, layout=layout, weighted=weighted)
    compiled, plain = Batches(instance), Batches(instance)
    assert compiled._kernels is not None
    plain._kernels = None
    rng = np.random.default_rng(1)
    worst = 0.0
    for size in (1, 7, 30):
        beta, batch = rng.standard_normal(4), rng.choice(30, size, replace=False)
        found, expected = compiled.derivatives(beta, batch), plain.derivatives(beta, batch)
        one, two = np.ones(4), np.ones(4)
        compiled.scatter(batch, found, one)
        plain.scatter(batch, found, two)
        worst = max(worst, abs(found - expected).max(), abs(one - two).max())
    return worst


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_batches_are_those_of_numpy(layout: str, weighted: bool) -> None:
    assert batch_errors(layout, weighted) <= 1e-14


def test_a_wrong_weight_in_compiled_batches_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Batches.derivatives

    def wrong(self: Any, beta: Any, batch: Any) -> Any:
        factor = 1.0 if self._kernels is None else 1.001
        return factor * right(self, beta, batch)

    monkeypatch.setattr(Batches, "derivatives", wrong)
    assert batch_errors("csr", True) > 1e-5


def test_classes_that_do_not_compile_run_in_plain_python() -> None:
    assert counted_run(SCGM()).batches._kernels is None


def test_apcg_refuses_what_does_not_compile() -> None:
    instance = Problem(np.eye(3), [1.0, 2.0, 3.0], Counted(), Ridge(0.1))
    with pytest.raises(ValueError, match=r"loss of Apcg cannot be compiled: .*Counted .*Sdca\(\)"):
        iterate(instance, method=Apcg())


# Starts


@named(PRIMAL)
@pytest.mark.parametrize("oracle", ["simplex", "moved-l1-ball"])
def test_runs_start_inside(method: Method, oracle: str) -> None:
    instance = problem("least-squares", oracle)
    zero_is_inside = math.isfinite(instance.oracle.value(np.zeros(4)))
    run = method.start(instance, None, np.random.default_rng(0))
    assert isinstance(run, Progress)
    assert instance.oracle.value(run.beta) == 0
    assert run.oracle_calls == (0 if zero_is_inside else 1)


def test_exact_and_matrix_runs_start_inside() -> None:
    instance = exact_problem("simplex")
    run: Any = FrankWolfe().start(instance, None, np.random.default_rng(0))
    assert instance.oracle.value(run.beta) == 0
    assert (run.s == instance.rows.matvec(run.beta)).all()
    entries = MatrixEntries([0, 1, 2], [1, 0, 2], shape=(3, 3))
    matrices = Problem(entries, [1.0, 2.0, 0.5], LeastSquares(), Spectrahedron(3))
    run = FrankWolfe().start(matrices, None, np.random.default_rng(0))
    assert matrices.oracle.value(run.beta) == 0
    assert run.oracle_calls == 1


# What every method says of the other kinds of problems


def matrix_problem() -> Problem:
    entries = MatrixEntries([0, 1], [1, 0], shape=(2, 2))
    return Problem(entries, [1.0, 2.0], LeastSquares(), NuclearBall((2, 2), 1.0))


KINDS = {
    "penalty": lambda: problem("logistic", "l1-penalty"),
    "ridge": lambda: problem("logistic", "ridge"),
    "fractions": lambda: exact_problem("l1-ball"),
    "ridge in fractions": lambda: exact_problem("ridge"),
    "matrix": matrix_problem,
}
REFUSED = {
    "penalty": [*ACTIVE_SET, *DUAL],
    "ridge": ACTIVE_SET,
    "fractions": [*SAMPLED, *DUAL],
    "ridge in fractions": [*ACTIVE_SET, *SAMPLED, Apcg()],
    "matrix": [*ACTIVE_SET, *SAMPLED, *DUAL],
}


@named([*PRIMAL, *DUAL])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_problem_runs_or_is_refused_in_a_sentence(method: Method, kind: str) -> None:
    instance = KINDS[kind]()
    if method not in REFUSED[kind]:
        result = solve(instance, method=method, tol=0.0, max_iterations=5)
        assert result.nit == 5
        assert 0 <= result.gap < math.inf
        return
    with pytest.raises(ValueError, match="; expected ") as caught:
        iterate(instance, method=method)
    assert type(method).__name__ in str(caught.value)


# A weighted twin of every method, step rule and prox


@dataclass(frozen=True)
class Heavier(SeparableConjugate):
    """The logistic loss times ω_j, which is a field of the sample and no weight."""

    reads = ("omega",)

    def curvature_bound(self, low: Any, high: Any, y: Any, omega: Any) -> Any:
        return omega / 4

    def value(self, s: Any, y: Any, omega: Any) -> Any:
        return omega * softplus(-y * s)

    def derivative(self, s: Any, y: Any, omega: Any) -> Any:
        return -y * omega * expit(-y * s)

    def second_derivative(self, s: Any, y: Any, omega: Any) -> Any:
        return omega * expit(s) * expit(-s)

    def conjugate(self, w: Any, y: Any, omega: Any) -> Any:
        v = -y * w / omega
        return math.inf if v < 0.0 or v > 1.0 else omega * negative_entropy(v)

    def conjugate_derivative(self, w: Any, y: Any, omega: Any) -> Any:
        return y * margin_of_share(-y * w / omega)

    def conjugate_domain(self, y: Any, omega: Any) -> tuple[Any, Any]:
        return (-omega, 0.0) if y > 0 else (0.0, omega)

    def fenchel_young(self, s: Any, w: Any, y: Any, omega: Any) -> Any:
        v = -y * w / omega
        return math.inf if v < 0.0 or v > 1.0 else omega * entropy_gap(-y * s, v, 1.0 - v)


TWINS = [*NAMED, *(f"fw:{rule}" for rule in get_args(StepRule)), *map("rcmd:{}".format, PROXES)]


@pytest.mark.parametrize("name", TWINS)
def test_weights_are_factors_of_the_losses(name: str) -> None:
    """The same run, step by step, with weights ω_j and with losses ω_j l_j that have none."""
    rng, method = np.random.default_rng(0), method_named(name)
    X, y, omega = (
        rng.standard_normal((24, 4)),
        np.sign(rng.standard_normal(24)),
        0.5 + rng.random(24),
    )
    offset = rng.standard_normal(24)  # with one, both classes have the same bound for open radii
    oracles = [] if method in DUAL or name == "rcmd:exact" else [L1Ball(3.0)]
    oracles += [] if method in ACTIVE_SET else [Ridge(0.05)]
    for oracle in oracles:
        one, other = (
            solve(instance, method=method, tol=0.0, max_iterations=12, seed=1)
            for instance in (
                Problem(X, y, Logistic(), oracle, weights=omega, offset=offset),
                Problem(X, y, Heavier(), oracle, fields={"omega": omega}, offset=offset),
            )
        )
        for mine, its in ((one.beta, other.beta), (one.w, other.w)):
            np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-12)
        for column in ("gap", "bound", "gradients"):
            mine, its = (run.history.column(column) for run in (one, other))
            np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-12)


# Runs


def run_of(method: Method, seed: int = 3, **options: Any) -> tuple[Any, list[Any]]:
    instance, states = problem_for(method), []
    given = {"tol": 0.0, "max_gradients": 1000, "callbacks": [states.append]} | options
    return solve(instance, method=method, seed=seed, **given), states


def problem_for(method: Method) -> Problem:
    return problem("logistic", "ridge" if method in DUAL else L1Ball(5.0), n=40, weighted=True)


@named([*PRIMAL, *DUAL, RCMD(), Corrected()])
def test_all_that_a_state_tells_was_offered(method: Method) -> None:
    """β̄, w̄, the response to β̄ and the last w: the pair is at least as good as each of them."""
    instance = problem_for(method)
    _, states = run_of(method, record_at=range(1, 9), max_gradients=None, max_iterations=8)
    assert len(states) == 8
    for state in states:
        assert state.primal <= instance.primal(state.beta_average)
        for w in (state.w, state.w_average, instance.response(state.beta_average)):
            assert state.dual >= instance.dual(w) - 1e-15


@named([*PRIMAL, *DUAL])
def test_runs_keep_budgets_repeat_and_tell(method: Method) -> None:
    (result, states), (again, _) = run_of(method), run_of(method)
    line_search = 5 * 40 if method in ACTIVE_SET else 0  # its price is not known beforehand
    assert 900 - line_search < result.history[-1].gradients <= 1000
    assert result.beta.tolist() == again.beta.tolist()
    assert [state.gap for state in states] == result.history.column("gap").tolist()
    for name in ("iteration", "gradients", "oracle_calls"):
        assert (np.diff(result.history.column(name)) > 0).all()
    assert (np.diff(result.history.column("gap")) <= 0).all()
    assert np.isnan(result.history.column("bound")).all() == (method != Quartz())
    assert result.note == method.note != ""
    if method in [*SAMPLED, *DUAL]:
        assert result.beta.tolist() != run_of(method, seed=4)[0].beta.tolist()


@named([*PRIMAL, *DUAL])
def test_a_callback_ends_the_run(method: Method) -> None:
    result, _ = run_of(method, callbacks=[lambda state: True])
    assert result.stop.name == "CALLBACK"
    assert len(result.history) == 1


def test_a_class_of_ones_own_is_a_method() -> None:
    """What the contract asks for, and no more."""

    class Projected(Progress):
        step_gradients = 5

        def step(self) -> None:
            self.beta = self.beta - 0.1 * self.slope_at(self.beta, self.draw(5))
            self.beta *= min(1, 4 / abs(self.beta).sum())

    @dataclass(frozen=True)
    class Own(Method):
        note = "a projected gradient of a kind"

        def start(self, problem: Any, batch: Any, rng: Any) -> Progress:
            return Projected(problem, rng)

    instance = problem("logistic", "l1-ball")
    assert isinstance(instance.loss, Logistic)
    result = solve(instance, method=Own(), tol=0.0, max_iterations=200)
    assert result.history[-1].gradients == 1000
    assert result.gap < 0.1
