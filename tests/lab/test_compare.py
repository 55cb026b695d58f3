import json
import signal
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from small_problems import problem

from rcmd import methods, truth
from rcmd.cli.compare import __doc__ as COMPARE_HELP
from rcmd.cli.main import main
from rcmd.lab import racing
from rcmd.lab.comparison import compare, fit_slope
from rcmd.lab.racing import PLAIN, entrants_of, fitting, value


def small(oracle="l1-ball", n=40):
    return problem("logistic", oracle, n=n)


def test_every_method_has_a_name():
    others = {"Method", "Progress", "NAMED", "method_named"}
    named = {type(methods.method_named(name)).__name__ for name in methods.NAMED}
    assert named == set(methods.__all__) - others
    (entrant,) = entrants_of(["fw:exact"])
    assert entrant.method == methods.FrankWolfe("exact")


def test_unknown_and_repeated_methods_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"'sfv' is unknown; expected one of .*; did you mean sfw"):
        entrants_of(["sfv"])
    with pytest.raises(ValueError, match=r"methods is \[.*each once"):
        entrants_of(["fw", "rcmd", "fw"])


def test_methods_that_do_not_fit_are_told_apart():
    fit, refused = fitting(small(), entrants_of(list(methods.NAMED)), 4, 1000)
    assert set(refused) == {"sdca", "quartz", "apcg"}
    assert len(fit) == len(methods.NAMED) - 3
    assert "strongly convex" in refused["sdca"]
    _, refused = fitting(small(), entrants_of(["rcmd", "svrf"]), 4, 50)
    assert list(refused) == ["svrf"]


def test_curve_of_frank_wolfe_is_that_of_five_lines():
    task, (entrant,) = small(), entrants_of(["fw"])
    limits = {"max_gradients": 20 * task.n, "record_at": range(1, 100)}
    points = entrant.solve(task, 1, tol=0.0, callbacks=[value], **limits).history
    beta, X, y = np.zeros(task.p), task.rows.as_matrix(), task.losses.y
    for k, point in enumerate(points):
        slope = X.T @ (-y / (1 + np.exp(y * (X @ beta)))) / task.n
        atom = np.zeros(task.p)
        i = np.argmax(abs(slope))
        atom[i] = -4.0 * np.sign(slope[i])
        beta += 2 / (k + 2) * (atom - beta)
        primal = np.logaddexp(0, -y * (X @ beta)).mean()
        assert point.own["value"] == pytest.approx(primal, abs=1e-12)
        assert (point.iteration, point.oracle_calls) == (k + 1, k + 1)
        assert point.gradients == (k + 1) * task.n
    assert len(points) == 20
    assert (np.diff(points.column("value")) > 0).any()
    assert all(b.primal <= a.primal for a, b in pairwise(points))


@pytest.mark.parametrize("exponent", [-0.5, -1.0, -2.0])
def test_slope_of_a_power_is_its_exponent(exponent):
    x = np.geomspace(1, 1e4, 60)
    slope = fit_slope([*x, *x], 2 * [*(3 * x**exponent)], noise=0.0)
    assert slope.exponent == pytest.approx(exponent, abs=1e-9)
    assert slope.low >= 1e3
    assert slope.high == pytest.approx(1e4)


def test_slope_leaves_out_the_beginning_and_the_noise():
    x = np.geomspace(1, 1e4, 200)
    y = np.where(x < 50, x**-3.0, 50**-2.0 * (x / 50) ** -1.0 / 50)
    assert fit_slope(x, y, noise=0.0).exponent == pytest.approx(-1, abs=1e-6)
    assert np.polyfit(np.log(x), np.log(y), 1)[0] < -1.3  # what a fit of everything would say
    floor = x**-1.0 + 1e-2
    assert fit_slope(x, floor, noise=0.0).exponent > -0.2
    cut = fit_slope(x, np.where(x < 100, x**-1.0, 9.9e-3), noise=1e-3)
    assert cut.exponent == pytest.approx(-1, abs=1e-6)
    assert cut.high == x[x < 100].max()


def test_no_slope_without_points():
    assert fit_slope([], [], noise=0.0) is None
    assert fit_slope([1, 2, 3], [1.0, 0.5, 0.3], noise=0.0) is None
    assert fit_slope([5] * 6, [1.0] * 6, noise=0.0) is None
    assert fit_slope([1, 2, 3, 4, 5], [-1.0] * 5, noise=0.0) is None


def test_equal_budgets_and_a_best_known_value_that_is_the_optimum():
    task = small()
    entrants = entrants_of(
        ["rcmd", "fw", "away", "sfw", "svrf", "storc", "scgm", "scgs", "sag", "sarah", "online"]
    )
    result = compare(
        task, {e.name: e.method for e in entrants}, batch=4, passes=50, seeds=[5, 6], tol=1e-10
    )
    assert result.best == pytest.approx(truth.solve(task).primal, abs=1e-8)
    assert result.noise <= 1e-10
    for standing in result.standings:
        assert len(standing.curves) == (2 if standing.entrant.method.random else 1)
        for curve in standing.curves:
            assert 1000 < curve[-1].gradients <= 2000
            assert curve.column("value").min() >= result.best
            assert curve[-1].gap >= curve[-1].primal - result.best - 1e-12
    first, second = result.standings[0].curves
    assert first[-1].own != second[-1].own


