"""Estimators give what rcmd.solve gives, and what scikit-learn's own models find."""

import importlib
import pickle
import sys
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("sklearn")
from sklearn import config_context, linear_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import rcmd.sklearn.model
from rcmd import (
    Box,
    GroupL2Ball,
    Huber,
    Hull,
    L1Ball,
    L2Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    SeparableConjugate,
    Simplex,
    SmoothedQuantile,
    StopReason,
    solve,
    truth,
)
from rcmd.sklearn import GSFWClassifier, GSFWRegressor, GSFWRegressorCV
from rcmd.sklearn.model import intercept_bound


def numbers(n: int = 60, p: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, 3.0 + X @ np.linspace(-1.0, 2.0, p) + rng.normal(size=n)


def labels(classes: Any = (-1.0, 1.0)) -> tuple[Any, Any]:
    X, y = numbers()
    cuts = np.quantile(y, np.arange(1, len(classes)) / len(classes))
    return X, np.array(classes)[np.searchsorted(cuts, y)]


ACCURATE: dict[str, Any] = {"tol": 1e-11, "random_state": 0}


def bounded(X: Any, y: Any, loss: Any, oracle: Any, weights: Any = None) -> Problem:
    bound = intercept_bound(Problem(X, y, loss, oracle, weights=weights))
    return Problem(X, y, loss, oracle, weights=weights, intercept=bound)


# The same numbers as rcmd.solve


WEIGHTS = np.tile([0.5, 1.5, 0.25, 1.75], 15)  # of mean 1, as problems have them


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("oracle", ["l1:2", Ridge(0.1)])
def test_a_classifier_is_one_run(oracle: Any, weights: Any) -> None:
    X, y = labels()
    model = GSFWClassifier("logistic", oracle, batch=3, tol=1e-6, random_state=7)
    model.fit(X, y, sample_weight=weights)
    problem = bounded(X, y, Logistic(), L1Ball(2.0) if oracle == "l1:2" else oracle, weights)
    result = solve(problem, batch=3, tol=1e-6, seed=7, max_gradients=1000 * len(y))
    assert model.coef_.tolist() == [result.beta[:-1].tolist()]
    assert model.intercept_.tolist() == [result.beta[-1]]
    assert model.duality_gap_ == result.gap <= 1e-6
    assert model.n_iter_ == np.ceil(result.passes)
    assert model.results_[0].certificate.w.tolist() == result.w.tolist()


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_regressor_is_one_run(weights: Any) -> None:
    X, y = numbers()
    model = GSFWRegressor(Huber(0.5), L1Ball(2.0), batch=0.1, tol=1e-6, random_state=7)
    model.fit(X, y, sample_weight=weights)
    loss, middle = Huber(0.5), np.average(y, weights=weights)
    unit = np.average([loss.value(middle, label) for label in y], weights=weights)
    assert model.result_.options["tol"] == pytest.approx(1e-6 * unit, rel=1e-12)
    options: dict[str, Any] = {"batch": 6, "seed": 7, "max_gradients": 1000 * len(y)}
    result = solve(bounded(X, y, loss, L1Ball(2.0), weights), tol=1e-6 * unit, **options)
    assert model.coef_.tolist() == result.beta[:-1].tolist()
    assert model.intercept_ == result.beta[-1]
    assert model.duality_gap_ == result.gap == model.result_.gap


def test_without_an_intercept() -> None:
    X, y = numbers()
    model = GSFWRegressor(oracle="l1:2", fit_intercept=False, random_state=0).fit(X, y)
    result = solve(
        Problem(X, y, LeastSquares(), L1Ball(2.0)), batch=0.01, tol=1e-4 * (y @ y) / 120, seed=0
    )
    assert model.intercept_ == 0.0
    assert model.coef_.tolist() == result.beta.tolist()


def test_of_three_classes_each_is_fitted_against_the_rest() -> None:
    X, y = labels(classes=("a", "b", "c"))
    model = GSFWClassifier(oracle="l1:3", random_state=3).fit(X, y)
    rng = np.random.default_rng(3)
    for k, name in enumerate("abc"):
        signs = np.where(y == name, 1.0, -1.0)
        options: dict[str, Any] = {"batch": 0.01, "max_gradients": 1000 * len(y), "seed": rng}
        result = solve(bounded(X, signs, Logistic(), L1Ball(3.0)), **options)
        assert model.coef_[k].tolist() == result.beta[:-1].tolist()
        assert model.results_[k].gap == result.gap
    assert model.duality_gap_ == max(result.gap for result in model.results_)
    assert model.decision_function(X).shape == (60, 3)
    assert (model.predict(X) == np.array(list("abc"))[model.decision_function(X).argmax(1)]).all()


@pytest.mark.parametrize("model", [GSFWClassifier, GSFWRegressor])
def test_sparse_features_give_the_same(model: Any) -> None:
    X, y = labels()
    X[abs(X) < 0.5] = 0.0
    dense = model(oracle="l1:2", tol=1e-9, random_state=0).fit(X, y)
    for matrix in (sp.csr_array(X), sp.csc_array(X), sp.csr_matrix(X)):
        sparse = model(oracle="l1:2", tol=1e-9, random_state=0).fit(matrix, y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
        np.testing.assert_allclose(sparse.predict(matrix), dense.predict(X), atol=1e-3)


def test_sparse_features_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    X: Any = sp.random_array((2000, 4000), density=1e-3, format="csr", rng=rng)
    y = rng.choice([-1.0, 1.0], 2000)
    model = GSFWClassifier(oracle="l1:2", tol=1e-2, random_state=0).fit(X, y)  # compiles
    tracemalloc.start()
    model.fit(X, y).predict(X)
    sparse_peak = tracemalloc.get_traced_memory()[1]
    X.toarray()
    dense_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sparse_peak < dense_peak / 10


def test_random_states() -> None:
    X, y = labels()

    def fitted(random_state: Any) -> Any:
        # So loose a tolerance is reached by random steps alone.
        return GSFWClassifier(batch=1, tol=0.1, random_state=random_state).fit(X, y).coef_.tolist()

    assert fitted(5) == fitted(5) != fitted(6)
    assert fitted(np.random.RandomState(5)) == fitted(np.random.RandomState(5))
    state = np.random.RandomState(5)
    assert fitted(state) != fitted(state)
    assert len(fitted(None)[0]) == 5


# The optima of others


@pytest.mark.parametrize("oracle", ["ridge:0.3", "l1-penalty:0.2", "l1:{radius}"])
def test_ridge_and_lasso(oracle: str) -> None:
    X, y = numbers()
    lasso = linear_model.Lasso(alpha=0.2, tol=1e-12)
    other = linear_model.Ridge(alpha=0.3 * len(y)) if oracle == "ridge:0.3" else lasso
    other.fit(X, y)
    radius = abs(other.coef_).sum()
    model = GSFWRegressor(oracle=oracle.format(radius=radius), **ACCURATE).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    assert model.intercept_ == pytest.approx(other.intercept_, abs=1e-4)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-3)
    assert ((model.coef_ == 0) == (other.coef_ == 0)).all()


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("as_ball", [False, True])
def test_logistic_regression(norm: int, as_ball: bool) -> None:
    X, y = labels(classes=("no", "yes"))
    strength, n = 0.05, len(y)
    other = linear_model.LogisticRegression(
        C=1 / (strength * n), l1_ratio=2.0 - norm, solver="saga", tol=1e-10, max_iter=10**5
    ).fit(X, y)
    radius = np.linalg.norm(other.coef_[0], norm)
    penalty = "l1-penalty" if norm == 1 else "ridge"
    oracle = f"l{norm}:{radius}" if as_ball else f"{penalty}:{strength}"
    model = GSFWClassifier(oracle=oracle, **ACCURATE).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(model.predict_log_proba(X), other.predict_log_proba(X), atol=1e-3)
    assert (model.predict(X) == other.predict(X)).all()
    assert (model.classes_ == other.classes_).all()


def test_squared_hinge() -> None:
    X, y = labels()
    n, strength = len(y), 0.1
    # Theirs is twice ours: (1 − ys)₊² against half of it.
    other = LinearSVC(C=1 / (2 * n * strength), dual=False, fit_intercept=False, tol=1e-10)
    model = GSFWClassifier("squared-hinge", Ridge(strength), fit_intercept=False, **ACCURATE)
    np.testing.assert_allclose(model.fit(X, y).coef_, other.fit(X, y).coef_, atol=1e-4)


# The tolerance of a regressor is in units of the labels


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_training_r2_is_within_the_tolerance(scale: float) -> None:
    X, y = numbers()
    model = GSFWRegressor(oracle=L1Ball(2.0 * scale), tol=1e-3, random_state=0).fit(X, scale * y)
    best = GSFWRegressor(oracle=L1Ball(2.0), tol=1e-12, random_state=0).fit(X, y)
    assert best.score(X, y) - 1e-3 <= model.score(X, scale * y) <= best.score(X, y) + 1e-9
    assert model.duality_gap_ <= 1e-3 * scale**2 * y.var() / 2


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_labels_that_are_all_the_same(constant: float) -> None:
    X, _ = numbers()
    model = GSFWRegressor(tol=1e-6, random_state=0).fit(X, np.full(len(X), constant))
    np.testing.assert_allclose(model.predict(X), constant, atol=1e-2)


def test_a_missed_tolerance_is_said() -> None:
    X, y = numbers()
    words = (
        r"1 of 1 fit\(s\) used up max_iter = 1 passes over the data; the largest certified gap is "
        r"[\d.e+-]+, above what tol = 1e-09 asks for: raise one of them, or scale the data"
    )
    model = GSFWRegressor(tol=1e-9, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=words) as told:
        model.fit(X, y)
    assert told[0].filename == __file__
    assert model.n_iter_ == 1
    assert model.duality_gap_ > 1e-9


def test_interrupting_a_run_interrupts_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        return replace(solve(*arguments, **options), stop=StopReason.INTERRUPTED)

    monkeypatch.setattr(rcmd.sklearn.model, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        GSFWRegressor(tol=1e-2).fit(*numbers())


# Intercepts


INTERCEPT_CASES = [
    (LeastSquares(), L1Ball(2.0), 0.0),
    (LeastSquares(), Ridge(0.1), 50.0),
    (Huber(0.1), Simplex(3.0), -20.0),
    (SmoothedQuantile(0.9, 0.1), Box(0.0, 2.0), 5.0),
    (Logistic(), L1Ball(4.0), None),
]


@pytest.mark.parametrize(("loss", "oracle", "shift"), INTERCEPT_CASES)
def test_a_wider_interval_changes_no_optimum(loss: Any, oracle: Any, shift: Any) -> None:
    X, y = numbers(40, 3)
    y = np.where(y > 5.0, 1.0, -1.0) if shift is None else y + shift
    weights = np.linspace(0.5, 1.5, len(y))
    near = bounded(X, y, loss, oracle, weights)
    bound: Any = near.intercept
    assert np.log2(bound) % 1 == 0
    wide = truth.solve(Problem(X, y, loss, oracle, weights=weights, intercept=100 * bound))
    assert abs(wide.beta[-1]) <= bound
    assert truth.solve(near).primal == pytest.approx(wide.primal, rel=1e-6)
    held_back = abs(wide.beta[-1]) / 2
    narrow = truth.solve(Problem(X, y, loss, oracle, weights=weights, intercept=held_back))
    assert narrow.primal > wide.primal * (1 + 1e-4), "the comparison must notice a narrow interval"


def test_the_bound_is_the_least_power_of_two() -> None:
    # Constant predictions in [1, 3] and labels 9: an optimal intercept lies in [6, 8].
    X, y = np.array([[1.0], [1.0]]), np.array([9.0, 9.0])
    assert intercept_bound(Problem(X, y, LeastSquares(), Box(1.0, 3.0))) == 8.0
    assert intercept_bound(Problem(X, y, LeastSquares(), Box(0.75, 3.0))) == 16.0
    assert intercept_bound(Problem(X, y / 1024, LeastSquares(), Box(0.0, 1e-3))) == 2.0**-6


class Falling(LeastSquares):
    def derivative(self, s: Any, y: Any) -> Any:
        return -1.0


def test_a_loss_that_falls_for_ever_has_no_intercept() -> None:
    falling = Problem(*numbers(), Falling(), L1Ball(1.0), verify=False)
    with pytest.raises(ValueError, match="falls as the intercept grows without end; expected one"):
        intercept_bound(falling)


# Weights


def thirds(counts: Any) -> list[Any]:
    """Folds of rows that are repeated so often, with all copies of a row in one fold."""
    fold = np.arange(len(counts)).repeat(counts) % 3
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]


@pytest.mark.parametrize("oracle", ["l1:2", "l1-penalty:0.05", "ridge:0.1"])
@pytest.mark.parametrize("name", rcmd.sklearn.__all__)
def test_weights_are_counts(name: str, oracle: str) -> None:
    X, y = labels()
    counts, once = np.random.default_rng(1).integers(0, 4, len(y)), np.ones(len(y), dtype=int)

    def fitted(repeats: Any, weights: Any = None) -> Any:
        own = {"values": [0.5, 0.1], "cv": thirds(repeats)} if name.endswith("CV") else {}
        model = getattr(rcmd.sklearn, name)(oracle=oracle, **own, **ACCURATE)
        return model.fit(X.repeat(repeats, 0), y.repeat(repeats), sample_weight=weights)

    plain, weighted, repeated = fitted(once), fitted(once, 2.5 * counts), fitted(counts)
    for of in ["coef_", "intercept_", *(["scores_", "value_"] if name.endswith("CV") else [])]:
        np.testing.assert_allclose(getattr(weighted, of), getattr(repeated, of), atol=1e-4)
    assert abs(plain.coef_ - weighted.coef_).max() > 1e-2, "the weights must matter here"


def test_weights_that_are_alike_say_nothing() -> None:
    X, y = labels()
    plain = GSFWClassifier(random_state=0).fit(X, y)
    alike = GSFWClassifier(random_state=0).fit(X, y, sample_weight=np.full(len(y), 0.3))
    assert alike.coef_.tolist() == plain.coef_.tolist()


def test_class_weights() -> None:
    X, y = labels(classes=("a", "b", "c"))
    keep = (y != "a") | (np.arange(len(y)) % 3 == 0)
    X, y = X[keep], y[keep]
    weights = {"a": 2.0, "b": 1.0, "c": 0.5}
    model = GSFWClassifier(class_weight=weights, **ACCURATE).fit(X, y)
    same = GSFWClassifier(**ACCURATE).fit(X, y, sample_weight=[weights[label] for label in y])
    assert model.coef_.tolist() == same.coef_.tolist()
    shares = {name: len(y) / (y == name).sum() for name in "abc"}
    balanced = GSFWClassifier(class_weight="balanced", **ACCURATE).fit(X, y)
    same = GSFWClassifier(class_weight=shares, **ACCURATE).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, same.coef_, atol=1e-5)


