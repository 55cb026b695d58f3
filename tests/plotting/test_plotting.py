"""Figures: what is drawn is what was found, and everything written on them can be read."""

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from guards import some
from small_problems import problem

from rcmd import (
    RCMD,
    Box,
    L1Ball,
    LeastSquares,
    MatrixEntries,
    NuclearBall,
    Problem,
    Result,
    SmoothedHinge,
    path,
    plotting,
    solve,
)
from rcmd.methods import NAMED
from rcmd.model.bounds import Bound
from rcmd.plotting import Line, Panel, drawn
from rcmd.plotting.figures import _corrections
from rcmd.plotting.panels import STYLE
from rcmd.solver.history import History


@pytest.fixture(scope="module")
def task():
    return problem("logistic", "l1-ball", n=40)


@pytest.fixture(scope="module")
def result(task):
    return solve(task, batch=4, tol=1e-8)


@pytest.fixture(scope="module")
def figure(result):
    return result.plot()


@pytest.fixture(scope="module")
def plain(task):
    return solve(task, batch=4, tol=1e-2, method="rcmd")


def changed(result, *rows):
    return Result(result.certificate, History(rows), result.stop, result.note)


def words(figure):
    """Everything written on a figure, with the box it takes."""
    figure.draw_without_rendering()
    texts = [t for t in figure.findobj(matplotlib.text.Text) if t.get_visible() and t.get_text()]
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts]
    outside = {  # ticks beyond the ends of an axis are made and never shown
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    return [pair for pair, text in zip(boxes, texts, strict=True) if id(text) not in outside]


def check_readable(figure):
    """Nothing leaves the figure, nothing overlaps; returns all that is written."""
    frame = figure.bbox
    found = words(figure)
    for text, box in found:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= frame.x1 + 1 and box.y1 <= frame.y1 + 1
        assert inside, f"{text!r} leaves the figure"
    for (one, a), (other, b) in combinations(found, 2):
        apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
        assert apart, f"{one!r} and {other!r} overlap"
    return {text for text, _ in found}


# ---- panels ------------------------------------------------------------------------------------


def test_figures_without_matplotlib_are_refused(monkeypatch, tmp_path, result):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for refused in (lambda: plotting.check_plot(tmp_path / "a.png"), result.plot):
        with pytest.raises(ValueError, match=r"need matplotlib: pip install 'rcmd-opt\[plot\]"):
            refused()


def test_figure_has_a_look_for_each_name_and_leaves_out_what_has_no_logarithm():
    lines = [
        Line("one", [0, 1, 10], [1.0, 1.0, 0.1]),
        Line("two", [1, 10, 100, 1000], [1.0, 0.5, -1e-17, math.inf]),
        Line("one", [1, 10], [1.0, 0.2]),
        Line("three", [1], [0.0]),
        Line("four", [1, 2], [math.nan, math.nan]),
    ]
    panels = [Panel("a", "x", lines, "y", levels=[1e-5]), Panel("b", "x", lines[:2], "y")]
    figure = drawn(panels, columns=2)
    left, right = figure.axes
    xs = [list(map(int, line.get_xdata())) for line in left.get_lines()[:3]]
    assert xs == [[1, 10], [1, 10], [1, 10]]
    first, other, again = left.get_lines()[:3]
    assert first.get_color() == again.get_color() != other.get_color()
    assert again.get_linewidth() < first.get_linewidth()
    assert left.get_xscale() == left.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]
    assert (left.get_ylabel(), right.get_ylabel()) == ("y", "")
    check_readable(figure)


def test_every_entrant_has_a_look_of_its_own():
    lines = [Line(name, [1, 2], [1.0, 0.5]) for name in NAMED]
    figure = drawn([Panel("", "x", lines, "y")] * 3, columns=3)
    looks = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].get_lines()}
    assert len(looks) == len(NAMED)
    check_readable(figure)


def one_panel(*lines, **look):
    return drawn([Panel("", "x", [Line(*line) for line in lines], "y", **look)], columns=1)


def test_the_check_of_overlaps_sees_them():
    figure = one_panel(("a", [1, 10], [1, 10]))
    check_readable(figure)
    figure.axes[0].text(0.5, 0.5, "one over the other", transform=figure.axes[0].transAxes)
    figure.axes[0].text(0.52, 0.5, "the other", transform=figure.axes[0].transAxes)
    with pytest.raises(AssertionError, match="overlap"):
        check_readable(figure)
    figure.axes[0].texts[-1].set(position=(1.8, 0.5), in_layout=False)
    with pytest.raises(AssertionError, match="leaves the figure"):
        check_readable(figure)


