"""The hunt finds what is false, nothing against what is proved, and the same thing twice."""

import json
import math
import textwrap
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from enumeration import Parabola

from proofs_check.__main__ import main
from proofs_check.exact.paths import expectation, levels
from proofs_check.hunting import drawing, search
from proofs_check.hunting.drawing import draw_shape
from proofs_check.hunting.enumeration import enumerate_runs
from proofs_check.hunting.facts import Facts
from proofs_check.hunting.instance import Bowl, Instance, Polytope
from proofs_check.hunting.search import confirmed, exact_means, hunt, ratio
from proofs_check.hunting.theorems import THEOREMS
from proofs_check.ledger import ledger
from proofs_check.statement import Status
from rcmd import LeastSquares, Problem
from rcmd.model import bounds

CE1 = Instance(((1.0,),) * 2, "softplus", ((1.0,),) * 2, Bowl(1.0, (-10.0,), 0.0, 10.0), 1, 1)
"""Two logistic losses far from the start: the first inequality of Theorem 3.2 is false."""

CE2 = Instance(((1.0,),) * 2, "squared", ((0.0,),) * 2, Bowl(10.0, (1.0,), 1.0, 0.0), 2, 1)
"""Both rows at once with the σ of one."""


def test_labels_and_verdicts_are_the_ledgers():
    """Inequalities that share an entry of the ledger have labels of their own."""
    statuses = {statement.label: statement.status for statement in ledger()}
    parts = {"thm:strong-first", "thm:strong-second", "cor:linear-energy"}
    assert parts <= set(THEOREMS)
    for label in set(THEOREMS) - parts:
        recorded = {Status.FALSE: "false", Status.OPEN: "open"}.get(statuses[label], "holds")
        assert THEOREMS[label].recorded == recorded


@pytest.mark.parametrize("label", THEOREMS)
def test_vectorized_runs_are_the_exact_engines(label):
    """All shapes that the theorem's hunt draws, against the engine written in plain tuples."""
    theorem, rng = THEOREMS[label], np.random.default_rng(1)
    compared = 0
    while compared < 12:
        shape = replace(draw_shape(theorem, rng), steps=int(rng.integers(1, 4)))
        instance = shape.instance(rng.normal(size=shape.size) / 2)
        facts = Facts(instance, float)
        if theorem.masked(facts):
            continue
        fast, slow = enumerate_runs(instance, theorem.steps(facts)), exact_means(facts, theorem)
        scale = 1e-11 * float(1 + facts.gamma * facts.M**2 + abs(slow.average_gap))
        for name in ("average_gap", "last_gap", "ascent"):
            wanted = pytest.approx(float(getattr(slow, name)), rel=1e-9, abs=scale)
            assert getattr(fast, name) == wanted
        compared += 1


def test_vectorized_runs_by_fractions():
    """An l1 ball in fractions, with batches of two out of three rows."""
    vertices = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
    rows, labels = ((1.0, 0.5), (0.25, -1.0), (0.0, 2.0)), ((0.5,), (-1.0,), (0.75,))
    instance = Instance(rows, "squared", labels, Polytope(vertices), 2, 3)
    steps = THEOREMS["thm:A"].steps(Facts(instance, Fraction))
    *_, paths = levels(instance.small(Fraction), steps, 2, 3)
    exact = expectation(paths, lambda path: path.gap())
    assert isinstance(exact, Fraction)
    assert enumerate_runs(instance, steps).average_gap == pytest.approx(float(exact), rel=1e-13)


def test_known_counterexamples():
    first = confirmed(THEOREMS["thm:strong-first"], CE1, 0)
    assert float(first.gap) == pytest.approx(2.059730, abs=1e-6)
    assert float(first.ratio) == pytest.approx(2.059730 / 0.866241, rel=1e-3)
    assert first.violates
    assert not confirmed(THEOREMS["thm:strong-second"], CE1, 0).violates
    batch = confirmed(THEOREMS["wilderness-strong"], CE2, 0)
    assert float(batch.gap) == pytest.approx(41 / 882, rel=1e-15)
    assert float(batch.ratio) == pytest.approx(1.859, abs=1e-3)
    assert not confirmed(THEOREMS["thm:strong-batches"], CE2, 0).violates