def test_a_class_without_weight_is_no_class() -> None:
    X, y = labels(classes=("a", "b", "c"))
    model = GSFWClassifier(random_state=0).fit(X, y, sample_weight=(y != "b") * 1.0)
    assert model.classes_.tolist() == ["a", "c"]
    assert model.coef_.shape == (1, 5)


# Probabilities


def test_probabilities_of_three_classes() -> None:
    X, y = labels(classes=(7, 8, 9))
    model = GSFWClassifier(random_state=0).fit(X, y)
    each = 1 / (1 + np.exp(-model.decision_function(X)))
    expected = each / each.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    far = model.predict_log_proba(1e4 * X)
    assert np.isfinite(far).all()
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0)


def test_probabilities_need_the_logistic_loss() -> None:
    for loss in ("logistic", Logistic()):
        assert hasattr(GSFWClassifier(loss), "predict_proba")
    model = GSFWClassifier("squared-hinge").fit(*labels())
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError) as fault:
        model.predict_proba(labels()[0])
    assert "need the logistic loss, while loss is 'squared-hinge'" in str(fault.value.__cause__)


# Parameters


def test_fields_of_parts_are_parameters() -> None:
    model = GSFWRegressor("huber:0.5", "l1:5")
    params = model.get_params()
    assert params["oracle__radius"] == 5.0
    assert params["loss__width"] == 0.5
    assert model.set_params(**params).get_params(deep=False)["oracle"] == "l1:5"
    model.set_params(oracle__radius=2.0, tol=1e-2)
    assert (model.loss, model.oracle, model.tol) == ("huber:0.5", L1Ball(2.0), 1e-2)
    model.set_params(oracle=L2Ball(1.0), oracle__radius=3.0)
    assert model.oracle == L2Ball(3.0)
    assert not any("__" in name for name in GSFWRegressor("hubris", 3).get_params())


