"""Proofs along runs: every line holds, in fractions exactly, and wrong constants break them."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from enumeration import Parabola
from small_problems import exact_problem, problem

import rcmd
from rcmd import Box, Counting, LeastSquares, Logistic, Problem, trace, truth
from rcmd.engine.sampling import Replay
from rcmd.model.bounds import Bound, named
from rcmd.model.schedules import ShortStep, SublinearSchedule, default_schedule
from rcmd.theory.proof_trace import Entry
from rcmd.theory.proof_trace.lines import Relation

F = Fraction


def zero(instance: Problem) -> Any:
    return 0 * instance.losses.y


@pytest.mark.parametrize("batch", [1, 2, 3, 4])
@pytest.mark.parametrize("oracle", ["l1-ball", "l1-penalty", "box", "simplex", "ridge"])
def test_every_proved_line_holds_exactly(oracle: str, batch: int) -> None:
    instance = exact_problem(oracle, weighted=batch == 2)
    for w in (zero(instance), instance.losses.y):
        proof = trace(instance, 4, batch=batch, w=w)
        assert proof.broken() == []
        rounded = {"Theorem 3.1", "Theorem 3.2, corrected"}
        if oracle == "ridge":  # M has a square root in it
            rounded.add("Prop. 3.3")
        exact = (entry for entry in proof if entry.line.name not in rounded)
        assert {type(entry.slack) for entry in exact} <= {Fraction, int}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("oracle", ["l1-ball", "l2-ball", "ridge", "moved-ridge", "box"])
@pytest.mark.parametrize("loss", ["logistic", "least-squares"])
def test_every_proved_line_holds_in_floats(loss: str, oracle: str, weighted: bool) -> None:
    instance = problem(loss, oracle, weighted=weighted)
    proof = rcmd.trace(instance, 6, batch=2, w=zero(instance))
    assert proof.broken() == []
    assert all(entry.holds for entry in proof if entry.line.relation is Relation.ON_AVERAGE)


def test_a_line_of_every_run_that_is_missed_by_a_little_is_broken() -> None:
    proof, seen = trace(exact_problem("box"), 2, w=exact_problem("box").losses.y), set()
    for entry in proof:
        wrong = replace(entry, left=entry.right + F(1, 10**9))
        every_run = entry.line.relation in (Relation.AT_MOST, Relation.EQUAL)
        assert replace(proof, entries=(wrong,)).broken() == [wrong] * every_run
        seen.add(entry.line.relation)
    assert seen >= {Relation.AT_MOST, Relation.EQUAL, Relation.ON_AVERAGE}


def equal_rows(n: int, y: Any, oracle: Any) -> Problem:
    return Problem(np.full((n, 1), F(1)), [F(y)] * n, LeastSquares(), oracle)


LARGEST = {
    "3.1": {
        "Prop. 3.3": 0.9722, "Cor. 3.1": 0.9344, "display 1, 4th": 0.9344, "one step": 0.9750,
        "pathwise": 0.25, "Theorem 3.1": 0.2941,
    },
    "3.2": {"Prop. 3.3": 0.9901, "Theorem 3.2, corrected": 0.9901},
}  # fmt: skip
"""Left/right that squared losses with equal rows reach, of lines without equality among them."""


@pytest.mark.parametrize("theorem", ["3.1", "3.2"])
def test_every_line_is_attained_or_almost(theorem: str) -> None:
    """For Theorem 3.2 all rows are drawn at once, so that on average is always."""
    if theorem == "3.1":
        box = Box(F(-1), F(1))
        problems = [equal_rows(1, y, box) for y in (F(9, 10), 0, 5)] + [equal_rows(2, 0, box)]
    else:
        problems = [equal_rows(n, 0, Parabola(F(100), F(1), F(0), F(1))) for n in (1, 2)]
    proofs = [
        trace(instance, 8, batch=1 if theorem == "3.1" else instance.n, w=zero(instance) + w)
        for instance in problems
        for w in (F(1, 3), F(-1))
    ]
    for line in proofs[0].lines:
        entries = [entry for proof in proofs for entry in proof.line(line.name)]
        if line.relation in (Relation.AT_MOST, Relation.ON_AVERAGE):
            attained = [entry for entry in entries if entry.left and entry.slack == 0]
            ratio = max((float(e.left / e.right) for e in entries if e.right > 0), default=0.0)
            assert attained or ratio == pytest.approx(LARGEST[theorem][line.name], rel=1e-3)


def test_what_rounding_may_do_to_a_line() -> None:
    line = trace(exact_problem("box"), 1, w=zero(exact_problem("box"))).lines[0]
    assert line.relation is Relation.AT_MOST
    assert Entry(line, 0, 1.0 + 1e-9, 1.0).holds
    assert not Entry(line, 0, 1.0 + 1e-8, 1.0).holds
    assert not Entry(line, 0, 1 + F(1, 10**20), F(1)).holds


def lefts(instance: Problem, **options: Any) -> list[Any]:
    return [entry.left for entry in trace(instance, 2, **options)]


def test_the_fixed_point_is_the_optimum_by_default_and_lies_in_the_domain() -> None:
    instance = problem("logistic", "ridge")
    assert lefts(instance) == lefts(instance, w=truth.solve(instance).w)
    far = 9 * instance.losses.y
    assert np.isfinite(lefts(instance, w=far)).all()
    assert lefts(instance, w=far) == lefts(instance, w=instance.losses.clip(far))


def test_every_trace_begins_with_an_oracle_that_remembers_nothing() -> None:
    counting = Counting(Box(-1.0, 1.0))
    instance = Problem(np.ones((2, 1)), np.ones(2), LeastSquares(), counting)
    calls = []
    for _ in range(2):
        trace(instance, 2, w=np.zeros(2))
        calls.append(dict(counting.calls))
    assert calls[0] == calls[1]
    assert min(calls[0].values()) > 0


def test_the_published_step_is_seen_to_fail() -> None:
    """Two logistic samples for which Theorem 3.2's first inequality is false."""
    oracle = Parabola(1.0, -10.0, -10.0, 0.0)
    instance = Problem([[1.0], [1.0]], [1.0, 1.0], Logistic(), oracle)
    proof = trace(instance, 3, w=np.array([-0.5, -0.5]))
    assert not any(entry.holds for entry in proof.line("Abel summation"))
    assert proof.broken() == []