def test_facts_by_hand():
    facts = Facts(CE2, Fraction)
    assert (facts.N, facts.gamma, facts.M, facts.energy) == (1, 1, 1, 1)
    assert facts.D_max == Fraction(1, 2)
    assert (facts.sigma, facts.sigma_n) == (Fraction(21, 20), Fraction(11, 10))
    assert facts.sigma_b == facts.sigma_n
    optimum = 10 / 11  # of β²/2 + 5(β − 1)²
    floats = Facts(CE2, float)
    assert floats.distance == pytest.approx(optimum**2 / 2)
    assert floats.ascent == pytest.approx(optimum**2 / 2 + 5 * (optimum - 1) ** 2)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_bounds_of_the_hunt_are_those_of_rcmd(b):
    rows, labels = ((1.0,), (-2.0,), (0.5,)), ((0.5,), (-1.0,), (0.75,))
    facts = Facts(Instance(rows, "squared", labels, Bowl(0.5, (0.25,), 1.0, 2.0), b, 4), float)
    ends = [1.0, facts.sigma, facts.sigma_b, facts.sigma_n, 1 + 3 * (facts.sigma - 1)]
    assert ends == sorted(ends)
    X, y = np.array(rows), np.ravel(labels)
    oracle = Parabola(0.5, 0.25, -0.75, 2.25)
    constants = Problem(X, y, LeastSquares(), oracle).constants(b)
    assert facts.sigma_b == pytest.approx(constants.sigma)
    assert facts.D_max == pytest.approx(constants.bregman_radius)
    means = enumerate_runs(facts.instance, THEOREMS["thm:A"].steps(facts))
    names = {"thm:A": "sublinear-energy", "thm:hand": "sublinear-by-hand"}
    names |= {"thm:strong-batches": "linear-quadratic"}
    for label, name in names.items():
        mine = THEOREMS[label].bound(facts, means)
        assert mine == pytest.approx(bounds.named(name)(constants, 4)), label


def test_equality_is_no_violation():
    """The quadratic theorem is an equality after one step, which 50 digits may round either way."""
    catch = confirmed(THEOREMS["thm:strong-quadratic"], replace(CE2, batch=1), 0)
    assert float(catch.ratio) == pytest.approx(1, abs=1e-40)
    with mpmath.workdps(50):
        rounded_up, above = (catch.bound * (1 + mpmath.mpf(10) ** -d) for d in (40, 20))
    assert not catch.violates
    assert not replace(catch, gap=rounded_up).violates
    assert replace(catch, gap=above).violates


