"""The hunt finds what is false, nothing against what is proved, and the same thing twice."""

import ast
import json
from dataclasses import replace
from fractions import Fraction as F
from itertools import islice

import numpy as np
import pytest

from proofs_check.__main__ import OTHER_STEPS, main
from rcmd import RCMD, BoxRidge, Huber, LeastSquares, Problem, Translated, theory
from rcmd.model import bounds
from rcmd.model.bounds import Bound, Verdict
from rcmd.model.schedules import SublinearSchedule
from rcmd.theory import hunt, hunting

SEEDS = {"remark-3.4-second": (0, 500), "linear-start": (3, 700)}
"""Where one of few evaluations is enough; by default 1 and 150."""

BOUNDS = bounds.all_bounds()
REFUTED = [bound.name for bound in BOUNDS if bound.verdict is Verdict.REFUTED]


KNOWN = {
    "CE1": ("theorem-3.2-first", "Logistic"),
    "Huber": ("theorem-3.2-first", "Huber"),
    "CE1 for the corollary": ("corollary-3.2", "Logistic"),
    "CE2": ("remark-3.4-first", None),
    "σ of single rows": ("remark-3.4-second", None),
    "flat start gap": ("linear-start", None),
}
"""The known counterexamples, and the one loss that they are looked for with."""


def found_with(loss, bound, monkeypatch, **options):
    if loss is not None:
        monkeypatch.setattr(hunting._Search, "_losses", lambda search: [loss])
    return hunt(bound, **options, **OTHER_STEPS.get(bound, {}))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", KNOWN)
def test_every_known_counterexample_is_found_within_a_minute(name, seed, monkeypatch):
    bound, loss = KNOWN[name]
    assert found_with(loss, bound, monkeypatch, seed=seed).violates


def test_the_huber_counterexample_is_found_with_huber_losses_alone(monkeypatch):
    catch = found_with(
        "Huber", "theorem-3.2-first", monkeypatch, evaluations=100, seconds=600, seed=6
    )
    assert catch.ratio > 1.2
    assert isinstance(catch.problem.loss, Huber)


@pytest.mark.parametrize(("k", "gap"), [(1, F(39, 8)), (8, None)])
def test_the_huber_counterexample_in_fractions(k, gap):
    """A parabola whose centre is an end of its interval [−10, 10], where D_max is 1/2."""
    oracle = Translated(BoxRidge(F(-20), F(0), F(1)), np.array([F(10)]))
    problem = Problem([[F(1)]] * 2, [F(0)] * 2, Huber(F(1)), oracle)
    found = theory.expected_gap(problem, k)
    assert found == gap or gap is None
    assert found > F(1, 2) / (F(3, 2) ** k - 1)


def test_importance_sampling_is_hunted_and_its_code_repeats_it():
    catch = hunt("exact-start", evaluations=40, seconds=600, seed=0)
    assert "sampler=ImportanceSampler.matching(problem, np.random.default_rng(0))" in catch.code
    assert repeated(catch) == catch.gap


def test_quartz_is_hunted_and_its_code_repeats_it():
    catch = hunt("quartz-start", evaluations=100, seconds=600, seed=3)
    assert f"method=Quartz(), batch={catch.batch}" in catch.code
    assert repeated(catch) == catch.gap
    assert 0.99 < catch.ratio < 1 + 1e-9
    wrong = smaller("quartz-start", 0.99)
    assert hunt(wrong, evaluations=100, seconds=600, seed=3).violates


def test_every_kind_of_problem_is_drawn():
    bound = bounds.named("exact-start")
    rng = np.random.default_rng(0)
    search = hunting._Search(bound, None, None, rng, None, None, None)
    shapes = [search._shape(loss) for loss in search._losses() * 20]
    codes = [shape.code(rng.normal(size=shape.size)) for shape in shapes]
    losses = ("Logistic()", "SquaredHinge()", "LeastSquares()", "Poisson()", "Huber(")
    for part in (*losses, "(Ridge(", "(BoxRidge(", "weights="):
        assert 10 < sum(part in code for code in codes) < 90
    assert 10 < sum(shape.matching for shape in shapes) < 90