def test_ticks_of_counts_are_whole_and_short_logarithmic_axes_have_some():
    figure = one_panel(("n", [1, 2, 3, 4], [0, 1, 1, 2]), log="")
    check_readable(figure)
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_yticks())
    shown = check_readable(one_panel(("n", [2, 12], [3e-7, 8e-7])))
    assert {"2", "5", "10"} <= shown
    assert any("times 10^{-7}" in text for text in shown)
    one_power = check_readable(one_panel(("n", [150, 6000], [1, 2])))
    assert {"200", "500", "1000", "2000", "5000"} <= one_power


# ---- runs --------------------------------------------------------------------------------------


def test_run_is_the_history(plain):
    values, gap = plain.plot().axes
    history = plain.history
    for line, column in zip(values.get_lines(), ("primal", "dual"), strict=True):
        assert np.array_equal(line.get_xdata(), history.column("gradients"))
        assert np.array_equal(line.get_ydata(), history.column(column))
    certified, pair, bound = gap.get_lines()
    assert np.array_equal(certified.get_ydata(), history.column("gap"))
    assert np.array_equal(pair.get_ydata(), history.column("pair_gap"), equal_nan=True)
    assert np.array_equal(bound.get_ydata(), history.column("bound"), equal_nan=True)


def test_columns_and_bounds_of_ones_own(task):
    claim = Bound("my$claim", value=lambda c, k: 9.0 / (k + 1))
    options = {"tol": 0.0, "max_iterations": 400, "method": "rcmd", "bounds": [claim]}
    found = solve(task, callbacks=lambda s: {"support": (s.beta_average != 0).sum()}, **options)
    figure = found.plot()
    assert r"my\$claim, claimed" in check_readable(figure)
    (*_, line) = figure.axes[1].get_lines()
    assert np.array_equal(line.get_ydata(), found.history.column("my$claim"))
    assert line.get_linestyle() == "--"
    alone = found.plot(y="support", x="iterations")
    ((line,),) = (axes.get_lines() for axes in alone.axes)
    assert np.array_equal(line.get_ydata(), found.history.column("support"))
    assert np.array_equal(line.get_xdata(), found.history.column("iteration"))
    assert alone.axes[0].get_ylabel() == "support"
    with pytest.raises(ValueError, match="history has no column 'rank'"):
        found.plot(y="rank")


def test_no_bound_is_drawn_across_corrections(plain):
    rows = list(plain.history)
    rows[3] = replace(rows[3], phase="corrective", pair_gap=math.nan, bound=math.nan)
    for line in some(changed(plain, *rows).plot().axes[1].get_lines()[1:]):
        assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [3]
        assert np.array_equal(line.get_xdata(), plain.history.column("gradients"))


def test_corrections_are_set_apart_from_the_last_step_on(result, figure, plain):
    steps = [row for row in result.history if row.phase == "plain"]
    expected = (steps[-1].gradients, result.history[-1].gradients, "corrections")
    assert _corrections(result.history, "gradients") == expected
    assert _corrections(plain.history, "gradients") is None
    assert "corrections" in check_readable(figure)
    assert "corrections" not in check_readable(plain.plot())


@pytest.mark.parametrize("x", ["iterations", "oracle_calls", "seconds"])
def test_runs_against_everything_spent(plain, x):
    figure = matplotlib.figure.Figure()
    axes = figure.subplots()
    plain.plot(x, axes)
    column = "iteration" if x == "iterations" else x
    assert np.array_equal(axes.get_lines()[0].get_xdata(), plain.history.column(column))
    assert axes.get_xlabel() == x.replace("_", " ")


def test_runs_that_have_no_place_on_logarithmic_axes(plain):
    rows = list(plain.history)
    first = replace(rows[0], primal=math.inf, dual=-math.inf, gap=math.inf, bound=math.inf)
    last = replace(rows[-1], gap=0.0, gradients=9999)
    figure = changed(plain, first, *rows[1:], last).plot()
    assert len(figure.axes[1].get_lines()[0].get_xdata()) == len(rows) - 1
    assert "gap 0 from x = 9999 on" in check_readable(figure)
    nothing = changed(plain, replace(rows[0], gap=0.0, pair_gap=0.0, bound=math.nan)).plot()
    assert not nothing.axes[1].get_lines()
    check_readable(nothing)
    check_readable(changed(plain, rows[0]).plot())


def test_runs_of_fractions():
    X = np.array([[F(1), F(0)], [F(0), F(1)]], dtype=object)
    exact = Problem(X, [F(7, 12), F(7, 12)], LeastSquares(), Box(F(-1), F(1)))
    found = solve(exact, tol=0, max_iterations=6, record_at=range(1, 7))
    figure = found.plot(x="iterations")
    assert figure.axes[1].get_lines()[0].get_ydata()[-1] == float(found.gap)
    check_readable(figure)
    check_readable(plotting.duals(exact, found))


