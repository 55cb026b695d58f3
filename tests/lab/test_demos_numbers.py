"""The numbers of the teaching pages against computations of their own."""

from math import comb, exp, log

import numpy as np
import pytest
from demo_pages import column, page_named, read
from enumeration import levels, mean
from scipy.special import xlogy

from rcmd import EuclideanProx, L1Ball, LeastSquares, Problem
from rcmd.lab.demos import new_loss, substitute_gradient, the_bound, two_geometries
from rcmd.lab.demos.page import Frame, Scene
from rcmd.model.schedules import SublinearSchedule


def track_of(frame: Frame, panel: int, trace: int) -> np.ndarray:
    """A trace that the frame sets, as points."""
    data = frame.changes[panel][trace]
    return np.array([data["x"], data["y"]]).T


def track(scene: Scene, panel: int, trace: int) -> np.ndarray:
    """A trace of the last frame, as points."""
    return track_of(scene.frames[-1], panel, trace)


# equivalence


def test_the_two_algorithms_differ_by_rounding():
    assert read(column(page_named("equivalence").scenes[()], 6)[-1]) < 1e-12


def test_the_drawn_paths_are_those_of_algorithm_1_written_out():
    X, y, steps = np.array([[2.0, 0.5], [0.3, 1.2]]), np.array([1.0, -1.0]), 40
    rows = np.random.default_rng(0).integers(2, size=steps)
    s, beta = np.zeros(2), np.zeros(2)
    betas, ws = [beta], [-y / (1 + np.exp(y * s))]
    averages = ws.copy()
    for i, j in enumerate(rows):
        d = X.T @ ws[-1] / 2
        corner = np.zeros(2)
        corner[abs(d).argmax()] = -3.0 * np.sign(d[abs(d).argmax()])
        eta, alpha = 4 / (5 + i), 2 * (4 + i) / ((i + 1) * (8 + i))
        s[j] = (1 - eta) * s[j] + eta * X[j] @ corner
        betas.append((1 - alpha) * betas[-1] + alpha * corner)
        averages.append((1 - alpha) * averages[-1] + alpha * ws[-1])
        ws.append(-y / (1 + np.exp(y * s)))
    scene = page_named("equivalence").scenes[()]
    assert np.allclose(track(scene, 0, 5), betas, rtol=1e-5)
    assert np.allclose(track(scene, 1, 3), ws, rtol=1e-5)
    for frame, beta, w in zip(scene.frames, betas, averages, strict=True):
        assert np.allclose(track_of(frame, 1, 6), [w], rtol=1e-5)
        primal = np.logaddexp(0, -y * (X @ beta)).mean()
        dual = -3 * abs(X.T @ w / 2).max() - xlogy(-y * w, -y * w).mean()
        dual -= xlogy(1 + y * w, 1 + y * w).mean()
        shown = [read(number) for number in frame.readouts[3:6]]
        assert np.allclose(shown, [primal, dual, primal - dual], rtol=1e-2)


# the substitute gradient


def test_both_gradients_and_their_angle():
    problem, states = substitute_gradient.run()
    X = np.array([problem.rows.row(j) for j in range(problem.n)])
    y, last = problem.losses.y, states[-1]
    d = X.T @ (-y / (1 + np.exp(y * last.s))) / problem.n
    g = X.T @ (-y / (1 + np.exp(y * (X @ last.beta_average)))) / problem.n
    cosine = d @ g / np.linalg.norm(d) / np.linalg.norm(g)
    scene = page_named("substitute-gradient").scenes[("1",)]
    norms = [read(shown) for shown in scene.frames[-1].readouts[1:4]]
    expected = [np.linalg.norm(g), np.linalg.norm(d), np.linalg.norm(d - g)]
    assert np.allclose(norms, expected, rtol=2e-2)
    assert read(column(scene, 4)[-1]) == pytest.approx(np.degrees(np.arccos(cosine)), rel=2e-2)


def test_the_angle_falls_and_that_of_one_row_does_not():
    scene = page_named("substitute-gradient").scenes[("1",)]
    own, single = ([read(shown) for shown in column(scene, place)] for place in (4, 5))
    assert own[-1] < 0.25 * own[0]
    assert single[-1] > 0.9 * single[0]


# the bound


def test_every_expectation_is_under_the_bound():
    for (n, b), scene in page_named("the-bound").scenes.items():
        for t, frame in enumerate(scene.frames, start=1):
            sequences, expected, bound, ratio, low, high = frame.readouts
            assert int(sequences) == comb(int(n), int(b)) ** t
            assert read(low) <= read(expected) * 1.01
            assert read(expected) <= read(high) * 1.01
            assert read(expected) <= read(bound)
            assert read(ratio.removesuffix(" times")) >= 1.0


@pytest.mark.parametrize(("n", "b"), [(2, 1), (3, 2)])
def test_the_expectation_is_that_of_the_tree_of_runs(n, b):
    gaps, bound = the_bound.run(n, b, 3)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(n, 2))
    problem = Problem(X, X @ [0.7, -0.4], LeastSquares(), L1Ball(2.0))
    tree = levels(problem, SublinearSchedule(n / b), b, 3)
    expected = [mean(path.gap(averaged=True) for path in paths) for paths in tree]
    assert np.allclose(gaps.mean(axis=0), expected, rtol=1e-12)
    largest, blocks = 2.0 * abs(X).max(), n / b
    for k in range(3):  # D_max of the squared loss is the mean of M_j²/2
        radius = (2.0 * abs(X).max(axis=1)) @ (2.0 * abs(X).max(axis=1)) / (2 * n)
        first = 8 * blocks * largest**2 / (4 * blocks + k)
        second = 2 * blocks * (2 * blocks - 1) * radius / ((4 * blocks + k) * (k + 1))
        assert bound[k] == pytest.approx(first + second, rel=1e-12)


