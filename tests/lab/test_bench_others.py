"""The table of other problems: who is timed, by what they are judged, and the verdict."""

import math

import numpy as np
import pytest

from rcmd import L1Penalty, Problem, solve
from rcmd.lab.bench import others as bench
from rcmd.lab.bench.ladder import judged
from rcmd.lab.bench.others import Duel
from rcmd.reporting.tables import Section


def line(monkeypatch, gap=1e-7, peer_gaps=(1.0, 1e-6), seconds=(3.0, 2.0), **more):
    """The line of a duel whose clock is told, and whose k-th tolerance has the k-th gap."""
    gaps = dict(zip(bench.TOLERANCES, peer_gaps, strict=False))
    own, fit = (lambda: gap), (lambda effort: gaps.get(effort, math.inf))
    times = {own: seconds[0], fit: seconds[1]}
    monkeypatch.setattr(bench, "clocked", lambda work, *a: (work(*a), times[work]))
    section = Section("others", "", [])
    Duel("it", 1.5, own, "peer", fit, lambda found: found, 1e-6, **more).measure(section, 2)
    return section.cells[0], section.rows[0]


@pytest.mark.parametrize(("mine", "verdict"), [(3.0, "≤ 1.5 met"), (3.03, "≤ 1.5 MISSED")])
def test_ratios_and_verdicts(monkeypatch, mine, verdict):
    cells, row = line(monkeypatch, seconds=(mine, 2.0))
    assert cells[-1] == verdict
    assert row["ratio"] == mine / 2


@pytest.mark.parametrize(
    ("mine", "verdict"),
    [(1.5e-6, "≤ 1.5 met"), (2e-3, "≤ 2 ms met"), (2.01e-3, "≤ 1.5 MISSED")],
)
def test_two_milliseconds_are_enough_for_a_tiny_problem(monkeypatch, mine, verdict):
    cells, _ = line(monkeypatch, seconds=(mine, 1e-6), tiny=True)
    assert cells[-1] == verdict


def test_there_is_no_ratio_without_both_answers(monkeypatch):
    assert math.isnan(line(monkeypatch, gap=1.01e-6)[1]["ratio"]), "rcmd's own gap is judged too"
    cells, row = line(monkeypatch, peer_gaps=(1.0, 1.005e-6))
    assert math.isnan(row["ratio"])
    assert cells[4] == cells[-1] == "–"


def test_a_penalty_is_judged_as_fairly_as_can_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    problem = Problem(X, X[:, 0], "least-squares", L1Penalty(0.1))
    best = solve(problem, tol=1e-12).beta
    assert judged(problem, best) < 1e-11
    assert problem.primal(1.01 * best) - problem.primal(best) < judged(problem, 1.01 * best) < 1e-2


def test_all_duels_are_of_the_same_problem(monkeypatch):
    """Both sides of every duel on small data; only who solves it differs."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr(bench, "plain_duels", lambda data: iter(()))
    like_a9a = bench.workloads.zipf(400, 30, 6, np.random.default_rng(0))
    monkeypatch.setattr(bench.workloads, "load", lambda name, folder: like_a9a)
    for duel in bench.duels(0, small=True):
        if "text" in duel.name or "dense" in duel.name:
            continue  # seconds each
        assert duel.gap(duel.own()) <= duel.tol
        assert any(map(duel._enough, bench.TOLERANCES)), duel.name
