"""What the estimators share.

Parameters of losses and oracles, weighted samples, problems posed and solved, bounded intercepts,
linear predictions.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rcmd.methods.base import BATCH
from rcmd.model.problem import Problem
from rcmd.model.specs import Waiting, for_columns, parse_loss, parse_oracle
from rcmd.rows.layouts import InnerRows
from rcmd.rows.validation import Array, as_array, checked_numbers, in_number_type
from rcmd.solver.history import StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import TOL, check_amount, solve

READERS: dict[str, Callable[[str], Any]] = {"loss": parse_loss, "oracle": parse_oracle}

NUMBER_TYPES = (np.float64, np.float32)
"""What X may hold as it is; other numbers become the first of them."""

FARTHEST = 2.0**200
"""Where the search for a bound of the intercept ends."""


@dataclass(frozen=True)
class Training:
    """n samples with weights ω_j ≥ 0, for one problem or several with the same features.

    Attributes
    ----------
    X
        The n × p features.
    y
        The labels as they were given.
    targets
        The labels as the losses expect them, one row of n for each problem.
    weights
        ω_j ≥ 0, or ``None`` where all are alike.
    offset
        o_j, added to the predictions, or ``None``.
    """

    X: Any
    y: Array
    targets: Array
    weights: Array | None
    offset: Array | None

    def rows(self, chosen: Array) -> Training:
        both = self.weights, self.offset
        own = (None if part is None else part[chosen] for part in both)
        return Training(self.X[chosen], self.y[chosen], self.targets[:, chosen], *own)

    def normalized(self) -> Training:
        """The same problems with positive weights of mean 1.

        A weight counts how often a sample is there, and the mean loss is over those counts: so
        a weight of 0 drops the sample, and weights that are all alike say nothing.
        """
        if self.weights is None:
            return self
        kept = self if self.weights.all() else self.rows(np.flatnonzero(self.weights))
        positive = self.weights[self.weights > 0]
        if not positive.size:
            raise ValueError(
                "sample_weight is zero for all samples of a fit; expected a positive weight "
                "somewhere in every fold"
            )
        alike = (positive == positive[0]).all()
        return replace(kept, weights=None if alike else positive * (len(positive) / positive.sum()))


def checked_weights(sample_weight: Any, n: int) -> Array:
    """``sample_weight`` as n numbers ≥ 0, not all of them zero; ones if it is ``None``."""
    if sample_weight is None:
        return np.ones(n)
    weights = checked_column("sample_weight", sample_weight, n)
    if weights.min() < 0:
        raise ValueError(f"sample_weight holds {weights.min()}; expected numbers ≥ 0")
    if not weights.any():
        raise ValueError("sample_weight is zero throughout; expected a positive weight somewhere")
    return weights


def checked_column(name: str, numbers: Any, n: int) -> Array:
    """``numbers`` as n finite doubles."""
    array = checked_numbers(name, as_array(name, numbers))
    if array.shape != (n,):
        raise ValueError(
            f"{name} has shape {array.shape}; expected ({n},), one number for each row of X"
        )
    return array.astype(float)


def checked_offset(offset: Any, n: int) -> Array | None:
    """``offset`` as n numbers, if it is given."""
    return None if offset is None else checked_column("offset", offset, n)


@dataclass(eq=False, repr=False)
class LinearModel(BaseEstimator, ABC):
    """A linear model fitted by ``rcmd.solve``, with its certificate.

    ``oracle__radius`` is the field ``radius`` of the oracle, as grid searches write it. Losses
    and oracles never change: setting a field puts another object in place.
    """

    loss: Any
    oracle: Any = "ridge:0.01"
    _: KW_ONLY
    fit_intercept: bool = True
    batch: int | float = BATCH
    tol: float = TOL
    max_iter: int = 1000
    random_state: Any = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and if ``deep`` the fields of the loss and the oracle."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in READERS:
                for field, value in part_fields(name, params[name]).items():
                    params[f"{name}__{field}"] = value
        return params

    def set_params(self, **params: Any) -> LinearModel:
        """Set parameters, those of the loss and the oracle included."""
        changes: dict[str, dict[str, Any]] = {name: {} for name in READERS}
        for key in list(params):
            owner, _, field = key.partition("__")
            if field and owner in changes:
                changes[owner][field] = params.pop(key)
        super().set_params(**params)
        for name, values in changes.items():
            if values:
                setattr(self, name, _changed(name, getattr(self, name), values))
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> LinearModel:
        """Fit the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features. Sparse ones stay sparse.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,), optional
            Numbers ≥ 0: how often each sample counts. The mean loss is over these counts, so
            that a weight of 2 is a sample given twice, and 0 one left out.
        offset : array of shape (n_samples,), optional
            Numbers that are added to the predictions, such as the logarithm of an exposure; of
            two classes they speak for the second.
            ``predict`` and ``score`` take those of their own samples.

        Returns
        -------
        self
        """
        training = self._training(X, y, sample_weight, offset).normalized()
        results = self._solve(training, self._regularizer(), self._seed())
        self._warn_unless(np.array([result.success for result in results]), self.duality_gap_)
        return self

    @abstractmethod
    def _training(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Training:
        """The data, checked, as the problems see them."""

    @abstractmethod
    def _take(self, results: Sequence[Result]) -> None:
        """Set what predictions need from the solution of every problem."""

    def _unit(self, problem: Problem) -> float:
        """The gap that ``tol`` is a multiple of."""
        return 1.0

    def _regularizer(self) -> Any:
        """The oracle, read once for all problems of a fit."""
        oracle = parse_oracle(self.oracle) if isinstance(self.oracle, str) else self.oracle
        return for_columns(oracle, self.n_features_in_)

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solve(self, training: Training, oracle: Any, seed: int) -> list[Result]:
        """Solve every problem and set the fitted attributes."""
        rng, results = np.random.default_rng(seed), list[Result]()
        for labels in training.targets:
            problem = self._posed(training, labels, oracle)
            results.append(solve(problem, **self._options(problem, rng)))
            refuse_interrupted(results)
        self._take(results)
        self.n_iter_ = max(math.ceil(result.passes) for result in results)
        self.duality_gap_ = max(float(result.gap) for result in results)
        return results

    def _warn_unless(self, reached: Array, largest: float) -> None:
        """Say so, where ``fit`` is called, if some fits did not reach the tolerance."""
        if not reached.all():
            warnings.warn(
                f"{(~reached).sum()} of {reached.size} fit(s) used up max_iter = {self.max_iter} "
                f"passes over the data; the largest certified gap is {largest:.3g}, above what "
                f"tol = {self.tol} asks for: raise one of them, or scale the data",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _posed(self, training: Training, labels: Array, oracle: Any) -> Problem:
        """The problem of one vector of labels, its intercept in an interval that is wide enough."""
        own: dict[str, Any] = {"weights": training.weights, "offset": training.offset}
        problem = Problem(training.X, labels, self.loss, oracle, **own)
        if not self.fit_intercept:
            return problem
        loss, bound = problem.loss, intercept_bound(problem)
        return Problem(problem.rows, labels, loss, oracle, intercept=bound, **own)

    def _options(self, problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
        check_amount("tol", self.tol, "a number ≥ 0")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(
                f"max_iter is {self.max_iter!r}; expected a positive whole number of passes over "
                "the data"
            )
        return {
            "batch": self.batch,
            "tol": self.tol * self._unit(problem),
            "max_gradients": int(self.max_iter) * problem.n,
            "seed": rng,
        }

    def _split(self, results: Sequence[Result]) -> tuple[Array, Array]:
        """Coefficients, one row for each problem, and intercepts."""
        betas = np.stack([result.beta for result in results])
        if self.fit_intercept:
            return betas[:, :-1].copy(), betas[:, -1].copy()
        return betas, np.zeros(len(betas))

    def _predictions(self, X: Any, offset: Any = None) -> Any:
        """Xβ, the intercept and the offset."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=NUMBER_TYPES, reset=False)
        predictions = np.asarray(X @ self.coef_.T + self.intercept_)
        offset = checked_offset(offset, len(predictions))
        return predictions if offset is None else (predictions.T + offset).T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def part_fields(name: str, given: Any) -> dict[str, Any]:
    """The fields of a loss or oracle; none for what waits for the data or is refused in fit."""
    if isinstance(given, str):
        try:
            given = READERS[name](given)
        except ValueError:
            return {}
    if not is_dataclass(given) or isinstance(given, type | Waiting):
        return {}
    return {field.name: getattr(given, field.name) for field in fields(given)}


