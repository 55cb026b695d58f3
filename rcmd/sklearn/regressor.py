"""Linear regression with any loss over any set.

The radius or strength is given, or chosen by cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from rcmd.model.problem import Problem
from rcmd.sklearn.cross_validation import SweptModel
from rcmd.sklearn.inputs import Array, Training, checked_weights
from rcmd.sklearn.model import NUMBER_TYPES, LinearModel
from rcmd.solver.result import Result


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

    def predict(self, X: Any) -> Array:
        """The predictions Xβ + b."""
        return np.asarray(self._predictions(X))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBER_TYPES, y_numeric=True)
        labels = np.asarray(y, dtype=float)
        return Training(X, labels, labels[None, :], checked_weights(sample_weight, len(labels)))

    def _unit(self, problem: Problem) -> float:
        losses = problem.losses
        shares = np.ones(problem.n) if losses.weights is None else losses.weights
        middle = np.average(losses.y, weights=shares) if self.fit_intercept else 0.0
        constant = np.full(problem.n, middle)
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
    loss, oracle, values, n_jobs
        As in ``GSFWClassifierCV``.
    cv : int, splitter or iterable of splits
        The folds, five by default.
    scoring : str, callable or None
        What to maximize, as in ``GridSearchCV``; R² by default.
    fit_intercept, batch, tol, max_iter, random_state
        As in ``GSFWRegressor``, for every fit.

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