def test_best_known_value_is_the_least_of_all(monkeypatch):
    task = small()
    found = [compare(task, ["fw"], batch=4, passes=10, seeds=[0], tol=tol) for tol in (0.5, 1e-3)]
    points = [[p.primal for s in r.standings for c in s.curves for p in c] for r in found]
    assert found[0].best <= min(points[0])
    assert found[1].best < min(points[1])  # the run for the best known value beats fw
    honest = racing.solve

    def poor(*arguments, **options):
        result = honest(*arguments, **options)
        return replace(result, certificate=replace(result.certificate, primal=9.0))

    monkeypatch.setattr(racing, "solve", poor)
    result = compare(task, ["fw"], batch=4, passes=10, seeds=[0], tol=1e-3)
    assert result.best == min(points[1])


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = (f"{rng.choice([1, 2])} 1:{a:.3f} 3:{b:.3f}" for a, b in rng.standard_normal((40, 2)))
    path = tmp_path / "tiny"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *words):
    status = main(["compare", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_command_prints_and_writes(capsys, tmp_path, file):
    stored = tmp_path / "all.json"
    options = ("--methods", "rcmd,corrected,fw", "--batch", "4", "--passes", "30", "--seeds", "2")
    status, out, err = run(capsys, file, *options, "--json", stored)
    assert (status, err) == (0, "")
    assert "labels 1 and 2 were mapped" in out
    problem = "n = 40, p = 3, Logistic(), L1Ball(radius=5.0); at most 1,200 gradients"
    assert problem in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    data = json.loads(stored.read_text())
    assert data["seed"] == 0
    assert data["versions"]["numpy"] == np.__version__
    assert data["machine"]["cores"]
    assert data["settings"]["passes"] == 30
    rows = {row["method"]: row for row in data["sections"][0]["rows"]}
    assert list(rows) == ["rcmd", "corrected", "fw"]
    assert [len(rows[name]["curves"]) for name in rows] == [2, 2, 1]
    assert rows["fw"]["gradients"] == 1200
    assert rows["fw"]["excess"] == rows["fw"]["primal"] - data["best_known"]["primal"]
    slope = rows["fw"]["slopes"]["gradients"]
    assert 120 <= slope["low"] < slope["high"] <= 1200
    assert f"{slope['exponent']:.2f}" in out


def test_all_methods_by_default_and_why_some_are_left_out(capsys, file):
    status, out, _ = run(capsys, file, "--passes", "8", "--seeds", "1", "--oracle", "ridge:0.1")
    assert status == 0
    assert "\nsdca " in out
    assert "\napcg " in out
    assert "(left out, away:exact: " in out


def test_help_names_every_method():
    known = COMPARE_HELP.partition("--methods:")[2].replace(",", " ").replace(";", " ").split()
    assert set(methods.NAMED) <= set(known)


def test_an_interrupted_run_is_no_curve():
    def press(point):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        PLAIN.solve(small(), 4, tol=0.0, max_gradients=4000, callbacks=[press])


def test_what_the_command_draws_is_there_in_python():
    pytest.importorskip("matplotlib")
    few = compare(small(), {"mine": methods.RCMD(schedule="head-start"), "fw": "fw:exact"},
                  batch=4, passes=10, seeds=[0, 1])  # fmt: skip
    assert list(few) == ["mine", "fw"]
    assert repr(few).startswith("Comparison(mine, fw; best known P ")
    assert "<pre" in few._repr_html_()
    assert all(name in str(few) for name in ("mine", "fw", "n = 40"))
    axes = few.plot().axes
    assert [one.get_xlabel() for one in axes] == ["gradients", "oracle calls", "seconds"]
    drawn = axes[0].get_lines()[0].get_ydata()
    shown = [point.primal - few.best for point in few["mine"].curves[0]]
    assert drawn.tolist() == pytest.approx(
        [max(value, axes[0].get_ylim()[0] / 10) for value in shown]
    )
    ahead = compare(small(), ["corrected", "fw"], batch=4, passes=60, seeds=[0])
    assert ahead["corrected"].end("primal") == ahead.best
    axes = ahead.plot("gradients").axes[0]
    assert axes.get_lines()[0].get_ydata()[-1] < axes.get_ylim()[0]  # it leaves at the bottom
    assert [one.get_xlabel() for one in few.plot("seconds").axes] == ["seconds"]
    with pytest.raises(ValueError, match="x is 'steps'; expected one of 'gradients'"):
        few.plot("steps")


def test_many_methods_have_a_panel_each_and_one_far_ahead_does_not_flatten_them():
    pytest.importorskip("matplotlib")
    many = compare(small(), batch=4, passes=20, seeds=[0])
    assert set(many.left_out) == {"sdca", "quartz", "apcg"}
    assert {"fw:exact", "away:exact", "pairwise:exact", "bpcg:exact"} < set(many)
    axes = [one for one in many.plot().axes if one.get_visible()]
    assert [one.get_title() for one in axes] == list(many)
    for one in axes:
        assert one.get_legend() is None
        colours = [line.get_color() for line in one.get_lines()]
        assert colours.count("#0072B2") == 1
        low, high = one.get_ylim()
        assert low >= many.noise
        ends = sorted(standing.end("primal") - many.best for standing in many.values())
        assert low <= ends[len(ends) // 2] < high < 1e6 * low


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"methods": "rcmd"}, "methods is 'rcmd'; expected names or methods"),
        ({"methods": [3]}, "methods holds 3; expected names or methods"),
        ({"methods": ["sdca"]}, "sdca: .*strongly convex"),
        ({"passes": 0}, "passes is 0; expected a number above 0"),
        ({"seeds": []}, "seeds is empty"),
    ],
)
def test_bad_comparisons_are_refused(given, told):
    with pytest.raises((TypeError, ValueError), match=told):
        compare(small(), **{"methods": ["rcmd"]} | given)