def test_the_chain_holds_for_batches() -> None:
    X = np.full((3, 1), F(1))
    instance = Problem(X, [F(0)] * 3, LeastSquares(), Parabola(F(1, 4), F(1), F(0), F(1)))
    assert trace(instance, 3, batch=3, w=zero(instance)).broken() == []


def test_bounds_of_ones_own_are_last_lines() -> None:
    instance = exact_problem("box")
    claims = [Bound("none", value=lambda c, k: 0 * c.gamma), "sublinear-energy"]
    proof = trace(instance, 3, w=zero(instance), bounds=claims)
    assert [line.name for line in proof.lines[-3:]] == ["Theorem 3.1", "none", "sublinear-energy"]
    theorem, none, energy = (proof.line(line.name) for line in proof.lines[-3:])
    assert [e.left for e in theorem] == [e.left for e in none] == [e.left for e in energy]
    assert not any(entry.holds for entry in none)
    assert proof.broken() == []
    assert "E[P(β̄^k) − D(w̄^k)] ≤ value(constants, k), claimed" in str(proof)
    constants = instance.constants()
    wanted = [named("sublinear-energy")(constants, k) for k in (1, 2, 3)]
    assert [entry.right for entry in energy] == wanted
    with pytest.raises(ValueError, match="'linear-energy', which is not about this run: the sched"):
        trace(instance, 3, w=zero(instance), bounds=["linear-energy"])


class Halved(SublinearSchedule):
    """Half of the paper's steps, and equal weights."""

    def step(self, i: Any) -> Any:
        return super().step(i) / 2

    def mixing(self, i: Any) -> Any:
        return 1 / (self.blocks * 0 + i + 1)

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) / (self.blocks * 0 + base + 1)


@pytest.mark.parametrize("oracle", ["box", "ridge"])
def test_a_schedule_of_ones_own(oracle: str) -> None:
    """Its averages are those of the engine, and claims are about their gap."""
    instance, schedule = exact_problem(oracle), Halved(F(4))
    claims = [Bound("mine", schedule=Halved, value=lambda c, k: 2 * c.prediction_energy / k)]
    proof = trace(instance, 3, w=zero(instance), schedule=schedule, bounds=claims)
    assert proof.broken() == []
    assert [line.name for line in proof.lines[-2:]] == ["pathwise", "mine"]
    method = rcmd.RCMD(schedule=schedule)
    state = next(rcmd.iterate(instance, method=method, tol=0, max_iterations=3, record_at=[3]))
    gap = instance.primal(state.beta_average) - instance.dual(state.w_average)
    assert proof.line("mine")[-1].left == gap
    same = trace(instance, 3, w=zero(instance), schedule=default_schedule(instance.constants()))
    assert str(same) == str(trace(instance, 3, w=zero(instance)))


def test_a_trace_prints_one_row_per_line() -> None:
    instance = problem("least-squares", "box")
    proof = trace(instance, 2, w=zero(instance), sampler=Replay([[1], [3]]))
    text = str(proof).splitlines()
    assert text[0].startswith("The proof of Theorem 3.1 along 2 steps of Problem(n=5, p=4")
    assert len(text) == 3 + len(proof.lines)
    assert all("2/2" in row for row in text[3:])
    assert len(proof) == 2 * len(proof.lines)
    assert proof[0].i == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0; expected a positive whole number of iterations"),
        ({"w": [1.0]}, r"w has shape \(1,\); expected \(30,\)"),
        ({"schedule": ShortStep(SublinearSchedule(30.0))}, "ShortStep sees the run, so that its"),
        ({"batch": 10}, "there are 30045015 batches of 10 out of n = 30 rows"),
    ],
)
def test_refusals(options: Any, message: str) -> None:
    instance = Problem(np.ones((30, 1)), np.ones(30), LeastSquares(), Box(-1.0, 1.0))
    with pytest.raises(ValueError, match=message):
        trace(instance, **options)
    proof = trace(exact_problem("box"), 1, w=zero(exact_problem("box")))
    with pytest.raises(ValueError, match="the proof has no line 'five'; expected one of 'Prop"):
        proof.line("five")


def test_a_trace_is_short_where_it_is_looked_at_and_drawn_where_its_sides_are_positive():
    pytest.importorskip("matplotlib")
    task = Problem([[1.0], [2.0]], [1.0, 0.5], LeastSquares(), Box(-1.0, 1.0))
    proof = trace(task, 4, w=[-0.5, 0.25])
    assert repr(proof) == "Trace(16 lines of the proof, 4 steps, 0 broken)"
    assert "Jensen" in proof._repr_html_()
    (axes,) = proof.plot().axes
    drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == 4]
    (last,) = [line for line in drawn if line.get_ydata()[0] == pytest.approx(
        float(proof.line("Theorem 3.1")[0].left / proof.line("Theorem 3.1")[0].right))]  # fmt: skip
    assert last.get_xdata().tolist() == [1, 2, 3, 4]
