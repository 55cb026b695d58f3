"""The method in the pages against rcmd, iterate by iterate, also after what readers change."""

import contextlib
import io
import json
import math
from functools import cache

import numpy as np
import pytest

from rcmd import (
    RCMD,
    EuclideanProx,
    ExactProx,
    L1Ball,
    L2Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    SeparableConjugate,
    iterate,
)
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.model import bounds
from rcmd.model.constants import Constants
from rcmd.model.schedules import LinearSchedule, SublinearSchedule
from rcmd.oracles import Hull

ATAN = "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2"
LOSSES = {
    "log(1 + exp(-y*s))": Logistic,
    "softplus(-y*s)": Logistic,
    "(s - y)**2/2": LeastSquares,
    ATAN: lambda: SeparableConjugate.from_expression(ATAN),
}
CORNERS = [[2.0, 0.5, 0.0], [-1.0, 1.0, 1.0], [0.0, -2.0, 0.3], [0.5, 0.5, -2.0]]
SETS = {
    "SETS.l1(2)": L1Ball(2.0),
    "SETS.l2(1.5)": L2Ball(1.5),
    f"SETS.hull({CORNERS})": Hull(CORNERS),
    "SETS.ridge(0.3, 2)": Ridge(0.3, 2.0),
}
CASES = [
    *[("sublinear", loss, "SETS.l1(2)", b) for loss in LOSSES for b in (1, 4)],
    *[("sublinear", "(s - y)**2/2", where, 2) for where in SETS if "ridge" not in where],
    *[(kind, loss, "SETS.ridge(0.3, 2)", b)
      for kind in ("linear", "exact", "euclidean") for loss in LOSSES for b in (1, 5)],
]  # fmt: skip
STEPS = 40
NOTED = {"s": "s", "w": "w", "d": "d", "beta": "beta_average", "wAverage": "w_average"}
BOUND = {"sublinear": "sublinear-energy", "linear": "linear-energy", "exact": "exact-start"}

loss_of = cache(lambda text: LOSSES[text]())


def data(n=7):
    rng = np.random.default_rng(5)
    return rng.uniform(-1, 1, size=(n, 3)).round(3), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def in_the_page(browser, kind, loss, where, batches, X, y, own=None):
    """What the page's run notes after each step."""
    options = {"kind": kind, "batch": len(batches[0]), "batches": batches, "own": own}
    name = BOUND.get(kind)
    return browser.evaluate(
        f"""(() => {{
        const problem = new Problem({{X: {json.dumps(X.tolist())}, y: {json.dumps(y.tolist())},
          loss: {json.dumps(loss)}, set: {where}}});
        const run = new Run(problem, {json.dumps(options)});
        return record(run, {len(batches)}, () => ({{
          ...Object.fromEntries({json.dumps(list(NOTED))}.map((name) => [name, [...run[name]]])),
          gap: run.i ? run.gap() : null,
          bound: run.i && {json.dumps(name)} ? run.bound({json.dumps(name)}) : null,
        }})).slice(1);
        }})()"""
    )


def by_rcmd(problem, method, steps=STEPS):
    times = range(1, steps + 1)
    return list(iterate(problem, method=method, tol=0, max_iterations=steps, record_at=times))


def problem_of(X, y, loss, oracle):
    """A problem whose spectral energy is right to rounding; rcmd's own has 1e-9 to spare."""
    problem = Problem(X, y, loss, oracle)
    problem.spectral_energy = problem.losses.gammas[0] * np.linalg.norm(X, 2) ** 2
    return problem


def gap_of(problem, state, averaged):
    """Of the pair that the theorem speaks about."""
    w = state.w_average if averaged else state.w
    return float(problem.primal(state.beta_average) - problem.dual(w))


def check_iterates(shown, states, averaged=True):
    assert len(shown) == len(states) > 0
    for here, state in zip(shown, states, strict=True):
        for ours, theirs in NOTED.items():
            np.testing.assert_allclose(
                here[ours], getattr(state, theirs), rtol=1e-12, atol=1e-12, err_msg=ours
            )
        gap = gap_of(state.problem, state, averaged)
        assert here["gap"] == pytest.approx(gap, rel=1e-10, abs=1e-12)


