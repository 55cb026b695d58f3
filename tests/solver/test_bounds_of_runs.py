"""Which runs a theorem bounds, by how much at least, and what ends a run that breaks a proof."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from small_problems import data

from rcmd import (
    RCMD,
    ConjugateProx,
    Corrected,
    Counting,
    ExactProx,
    L1Ball,
    LeastSquares,
    Problem,
    Product,
    Ridge,
    Scaled,
    certify,
    iterate,
    solve,
)
from rcmd.engine.sampling import ImportanceSampler, Replay, UniformSampler
from rcmd.model import bounds
from rcmd.model.schedules import Resumed, SublinearSchedule
from rcmd.solver.history import History

X, Y, WEIGHTS = data(n=8)
N = len(Y)


def problem(oracle: Any = L1Ball(2.0), loss: Any = LeastSquares(), **parts: Any) -> Problem:  # noqa: B008
    return Problem(X, Y, loss, oracle, **parts)


# ---- one class off the theorem's, and there is no bound ------------------------------------------


def first_rows(steps: int) -> Any:
    return np.zeros((steps, 1), dtype=np.int64)


class FirstRow(UniformSampler):
    def draw(self, steps: int) -> Any:
        return first_rows(steps)


def patched(part: Any, **methods: Any) -> Any:
    for name, method in methods.items():
        object.__setattr__(part, name, method)
    return part


class Zeros(np.random.Generator):
    def random(self, size: Any = None, *rest: Any) -> Any:  # type: ignore[override]
        return np.zeros(size)


class Slower(ConjugateProx):
    def mirror(self, loss: Any, s: Any, y: Any, weight: Any) -> Any:
        return 2 * s

    def inverse(self, loss: Any, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        return m / 2


class Shorter(SublinearSchedule):
    def step(self, i: Any) -> Any:
        return super().step(i) / 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SublinearSchedule)

    __hash__ = None  # type: ignore[assignment]


class Idle(RCMD):
    def start(self, *at: Any, **named: Any) -> Any:
        progress = super().start(*at, **named)
        progress.engine.advance = lambda steps: None  # type: ignore[method-assign]
        return progress


class IdleCorrected(Corrected):
    def start(self, *at: Any, **named: Any) -> Any:
        progress = super().start(*at, **named)
        progress.plain.advance = lambda steps: None  # type: ignore[method-assign]
        return progress


def filled(uniforms: Any, taken: Any, batches: Any) -> None:
    batches[:] = np.arange(batches.shape[1])


class Rough(L1Ball):
    exact_atoms = False


ROUGH = "atoms are not exact minimizers"
STEPS = "the schedule is not exactly Theorem 3.1's, 3.2's or I's"
ATTACKS: dict[str, tuple[Problem, dict[str, Any], str]] = {
    "sampler": (
        problem(),
        {"sampler": FirstRow(N, 1, np.random.default_rng(0))},
        "whose draws need not be uniform",
    ),
    "patched sampler": (
        problem(),
        {"sampler": patched(UniformSampler(N, 1, np.random.default_rng(0)), draw=first_rows)},
        "whose draws need not be uniform",
    ),
    "sampler with another filling": (
        problem(),
        {"sampler": patched(UniformSampler(N, 2, np.random.default_rng(0)), fill=filled)},
        "whose draws need not be uniform",
    ),
    "sampler whose memory says that a row is taken": (
        problem(),
        {"sampler": patched(UniformSampler(N, 2, np.random.default_rng(0)), _taken=np.ones(N))},
        "whose draws need not be uniform",
    ),
    "generator": (
        problem(),
        {"sampler": UniformSampler(N, 1, Zeros(np.random.PCG64(0)))},
        "whose draws need not be uniform",
    ),
    "patched prox": (
        problem(),
        {"prox": patched(ConjugateProx(), mirror=Slower().mirror, inverse=Slower().inverse)},
        "whose h need not be L*/n",
    ),
    "patched schedule": (
        problem(),
        {"schedule": patched(SublinearSchedule(float(N)), step=lambda i: 1 / (i + 2))},
        STEPS,
    ),
    "prox": (problem(), {"prox": Slower()}, "whose h need not be L*/n"),
    "schedule": (problem(), {"schedule": Shorter(float(N))}, STEPS),
    "resumed": (problem(), {"schedule": Resumed(SublinearSchedule(float(N)), 3)}, STEPS),
    "atoms": (problem(Rough(2.0)), {}, ROUGH),
    "atoms of a part": (problem(Product((L1Ball(1.0), Rough(2.0)), (2, 2))), {}, ROUGH),
    "scaled atoms": (problem(Scaled(Rough(2.0), 3.0)), {}, ROUGH),
    "counted atoms": (problem(Counting(Rough(2.0))), {}, ROUGH),
    "atoms beside an intercept": (problem(Rough(2.0), intercept=1.0), {}, ROUGH),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_bound_and_why(attack: str) -> None:
    about, parts, why = ATTACKS[attack]
    result = solve(about, method=RCMD(**parts), tol=0, max_iterations=20)
    assert np.isnan(result.history.column("bound")).all()
    assert np.isnan(result.history.column("pair_gap")).all()
    assert "no bound: " in result.note
    assert why in result.note


@pytest.mark.parametrize("right", [False, True])
def test_importance_sampling_by_other_ends_has_no_bound(right: bool) -> None:
    about, parts = problem(Ridge(0.5)), {"prox": ExactProx()}
    sampler = ImportanceSampler.matching(about, np.random.default_rng(0))
    if not right:
        sampler._ends[1] *= 0.99
    result = solve(about, method=RCMD(sampler=sampler, **parts), tol=0, max_iterations=5)
    assert np.isfinite(result.history.column("bound")).all() is np.bool_(right)
    assert ("or a subclass of them or altered" in result.note) is not right


@pytest.mark.parametrize("method", [Idle(), Corrected(Idle()), IdleCorrected()])
def test_subclasses_of_the_method_have_no_bound(method: Any) -> None:
    """A subclass whose steps do nothing had the bound of Theorem 3.1."""
    progress = method.start(problem(), 1, np.random.default_rng(0))
    assert math.isnan(progress.bound)
    assert "no bound: the method is another class, a subclass or altered" in progress.note
    for right in (RCMD(), Corrected()):
        own = right.start(problem(), 1, np.random.default_rng(0))  # type: ignore[attr-defined]
        own.advance(1)
        assert math.isfinite(own.bound)


def test_nobody_alters_the_draws_of_a_run() -> None:
    """A callback that set n to 1, or rewound the generator, kept the bound at 5 times the gap."""
    options: Any = {"tol": 0, "max_iterations": 300, "record_at": range(1, 301, 10)}

    def run(callbacks: Any, rng: Any, sampler: Any = None) -> Any:
        seed = {"seed": rng} if sampler is None else {}
        found = solve(
            problem(), method=RCMD(sampler=sampler), callbacks=callbacks, **seed, **options
        )
        assert np.isfinite(found.history.column("bound")).all()
        return found.beta.tolist(), rng.bit_generator.state

    def generator() -> Any:
        return np.random.default_rng(3)

    for made in (lambda rng: UniformSampler(N, 1, rng), lambda rng: None):
        right = run([], rng := generator(), made(rng))
        rng = generator()
        sampler, begun = made(rng), rng.bit_generator.state

        def meddle(state: Any, sampler: Any = sampler, rng: Any = rng, begun: Any = begun) -> None:
            rng.bit_generator.state = begun
            if sampler is not None:
                sampler.n = 1

        assert run([meddle], rng, sampler)[0] == right[0], "the run draws by itself"
        used = generator()
        used.random(300)
        assert right[1] == used.bit_generator.state, "and the generator ends where it does"


def test_a_warm_start_has_no_bound() -> None:
    first = solve(problem(), method="rcmd", tol=0, max_iterations=20)
    assert not np.isnan(first.history.column("bound")).any()
    assert first.note.endswith("the theorems' bounds apply")
    result = solve(problem(), method="rcmd", tol=0, max_iterations=20, warm_start=first)
    assert np.isnan(result.history.column("bound")).all()
    assert "no bound: the run has a warm start" in result.note


def test_descriptions_say_why_there_is_no_bound() -> None:
    assert f"  no bound: the oracle's {ROUGH}" in problem(Rough(2.0)).describe()
    assert "no bound" not in problem().describe()


def test_descriptions_show_nothing_below_rounding() -> None:
    text, said = problem(Ridge(0.5)).describe(), bounds.named("linear-start").described()
    assert f" {2.0**-50 * (Y**2 / 2).mean():.4g}  (linear-start)" in text
    assert " ".join(text.split()).endswith(f"(linear-start) {said}")


def test_every_fact_is_a_hypothesis_of_every_bound() -> None:
    for bound in bounds.all_bounds():
        constants = problem(Ridge(0.5)).constants(2 if bound.name.startswith("remark") else 1)
        constants = replace(constants, parallel=True)  # as if p were 1
        run = bounds.RunFacts(constants, bound.schedule)
        assert all(holds for _, holds in bound.hypotheses(run))
        assert bound.broken(run) == ""
        facts = ["own_sampler", "own_method", "cold", "exact_atoms", "checked", "known_gammas"]
        facts += ["own_prox"] * (bound.schedule != "quartz")  # which has none
        broken = [replace(run, **{fact: False}) for fact in facts]
        broken += [replace(run, theorem=None)]
        changes: dict[str, Any] = {"bregman_radius": math.inf}
        if bound.schedule in ("exact", "quartz"):  # one of its bounds needs no bounded dom R
            changes["start_gap"] = None
        broken += [replace(run, constants=replace(constants, **changes))]
        if bound.schedule not in ("sublinear", "head-start"):
            broken += [replace(run, constants=replace(constants, mu=0.0))]
        for other in broken:
            assert {True, False} == {holds for _, holds in bound.hypotheses(other)}
            assert bound.broken(other)
            assert bounds.why_none(other)


@pytest.mark.parametrize(("ground", "bounded"), [("proved", 1), ("sampled", 1), ("unchecked", 0)])
def test_what_was_not_checked_has_no_bound(ground: str, bounded: bool) -> None:
    class Grounded:
        loss, oracle = LeastSquares(), L1Ball(2.0)

    Grounded.ground = ground  # type: ignore[attr-defined]
    about: Any = Grounded()
    run = bounds.RunFacts.of(about, problem().constants(), theorem="sublinear")
    assert (bounds.why_none(run) == "") is bool(bounded)


# ---- the pair that the theorem is about ----------------------------------------------------------


@pytest.mark.parametrize("method", ["rcmd", "corrected"])
@pytest.mark.parametrize("batch", [1, 3, N])
@pytest.mark.parametrize("parts", [{}, {"weights": WEIGHTS, "intercept": 2.0}], ids=["", "more"])
@pytest.mark.parametrize("oracle", [L1Ball(2.0), Ridge(0.5)], ids=["3.1", "3.2"])
def test_the_pair_of_the_theorem(oracle: Any, parts: Any, batch: int, method: str) -> None:
    about = problem(oracle, **parts)
    plain = RCMD(batch=batch)
    own = plain if method == "rcmd" else Corrected(plain)
    linear = about.constants(batch).mu > 0
    tol = 0 if method == "rcmd" else 1e-9
    for state in iterate(about, method=own, tol=tol, max_iterations=60, record_at=range(1, 61, 9)):
        if state.phase == "corrective" or (tol and linear and math.isnan(state.pair_gap)):
            continue
        s, w = about.rows.matvec(state.beta_average), state.w if linear else state.w_average
        ω = 1.0 if about.losses.weights is None else about.losses.weights
        primal = (ω * (s - Y) ** 2 / 2).mean() + about.oracle.value(state.beta_average)
        conjugate = (w**2 / (2 * ω) + w * Y).mean()
        dual = about.oracle.minimum(about.rows.rmatvec(w) / N) - conjugate
        assert state.pair_gap == pytest.approx(primal - dual, rel=1e-9, abs=1e-14)
        assert state.pair_gap >= state.gap - 1e-14


@pytest.mark.parametrize("batch", [1, 3])
def test_the_pair_of_theorem_one(batch: int) -> None:
    about = problem(Ridge(0.5))
    for state in iterate(about, method=RCMD(batch, prox=ExactProx()), tol=0, max_iterations=30):
        own = certify(about, state.beta_average, state.w).gap
        assert state.pair_gap == pytest.approx(own, rel=1e-9, abs=1e-14)
        found = bounds.best(about.constants(batch), state.iteration, "exact")[1]
        assert state.bound == pytest.approx(found, rel=1e-12)


def test_no_pair_during_corrections() -> None:
    history = solve(problem(L1Ball(0.5)), tol=1e-12).history
    assert {row.phase for row in history} == {"plain", "corrective"}
    for row in history:
        assert math.isnan(row.pair_gap) == math.isnan(row.bound) == (row.phase == "corrective")


@pytest.mark.parametrize("oracle", [L1Ball(2.0), Ridge(0.5)], ids=["3.1", "3.2"])
def test_the_pair_costs_no_sweep_over_the_data(
    oracle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeps, rows = [], type(problem().rows)
    for name in ("matvec", "rmatvec"):
        real = getattr(rows, name)
        monkeypatch.setattr(rows, name, lambda *a, real=real: sweeps.append(1) or real(*a))
    drawn = UniformSampler(N, 1, np.random.default_rng(0)).draw(50)
    counts = [0]
    for sampler in (None, Replay(drawn)):  # with a pair, and without
        about = problem(oracle)
        found = about.constants().start_gap  # which a bound of linear runs finds once
        assert (found is None) is isinstance(oracle, L1Ball)
        result = solve(about, method=RCMD(sampler=sampler), tol=0, max_iterations=50)
        assert math.isnan(result.history[-1].pair_gap) == (sampler is not None)
        counts.append(len(sweeps))
    assert counts[1] - counts[0] == counts[2] - counts[1] > 0


def test_histories_from_before_the_pair_still_load() -> None:
    columns = solve(problem(), tol=0, max_iterations=5).history.columns()
    assert History.of_columns(columns).columns() == columns
    del columns["pair_gap"]
    assert np.isnan(History.of_columns(columns).column("pair_gap")).all()


# ---- never below rounding ------------------------------------------------------------------------


def test_no_bound_is_below_what_rounding_resolves() -> None:
    about = problem(Ridge(0.5))
    last = list(iterate(about, method="rcmd", tol=0, max_iterations=3000))[-1]
    assert bounds.best(about.constants(), last.iteration, "linear")[1] < 1e-20
    pair, losses = last.certificate, about.losses
    size = (
        abs(losses.value(about.rows.matvec(pair.beta))).mean()
        + abs(losses.conjugate(pair.w)).mean()
    )
    size += about.oracle.penalty(pair.beta) - about.oracle.minimum(about.gradient(pair.w))
    assert last.bound == pytest.approx(2.0**-50 * size, rel=1e-3)
    assert last.pair_gap <= last.bound


def test_fractions_have_no_rounding() -> None:
    rows = np.array([[Fraction(1)], [Fraction(2)]])
    about = Problem(rows, [1, 0], LeastSquares(), Ridge(Fraction(1)))
    last = solve(about, method="rcmd", tol=0, max_iterations=200).history[-1]
    assert last.bound == bounds.best(about.constants(), 200, "linear")[1] < 1e-16


# ---- a proof that a run contradicts --------------------------------------------------------------


def with_constants(monkeypatch: pytest.MonkeyPatch, **shares: float) -> None:
    """Make every problem state constants that are so many times the right ones."""
    real = Problem.constants

    def stated(self: Problem, *batch: Any) -> Any:
        right = real(self, *batch)
        return replace(right, **{name: getattr(right, name) * f for name, f in shares.items()})

    monkeypatch.setattr(Problem, "constants", stated)


@pytest.mark.parametrize("share", [1.01, 0.99])
def test_a_gap_above_2e_ends_the_run(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    about, options = problem(), {"method": "rcmd", "tol": 0, "max_iterations": 1}
    gap = solve(about, **options).history[0].pair_gap
    allowed = 2 * about.constants().prediction_energy
    with_constants(monkeypatch, prediction_energy=share * gap / allowed)
    if share > 1:
        solve(about, **options)
        return
    words = rf"P − D of the theorem's pair is {gap:.6g} at step 1; proved is at most 2E = "
    with pytest.raises(ValueError, match=words):
        solve(about, **options)


@pytest.mark.parametrize("method", ["rcmd", "rcmd:exact"])
@pytest.mark.parametrize(("batch", "ends"), [(1, True), (3, False), (N, True)])
def test_a_dual_value_that_falls_ends_the_run(
    batch: int, ends: bool, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = problem(Ridge(0.01))
    with_constants(monkeypatch, mu=1000.0)
    options = {
        "method": method,
        "tol": 0,
        "max_iterations": 40,
        "batch": batch,
        "record_at": range(1, 41),
    }
    if not ends:
        solve(about, **options)
        return
    with pytest.raises(ValueError, match=r"D\(w\) fell from .* to .*argmin .*or mu of Ridge"):
        solve(about, **options)


@dataclass(frozen=True)
class Understated(LeastSquares):
    """Its γ is a hundredth of the right one."""

    gamma = 0.01


def test_an_understated_gamma_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where samples did not show it."""
    monkeypatch.setattr("rcmd.model.vetting.vet", lambda _, found: dict.fromkeys(found, "sampled"))
    understated = problem(loss=Understated())
    with pytest.raises(ValueError, match=r"γ.*0\.01.*Understated"):
        solve(understated, method="rcmd", tol=0, max_iterations=5)