def _changed(name: str, given: Any, changes: dict[str, Any]) -> Any:
    """``given`` with other fields; itself, were it a name, where nothing changes."""
    known = part_fields(name, given)
    for field in changes:
        if field not in known:
            there = ", ".join(f"{name}__{field}" for field in known) or f"only {name} itself"
            raise ValueError(
                f"{name}__{field} is no parameter while {name} is {given!r}; expected {there}"
            )
    if all(np.array_equal(known[field], value) for field, value in changes.items()):
        return given
    part: Any = READERS[name](given) if isinstance(given, str) else given
    return replace(part, **changes)


def refuse_interrupted(results: Sequence[Result]) -> None:
    """Ctrl-C, which ends a run of ``solve`` early, ends a fit."""
    if any(result.stop is StopReason.INTERRUPTED for result in results):
        raise KeyboardInterrupt


def intercept_bound(problem: Problem) -> float:
    """The least power of two B such that [−B, B] holds an optimal intercept.

    ``problem`` is the one without an intercept. Predictions x_jᵀβ lie in [low_j, high_j]
    for β in dom R, and every l_j' is increasing. So Σ_j l_j'(B + low_j) ≥ 0 says that beyond
    B no loss falls any more, whatever β is; and Σ_j l_j'(−B + high_j) ≤ 0 the same of −B.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares
    >>> intercept_bound(Problem([[1.0], [-1.0]], [8.0, 6.0], LeastSquares(), L1Ball(5.0)))
    16.0
    """
    losses = problem.losses
    regularizer = in_number_type(problem.regularizer, problem.exact)
    # A radius left open is larger beside an intercept.
    regularizer = regularizer.bind(InnerRows(problem.rows, alone=False), losses)
    low, high = regularizer.prediction_range(problem.rows)

    def holds(bound: float) -> Any:
        above, below = losses.derivative(low + bound), losses.derivative(high - bound)
        return above.sum() >= 0 and below.sum() <= 0

    bound = 1.0
    while not holds(bound):
        bound *= 2
        if bound > FARTHEST:
            raise ValueError(
                f"loss {problem.loss!r} falls as the intercept grows without end; expected one "
                "that is smallest at some intercept: use fit_intercept=False"
            )
    while bound > 1 / FARTHEST and holds(bound / 2):
        bound /= 2
    return bound
