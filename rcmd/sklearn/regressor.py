"""Linear regression with any loss over any set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from rcmd.problem import Problem
from rcmd.result import Result
from rcmd.sklearn.model import NUMBER_TYPES, LinearModel
from rcmd.sklearn.training import Training, checked_weights

Array = npt.NDArray[Any]


class GSFWRegressor(RegressorMixin, LinearModel):
    """Linear regression: min over β and b of the mean of l(x_jᵀβ + b; y_j), plus R(β).

    Solved by generalized stochastic Frank-Wolfe to a certified gap.

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
    batch : int or float
        Rows per step: a whole number, or a fraction of all as a float in (0, 1].
    tol : float
        The certified gap at which to stop, in units of the mean loss of predicting the mean of
        y everywhere (0 if there is no intercept). With least squares that is half the variance,
        so that the training R² is within ``tol`` of the optimum's where R is a set.
    max_iter : int
        Most passes over the data.
    random_state : int, RandomState or None
        Where the batches come from: same number, same coefficients.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        β.
    intercept_ : float
        b, or 0.0.
    result_ : rcmd.Result
        The primal–dual pair, its certificate and the history. β there ends with b.
    duality_gap_ : float
        The certified gap, by which the objective is at most above its optimum.
    n_iter_ : int
        Passes over the data.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if they had any.

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

    def __init__(
        self,
        loss: Any = "least-squares",
        oracle: Any = "ridge:0.01",
        *,
        fit_intercept: bool = True,
        batch: int | float = 0.01,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.oracle = oracle
        self.fit_intercept = fit_intercept
        self.batch = batch
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """The predictions Xβ + b.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        array of shape (n_samples,)
        """
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