def test_edges_are_drawn(monkeypatch):
    """Rows of zeros, batches of all rows in long runs, and N between 1 and 2."""
    monkeypatch.setattr(hunting, "LOCAL", 0)
    bound, rng = bounds.named("sublinear-energy"), np.random.default_rng(0)
    search = hunting._Search(bound, None, None, rng, None, None, None)
    found = list(islice(search.steps(), 100))
    made = [hunting._made(one.shape.code(one.point)) for one in found]
    cubes = [one for one in made if one.n == one.p > 2]
    assert 2 < len(cubes) < 30
    rows = [np.array([problem.rows.row(j) for j in range(problem.n)]) for problem in made]
    degenerate = [(one == 0).all(axis=1).any() for one in rows]
    assert 5 < sum(degenerate) < 50
    assert any(one.shape.batch == one.shape.n and one.shape.steps > 20 for one in found)
    assert any(one.shape.batch < one.shape.n < 2 * one.shape.batch for one in found)


def test_alike_rows_may_be_turned():
    """One variable a row, as in the problem that attains the worst case of Theorem 3.1."""
    shape = hunting._Shape(3, 3, 1, 2, "LeastSquares", "box", True, True, False, False)
    problem = hunting._made(shape.code(np.eye(1, shape.size)[0]))
    rows = np.array([problem.rows.row(j) for j in range(3)])
    np.testing.assert_allclose(rows, np.sinh(1) * np.eye(3), rtol=1e-4)


def test_a_local_search_may_go_to_longer_runs_and_other_sets():
    bound, rng = bounds.named("theorem-3.1-first"), np.random.default_rng(0)
    search = hunting._Search(bound, None, None, rng, None, None, None)
    shape = hunting._Shape(4, 2, 1, 3, "Huber", "box", False, False, False, False)
    shapes = {search._beside(shape) for _ in range(100)}
    assert {one.domain for one in shapes} == {"box", "l1", "ridge", "box ridge"}
    assert {one.steps for one in shapes} == {2, 3, 4}
    assert {replace(one, steps=3, domain="box") for one in shapes} == {shape}
    longest = replace(shape, steps=4)  # 4⁴ sequences are the most
    assert max(search._beside(longest).steps for _ in range(100)) == 4


@pytest.mark.parametrize("name", REFUTED)
def test_what_is_false_is_found(name):
    seed, evaluations = SEEDS.get(name, (1, 150))
    options = OTHER_STEPS.get(name, {})
    catch = hunt(name, evaluations=evaluations, seconds=600, seed=seed, **options)
    assert catch.ratio > 1.2
    assert catch.violates
    assert "is violated" in str(catch)


@pytest.mark.parametrize("name", [b.name for b in BOUNDS if b.verdict is Verdict.PROVED])
def test_nothing_is_found_against_what_is_proved(name):
    catch = hunt(name, evaluations=60, seconds=600)
    assert not catch.violates
    assert catch.ratio > 0.005


@pytest.mark.parametrize(("factor", "violated"), [(0.835, True), (0.85, False)])
def test_a_bound_a_little_too_small_is_found(factor, violated):
    """Of the theorem for quadratic losses this search reaches 0.8422 in 200 evaluations."""
    wrong = smaller("linear-quadratic", factor)
    assert hunt(wrong, evaluations=200, seconds=600, seed=7).violates == violated


def smaller(name, factor):
    bound = bounds.named(name)
    return replace(
        bound, name="mine", verdict=Verdict.CLAIMED,
        value=lambda c, k: factor * bound.value(c, k),
    )  # fmt: skip


@pytest.mark.parametrize(("name", "seed"), [("linear-uniform", 0), ("exact-start", 3)])
def test_one_per_cent_too_small_is_found_where_a_bound_is_attained(name, seed):
    assert hunt(smaller(name, 0.99), evaluations=600, seconds=600, seed=seed).violates


