"""Linear programmes in ``rcmd bench oracles``: what is asked, warm and cold, and what is told."""

import json
import statistics
import sys

import numpy as np
import pytest

from rcmd import LeastSquares, Polytope, Problem, cur, solve
from rcmd.bench import oracles
from rcmd.bench import programmes as bench
from rcmd.bench.clock import Timing
from rcmd.bench.peers import NotInstalled
from rcmd.cli import main
from rcmd.oracles.cur import CurSet
from rcmd.oracles.kept_model import OnProgramme

NAMES = {
    "CUR 30 × 20, radius 0.05": True,
    "CUR 30 × 20, radius 0.1": True,
    "CUR 30 × 20, radius 0.3": False,
    "Polytope 300 × 50": True,
    "Polytope 60 × 100": True,
}
"""The cases, and whether they have a target."""


class Listening(Polytope):
    """A polytope that writes down by itself what ``argmin`` was asked for."""

    def argmin(self, c):
        self.heard.append(c.tobytes())
        return super().argmin(c)


def make_polytope(kind=Polytope, m=40, p=8):
    rng = np.random.default_rng(3)
    return kind(rng.standard_normal((m, p)), np.ones(m), lower=-5.0, upper=5.0)


def make_case(oracle, targets, steps=30):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((12, oracle.p))
    y = 3 * X @ rng.standard_normal(oracle.p)
    return bench.Case(Problem(X, y, LeastSquares(), oracle), 5, steps, targets)


def tiny_cases(rng):
    M = rng.standard_normal((5, 4))
    return {
        "CUR": bench.Case(cur.problem(M, 0.1), M.size, 20, {}),
        "Polytope": make_case(make_polytope(), {bench.RATIO: bench.TARGET}),
    }


def told_pivots(oracle, costs, cold):
    return [o.pivots for o in bench.asked(oracle, costs, cold=cold)]


def fresh_pivots(costs):
    """Of each call by an oracle that was never asked before."""
    return [told_pivots(make_polytope(), [c], cold=False)[0] for c in costs]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(bench, "cases", tiny_cases)
    monkeypatch.setattr(bench, "SECONDS", 1e-5)


@pytest.fixture
def hasty(monkeypatch, tiny):
    monkeypatch.setattr(oracles, "REPEATS", 2)
    monkeypatch.setattr(oracles, "SECONDS", 1e-5)


def test_recorded_costs_are_those_asked_for_in_their_order():
    case = make_case(make_polytope(Listening), {})
    case.problem.oracle.heard = heard = []
    costs = bench.recorded(case)
    assert len(heard) == case.steps
    assert len(set(heard)) == len(heard)
    assert [c.tobytes() for c in costs] == heard[bench.LEFT_OUT :]


def test_recording_does_not_change_the_run():
    case = make_case(make_polytope(Listening), {})
    options = {"batch": 5, "tol": 0.0, "max_iterations": 30, "corrective": False}
    case.problem.oracle.heard = alone = []
    plain = solve(case.problem, **options)
    case.problem.oracle.heard = beside = []
    recording = bench.Recording(case.problem.oracle)
    watched = solve(case.problem.with_oracle(recording), **options)
    assert alone == beside
    np.testing.assert_array_equal(plain.beta, watched.beta)


def test_a_cost_that_changes_later_stays_recorded():
    recording, c = bench.Recording(make_polytope()), np.ones(8)
    recording.argmin(c)
    c[:] = 0
    assert recording.costs[0].tolist() == [1.0] * 8


def test_cold_calls_are_those_of_new_oracles_and_warm_ones_are_not():
    oracle = make_polytope()
    costs = bench.recorded(make_case(oracle, {}))
    expected = fresh_pivots(costs)
    assert min(expected) > 0
    assert told_pivots(oracle, costs, cold=True) == expected
    warm = told_pivots(oracle, costs, cold=False)
    assert statistics.median(warm) < statistics.median(expected)


def test_a_forgotten_restart_shows(monkeypatch):
    oracle = make_polytope()
    costs = bench.recorded(make_case(oracle, {}))
    monkeypatch.setattr(OnProgramme, "restart", lambda self: None)
    oracle.argmin(costs[-1])
    cold = told_pivots(oracle, costs, cold=True)
    assert cold == told_pivots(oracle, costs, cold=False)
    assert cold != fresh_pivots(costs)


def test_warm_calls_start_from_the_last_vertex():
    oracle = make_polytope()
    c = np.random.default_rng(5).standard_normal(8)
    assert oracle.pivots == 0
    first, *again = told_pivots(oracle, [c, c, c], cold=False)
    assert (first > 0, again) == (True, [0, 0])
    assert told_pivots(oracle, [c, c], cold=True) == [first, first]
    oracle.restart()
    assert oracle.pivots == 0


def test_certificates_do_not_count():
    oracle = make_polytope()
    oracle.minimum(np.arange(8.0))
    assert oracle.pivots == 0