@pytest.fixture(scope="module")
def engine(browser, pages):
    """The browser with a page whose script the tests call."""
    browser.open(pages / "equivalence.html", 1280)
    return browser


@pytest.mark.parametrize(("kind", "loss", "where", "b"), CASES)
def test_the_page_takes_the_steps_of_the_reference_engine(engine, kind, loss, where, b):
    X, y = data()
    batches = UniformSampler(len(y), b, np.random.default_rng(2)).draw(STEPS).tolist()
    problem = problem_of(X, y, loss_of(loss), SETS[where])
    prox = {"exact": ExactProx(), "euclidean": EuclideanProx()}.get(kind)
    schedule = SublinearSchedule(len(y) / b) if kind == "euclidean" else None
    method = RCMD(prox=prox, schedule=schedule, sampler=Replay(batches), engine="reference")
    shown = in_the_page(engine, kind, loss, where, batches, X, y)
    check_iterates(shown, by_rcmd(problem, method), kind in ("sublinear", "euclidean"))
    if kind in BOUND:
        constants = problem.constants(b)
        known = {name: getattr(constants, name) for name in Constants.__dataclass_fields__}
        half = Constants(**{**known, "bregman_radius": 1e300})  # V = E/2
        for t, here in enumerate(shown, start=1):
            uniform = 2 * float(constants.prediction_energy) if kind != "sublinear" else math.inf
            expected = min(bounds.named(BOUND[kind])(half, t), uniform)
            assert here["bound"] == pytest.approx(expected, rel=1e-7)
            assert here["bound"] >= bounds.best(constants, t, kind)[1] * (1 - 1e-7)


def test_a_step_of_ones_own(engine):
    class Own(LinearSchedule):
        def step(self, i):
            return 0.5 / (i + 1) ** 0.5

    X, y = data()
    batches = UniformSampler(len(y), 2, np.random.default_rng(3)).draw(STEPS).tolist()
    problem = problem_of(X, y, Logistic(), SETS["SETS.ridge(0.3, 2)"])
    schedule = Own(len(y) / 2, problem.constants(2).sigma)
    method = RCMD(schedule=schedule, sampler=Replay(batches), engine="reference")
    shown = in_the_page(
        engine, "linear", "softplus(-y*s)", "SETS.ridge(0.3, 2)", batches, X, y,
        own="0.5/sqrt(i + 1)",
    )  # fmt: skip
    check_iterates(shown, by_rcmd(problem, method), averaged=False)


FORMULAS = [
    *LOSSES, "exp(s) - y*s", "sqrt(1 + (s - y)**2) - 1", "logcosh(s - y)",
    "cosh(s)/3 - tanh(y)*s", "asinh(s)*s - .5e0*s**2*-1", "1 + 2*-s**2**1*-3/log1p(y)",
    "(s + y)/(2 + exp(s))",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_slopes_are_those_of_differences_in_many_digits(engine, text):
    import mpmath

    plain = ("exp", "log", "sqrt", "atan", "cosh", "tanh", "asinh")
    names = {name: getattr(mpmath, name) for name in plain}
    names["softplus"] = lambda u: mpmath.log(1 + mpmath.exp(u))
    names["logcosh"] = lambda u: mpmath.log(mpmath.cosh(u))
    names["log1p"] = lambda u: mpmath.log(1 + u)
    code = compile(text, "formula", "eval")
    with mpmath.workdps(40):
        for s in (-1.7, 0.0, 0.4, 3.0):
            f = lambda u: eval(code, names, {"s": u, "y": mpmath.mpf(1)})  # noqa: E731
            expected = [float(mpmath.diff(f, mpmath.mpf(s), k)) for k in range(3)]
            jet = engine.evaluate(f"formula({json.dumps(text)}, ['s', 'y'])({s}, 1)")
            assert jet == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alert(s)", "“alert” is not known; expected a formula in s, y"),
        ("s.constructor", "“.” was not expected"),
        ("constructor(s)", "“constructor” is not known"),
        ("(s - y**2", "“)” is missing"),
        ("s +", "the formula ends too early"),
        ("exp s", "“exp” needs its “(”"),
        ("", "the formula ends too early"),
    ],
)
def test_a_formula_runs_nothing_and_says_what_is_wrong(engine, text, words):
    with pytest.raises(RuntimeError) as refusal:
        engine.evaluate(f"formula({json.dumps(text)}, ['s', 'y'])")
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [("-(s - y)**2", "expected a convex loss"), ("sqrt(s*s)", "expected a smooth loss")],
)  # fmt: skip
def test_what_is_no_loss_is_refused(engine, text, words):
    with pytest.raises(RuntimeError, match=words):
        engine.evaluate(f"new Loss({json.dumps(text)}).gamma(1, 2)")