def test_the_shares_are_those_of_the_sequences():
    gaps, _ = the_bound.run(3, 1, 5)
    for i, frame in enumerate(page_named("the-bound").scenes["3", "1"].frames):
        at, share = track_of(frame, 1, 0).T
        assert np.allclose(share, [(gaps[:, i] <= x * (1 + 1e-5)).mean() for x in at])


# mini-batches


def test_with_all_rows_the_published_rule_diverges_and_the_corrected_one_keeps_its_bound():
    scene = page_named("mini-batch").scenes[("10",)]
    columns = [[read(shown) for shown in column(scene, place)] for place in (2, 3, 4)]
    published, corrected, bound = columns
    assert published[-1] > 10 * published[0]
    assert min(published) > 1.0
    assert corrected[-1] < 1e-10
    assert all(gap <= most for gap, most in zip(corrected, bound, strict=True))


@pytest.mark.parametrize(("rule", "sigma"), [(0, 1 + 1 / 6.5), (1, 1 + 10 / 6.5)])
def test_all_rows_at_once_are_one_number(rule, sigma):
    s, path = 0.0, [-1.0]
    for _ in range(30):
        s += (np.clip((1.0 - s) / 0.65, -4.0, 4.0) - s) / sigma
        path.append(s - 1.0)
    drawn = track(page_named("mini-batch").scenes[("10",)], 0, 2 + rule)
    assert np.allclose(drawn[:, 0], path, rtol=1e-5)


def test_one_row_at_a_time_both_rules_are_the_theorems_own():
    scene = page_named("mini-batch").scenes[("1",)]
    assert column(scene, 2) == column(scene, 3)
    assert column(scene, 0) == column(scene, 1)


# prox functions


def test_the_distances_are_those_of_the_formulas():
    scene = page_named("two-geometries").scenes[("0.2",)]
    w = np.array(scene.drawings[1].traces[0]["x"])
    current = track(scene, 1, 3)[0][0]
    entropy = -w * np.log(-w / -current) + (1 + w) * np.log((1 + w) / (1 + current))
    drawn = [np.array(scene.frames[-1].changes[1][place]["y"], dtype=float) for place in (0, 1)]
    assert np.allclose(drawn[0], entropy, atol=2e-4)
    assert np.allclose(drawn[1], (w - current) ** 2 / (2 * 0.25), atol=2e-4)


def test_the_gaps_are_certified_and_fall():
    _, runs = two_geometries.run()
    scene = page_named("two-geometries").scenes[("0.2",)]
    for place, states in enumerate(runs.values()):
        shown = [read(gap) for gap in column(scene, place)[1:]]
        assert np.allclose(shown, [state.certificate.gap for state in states], rtol=1e-2)
        assert shown[-1] < 0.01 * shown[0]


def test_for_the_squared_loss_two_of_the_three_are_the_same():
    prox, loss = EuclideanProx(), LeastSquares()
    for w, s, y in [(0.3, -1.0, 0.5), (2.0, 0.1, -1.0)]:
        euclidean = prox.divergence(loss, w, s, y, 1.0)
        assert euclidean == pytest.approx(loss.fenchel_young(s, w, y), rel=1e-12)


# matrix completion


def test_the_picture_and_its_errors():
    scene = page_named("matrix-completion").scenes[("30%",)]
    picture, holes = (np.array(scene.drawings[i].traces[0]["z"], dtype=float) for i in (0, 1))
    seen = ~np.isnan(holes)
    assert 0.25 < seen.mean() < 0.35
    assert (holes[seen] == picture[seen]).all()
    for frame in (scene.frames[0], scene.frames[-1]):
        wrong = np.array(frame.changes[2][0]["z"]) - picture
        for place, where in ((1, ~seen), (2, seen)):
            error = np.sqrt((wrong[where] ** 2).mean())
            assert read(frame.readouts[place]) == pytest.approx(error, abs=0.01)
    assert read(column(scene, 1)[-1]) < 0.4 * read(column(scene, 1)[0])


# a new loss


def test_the_derived_loss_is_the_one_by_hand():
    scene = page_named("new-loss").scenes[("arc tangent",)]
    for frame in scene.frames:
        s = read(frame.label.removeprefix("s = "))
        w, value, conjugate, rest = (read(shown) for shown in frame.readouts[:4])
        assert w == pytest.approx(np.arctan(s - 1), rel=1e-2)
        r = s - 1
        assert value == pytest.approx(r * np.arctan(r) - log(1 + r * r) / 2, rel=1e-3, abs=1e-9)
        by_hand = np.arctan(r) - log(np.cos(np.arctan(r)))
        assert conjugate == pytest.approx(by_hand, rel=1e-3, abs=1e-9)
        assert abs(rest) < 1e-12
        assert frame.readouts[4:6] == ("1.00 (proved)", "closed form")


def test_the_run_with_it_is_certified_under_the_bound():
    loss, report, result = new_loss.run()
    assert report.ok
    assert result.success
    assert result.gap <= 1e-3
    line = page_named("new-loss").scenes[("arc tangent",)].drawings[3].traces
    assert (np.array(line[1]["y"]) <= np.array(line[0]["y"])).all()
    assert loss.derivative(3.0, 1.0) == pytest.approx(np.arctan(2.0), rel=1e-14)


def test_the_other_losses_are_theirs():
    frame = page_named("new-loss").scenes[("logistic",)].frames[-1]
    assert read(frame.readouts[0]) == pytest.approx(-1 / (1 + exp(4.0)), rel=1e-2)
    assert frame.readouts[4] == "0.250 (proved)"
