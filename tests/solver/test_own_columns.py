"""Columns and bounds of one's own: in histories, files and resumed runs, and where they apply."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from small_problems import medium, problem

from rcmd import (
    RCMD,
    Corrected,
    EuclideanProx,
    Problem,
    certify,
    iterate,
    load_result,
    resume,
    solve,
)
from rcmd.cli.main import main
from rcmd.engine.accounting import PrimalAverage
from rcmd.methods import FrankWolfe
from rcmd.model.bounds import Bound, Hypothesis, named
from rcmd.model.schedules import Schedule
from rcmd.reporting.tables import as_json
from rcmd.solver.history import COLUMNS, History
from rcmd.solver.saved_results import as_data


def watch(state: Any) -> dict[str, Any]:
    found = {"support": np.count_nonzero(state.beta_average), "largest": abs(state.w).max()}
    return found if state.iteration % 2 else {"support": found["support"]}


MINE = Bound("mine", value=lambda c, k: 6 * c.blocks * c.prediction_energy / (k + 1))
OPTIONS: Any = {"tol": 0.0, "record_at": [1, 2, 5, 40, 90], "callbacks": watch, "bounds": [MINE]}


def test_columns_go_everywhere(tmp_path: Any, capsys: Any) -> None:
    task = problem("logistic", "l1-ball")
    states = list(iterate(task, method="rcmd", max_iterations=90, **OPTIONS))
    result = solve(task, method="rcmd", max_iterations=90, **OPTIONS)
    history = result.history
    assert history.own == ("mine", "support", "largest")
    support = [np.count_nonzero(state.beta_average) for state in states]
    assert history.column("support").tolist() == support == [s.own["support"] for s in states]
    assert np.isnan(history.column("largest")).tolist() == [False, True, False, True, True]
    constants = task.constants(1)
    wanted = [MINE.value(constants, k - 1) for k in history.column("iteration").tolist()]
    assert history.column("mine").tolist() == wanted

    result.save(tmp_path / "run.rcmd")
    again = load_result(tmp_path / "run.rcmd")
    assert str(again.history.columns()) == str(history.columns())
    rows = json.loads(as_json(as_data(again)))["history"]
    assert [row["support"] for row in rows] == support
    assert [row["largest"] is None for row in rows] == [False, True, False, True, True]
    assert main(["show", str(tmp_path / "run.rcmd")]) == 1  # its budget ended it
    shown = capsys.readouterr().out
    assert "support        largest" in shown
    assert f"{wanted[-1]:>14.6g} {support[-1]:>14.6g}" in shown
    assert "claimed" in shown
    assert "at the last record" in result._repr_html_()

    file = tmp_path / "run.ckpt"
    solve(task, method="rcmd", max_iterations=30, checkpoint=file, **OPTIONS)
    more = resume(file, task, max_iterations=90, callbacks=watch, bounds=[MINE])
    for name in ("support", "largest", "mine", "pair_gap"):
        column = more.history.column(name)
        at = [more.history.column("iteration").tolist().index(i) for i in (1, 2, 5, 40, 90)]
        assert column[at].tobytes() == history.column(name).tobytes(), name


def test_a_column_and_a_stop_are_two_things() -> None:
    task = medium()
    found = solve(task, tol=0.0, max_iterations=900, callbacks=[watch, lambda s: s.iteration > 200])
    assert found.stop.name == "CALLBACK"
    assert len(found.history.column("support")) == len(found.history)
    with pytest.raises(
        ValueError, match=r"history has no column 'rank'; expected one of .*support"
    ):
        found.history.column("rank")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ([{"gap": 1}], "a column named 'gap'; expected a name .* no other column's"),
        ([{"": 1}], "a column named ''"),
        ([{3: 1}], "a column named 3"),
        ([{"mine": 1}], "a column named 'mine'"),
        ([{"a": 1}, {"a": 1}], "a column named 'a'"),
        ([{"a": np.ones(2)}], r"a = array\(\[1., 1.\]\), of type ndarray; expected a number"),
        ([{"a": 1j}], "a = 1j, of type complex"),
    ],
)
def test_what_is_no_column_is_refused(returned: list[Any], words: str) -> None:
    callbacks = [lambda state, own=own: own for own in returned]
    task = problem("logistic", "l1-ball")
    with pytest.raises((ValueError, TypeError), match=words):
        solve(task, method="rcmd", max_iterations=9, bounds=[MINE], callbacks=callbacks)


def test_a_forged_column_is_refused() -> None:
    columns = solve(problem("logistic", "l1-ball"), tol=0, max_iterations=3).history.columns()
    for wrong in ({"a": ["x"] * len(columns["gap"])}, {"a": [1.0]}, {"": columns["gap"]}):
        with pytest.raises((ValueError, TypeError)):
            History.of_columns(columns | wrong)


@pytest.mark.parametrize("method", ["rcmd", "fw", "corrected", "scgm"])
def test_a_state_has_an_atom(method: str) -> None:
    """It is towards that atom that the next step goes, and asking for it changes nothing."""
    options: Any = {"method": method, "tol": 0.0, "max_iterations": 40, "record_at": range(1, 41)}
    asked, silent = medium(), list(iterate(medium(), **options))
    atoms = []
    for state, same in zip(iterate(asked, **options), silent, strict=True):
        assert state.atom == asked.oracle.argmin(state.d), state.iteration
        assert state.d.tobytes() == same.d.tobytes()
        atoms.append(state.atom)
    assert len(set(atoms)) > 1


# ---- bounds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slow(Schedule):
    """η_i = 1/(i + 2), all atoms alike in the average."""

    def step(self, i: Any) -> Any:
        return 1 / (i + 2)

    def mixing(self, i: Any) -> Any:
        return 1 / (i + 1)

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) / (base + 1)


@dataclass(frozen=True)
class Slower(Slow):
    pass


SLOW = Bound("slow", schedule=Slow, value=lambda c, k: 100 / k)
SINGLE = Hypothesis("single rows", "b is not 1", lambda run: run.constants.batch == 1)


@pytest.mark.parametrize(
    ("bound", "method", "why"),
    [
        (MINE, RCMD(), ""),
        (MINE, Corrected(RCMD()), ""),
        (MINE, RCMD(schedule=Slow()), "the schedule is not exactly Theorem 3.1's"),
        (SLOW, RCMD(schedule=Slow()), ""),
        (SLOW, RCMD(schedule=Slower()), "the run has no Slow itself"),
        (SLOW, RCMD(), "the run has no Slow itself"),
        (SLOW, RCMD(schedule=Slow(), prox=EuclideanProx()), "the prox is another class"),
        (
            Bound("geometry", schedule=Slow, prox=EuclideanProx, value=lambda c, k: 9.0),
            RCMD(schedule=Slow(), prox=EuclideanProx()),
            "",
        ),
        (Bound("one", only=(SINGLE,), value=lambda c, k: 9.0), RCMD(batch=2), "b is not 1"),
        (Bound("fw", schedule=FrankWolfe, value=lambda c, k: 9.0), FrankWolfe(), ""),
        (Bound("fw", schedule=FrankWolfe, value=lambda c, k: 9.0), RCMD(), "the run has no Fran"),
        ("theorem-3.1-first", RCMD(), ""),
        ("linear-energy", RCMD(), "the schedule is not exactly Theorem 3.1's, 3.2's or I's"),
    ],
)
def test_a_bound_is_shown_where_its_hypotheses_hold(bound: Any, method: Any, why: str) -> None:
    task = problem("logistic", "l1-ball")
    options: Any = {"tol": 0.0, "max_iterations": 20}
    (*_, state), result = (
        iterate(task, method=method, bounds=[bound], **options),
        solve(task, method=method, bounds=[bound], **options),
    )
    bound = named(bound) if isinstance(bound, str) else bound
    if why:
        assert f"no bound {bound.name!r}: {why}" in result.note
        assert result.history.own == ()
        return
    assert f"bound {bound.name!r}: {bound.what} ≤ {bound.formula}, " in result.note
    assert result.options["bounds"] == {bound.name: bound.verdict.value}
    assert ("proved" in result.options["bounds"].values()) == (bound is named("theorem-3.1-first"))
    constants = task.constants(state.gradients // 20)
    assert state.own[bound.name] == bound(constants, 20)
    # P(β̄) − D(w̄), from nothing but the pair.
    gap = certify(task, state.beta_average, state.w_average).gap
    assert state.pair_gap == pytest.approx(gap, rel=1e-9)


def test_linear_steps_compare_with_the_last_w() -> None:
    task = problem("logistic", "ridge")
    bound = Bound("own", schedule="linear", value=lambda c, k: 7.0 / k)
    options: Any = {"tol": 0.0, "max_iterations": 20, "method": "rcmd", "bounds": [bound]}
    *_, state = iterate(task, **options)
    assert state.own["own"] == 7 / 20
    assert state.pair_gap == pytest.approx(certify(task, state.beta_average, state.w).gap, rel=1e-9)


def test_bounds_are_never_below_rounding_and_end_with_the_corrections() -> None:
    zero = Bound("zero", value=lambda c, k: 0.0)
    history = solve(medium(), tol=1e-9, batch=4, bounds=[zero]).history
    plain = [row.phase == "plain" for row in history]
    assert not all(plain)
    assert (~np.isnan(history.column("zero"))).tolist() == plain
    assert (history.column("zero")[plain] > 0).all()


def test_bounds_count_the_steps_of_the_algorithm_alone() -> None:
    """Where plain steps go on after rounds of corrections, an iteration is more than a step."""
    progress: Any = Corrected().start(medium(), 4, np.random.default_rng(0))
    progress._rounds = 2
    progress.advance(3)
    assert (progress.iteration, progress.steps_done) == (5, 3)


def test_what_fails_fails_before_the_first_step() -> None:
    task: Problem = problem("logistic", "l1-ball")
    wrong = Bound("a", value=lambda c, k: "b")  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="value of the bound 'a' is 'b' after 1 steps; expected"):
        iterate(task, method="rcmd", bounds=[wrong])
    nan = Bound("a", value=lambda c, k: math.nan)
    with pytest.raises(TypeError, match="bounds is None; expected a list"):
        iterate(task, method="rcmd", bounds=None)  # type: ignore[arg-type]
    for part, words in (("prox", "expected a class"), ("only", "expected a tuple of Hypothesis")):
        with pytest.raises(TypeError, match=words):
            Bound("a", value=nan.value, **{part: ("conjugate",)})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected objects with record\(step\)"):
        RCMD(accounting=[PrimalAverage])  # type: ignore[list-item]
    history = solve(task, method="rcmd", tol=0, max_iterations=3, bounds=[nan]).history
    assert np.isnan(history.column("a")).all()
    assert "own" not in COLUMNS


def test_a_bound_that_raises_says_whose_it_is() -> None:
    wrong = Bound("mine", value=lambda c, k: 1 / (k - k))
    with pytest.raises(ValueError, match=r"'mine' raises ZeroDivisionError: .* after 1 st"):
        iterate(problem("logistic", "l1-ball"), method="rcmd", bounds=[wrong])