@pytest.mark.parametrize("b", [1, 2, 5])
def test_every_batch_is_equally_likely(engine, b):
    """Chi-square over all batches of five rows, 20,000 draws, at the level 1e-6."""
    from scipy.stats import chi2

    counts = engine.evaluate(
        f"""(() => {{ const next = random(7), counts = {{}};
        for (let k = 0; k < 20000; k++) {{
          const key = subset(next, 5, {b}).sort().join(); counts[key] = (counts[key] ?? 0) + 1; }}
        return counts; }})()"""
    )
    assert len(counts) == math.comb(5, b)
    expected = 20000 / len(counts)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert statistic <= chi2.ppf(1 - 1e-6, max(len(counts) - 1, 1))


# ---- what the reader changes ---------------------------------------------------------------------


def put(browser, name, value):
    """Set a control as a reader would."""
    field = f"controls.elements[{json.dumps(name)}]"
    browser.evaluate(
        f"{field}.value = {json.dumps(value)}; "
        "controls.dispatchEvent(new Event('input', {bubbles: true})); 0"
    )


def drag(browser, place, dx, dy):
    """Drag a point by so many pixels."""
    knob = f"document.querySelectorAll('.grip')[{place}].querySelector('.knob')"
    x, y = browser.evaluate(
        f"(r => [r.x + r.width / 2, r.y + r.height / 2])({knob}.getBoundingClientRect())"
    )
    steps = [("mousePressed", 0, 0), ("mouseMoved", dx / 2, dy / 2), ("mouseMoved", dx, dy)]
    for kind, u, v in [*steps, ("mouseReleased", dx, dy)]:
        at = {"x": x + u, "y": y + v, "button": "left", "buttons": 1, "clickCount": 1}
        browser.call("Input.dispatchMouseEvent", type=kind, **at)


def program(browser):
    """What the program of the page, as it stands, leaves behind."""
    code = browser.evaluate("document.getElementById('program').textContent")
    assert "{" not in code.replace("{...}", "") or '{"' in code, code
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "page", "exec"), names)
    return names, said.getvalue()


def check_the_two_algorithms(browser):
    names, _ = program(browser)
    shown = browser.evaluate(
        "frames.slice(1).map(f => ({s: [...f.s], w: [...f.w], d: [...f.d], beta: [...f.beta], "
        "wAverage: [...f.wAverage], gap: f.primal - f.dual}))"
    )
    check_iterates(shown, names["dual"])
    assert browser.evaluate("frames.at(-1).worst") < 1e-12
    return shown


def test_rows_corners_loss_and_batch_are_changed(browser, pages):
    browser.open(pages / "equivalence.html", 1280)
    seen = [check_the_two_algorithms(browser)]

    def changed():
        seen.append(check_the_two_algorithms(browser))
        assert seen[-1] != seen[-2]
        assert browser.evaluate("alarm.textContent") == ""

    put(browser, "n", "4")
    put(browser, "b", "2")
    changed()
    assert len(seen[-1][0]["s"]) == 4
    before = browser.evaluate("[...state.corners, ...state.rows]")
    drag(browser, 0, -60, -40)  # a corner
    drag(browser, 5, 30, 50)  # x₂
    after = browser.evaluate("[...state.corners, ...state.rows]")
    assert [k for k in range(8) if before[k] != after[k]] == [0, 5]
    unit = browser.evaluate("6.6 / (figures[0].querySelector('.frame').getBBox().width)")
    assert np.allclose(np.subtract(after[0], before[0]), [-60 * unit, 40 * unit], atol=6e-3)
    changed()
    put(browser, "seed", "3")
    changed()
    put(browser, "loss", "(s - y)**2/2")
    changed()
    put(browser, "loss", "s**3")
    assert "expected a convex loss" in browser.evaluate("alarm.textContent")
    assert browser.troubles == []


