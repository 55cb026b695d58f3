"""Classification with the radius or strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

from rcmd.sklearn.classifier import GSFWClassifier
from rcmd.sklearn.sweeping import SweptModel


class GSFWClassifierCV(GSFWClassifier, SweptModel):
    """``GSFWClassifier`` with the strength or radius of its oracle chosen by cross-validation.

    In every fold the values are visited along a warm-started path (``rcmd.path``) with a
    certified gap at each; the value with the best mean score is fitted to all the data. Classes
    that are fitted against the rest share one value.

    Parameters
    ----------
    loss : str or SeparableConjugate
        The loss, by name or as an object.
    oracle : str or LinearMinOracle
        R, likewise. Its strength, or where it has none its radius, is swept; the number given
        here for it does not count.
    values : sequence of float
        The strengths or radii to compare.
    cv : int, splitter or iterable of splits
        The folds, five stratified ones by default.
    scoring : str, callable or None
        What to maximize, as in ``GridSearchCV``; the accuracy by default.
    fit_intercept, class_weight, batch, tol, max_iter, random_state
        As in ``GSFWClassifier``, for every fit.
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
    >>> bool(model.gaps_.max() <= 1e-10)
    True
    """

    def __init__(
        self,
        loss: Any = "logistic",
        oracle: Any = "ridge:1",
        *,
        values: Any = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001),
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        batch: int | float = 0.01,
        tol: float = 1e-10,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            loss,
            oracle,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            batch=batch,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.values = values
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
