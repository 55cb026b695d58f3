"""The table of matrices, memory and processes: the peer, its judge, and the verdicts."""

import json
import math

import numpy as np
import pytest

from rcmd import MatrixEntries, NuclearBall, Problem, truth
from rcmd.lab.bench import large as bench
from rcmd.lab.bench import peers
from rcmd.lab.bench.timing import Absent
from rcmd.reporting.tables import Section

SHAPE = (12, 9)


@pytest.fixture(scope="module")
def problem():
    (i, k, y), radius = bench.seen(SHAPE, 60, seed=0)
    return Problem(MatrixEntries(i, k, SHAPE), y, "least-squares", NuclearBall(SHAPE, radius / 4))


def test_the_peer_converges_to_the_truth(problem):
    entries = problem.rows.rows, problem.rows.columns, problem.y
    iterates = bench.accelerated(entries, SHAPE, problem.oracle.radius)
    found = [next(iterates) for _ in range(400)]
    optimum = truth.solve(problem).primal
    assert problem.primal(found[-1]) == pytest.approx(optimum, abs=1e-7)
    assert problem.primal(found[4]) > optimum + 1e-4, "not at once"
    for beta in (found[4], found[-1]):
        suboptimality = problem.primal(beta) - optimum
        assert suboptimality - 1e-7 <= bench.least_gap(problem, beta) < 100 * suboptimality + 1e-5


def test_a_duel_of_completions_is_of_one_problem_and_tells_the_least_number():
    duels = list(bench.completions((60, 50), 2400, seed=0))
    assert [duel.tol for duel in duels] == [1e-1, 1e-2]
    for duel in duels:
        assert duel.gap(duel.own()) <= duel.tol
        assert duel.gap(duel.fit(0.0)) <= duel.tol
    assert duels[0].gap(duels[0].fit(0.0)) > 1e-2, "more iterations for the second"


def planted(monkeypatch, found, **asked):
    """The section of what ``measured`` is told to say, by the number of ranks."""
    monkeypatch.setattr(bench, "measured", lambda name, ranks=1, **options: found[ranks])
    monkeypatch.setattr(bench.workloads, "load", lambda *_: None)
    section = Section("large", "", [])
    bench._compare_ranks(section, 10**6, None, 2, 0)
    return {row["problem"]: (row["ratio"], cells[-1]) for row, cells in zip(
        section.rows, section.cells, strict=True
    )}  # fmt: skip


def run(seconds, gradients=1000, peak=208e6):
    shared = {"gap": 1e-7, "data": 224e6}
    return {"times": [2 * seconds, seconds], "gradients": gradients, "peak": peak, **shared}


def test_ranks_and_memory_meet_their_goals_or_not(monkeypatch):
    name = "1,000,000 rows, "
    met = planted(monkeypatch, {1: run(1.5), 2: run(1.0)})
    assert met[f"{name}2 ranks, to 1e-06"] == (1 / 1.5, "≤ 0.667 met")
    assert met[f"{name}memory beyond data"] == (1.0, "≤ 1 met")
    assert met["w8a, 2 ranks, thousand gradients"] == (1.0, "≤ 1 met")
    missed = planted(monkeypatch, {1: run(1.5, peak=1.01 * 208e6), 2: run(1.01, gradients=1010)})
    assert missed[f"{name}2 ranks, to 1e-06"][1].startswith("≤ 0.667 MISSED")
    assert missed[f"{name}memory beyond data"][1].startswith("≤ 1 MISSED")
    assert missed["w8a, 2 ranks, thousand gradients"][1].startswith("≤ 1 MISSED")


def test_a_completion_that_did_not_get_there_has_no_ratio(monkeypatch):
    found = {"seconds": 1.0, "peak": 1e9, "gap": 5e-2}
    monkeypatch.setattr(bench, "measured", lambda *_, **options: found)
    section = Section("large", "", [])
    bench._complete_large(section, (50, 40), 0)
    assert [row["ratio"] for row in section.rows[:2]] == [1.0, 1.0]
    assert math.isnan(section.rows[2]["ratio"])
    assert section.cells[2][-1] == "–"


def test_what_is_missing_is_said(monkeypatch):
    def absent(*_, **options):
        raise Absent("no mpirun")

    monkeypatch.setattr(bench, "measured", absent)
    monkeypatch.setattr(bench.workloads, "load", lambda *_: None)
    section = Section("large", "", [])
    bench._compare_ranks(section, 1000, None, 1, 0)
    assert section.rows == []
    assert section.notes[0] == "w8a is left out: no mpirun"


def test_a_fresh_process_measures_itself():
    """With a copy of the data as the least that must be seen of 40 MB."""
    found = bench.measured(
        "spread", data=50_000, folder=None, tol=1e-3, repeats=2, seed=0
    )  # fmt: skip
    assert len(found["times"]) == 2
    assert found["gap"] <= 1e-3
    assert found["data"] == 50_000 * bench.ROW_ENTRIES * 12 + 50_001 * 4
    assert 5 * 8 * 50_000 < found["peak"] < 10 * found["data"], "a few vectors, no more than that"


def test_the_command_names_the_table(monkeypatch, tmp_path):
    seen = []

    def table(*given, small):
        seen.append((given, small))
        return Section("large", "Matrices", ["a"])

    monkeypatch.setattr(peers, "large", table)
    file = tmp_path / "large.json"
    peers.run("folder", quick=True, problem=["large"]).tell(str(file))
    assert seen == [((0, 2, "folder"), True)]
    assert [part["name"] for part in json.loads(file.read_text())["sections"]] == [
        "large",
        "ratios",
    ]
    assert np.isfinite(bench.memory("VmRSS"))