def test_the_race_is_run_with_a_step_of_ones_own(browser, pages):
    """The page's data, in rcmd: the same rows give the same gaps, at all three steps."""
    browser.open(pages / "race.html", 1280)
    for name, value in (("n", "20"), ("b", "4"), ("own", "1/(1 + sqrt(i))")):
        put(browser, name, value)
    assert browser.evaluate("alarm.textContent") == ""
    assert browser.evaluate("frames.at(-1)") == 1000 * 20 // 4
    curves = browser.evaluate(
        "Object.fromEntries(Object.entries(frames.curves).map(([k, v]) => [k, [...v]]))"
    )
    X, y = (np.array(browser.evaluate(f"frames.problem.{name}"), dtype=float) for name in "Xy")
    batches = browser.evaluate(
        "(() => { const next = random(1); return span(60).map(() => subset(next, 20, 4)); })()"
    )

    class Own(LinearSchedule):
        def step(self, i):
            return 1 / (1 + i**0.5)

    problem = problem_of(X, y, Logistic(), Ridge(0.01, 10.0))
    constants = problem.constants(4)
    methods = {
        "paper": RCMD(sampler=Replay(batches), engine="reference"),
        "exact": RCMD(prox=ExactProx(), sampler=Replay(batches), engine="reference"),
        "own": RCMD(
            schedule=Own(5.0, constants.sigma), sampler=Replay(batches), engine="reference"
        ),
    }
    times = [t for t in browser.evaluate("[...frames]") if t <= 60]
    for name, method in methods.items():
        states = by_rcmd(problem, method, 60)
        for time, shown in zip(times, curves[name], strict=False):
            state = states[time - 1]
            gap = problem.primal(state.beta_average) - problem.dual(state.w)
            assert shown["gap"] == pytest.approx(float(gap), rel=1e-9, abs=1e-12)
            assert shown["passes"] == pytest.approx(time / 5)
            if name != "own":
                assert shown["bound"] >= bounds.best(
                    constants, time, {"paper": "linear"}.get(name, name)
                )[1] * (1 - 1e-9)
    put(browser, "own", "2")
    assert (
        browser.evaluate("alarm.textContent")
        == "your step is 2 at i = 0; expected numbers from 0 to 1"
    )


def test_the_race_in_python_is_a_program(browser, pages):
    browser.open(pages / "race.html", 1280)
    for name, value in (("n", "10"), ("b", "10"), ("own", "1/sqrt(sigma)")):
        put(browser, name, value)
    names, _ = program(browser)  # all rows in each step: nothing is drawn
    history = names["result"].history
    shown = browser.evaluate("pairs([...frames], frames.curves.own.map((one) => one.gap))")
    known = dict(zip(history.column("iteration"), history.column("gap"), strict=True))
    for time, gap in shown:
        if time in known and gap > 1e-12:
            assert known[time] <= gap * (1 + 1e-6)


def test_all_sequences_are_run(browser, pages):
    browser.open(pages / "the-bound.html", 1280)
    for change in (lambda: None, lambda: put(browser, "b", "2"), lambda: drag(browser, 1, 40, -30)):
        change()
        browser.evaluate("slider.value = 2; slider.oninput(); 0")
        names, _ = program(browser)
        shown = browser.evaluate("[...frames[2].gaps]")
        assert shown == pytest.approx(sorted(names["gaps"]), rel=1e-9)
        constants = names["problem"].constants(int(browser.evaluate("state.b")))
        bound = browser.evaluate("frames[2].bound")
        assert bound == pytest.approx(bounds.named("sublinear-energy")(constants, 3), rel=1e-9)
        expected = browser.evaluate("frames[2].mean")
        assert expected == pytest.approx(np.mean(shown))
        assert expected <= bound


