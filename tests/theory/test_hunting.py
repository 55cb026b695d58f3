"""The hunt finds what is false, nothing against what is proved, and the same thing twice."""

import ast
import json

import pytest

from proofs_check.__main__ import OTHER_STEPS, main
from rcmd import RCMD, LeastSquares, theory
from rcmd.model import bounds
from rcmd.model.bounds import Bound, Verdict
from rcmd.model.schedules import SublinearSchedule
from rcmd.theory import hunt

SEEDS = {"remark-3.4-second": (1, 300), "linear-start": (1, 300)}
"""Where one of few evaluations is enough; by default 1 and 150."""

GAPS = [b for b in bounds.all_bounds() if not b.dual_only and b.schedule != "quartz"]
"""``hunt`` runs RCMD; all sequences of Quartz's steps are in tests/methods/test_methods_dual.py."""
REFUTED = [bound.name for bound in GAPS if bound.verdict is Verdict.REFUTED]


@pytest.mark.parametrize("name", REFUTED)
def test_what_is_false_is_found(name):
    seed, evaluations = SEEDS.get(name, (1, 150))
    options = OTHER_STEPS.get(name, {})
    catch = hunt(name, evaluations=evaluations, seconds=600, seed=seed, **options)
    assert catch.ratio > 1.2
    assert catch.violates
    assert "is violated" in str(catch)


@pytest.mark.parametrize("name", [b.name for b in GAPS if b.verdict is Verdict.PROVED])
def test_nothing_is_found_against_what_is_proved(name):
    catch = hunt(name, evaluations=60, seconds=600)
    assert not catch.violates
    assert catch.ratio > 0.005


@pytest.mark.parametrize(("factor", "violated"), [(0.87, True), (0.88, False)])
def test_a_bound_a_little_too_small_is_found(factor, violated):
    """Of the theorem for quadratic losses this search reaches 0.8703 in 200 evaluations."""
    theorem = bounds.named("linear-quadratic")
    wrong = Bound(
        "mine", schedule="linear", only=theorem.only,
        value=lambda c, k: factor * theorem.value(c, k),
    )  # fmt: skip
    assert hunt(wrong, evaluations=200, seconds=600, seed=3).violates == violated


def test_the_code_repeats_the_catch_and_so_do_seed_and_evaluations():
    catch = hunt("sublinear-energy", evaluations=40, seconds=600, seed=3)
    *lines, last = ast.parse(catch.code).body
    names = {}
    exec(compile(ast.Module(lines, []), "code", "exec"), names)
    assert eval(ast.unparse(last), names) == catch.gap
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
    assert main(["hunt", "exact-energy", "--evaluations", "60"]) == 1
    assert main(["hunt", "exact-energi"]) == 2
    assert "no bound has this label; near it are exact-energy" in capsys.readouterr().err
