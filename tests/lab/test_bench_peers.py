import importlib.util
import json
import math
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from rcmd import L1Ball, Logistic, Problem, solve
from rcmd.cli.main import main
from rcmd.datasets import make_classification
from rcmd.lab import racing
from rcmd.lab.bench import ladder, packages, workloads
from rcmd.lab.bench import peers as bench
from rcmd.lab.bench.ladder import Answer, Peer, Racer, Step, best, compete, judged
from rcmd.lab.bench.packages import PEERS
from rcmd.lab.bench.timing import clocked

RADIUS = 2.0
TARGETS = (1e-3, 1e-5, 1e-6)


@pytest.fixture(scope="module")
def data():
    return workloads.Data(*make_classification(n=60, p=12, rng=np.random.default_rng(3)))


@pytest.fixture(scope="module")
def task(data):
    task, gap = bench.make_task(data, RADIUS, seed=0, budget=5.0)
    assert gap <= bench.REFERENCE_GAP
    return task


@pytest.fixture(scope="module")
def solution(task):
    problem = Problem(task.X, task.y, Logistic(), L1Ball(RADIUS))
    return solve(problem, batch=0.1, tol=1e-12)


def climber(gaps, run=None, name="fake", team=""):
    """One whose effort k leads to the gap gaps[k]."""
    answer = run or (lambda effort: Answer(np.array([gaps[effort]])))
    peer = Peer(name, lambda task: answer, range(len(gaps)), targets=TARGETS, team=team)
    judge = SimpleNamespace(gap=lambda beta, w, penalised: float(beta[0]))
    return Racer(peer, judge, answer)


# The ladder.


def test_the_first_rung_that_is_high_enough_is_found():
    gaps = [1.0, 9e-4, 2e-3, 1e-4, 1e-6, 1e-9, 1e-12]
    fake = climber(gaps)
    fake.climb(budget=math.inf)
    assert [step.effort for step in fake.steps] == [0, 1, 2, 3, 4]  # none beyond the last target
    assert [fake.reaching(target).effort for target in TARGETS] == [1, 4, 4]
    fake = climber([1.0, 1e-4])
    fake.climb(budget=math.inf)
    assert fake.times(1e-3)
    assert fake.times(1e-6) == []
    assert best([fake], 1e-3) is fake
    assert best([fake], 1e-6) is None


@pytest.mark.parametrize("ends", [(-1.0, math.inf), (math.inf, -1.0)], ids=["budget", "beaten"])
def test_the_budget_or_a_faster_member_ends_the_climb(ends):
    fake = climber([1.0] * 50)
    fake.climb(*ends)
    assert len(fake.steps) == 1


def test_repeats_that_miss_the_gap_do_not_count():
    outcomes = iter([1.0, 1e-7, 1e-2, 1e-8])  # the third run, a repeat, is a bad one
    fake = climber([None] * 9, run=lambda effort: Answer(np.array([next(outcomes)])))
    fake.climb(budget=math.inf)
    for _ in range(2):
        fake.repeat(budget=math.inf)
    assert [step.effort for step in fake.repeats] == [1, 1]
    expected = [1e9 * fake.steps[1].seconds, 1e9 * fake.repeats[1].seconds]
    assert fake.times(1e-6) == expected
    fake.repeat(budget=0.0)
    assert len(fake.repeats) == 2


def test_best_is_the_least_disturbed_run_of_the_right_rung():
    fake = climber([])
    fake.steps = [Step(1, 2.0, 1.0), Step(2, 4.0, 1e-4)]
    fake.repeats = [Step(2, 3.0, 1e-4), Step(1, 0.1, 1e-4), Step(2, 1.0, 1e-2)]
    assert fake.times(1e-3) == [4e9, 3e9]


def test_a_package_that_fails_says_so():
    def run(effort):
        if effort == 2:
            raise AttributeError("no alltrue")
        return Answer(np.ones(1))

    fake = climber([1.0] * 5, run=run)
    fake.climb(budget=math.inf)
    assert len(fake.steps) == 2
    assert fake.fault == "failed at 2: AttributeError('no alltrue')"


def test_ladders_increase():
    assert ladder.COUNTS[:10] == [1, 2, 3, 4, 5, 7, 9, 12, 15, 19]
    assert all(a < b <= math.ceil(1.25 * a) or b == a + 1 for a, b in pairwise(ladder.COUNTS))
    assert 8e6 < ladder.COUNTS[-1] < 1e7
    assert ladder.TOLERANCES[0] == pytest.approx(0.1)
    assert ladder.TOLERANCES[-1] == pytest.approx(1e-14)
    np.testing.assert_allclose(np.diff(np.log10(ladder.TOLERANCES)), -1 / 3)