@pytest.mark.parametrize(
    ("oracle", "key", "words"),
    [
        ("l1:5", "oracle__size", "oracle__size is no parameter while oracle is 'l1:5'; expected o"),
        ("group-l2:2:1", "oracle__radius", "oracle is 'group-l2:2:1'; expected only oracle itself"),
        ("l1:5", "orakel", "Invalid parameter 'orakel'"),
    ],
)
def test_unknown_parameters_are_refused(oracle: str, key: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GSFWRegressor(oracle=oracle).set_params(**{key: 1.0})


@pytest.mark.parametrize(
    "oracle", ["group-l2:2:3", L1Ball(2.0), Hull(np.eye(5)), GroupL2Ball([0, 0, 1, 1, 1], 2.0)]
)
@pytest.mark.parametrize("loss", ["logistic", SeparableConjugate.from_expression("(s - y)**2/2")])
def test_clones_and_pickles_are_the_same_model(loss: Any, oracle: Any) -> None:
    X, y = labels()
    model = GSFWClassifier(loss, oracle, random_state=0)
    model.set_params(**model.get_params())
    twin = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert twin.coef_.tolist() == model.coef_.tolist() == again.coef_.tolist()
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.results_[0].gap == model.duality_gap_


def test_grid_search_in_a_pipeline() -> None:
    X, y = labels(classes=("no", "yes"))
    pipeline = make_pipeline(StandardScaler(), GSFWClassifier(oracle="l1:1", random_state=0))
    radii = [0.01, 1.0, 5.0]
    grid = {"gsfwclassifier__oracle__radius": radii}
    search = GridSearchCV(pipeline, grid, n_jobs=2, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_ == {"gsfwclassifier__oracle__radius": 5.0}
    assert search.best_estimator_[-1].oracle == L1Ball(5.0)
    scores = search.cv_results_["mean_test_score"]
    by_name = GridSearchCV(
        make_pipeline(StandardScaler(), GSFWClassifier(random_state=0)),
        {"gsfwclassifier__oracle": [f"l1:{radius}" for radius in radii]},
        cv=3,
        scoring="neg_log_loss",
    ).fit(X, y)
    assert by_name.cv_results_["mean_test_score"].tolist() == scores.tolist()


# Refusals


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"loss": "logit"}, ValueError, r"loss 'logit' is unknown; did you mean logistic"),
        ({"oracle": "nuclear:auto:1"}, ValueError, "SHAPE is auto, but the data are 5 features"),
        ({"oracle": 5.0}, TypeError, r"oracle is 5\.0; expected a LinearMinOracle"),
        ({"tol": -1.0}, ValueError, r"tol is -1\.0; expected a number ≥ 0"),
        ({"max_iter": 0}, ValueError, "max_iter is 0; expected a positive whole number of passes"),
        ({"batch": 61}, ValueError, "batch is 61; expected between 1 and n = 60 rows"),
        ({"class_weight": {-1.0: 0.0}}, ValueError, "expected a positive number for each class"),
    ],
)
def test_parameters_are_refused_in_fit(changes: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        GSFWClassifier(**changes).fit(*labels())


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), r"sample_weight has shape \(3,\); expected \(60,\), one number for each row"),
        (-np.ones(60), r"sample_weight holds -1\.0; expected numbers ≥ 0"),
        (np.full(60, np.nan), r"sample_weight holds nan at position \(0,\); expected finite"),
        (np.zeros(60), "sample_weight is zero throughout; expected a positive weight somewhere"),
        (["heavy"] * 60, "sample_weight has dtype <U5; expected real numbers"),
    ],
)
def test_weights_are_refused(weights: Any, words: str) -> None:
    for model, (X, y) in ((GSFWClassifier(), labels()), (GSFWRegressor(), numbers())):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y, sample_weight=weights)