@pytest.mark.parametrize(
    ("name", "small", "seed"),
    [("sublinear-pathwise", 0.2, 4), ("linear-dual", 0.2, 2), ("linear-mean", 0.3, 3)],
)
def test_what_no_run_knows_is_hunted_and_the_code_repeats_it(name, small, seed):
    """A gap above every mean of gaps, and the left sides with D* and E β̄."""
    catch = hunt(smaller(name, small), evaluations=120, seconds=600, seed=seed)
    assert catch.violates
    assert repeated(catch) == catch.gap
    mean = theory.expected_gap(catch.problem, catch.iterations, batch=catch.batch)
    assert catch.gap > mean if name == "sublinear-pathwise" else 0 < catch.gap < mean


def repeated(catch):
    *lines, last = ast.parse(catch.code).body
    names = {}
    exec(compile(ast.Module(lines, []), "code", "exec"), names)
    return eval(ast.unparse(last), names)


def test_the_code_repeats_the_catch_and_so_do_seed_and_evaluations():
    catch = hunt("sublinear-energy", evaluations=40, seconds=600, seed=3)
    assert repeated(catch) == catch.gap
    assert catch.value == catch.bound(catch.problem.constants(catch.batch), catch.iterations)
    again = hunt("sublinear-energy", evaluations=40, seconds=600, seed=3)
    assert (again.code, again.ratio) == (catch.code, catch.ratio)
    assert hunt("sublinear-energy", evaluations=40, seconds=600, seed=4).code != catch.code


class Half(SublinearSchedule):
    """Half of the paper's steps."""

    def step(self, i):
        return super().step(i) / 2


def test_steps_of_ones_own():
    mine = Bound("mine", schedule=Half, value=lambda c, k: 2 * c.prediction_energy)

    def method(problem, batch):
        return RCMD(batch=batch, schedule=Half(problem.n / batch))

    catch = hunt(mine, evaluations=40, seconds=600, method=method)
    assert 0.01 < catch.ratio < 1
    found = theory.expected_gap(
        catch.problem, catch.iterations, method=method(catch.problem, catch.batch)
    )
    assert found == catch.gap
    assert "Half(blocks=" in catch.code


def test_problems_that_a_bound_is_not_about_are_passed_over():
    catch = hunt("linear-quadratic", evaluations=40, seconds=600)
    whole = catch.batch == catch.problem.n
    assert isinstance(catch.problem.loss, LeastSquares) or whole
    with pytest.raises(ValueError, match=r"evaluations is 0 and seconds 60.0; expected at least"):
        hunt("linear-quadratic", evaluations=0)
    shaky = Bound("mine", schedule="linear", value=lambda c, k: 1 / 0)
    with pytest.raises(ValueError, match="'mine' is about none of 5 problems"):
        hunt(shaky, evaluations=5)
    tiny = Bound("mine", value=lambda c, k: 1e-7 * c.prediction_energy)
    with pytest.raises(ValueError, match="'mine' is about none of 5 problems, or too small there"):
        hunt(tiny, evaluations=5)


def test_the_command(capsys, tmp_path, monkeypatch):
    file = tmp_path / "catch.json"
    words = [
        "hunt",
        "theorem-3.2-first",
        "--evaluations",
        "150",
        "--seed",
        "1",
        "--json",
        str(file),
    ]
    assert main(words) == 0  # violated, as is known
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["violated"]
    out = capsys.readouterr().out
    assert written["code"] in out
    assert "hunt theorem-3.2-first --seed 1 --evaluations 150" in out
    monkeypatch.setattr(bounds.Bound, "__call__", lambda bound, c, k: 1e-3 * c.prediction_energy)
    assert main(["hunt", "exact-start", "--evaluations", "60"]) == 1
    assert main(["hunt", "exact-strat"]) == 2
    assert "no bound has this label; near it are exact-start" in capsys.readouterr().err