def test_the_clock_returns_what_the_work_does_and_hides_its_warnings():
    def work():
        import warnings

        warnings.warn("not converged", stacklevel=1)
        return 7

    assert clocked(work)[0] == 7


# The judge.


def test_a_good_answer_is_certified_by_its_own_response(task, solution):
    assert task.gap(solution.beta, solution.w) < 1e-11
    assert task.gap(solution.beta) < 1e-10
    assert task.gap(solution.beta, penalised=True) < 1e-8
    assert judged(task.penalised, solution.beta) < 1e-6


def test_no_answer_is_certified_below_the_truth(task, solution):
    """Whatever is answered, the gap bounds P − P*, P evaluated by hand, on ball or penalty."""

    def loss(beta):
        return np.logaddexp(0, -task.y * (task.X @ beta)).mean()

    def with_penalty(beta):
        return loss(beta) + task.strength * abs(beta).sum()

    rng, best = np.random.default_rng(0), solution.beta
    near = [best + 10.0**-k * rng.standard_normal(12) for k in range(6)]
    for beta in (0 * best, 2.0 * best, 1e6 * best, -best, best[::-1].copy(), *near):
        shrunk = beta * min(1, RADIUS / max(abs(beta).sum(), RADIUS))
        on_ball = loss(shrunk) - loss(best)
        penalised = with_penalty(beta) - with_penalty(best)
        assert task.gap(beta) >= on_ball - 1e-12
        assert judged(task.penalised, beta) >= penalised - 1e-12
        assert task.gap(beta, penalised=True) >= min(on_ball, penalised) - 1e-12
    assert task.gap(2 * best) == pytest.approx(task.gap(best), abs=1e-12)
    for w in (0 * solution.w, 1e3 * solution.w, -solution.w):
        assert task.gap(best, w) > 1e-3


def test_an_answer_that_is_no_vector_of_numbers(task, solution):
    assert task.gap(np.full(task.ball.p, np.nan)) == math.inf
    assert task.gap(np.full(task.ball.p, np.inf), penalised=True) == math.inf
    assert task.gap(solution.beta, np.full(task.ball.n, np.nan)) == math.inf
    with pytest.raises(ValueError, match=r"the answer β has shape \(3,\); expected \(12,\)"):
        task.gap(np.zeros(3))


def test_the_penalty_of_the_multiplier_has_the_same_solution(task, solution):
    gradient = task.X.T @ (-task.y / (1 + np.exp(task.y * (task.X @ solution.beta)))) / len(task.y)
    assert task.strength == pytest.approx(abs(gradient).max(), rel=1e-5)


# Whole races.


def fake_peer(name, *betas, efforts=None, **options):
    """One whose effort k answers betas[k]."""
    rungs = efforts or range(len(betas))
    return Peer(name, lambda task: lambda effort: Answer(betas[effort]), rungs, **options)


@pytest.fixture(scope="module")
def report(data, solution):
    """rcmd, a cyanure team of a lying and a good member, an absentee, one that fails, one stuck."""
    beta, zero = solution.beta, np.zeros(12)
    peers = [
        *PEERS[:2],
        fake_peer("cyanure lying", 3.0 * beta[::-1], np.full(12, np.nan), team="cyanure"),
        fake_peer("cyanure good", zero, 0.5 * beta, beta, team="cyanure"),
        Peer("Nobody", lambda task: packages.imported("no_such_module", "Nobody")),
        fake_peer("breaks", zero, efforts=range(3)),
        fake_peer("stuck", zero, zero, penalised=True),
    ]
    case = bench.Case("a9a", RADIUS, 0.25, 0.5)
    settings = bench.Settings(cases=(case,), repeats=1, budget=0.5)
    heard = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench.Case, "load", lambda self, folder, seed: data)
        for module in (bench, ladder):
            patch.setattr(module, "tell", heard.append)
        report = bench.bench_peers(settings, peers)
    assert any("; cyanure good" in text for text in heard)
    assert "a9a:2: reading data" in heard
    assert heard[-1] == ""
    return report


def test_a_lying_member_never_wins(report):
    rows = {row["contender"]: row for row in report.sections[0].rows}
    assert rows["cyanure lying"]["reached"] == {}
    wrong, empty = (step["gap"] for step in rows["cyanure lying"]["ladder"])
    assert wrong > 1e-3
    assert empty == math.inf
    reached = {key: entry["effort"] for key, entry in rows["cyanure good"]["reached"].items()}
    assert reached == {"1e-03": 2, "1e-05": 2, "1e-06": 2}
    assert "cyanure: 1e-03 by cyanure good, 1e-05 by cyanure good" in report.text()