def test_cases_have_the_sizes_and_targets_that_their_names_say():
    cases = bench.cases(np.random.default_rng(0))
    assert {name: bool(case.targets) for name, case in cases.items()} == NAMES
    for name, case in cases.items():
        oracle, words = case.problem.oracle, name.replace(",", "").split()
        height, width = int(words[1]), int(words[3])
        assert case.targets in ({}, {"warm/cold": bench.TARGET})
        if words[0] == "CUR":
            assert isinstance(oracle, CurSet)
            assert oracle.shape == (width, height)
            assert oracle.radius == float(words[-1])
            assert case.batch == case.problem.n == height * width
        else:
            assert (oracle.m, oracle.p, case.batch) == (height, width, 20)
            end = {300: 5.0, 60: 1.0}[height]
            assert set(oracle.lower) == {-end}
            assert set(oracle.upper) == {end}
    assert bench.TARGET.limit == 0.1


def test_matrices_of_cur_are_the_same_but_for_the_radius():
    cases = bench.cases(np.random.default_rng(0))
    M = [case.problem.losses.y.reshape(30, 20) for case in list(cases.values())[:3]]
    np.testing.assert_array_equal(M[0], M[1])
    np.testing.assert_array_equal(M[0], M[2])
    sizes = np.linalg.svd(M[0], compute_uv=False)
    assert sizes[3] > 10 * sizes[4] > 0


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("warm", "shown"), [(90.0, ["0.09", "≤ 0.1 met"]), (110.0, ["0.11", "≤ 0.1 MISSED"])]
)
def test_lines_and_verdicts(monkeypatch, warm, shown):
    seen = []

    def race(contenders, **limits):
        seen.append(([(c.name, c.work(2)) for c in contenders], limits))
        return {"warm": Timing((warm,), (warm,)), "cold": Timing((1e3,), (1e3,))}

    monkeypatch.setattr(bench, "race", race)
    section = bench.bench_programmes(np.random.default_rng(0))
    limits = {"repeats": bench.REPEATS, "seconds": bench.SECONDS}
    assert seen == [
        ([("warm", 30), ("cold", 10)], limits),
        ([("warm", 50), ("cold", 10)], limits),
    ]
    free, hoped = section.cells
    assert [free[0], *free[-2:]] == ["CUR", shown[0], ""]
    assert [hoped[0], hoped[1], hoped[2], hoped[4]] == ["Polytope", "25", f"{warm:g} ns", "1 µs"]
    assert hoped[-2:] == shown
    assert [row["targets"] for row in section.rows] == [
        {},
        {"warm/cold": {"at_most": 0.1, "value": warm / 1e3, "met": warm < 100}},
    ]


@pytest.mark.usefixtures("tiny")
def test_what_is_timed_restarts_before_each_cold_call_alone(monkeypatch):
    restarts, seen, restart = [], [], OnProgramme.restart

    def race(contenders, **_):
        for contender in contenders:
            restarts.clear()
            seen.append((contender.name, contender.work(3), len(restarts)))
        return {c.name: Timing((1.0,), (1.0,)) for c in contenders}

    monkeypatch.setattr(bench, "race", race)
    monkeypatch.setattr(OnProgramme, "restart", lambda o: restarts.append(o) or restart(o))
    bench.bench_programmes(np.random.default_rng(0))
    assert seen == [("warm", 45, 0), ("cold", 15, 15), ("warm", 75, 0), ("cold", 15, 15)]


@pytest.mark.usefixtures("tiny")
def test_pivots_are_medians_of_the_calls_that_are_timed():
    row = bench.bench_programmes(np.random.default_rng(0)).rows[1]
    costs = bench.recorded(tiny_cases(np.random.default_rng(0))["Polytope"])
    assert row["calls"] == {"warm": 25, "cold": 5}
    assert row["pivots"]["cold"] == statistics.median(fresh_pivots(costs[::5]))
    warm = told_pivots(make_polytope(), [costs[-1], *costs], cold=False)[1:]
    assert row["pivots"]["warm"] == statistics.median(warm)
    assert row["pivots"]["warm"] < row["pivots"]["cold"]


@pytest.mark.usefixtures("hasty")
def test_command_prints_and_writes_both_tables(capsys, tmp_path):
    path = tmp_path / "oracles.json"
    words = ["bench", "oracles", "--p", "200", "--calls", "20", "--json", str(path)]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 100
    assert "\n\nLinear programmes: warm calls beside cold ones\n" in out
    assert "no table of linear programmes" not in out
    closed, section = json.loads(path.read_text())["sections"]
    assert (closed["name"], section["name"]) == ("oracles", "programmes")
    assert [row["programme"] for row in section["rows"]] == ["CUR", "Polytope"]
    for row in section["rows"]:
        best = {who: time["best_ns"] for who, time in row["times"].items()}
        assert row["ratios"] == {"warm/cold": best["warm"] / best["cold"]}


@pytest.mark.usefixtures("hasty")
def test_without_highs_the_table_is_left_out_in_words(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(NotInstalled):
        bench.bench_programmes(np.random.default_rng(0))
    path = tmp_path / "oracles.json"
    assert main(["bench", "oracles", "--p", "200", "--calls", "20", "--json", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    sentence = "no table of linear programmes: HiGHS cannot be imported: it is not installed"
    assert f"({sentence})" in out
    (section,) = json.loads(path.read_text())["sections"]
    assert section["name"] == "oracles"
    assert section["notes"][-1] == sentence
