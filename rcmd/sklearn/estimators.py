"""Linear classification and regression with any loss and any regularizer.

The radius or strength of the regularizer is given, or chosen by cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from rcmd.conjugates import Logistic
from rcmd.model.problem import Problem
from rcmd.rows.validation import Array
from rcmd.sklearn.cross_validation import SweptModel
from rcmd.sklearn.model import (
    NUMBER_TYPES,
    LinearModel,
    Training,
    checked_offset,
    checked_weights,
)
from rcmd.solver.result import Result


def _has_probabilities(model: GSFWClassifier) -> bool:
    """Whether the loss is the logistic one, whose predictions are log-odds."""
    loss = model.loss
    if isinstance(loss, Logistic) or (isinstance(loss, str) and loss == "logistic"):
        return True
    raise AttributeError(
        f"probabilities need the logistic loss, while loss is {loss!r}; expected "
        "loss='logistic': use decision_function, or CalibratedClassifierCV"
    )


@dataclass(eq=False, repr=False)
class GSFWClassifier(ClassifierMixin, LinearModel):
    """Linear classification: min over β and b of the mean of l(x_jᵀβ + b; ±1), plus R(β).

    Solved by generalized stochastic Frank-Wolfe to a certified gap. Of more than two classes
    each is fitted against the rest.

    Parameters
    ----------
    loss : str or SeparableConjugate
        The loss, by its name on the command line (``rcmd list losses``) or as an object.
    oracle : str or LinearMinOracle
        R, likewise (``rcmd list oracles``): a set such as ``"l1:5"`` or ``L1Ball(5.0)``, or a
        penalty. Its fields are parameters too: ``oracle__radius``.
    fit_intercept : bool
        Whether to fit b, which R does not see. It is sought in an interval that provably holds
        an optimal one.
    class_weight : dict, "balanced" or None
        Factors of the weights of each class's samples; ``"balanced"`` gives all classes the
        same weight together.
    batch : int or float
        Rows per step: a whole number, or a fraction of all as a float in (0, 1].
    tol : float
        The certified gap at which to stop.
    max_iter : int
        Most passes over the data.
    random_state : int, RandomState or None
        Where the batches come from: same number, same coefficients.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        β, of two classes that for the second.
    intercept_ : array of shape (1,) or (n_classes,)
        b, or 0.
    results_ : list of rcmd.Result
        For each row of ``coef_`` the primal–dual pair, its certificate and the history. β there
        ends with b.
    duality_gap_ : float
        The largest certified gap of them; each objective is at most that above its optimum.
    n_iter_ : int
        Passes over the data, the most of them.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if they had any.

    Examples
    --------
    >>> from rcmd.sklearn import GSFWClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> y = ["no", "no", "yes", "yes"]
    >>> model = GSFWClassifier(oracle="l1:2", tol=1e-8, random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.5], [2.5, 0.5]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[2., 0.]]), array([-3.]))
    >>> bool(model.duality_gap_ <= 1e-8)
    True
    """

    loss: Any = "logistic"
    _: KW_ONLY
    class_weight: Any = None

    def decision_function(self, X: Any, offset: Any = None) -> Array:
        """The predictions Xβ + b, one column for each class where they are more than two.

        The ``offset`` of each row, if any, is added to them.
        """
        scores = self._predictions(X, offset)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any, offset: Any = None) -> Array:
        """The classes with the largest predictions."""
        scores = self.decision_function(X, offset)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, offset: Any = None) -> Array:
        """The probability of each class, a column each, for the logistic loss.

        Of more than two classes, those of each against the rest, divided by their sum.
        """
        return np.exp(self.predict_log_proba(X, offset))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any, offset: Any = None) -> Array:
        """The logarithms of ``predict_proba``, accurate where these are tiny."""
        scores = self.decision_function(X, offset)
        if scores.ndim == 1:
            return log_expit(np.stack([-scores, scores], axis=1))
        return log_softmax(log_expit(scores), axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """The accuracy of the predictions."""
        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _training(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Training:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBER_TYPES)
        check_classification_targets(y)
        weights = checked_weights(sample_weight, len(y))
        counted = weights > 0
        self.classes_ = np.unique(y[counted])
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds one class only, {self.classes_[0]!r}, among samples of positive weight; "
                "expected two or more classes"
            )
        counts = {"y": y[counted], "sample_weight": weights[counted]}
        factors = compute_class_weight(self.class_weight, classes=self.classes_, **counts)
        if not (factors > 0).all():
            raise ValueError(
                f"class_weight is {self.class_weight!r}; expected a positive number for each class"
            )
        chosen = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        targets = np.where(y == chosen[:, None], 1.0, -1.0)
        for label, factor in zip(self.classes_, factors, strict=True):
            weights = np.where(y == label, factor * weights, weights)
        return Training(X, y, targets, weights, checked_offset(offset, len(y)))

    def _take(self, results: Sequence[Result]) -> None:
        self.results_ = list(results)
        self.coef_, self.intercept_ = self._split(results)


@dataclass(eq=False, repr=False)
class GSFWClassifierCV(GSFWClassifier, SweptModel):
    """``GSFWClassifier`` with the strength or radius of its oracle chosen by cross-validation.

    In every fold the values are visited along a warm-started path (``rcmd.path``) with a
    certified gap at each; the value with the best mean score is fitted to all the data. Classes
    that are fitted against the rest share one value.

    Parameters
    ----------
    loss, fit_intercept, class_weight, batch, tol, max_iter, random_state
        As in ``GSFWClassifier``, for every fit.
    oracle : str or LinearMinOracle
        R, by name or as an object. Its strength, or where it has none its radius, is swept;
        the number given here for it does not count.
    values : sequence of float
        The strengths or radii to compare.
    cv : int, splitter or iterable of splits
        The folds, five stratified ones by default.
    scoring : str, callable or None
        What to maximize, as in ``GridSearchCV``; the accuracy by default.
    n_jobs : int or None
        Folds at a time.

    Attributes
    ----------
    value_ : float
        The best of the values; of equals the first.
    oracle_ : LinearMinOracle
        The oracle with that value.
    values_ : array of shape (n_values,)
        The values compared.
    scores_ : array of shape (n_folds, n_values)
        The scores on the rows left out.
    gaps_ : array of shape (n_folds, n_values)
        The certified gaps in the folds, the largest over the classes.
    classes_, coef_, intercept_, results_, duality_gap_, n_iter_
        As in ``GSFWClassifier``, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rcmd.sklearn import GSFWClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GSFWClassifierCV(oracle="l1:1", values=[0.1, 1.0, 10.0], random_state=0).fit(X, y)
    >>> model.value_, model.scores_.shape
    (10.0, (5, 3))
    >>> bool(model.gaps_.max() <= 1e-6)
    True
    """

    oracle: Any = "ridge:1"


@dataclass(eq=False, repr=False)
class GSFWRegressor(RegressorMixin, LinearModel):
    """Linear regression: min over β and b of the mean of l(x_jᵀβ + b; y_j), plus R(β).

    Solved by generalized stochastic Frank-Wolfe to a certified gap.

    Parameters
    ----------
    loss, oracle, fit_intercept, batch, max_iter, random_state
        As in ``GSFWClassifier``.
    tol : float
        The certified gap at which to stop, in units of the mean loss of predicting the mean of
        y everywhere (0 if there is no intercept). With least squares that is half the variance,
        so that the training R² is within ``tol`` of the optimum's where R is a set.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        β.
    intercept_ : float
        b, or 0.0.
    result_ : rcmd.Result
        The primal–dual pair, its certificate and the history. β there ends with b.
    duality_gap_, n_iter_, n_features_in_, feature_names_in_
        As in ``GSFWClassifier``, of the one fit.

    Examples
    --------
    >>> from rcmd.sklearn import GSFWRegressor
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [5.0, 7.0, 9.0, 11.0]
    >>> model = GSFWRegressor(loss="huber:0.5", oracle="l1:1.5", tol=1e-8, random_state=0)
    >>> model.fit(X, y).coef_.round(3)
    array([1.5, 0. ])
    >>> bool(model.duality_gap_ <= 1e-7)
    True
    >>> model.set_params(oracle__radius=3.0).fit(X, y).predict([[4.0, 0.0]]).round(3)
    array([13.])
    """

    loss: Any = "least-squares"

    def predict(self, X: Any, offset: Any = None) -> Array:
        """The predictions Xβ + b, and the ``offset`` of each row, if any."""
        return np.asarray(self._predictions(X, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """R² of the predictions."""
        return float(r2_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _training(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Training:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBER_TYPES, y_numeric=True)
        labels, n = np.asarray(y, dtype=float), len(y)
        own = checked_weights(sample_weight, n), checked_offset(offset, n)
        return Training(X, labels, labels[None, :], *own)

    def _unit(self, problem: Problem) -> float:
        losses = problem.losses
        shares = np.ones(problem.n) if losses.weights is None else losses.weights
        middle = np.average(losses.y, weights=shares) if self.fit_intercept else 0.0
        constant = middle - (0 * losses.y if losses.offset is None else losses.offset)
        unit = float(problem.mean(losses.fenchel_young(constant, 0 * constant)))
        # Labels that a constant predicts leave no unit.
        return unit if 0 < unit < np.inf else 1.0

    def _take(self, results: Sequence[Result]) -> None:
        coefficients, intercepts = self._split(results)
        self.result_ = results[0]
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])


@dataclass(eq=False, repr=False)
class GSFWRegressorCV(GSFWRegressor, SweptModel):
    """``GSFWRegressor`` with the strength or radius of its oracle chosen by cross-validation.

    The sweep is that of ``GSFWClassifierCV``.

    Parameters
    ----------
    loss, fit_intercept, batch, tol, max_iter, random_state
        As in ``GSFWRegressor``, for every fit.
    oracle, values, n_jobs
        As in ``GSFWClassifierCV``.
    cv : int, splitter or iterable of splits
        The folds, five by default.
    scoring : str, callable or None
        What to maximize, as in ``GridSearchCV``; R² by default.

    Attributes
    ----------
    value_, oracle_, values_, scores_, gaps_
        As in ``GSFWClassifierCV``.
    coef_, intercept_, result_, duality_gap_, n_iter_
        As in ``GSFWRegressor``, for the fit to all the data.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rcmd.sklearn import GSFWRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GSFWRegressorCV(oracle="l1:1", values=[10.0, 1000.0, 2000.0], random_state=0)
    >>> model.fit(X, y).value_, bool((model.gaps_ <= 1e-10 * y.var()).all())
    (2000.0, True)
    """

    oracle: Any = "ridge:1"