def test_the_absent_the_stuck_and_the_broken_have_dashes(report):
    lines = {line.split("  ")[0]: line.split() for line in report.text().splitlines()}
    assert lines["Nobody"][1:] == ["–"] * 6
    assert lines["stuck"][-3:] == ["–"] * 3
    assert lines["breaks"][-3:] == ["–"] * 3
    assert "(no Nobody: Nobody cannot be imported: it is not installed)" in report.text()
    assert "(breaks failed at 1: IndexError(" in report.text()
    assert max(map(len, report.text().splitlines())) <= 100


def test_json(report, tmp_path):
    report.tell(str(tmp_path / "peers.json"))
    text = (tmp_path / "peers.json").read_text()
    read = json.loads(text, parse_constant=pytest.fail)  # neither NaN nor Infinity
    assert {"date", "command", "seed", "settings", "machine", "versions", "sections"} == set(read)
    assert {"cyanure", "scikit-learn", "skglm", "copt"} <= set(read["versions"])
    assert read["settings"] == {
        "cases": ["a9a:2"], "data": None, "repeats": 1, "budget": 0.5, "others": False,
        "large": False, "small": False,
    }  # fmt: skip
    problem, ratios = read["sections"]
    assert [problem["name"], ratios["name"]] == ["a9a:2", "ratios"]
    for row in problem["rows"]:
        assert {"contender", "team", "problem", "reached", "ladder"} <= set(row)
        assert ("absent" in row) == (row["contender"] == "Nobody")
        for key, entry in row["reached"].items():
            assert entry["gap"] <= float(key)
            assert entry["best_ns"] == min(entry["samples_ns"])
        for step in row["ladder"]:
            assert set(step) == {"effort", "seconds", "gap"}
    by_name = {row["contender"]: row["reached"] for row in problem["rows"]}
    assert set(by_name["rcmd"]) == {"1e-03", "1e-05", "1e-06", "1e-10"}
    [row] = ratios["rows"]
    mine, theirs = by_name["rcmd"], by_name["cyanure good"]["1e-06"]["best_ns"]
    assert row["ratios"]["rcmd/cyanure"] == pytest.approx(mine["1e-06"]["best_ns"] / theirs)
    assert row["ratios"]["1e-10/cyanure"] == pytest.approx(mine["1e-10"]["best_ns"] / theirs)
    for name, target in row["targets"].items():
        assert target["value"] == row["ratios"][name]
        assert target["met"] == (target["value"] <= target["at_most"])
    assert row["targets"]["rcmd/cyanure"]["at_most"] == 0.25
    assert row["targets"]["1e-10/cyanure"]["at_most"] == 0.5


def racer(name, *steps, team=""):
    fake = climber([], name=name, team=team)
    fake.steps = [Step(*step) for step in steps]
    return fake


def test_exact_ratios_meet_or_miss_their_targets():
    mine = racer("rcmd", (1e-6, 1.0, 1e-7), (1e-10, 1.5, 1e-11))
    plain = racer("rcmd plain", (1e-3, 0.8, 1e-3))
    theirs = racer("cyanure x", (1, 2.0, 1e-2), (2, 3.2, 1e-6), team="cyanure")
    section = bench.bench_peers(bench.Settings(cases=())).sections[0]
    for racers in ((mine, plain, theirs), (mine,)):
        bench._compare(section, bench.Case("a9a", 5.0, 0.25, 0.5), racers)
    found, alone = section.cells
    middle, high = ["0.31", "≤ 0.25 MISSED"], ["0.47", "≤ 0.5 met"]
    assert found == ["a9a:5", "0.31", *middle, *high, "1.25", "≤ 1.2 MISSED"]
    assert alone == ["a9a:5", "–", "–", "", "–", "", "–", ""]
    assert section.rows[1]["ratios"] == {}


def test_the_beaten_are_those_of_the_same_team(task, solution):
    asked = []

    def run(effort):
        asked.append(effort)
        sum(range(300_000))
        return Answer(np.zeros(12))

    quick = fake_peer("quick", solution.beta, team="t")
    slow = Peer("slow", lambda task: run, range(100), team="t")
    racers = compete(task, [quick, slow], 0)
    assert len(racers[1].steps) == 1
    assert asked == [0, 0]  # the first call and one rung


# The packages themselves.

NEEDED = {"cyanure": "cyanure", "COPT": "copt", "scikit-learn": "sklearn", "skglm": "skglm"}