def test_labels_are_refused() -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match=r"y holds one class only, .*1\.0.*, among samples of pos"):
        GSFWClassifier().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match=r"the logistic loss expects -1 and \+1"):
        GSFWRegressor("logistic").fit(X, y)


def test_without_scikit_learn_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("rcmd.sklearn")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as fault:
        importlib.import_module("rcmd.sklearn")
    assert str(fault.value) == (
        "rcmd.sklearn needs scikit-learn, which is not installed: pip install 'rcmd-opt[sklearn]'"
    )


def test_an_offset_is_added_where_a_model_fits_predicts_and_scores() -> None:
    rng = np.random.default_rng(0)
    X, offset = rng.standard_normal((40, 3)), 5 * rng.standard_normal(40)
    target = X @ [1.0, -1.0, 0.0] + 0.1 * rng.standard_normal(40)
    plain = GSFWRegressor(oracle="l1:1.5", random_state=0).fit(X, target)
    moved = GSFWRegressor(oracle="l1:1.5", random_state=0).fit(X, target + offset, offset=offset)
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-7)
    np.testing.assert_allclose(moved.predict(X, offset=offset), plain.predict(X) + offset)
    assert moved.score(X, target + offset, offset=offset) > 0.98
    swept = GSFWRegressorCV(oracle="l1:1", values=[0.1, 1.5], random_state=0, cv=2)
    assert swept.fit(X, target + offset, offset=offset).scores_.min() > 0.9
    signs = np.where(X[:, 0] + offset > 0, 1, 0)
    model = GSFWClassifier(oracle="l1:9", random_state=0).fit(X, signs, offset=offset)
    assert model.score(X, signs, offset=offset) == 1.0 > model.score(X, signs)
    with pytest.raises(ValueError, match=r"offset has shape \(3,\); expected \(40,\)"):
        moved.predict(X, offset=offset[:3])
    with pytest.raises(ValueError, match="offset is given while scoring is 'r2'"):
        swept.set_params(scoring="r2").fit(X, target, offset=offset)


def test_an_offset_is_routed() -> None:
    rng = np.random.default_rng(0)
    X, offset = rng.standard_normal((40, 3)), 5 * rng.standard_normal(40)
    with config_context(enable_metadata_routing=True):
        model = GSFWRegressor(oracle="l1:2").set_fit_request(offset=True)
        model = model.set_score_request(offset=True)
        found = cross_validate(model, X, X[:, 0] + offset, cv=2, params={"offset": offset})
    assert found["test_score"].min() > 0.999
