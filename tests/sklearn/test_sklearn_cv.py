"""Sweeps over radii and strengths: the scores, the choice, the certificates."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from threadpoolctl import threadpool_limits

from rcmd import Box, L1Ball, Ridge
from rcmd.sklearn import GSFWClassifier, GSFWClassifierCV, GSFWRegressor, GSFWRegressorCV
from rcmd.sklearn.cross_validation import Sweep

RADII = [0.3, 4.0, 1.0]


def data(classes: Any = None, n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = 3.0 + X @ np.array([1.0, -1.0, 0.5, 0.0]) + rng.normal(size=n)
    if classes is None:
        return X, y
    cuts = np.quantile(y, np.arange(1, len(classes)) / len(classes))
    return X, np.array(classes)[np.searchsorted(cuts, y)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [None, ("no", "yes"), (1, 2, 3)])
def test_scores_are_those_of_single_fits(classes: Any, weighted: bool) -> None:
    X, y = data(classes)
    weights = np.random.default_rng(1).integers(0, 3, len(y)) * 1.0 if weighted else None
    kind: Any
    kind, one, score = GSFWClassifierCV, GSFWClassifier, accuracy_score
    if classes is None:
        kind, one, score = GSFWRegressorCV, GSFWRegressor, r2_score
    cv: Any = KFold(3, shuffle=True, random_state=0)
    model = kind(oracle="l1:1", values=RADII, cv=cv, tol=1e-10, random_state=0)
    model.fit(X, y, sample_weight=weights)
    expected = np.zeros((3, 3))
    for fold, (train, test) in enumerate(cv.split(X)):
        counts = [None, None] if weights is None else [weights[train], weights[test]]
        for place, radius in enumerate(RADII):
            single = one(oracle=L1Ball(radius), tol=1e-10, random_state=0)
            single.fit(X[train], y[train], sample_weight=counts[0])
            found = single.predict(X[test])
            expected[fold, place] = score(y[test], found, sample_weight=counts[1])
    np.testing.assert_allclose(model.scores_, expected, atol=1e-4)
    best = RADII[expected.mean(axis=0).argmax()]
    assert (model.value_, model.oracle_) == (best, L1Ball(best))
    assert model.values_.tolist() == RADII
    last = one(oracle=model.oracle_, tol=1e-10, random_state=0).fit(X, y, sample_weight=weights)
    assert model.coef_.tolist() == last.coef_.tolist()
    assert model.duality_gap_ == last.duality_gap_
    assert model.predict(X).tolist() == last.predict(X).tolist()


def test_scoring_by_probabilities() -> None:
    X, y = data(("no", "yes"))
    model = GSFWClassifierCV(values=[1.0, 0.01], cv=3, scoring="neg_log_loss", random_state=0)
    model.fit(X, y)
    train, test = next(StratifiedKFold(3).split(X, y))
    single = GSFWClassifier(oracle="ridge:0.01", random_state=0).fit(X[train], y[train])
    expected = -log_loss(y[test], single.predict_proba(X[test]))
    assert model.scores_[0, 1] == pytest.approx(expected, abs=1e-2)
    assert model.oracle_ == Ridge(0.01)


def test_lasso_cv_agrees() -> None:
    X, y = data()
    alphas, cv = [1.0, 0.3, 0.1, 0.03], KFold(4)
    other = linear_model.LassoCV(alphas=alphas, cv=cv, tol=1e-10).fit(X, y)
    options: dict[str, Any] = {"values": alphas, "cv": cv, "scoring": "neg_mean_squared_error"}
    model = GSFWRegressorCV(oracle="l1-penalty:1", tol=1e-10, random_state=0, **options).fit(X, y)
    np.testing.assert_allclose(-model.scores_.T, other.mse_path_, rtol=1e-4)
    assert model.value_ == other.alpha_
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)


def test_folds_in_other_processes_and_names_of_features() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data(("no", "yes"))
    frame = pandas.DataFrame(X, columns=list("abcd"))
    with threadpool_limits(1):  # as in the other processes: sums by more threads round otherwise
        alone = GSFWClassifierCV(values=[1.0, 0.1], cv=2, random_state=0).fit(X, y)
    both = GSFWClassifierCV(values=[1.0, 0.1], cv=2, random_state=0, n_jobs=2).fit(frame, y)
    assert both.scores_.tolist() == alone.scores_.tolist()
    assert both.gaps_.tolist() == alone.gaps_.tolist()
    assert both.feature_names_in_.tolist() == list("abcd")


def test_a_missed_tolerance_in_a_fold_is_said() -> None:
    X, y = data()
    model = GSFWRegressorCV(values=[0.1], cv=2, max_iter=1, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"3 of 3 fit\(s\) used up max_iter = 1 p") as told:
        model.fit(X, y)
    assert told[0].filename == __file__


def test_the_intercept_is_free_at_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    X = X + np.array([30.0, 0.0, 0.0, 0.0])
    options: dict[str, Any] = {"oracle": "l1:1", "values": [0.01, 3.0], "cv": 2, "tol": 1e-8}
    free = GSFWRegressorCV(**options, random_state=0).fit(X, y).scores_
    single = GSFWRegressor(oracle="l1:3", tol=1e-8, random_state=0).fit(X[30:], y[30:])
    assert free[0, 1] == pytest.approx(single.score(X[:30], y[:30]), abs=1e-4)
    monkeypatch.setattr(Sweep, "widest", property(lambda sweep: L1Ball(0.01)))
    held = GSFWRegressorCV(**options, random_state=0).fit(X, y).scores_
    assert abs(held[0, 1] - free[0, 1]) > 1e-3, "an interval for the smallest set must be noticed"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"values": []}, r"values is \[\]; expected one or more positive numbers"),
        ({"values": [1.0, -2.0]}, r"values is \[1\.0, -2\.0\]; expected one or more positive"),
        ({"values": ["l1:5"]}, "values has dtype <U4; expected real numbers"),
        ({"values": [np.inf]}, r"values holds inf at position \(0,\); expected finite"),
        ({"oracle": Box(-1.0, 1.0)}, "which has neither a strength nor a radius; expected one of"),
        ({"cv": [(np.arange(20), np.arange(20, 60))]}, "a fold of cv has no samples of positive w"),
        ({"scoring": "best"}, "The 'scoring' parameter of check_scoring must be"),
    ],
)
def test_refusals(changes: Any, words: str) -> None:
    X, y = data((1, 2, 3))
    order = y.argsort()
    with pytest.raises(ValueError, match=words):
        GSFWClassifierCV(**changes).fit(X[order], y[order])


def test_scores_that_are_not_defined_are_refused() -> None:
    X, y = data(n=6)
    model = GSFWRegressorCV(values=[1.0], cv=LeaveOneOut())
    with (
        pytest.warns(UserWarning, match="R"),
        pytest.raises(ValueError, match="scores of some folds are NaN, so that no value is the b"),
    ):
        model.fit(X, y)


def test_a_fold_without_weight_is_refused() -> None:
    X, y = data()
    weights = (np.arange(60) < 30) * 1.0
    splits = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    model = GSFWRegressorCV(values=[1.0], cv=splits, scoring=lambda *_, **__: 0.0)
    with pytest.raises(ValueError, match="sample_weight is zero for all samples of a fit"):
        model.fit(X, y, sample_weight=weights)