@pytest.mark.parametrize(
    "changes", [{}, {"b": "5"}, {"b": "8", "alike": "0.4", "own": "0.9/(i + 1)"}]
)
def test_batches_need_their_own_sigma(browser, pages, changes):
    browser.open(pages / "mini-batch.html", 1280)
    for name, value in changes.items():
        put(browser, name, value)
    names, _ = program(browser)
    shown = browser.evaluate(
        "Object.values(frames.runs).map(run => run.slice(1).map(one => one.gap))"
    )
    for gaps, states in zip(shown, names["runs"], strict=True):
        primal, dual = names["problem"].primal, names["problem"].dual
        expected = [float(primal(state.beta_average) - dual(state.w)) for state in states]
        assert gaps == pytest.approx(expected, rel=1e-7, abs=1e-12)
    published, corrected, _ = shown
    bound = browser.evaluate("frames.runs.corrected.slice(1).map(one => one.bound)")
    proved = bounds.named("linear-quadratic")
    assert bound == pytest.approx([proved(names["constants"], t) for t in range(1, 31)], rel=1e-7)
    if not changes:
        assert published[-1] > published[0] > 1
        assert corrected[-1] < 1e-10
        assert (np.array(corrected) <= bound).all()


def test_three_geometries(browser, pages):
    browser.open(pages / "two-geometries.html", 1280)
    for change in (lambda: None, lambda: put(browser, "b", "2"), lambda: drag(browser, 0, -20, 30)):
        change()
        names, _ = program(browser)
        for kind, states in zip(("conjugate", "Euclidean", "exact"), names["runs"], strict=True):
            shown = browser.evaluate(
                f"frames.runs.{kind}.slice(1).map(one => [[...one.w], one.gap])"
            )
            for (w, gap), state in zip(shown, states, strict=True):
                np.testing.assert_allclose(w, state.w, rtol=1e-7, atol=1e-9)
                expected = gap_of(names["problem"], state, kind == "Euclidean")
                assert gap == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_the_picture_is_filled_in_as_by_rcmd(browser, pages):
    browser.open(pages / "matrix-completion.html", 1280)
    before = browser.evaluate("frames.at(-1).hidden")
    for change in (lambda: None, lambda: drag(browser, 0, 70, 30)):
        change()
        browser.evaluate("slider.value = 12; slider.oninput(); 0")
        names, said = program(browser)
        lines = np.array([line.split() for line in said.splitlines()], dtype=float)
        shown = browser.evaluate(
            "[...frames].slice(0, 13).map(one => [one.hidden, one.known, one.gap])"
        )
        np.testing.assert_allclose(shown, lines, rtol=1e-6)
        if change is not None and before == browser.evaluate("frames.at(-1).hidden"):
            norm = np.linalg.norm(names["picture"], "nuc")
            assert browser.evaluate("frames.radius") == pytest.approx(norm, rel=1e-9)
    assert browser.evaluate("frames.at(-1).hidden") != before  # a square was drawn


@pytest.mark.parametrize("text", [ATAN, "log(1 + exp(-y*s))"])
def test_a_new_loss_and_its_conjugate(browser, pages, text):
    browser.open(pages / "new-loss.html", 1280)
    put(browser, "loss", text)
    put(browser, "b", "100")  # nothing is drawn
    names, _ = program(browser)
    loss, s = names["loss"], names["s"]
    w, value, conjugate, rest, gamma = browser.evaluate(
        "page.show(frames, slider.valueAsNumber, state).numbers.slice(0, 5)"
    )
    assert [w, value] == pytest.approx([loss.derivative(s, 1.0), loss.value(s, 1.0)], rel=1e-12)
    assert conjugate == pytest.approx(loss.conjugate(w, 1.0), rel=1e-12)
    assert abs(rest) < 1e-12
    assert gamma == pytest.approx(loss.gamma, rel=1e-9)
    gap = browser.evaluate("frames.seen.at(-1)[1]")
    assert names["result"].history.column("pair_gap")[-1] == pytest.approx(gap, rel=1e-9)


def test_the_substitute_gradient_is_that_of_rcmd(browser, pages):
    browser.open(pages / "substitute-gradient.html", 1280)
    for name, value in (("n", "40"), ("b", "40"), ("radius", "2")):
        put(browser, name, value)
    _, said = program(browser)  # all rows in each step: nothing is drawn
    shown = browser.evaluate(
        "[...frames].map(one => [one.steps, norm(one.g), norm(one.d), one.rest])"
    )
    known = {line.split()[0]: line.split()[1:] for line in said.splitlines()}
    same = [[steps, *own] for steps, *own in shown if str(steps) in known]
    assert len(same) >= 3
    for steps, *own in same:
        np.testing.assert_allclose(own, np.array(known[str(steps)], dtype=float), rtol=1e-9)