def test_runs_side_by_side(result, plain):
    figure = plotting.compare({"with corrections": result, "plain $": [plain, plain]})
    (axes,) = figure.axes
    one, other, again = axes.get_lines()
    assert np.array_equal(one.get_ydata(), result.history.column("gap"))
    assert other.get_color() == again.get_color() != one.get_color()
    assert {"with corrections", r"plain \$"} <= check_readable(figure)
    many = {f"method number {i} with a long name": plain for i in range(12)}
    check_readable(plotting.compare(many, x="seconds"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], "expected a dictionary with a Result for each name"),
        ({"a": 3.0}, r"results\['a'\] is 3.0; expected a Result"),
    ],
)
def test_what_is_no_result_is_refused(given, words, result):
    with pytest.raises((TypeError, ValueError), match=words):
        plotting.compare(given)
    with pytest.raises(ValueError, match="x is 'epochs'; expected one of 'gradients', 'iterat"):
        result.plot(x="epochs")


def test_somebody_elses_axes_and_settings_are_left_alone(result, task):
    before = dict(matplotlib.rcParams)
    figure = matplotlib.figure.Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert result.plot(axes=left) is figure
    assert plotting.duals(task, result, axes=right) is figure
    assert len(left.get_lines()) == 1
    check_readable(figure)
    assert left.xaxis.label.get_fontfamily() == before["font.family"]
    assert dict(matplotlib.rcParams) == before
    assert STYLE["font.family"] != before["font.family"][0]