@pytest.mark.parametrize("label", THEOREMS)
def test_hunt_finds_what_is_false_and_nothing_against_the_rest(label, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_RUNS", 256)  # all of which are done again to 50 digits
    false = THEOREMS[label].recorded == "false"
    evaluations, least = (150, 1.5) if false else (300, 0.01)
    catch = hunt(THEOREMS[label], np.random.default_rng(0), evaluations=evaluations)
    assert catch.violates == false
    assert float(catch.ratio) > least


def test_same_seed_and_budget_same_catch():
    theorem = THEOREMS["thm:strong-quadratic"]
    first, second, other = (
        hunt(theorem, np.random.default_rng(seed), evaluations=150) for seed in (5, 5, 6)
    )
    assert first == second
    assert first.instance != other.instance


def test_a_hunt_by_the_clock_is_repeated_by_its_evaluations():
    theorem = THEOREMS["thm:strong-second"]
    timed = hunt(theorem, np.random.default_rng(2), seconds=0.2)
    again = hunt(theorem, np.random.default_rng(2), evaluations=timed.evaluations)
    assert again == timed


def test_rounding_is_masked():
    theorem = THEOREMS["thm:strong-second"]
    tiny = replace(CE1, domain=Bowl(1.0, (-1e-5,), 0.0, 1e-5))
    assert ratio(theorem, tiny) == -math.inf
    steep = replace(CE1, rows=((1e-9,),) * 2, steps=60)
    assert ratio(theorem, steep) == -math.inf
    assert math.isfinite(ratio(theorem, CE1))


def test_fakes_of_rounding_are_unmasked(monkeypatch):
    """A float64 ratio that the exact engine does not confirm loses to one that it does."""
    theorem, honest = THEOREMS["wilderness-strong"], search.ratio
    shapes = []

    def lying(theorem, instance):
        shapes.append(instance)
        return 1e6 if len(shapes) == 1 else honest(theorem, instance)

    monkeypatch.setattr(search, "ratio", lying)
    catch = hunt(theorem, np.random.default_rng(0), evaluations=300)
    assert len(shapes) >= 300
    assert catch.instance != shapes[0].rounded(search.PRINTED_DIGITS)


def test_shapes_are_what_the_theorem_speaks_about():
    rng = np.random.default_rng(0)
    for theorem in THEOREMS.values():
        for _ in range(60):
            shape = draw_shape(theorem, rng)
            assert shape.loss in theorem.losses
            assert shape.batch == 1 or theorem.batches != "single"
            assert shape.batch > 1 or theorem.batches != "several"
            assert (shape.domain in ("parabola", "ridge")) == theorem.strong
            assert math.comb(shape.n, shape.batch) ** shape.steps <= drawing.MOST_RUNS
            assert 1 <= shape.steps <= drawing.LARGEST_K
            instance = shape.instance(rng.normal(size=shape.size))
            assert instance.n == shape.n


def test_command_prints_an_instance_that_can_be_evaluated(capsys, tmp_path):
    file = tmp_path / "catch.json"
    arguments = ["hunt", "wilderness-strong", "--evaluations", "300", "--json", str(file)]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "violated, as recorded" in out
    assert "hunt wilderness-strong --seed 0 --evaluations 300" in out
    imports, call = out[out.index("    from") : out.index("  after")].split("    confirmed(")
    names = {}
    exec(textwrap.dedent(imports), names)
    again = eval(f"confirmed({call}", names)
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["violated"] is True
    assert float(again) == pytest.approx(float(written["ratio"]), rel=1e-15)
    assert written["instance"]["domain"]["kind"] == "bowl"
    assert written["evaluations"] == 300


def test_command_fails_when_a_proved_bound_is_violated(capsys, monkeypatch):
    right = THEOREMS["thm:strong-quadratic"]
    wrong = replace(right, bound=lambda f, m: right.bound(f, m) / 8)
    monkeypatch.setitem(THEOREMS, "thm:strong-quadratic", wrong)
    assert main(["hunt", "thm:strong-quadratic", "--evaluations", "400"]) == 1
    assert "VIOLATED, although it is recorded as proved" in capsys.readouterr().out
    assert main(["hunt", "thm:strong-third"]) == 2
    words = "no theorem has this label; near it are thm:strong-first"
    assert words in capsys.readouterr().err


def test_hunt_goes_on_until_a_problem_counts(monkeypatch):
    honest, seen = search.ratio, []

    def mostly_masked(theorem, instance):
        seen.append(instance)
        return -math.inf if len(seen) < 8 else honest(theorem, instance)

    monkeypatch.setattr(search, "ratio", mostly_masked)
    catch = hunt(THEOREMS["thm:A"], np.random.default_rng(0), evaluations=1)
    assert catch.evaluations >= 8
    assert math.isfinite(catch.ratio)
    with pytest.raises(ValueError, match="evaluations is 0; expected at least 1"):
        hunt(THEOREMS["thm:A"], np.random.default_rng(0), evaluations=0)