def needed_module(name):
    return next((module for start, module in NEEDED.items() if name.startswith(start)), "rcmd")


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_peer_solves_the_problem(peer, task):
    """With much effort: to 1e-6, or 1e-2 for the plain Frank-Wolfe methods.

    COPT's line search accepts steps up to the rounding of single precision, so that its
    pairwise steps end before 1e-6. Its LF draws from a generator that nobody seeds, and
    ends between 2e-3 and 1.1e-2.
    """
    if importlib.util.find_spec(needed_module(peer.name)) is None:
        pytest.skip(f"{peer.name} is not installed")
    run = clocked(lambda: peer.prepare(task))[0]
    first, *_, last = (e for e in peer.efforts if e <= 2000)
    reach = dict.fromkeys(("rcmd plain", "COPT SAG", "COPT FW"), 1e-2)
    reach |= {"COPT pairwise FW": 1e-5, "COPT LF": 5e-2}
    gaps = []
    for effort in (first, 1e-3 if peer.name == "rcmd plain" else last):
        answer = clocked(lambda effort=effort: run(effort))[0]
        gaps.append(task.gap(answer.beta, answer.w, penalised=peer.penalised))
    assert gaps[1] <= reach.get(peer.name, 1e-6)
    assert gaps[1] <= gaps[0]


@pytest.mark.parametrize("name", ["rcmd", "cyanure"])
def test_the_penalised_problem_is_solved_for_whoever_asks(name, task):
    """At a strength that is not the ball's multiplier."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    other = replace(task, strength=2 * task.strength)
    if name == "rcmd":
        answer = packages.rcmd_run(other, racing.CORRECTED, penalised=True)(1e-9)
    else:
        run = packages.cyanure_run(other, "qning-svrg", penalised=True)
        answer = clocked(lambda: run(100))[0]
    assert judged(other.penalised, answer.beta) < 1e-8


def test_absent_packages_are_not_an_error(monkeypatch, task):
    for module in ("cyanure", "copt", "sklearn", "skglm"):
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("cyanure.estimators", "sklearn.linear_model"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    racers = compete(replace(task, budget=0.2), PEERS[1:], 0)
    present = [racer.peer.name for racer in racers if racer.absent is None]
    assert present == ["rcmd plain"]
    assert all("cannot be imported" in racer.absent for racer in racers[1:])


def test_cyanure_is_asked_for_passes_without_a_stopping_rule(monkeypatch, task):
    asked = {}

    def classifier(**options):
        asked.update(options)
        return SimpleNamespace(fit=lambda X, y: SimpleNamespace(coef_=np.zeros((1, X.shape[1]))))

    fake = SimpleNamespace(Classifier=classifier)
    monkeypatch.setattr(packages, "imported", lambda module, name: fake)
    assert packages.cyanure_run(task, "miso")(9).beta.shape == (12,)
    assert (asked["max_iter"], asked["duality_gap_interval"], asked["n_threads"]) == (9, 9, 1)
    assert (asked["penalty"], asked["lambda_1"], asked["solver"]) == ("l1-ball", RADIUS, "miso")


# The command.


def test_command_prints_and_writes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "ZIPF", (60, 120, 5))
    monkeypatch.setattr(bench.Settings, "quick", lambda self: replace(self, budget=0.05))
    monkeypatch.setattr(bench.bench_peers, "__defaults__", (PEERS[:2],))
    monkeypatch.delenv("RCMD_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)  # nothing is downloaded
    path = tmp_path / "out.json"
    words = ["--quick", "--problem", "zipf", "mushrooms", "--json", str(path)]
    assert main(["bench", "peers", *words]) == 0
    out, _ = capsys.readouterr()
    assert "zipf, δ = 5: n = 60, p = 120, λ = " in out
    assert "(mushrooms:5 is left out: mushrooms (plain, .bz2, .xz or .gz) is not in" in out
    assert [s["name"] for s in json.loads(path.read_text())["sections"]] == ["zipf:5", "ratios"]


def test_a_poor_reference_leaves_the_problem_out(data, monkeypatch):
    """λ of a solution that is far from optimal would belong to another ball."""
    poor = lambda *args, **options: solve(*args, **options | {"max_gradients": 60})  # noqa: E731
    monkeypatch.setattr(racing, "solve", poor)
    monkeypatch.setattr(bench.Case, "load", lambda *_: data)
    settings = replace(bench.Settings(), cases=bench.chosen(["mushrooms"]))
    text = bench.bench_peers(settings, peers=()).text().replace("\n", " ")
    assert "mushrooms:5 is left out: λ is known from a solution with a gap of" in text