def test_pyplot_is_never_touched():
    code = (
        "import sys; from rcmd import plotting\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plotting.coefficients([1.0], [[2.0]])._repr_png_()\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- files -------------------------------------------------------------------------------------


def test_text_stays_text_and_the_same_figure_is_the_same_file(tmp_path):
    line = ("certified gap", [1, 10], [1.0, 0.1])
    figure = one_panel(line)
    for name in ("one.svg", "one.pdf"):
        figure.savefig(tmp_path / name)
    one_panel(line).savefig(tmp_path / "other.svg")
    svg = (tmp_path / "one.svg").read_text()
    assert svg == (tmp_path / "other.svg").read_text()
    assert ">certified gap</text>" in svg
    pdf = (tmp_path / "one.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    assert figure._repr_png_().startswith(b"\x89PNG")


# ---- paths -------------------------------------------------------------------------------------


def test_paths_show_coefficients_and_supports(task):
    found = path(task, [0.5, 4.0, 2.0], tol=1e-6)
    figure = found.plot()
    check_readable(figure)
    coefficients, support = figure.axes
    betas = found.betas[[0, 2, 1]]
    drawn_lines = {tuple(line.get_ydata()) for line in coefficients.get_lines()}
    for column in betas.T:
        assert not column.any() or tuple(column) in drawn_lines
    (counted,) = support.get_lines()
    assert list(counted.get_ydata()) == list((betas != 0).sum(axis=1))
    assert coefficients.get_xlabel() == "radius"


def test_the_largest_coefficients_have_names():
    betas = np.zeros((2, 30))
    betas[1] = np.linspace(-1.5, 1.4, 30)
    figure = plotting.coefficients([1, 100], betas, names=[f"gene {i}$" for i in range(30)])
    named = {text for text in check_readable(figure) if text.startswith("gene")}
    order = np.argsort(-abs(betas[1]), kind="stable")[:7]
    assert named == {rf"gene {i}\$" for i in order}
    assert figure.axes[0].get_xscale() == "log"
    check_readable(plotting.coefficients([1.0], np.zeros((1, 3))))
    with pytest.raises(ValueError, match="x has 1 and betas 2 entries"):
        plotting.coefficients([1], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="names has 2 entries; expected 3"):
        plotting.coefficients([1, 2], np.zeros((2, 3)), names=["a", "b"])


def test_matrices_show_singular_values_and_ranks():
    rng = np.random.default_rng(0)
    i, k = np.divmod(rng.permutation(48)[:40], 6)
    y = np.outer(rng.normal(size=8), rng.normal(size=6))[i, k]
    completion = Problem(MatrixEntries(i, k, (8, 6)), y, LeastSquares(), NuclearBall((8, 6), 1.0))
    found = path(completion, [0.5, 1.0], tol=1e-2, batch=40)
    figure = found.plot()
    check_readable(figure)
    first = found[-1].beta.copy().singular_values()[0]
    assert figure.axes[0].get_lines()[0].get_ydata()[-1] == pytest.approx(first)


# ---- dual variables ----------------------------------------------------------------------------


def test_dual_variables_of_signs_are_folded_into_one_curve(task, result):
    figure = plotting.duals(task, result)
    assert {r"$y\,w$", r"rows in order of $y\,w$ (%)"} <= check_readable(figure)
    points, curve = figure.axes[0].get_lines()[:2]
    margins = task.losses.y * task.rows.matvec(result.beta)
    order = np.argsort(margins)
    assert np.allclose(points.get_xdata(), margins[order])
    assert np.allclose(curve.get_ydata(), -1 / (1 + np.exp(curve.get_xdata())))
    assert curve.get_xdata()[[0, -1]] == pytest.approx(margins[order][[0, -1]])
    levels = sorted(line.get_ydata()[0] for line in figure.axes[0].get_lines()[2:])
    assert levels == [-1.0, 0.0]


def test_support_vectors_are_counted_and_weights_divided_out():
    X, y = np.array([[3.0], [-3.0], [-0.1]]), np.array([1.0, -1.0, -1.0])
    hinge = Problem(X, y, SmoothedHinge(0.5), Box(-1.0, 1.0), weights=[1.0, 2.0, 5.0])
    found = solve(hinge, method=RCMD(batch=3, engine="reference"), tol=1e-9)
    figure = plotting.duals(hinge, found)
    assert "2 of 3 at 0, 1 at an end of dom $l^*$" in check_readable(figure)
    assert min(figure.axes[0].get_lines()[0].get_ydata()) == -1.0
    for duals, said in (
        ([-1e-7, -1 + 1e-7, -1 + 1e-5], "1 of 3 at 0, 1 at an end"),
        ([-1e-5, -0.5, -1 + 1e-7], "0 of 3 at 0, 1 at an end"),
    ):
        pair = replace(found.certificate, w=y * duals * [1.0, 2.0, 5.0])
        (_, in_order) = plotting.duals(hinge, replace(found, certificate=pair)).axes
        assert in_order.texts[0].get_text().startswith(said)


def test_large_data_are_thinned_and_wrong_ones_refused(task, result):
    rng = np.random.default_rng(0)
    large = Problem(rng.normal(size=(3000, 2)), rng.normal(size=3000), LeastSquares(), L1Ball(1.0))
    found = solve(large, batch=300, tol=1e-1)
    points = plotting.duals(large, found).axes[0].get_lines()[0]
    assert len(points.get_xdata()) == 2000
    residuals = large.rows.matvec(found.beta) - large.losses.y
    assert points.get_xdata()[0] == residuals.min()
    assert points.get_xdata()[-1] == residuals.max()
    with pytest.raises(ValueError, match="result has 3000 dual variables; expected 40"):
        plotting.duals(task, found)


@pytest.mark.parametrize("offset", [False, True])
def test_a_slope_that_depends_on_the_label_has_a_curve_for_some(offset):
    """Of Poisson's exp(s) − y the residual says nothing alone; points used to be joined up."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y, o = rng.poisson(np.exp(X @ [0.5, -0.3])), rng.uniform(-0.3, 0.3, 60) if offset else None
    task = Problem(X, y, "poisson", "l1:1", offset=o)
    figure = plotting.duals(task, solve(task, tol=1e-8))
    check_readable(figure)
    points, *curves = figure.axes[0].get_lines()
    assert len(curves) == 3
    names = [text.get_text() for text in figure.legends[0].get_texts()][1:]
    for line, label, name in zip(curves, (y.min(), np.sort(y)[30], y.max()), names, strict=True):
        assert name.endswith(f"$y={label:g}$")
        assert line.get_ydata() == pytest.approx(np.exp(line.get_xdata() + label) - label)
    for place, value in zip(points.get_xdata(), points.get_ydata(), strict=True):
        gaps = [abs(np.exp(place + label) - label - value) for label in np.unique(y)]
        assert min(gaps) < 1e-3  # at the optimum every point is on the curve of its own label


def test_an_early_dual_value_does_not_flatten_the_primal_ones(plain):
    first, *rows = plain.history
    P, D = (plain.history.column(name).astype(float) for name in ("primal", "dual"))
    low, high = changed(plain, replace(first, dual=-50.0), *rows).plot().axes[0].get_ylim()
    assert -50 < low < D[-1] < P.max() < high
    assert high - low < 4 * (P.max() - D[-1])
    level = D[-1] - 1.9 * (P.max() - D[-1])
    low, high = changed(plain, replace(first, dual=level), *rows).plot().axes[0].get_ylim()
    assert low < level  # nothing is cut off that leaves room


def test_a_bound_of_one_record_is_no_curve(result):
    plain = [row for row in result.history if row.phase == "plain"][:1]
    rest = [row for row in result.history if row.phase != "plain"]
    assert rest
    figure = changed(result, *plain, *rest).plot()
    names = {text.get_text() for text in figure.legends[0].get_texts()}
    assert names == {r"$P(\beta)$", "$D(w)$", "certified gap"}
