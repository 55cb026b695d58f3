"""What the estimators are given: losses and oracles, as names or objects, and weighted samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rcmd.model.specs import Waiting, parse_loss, parse_oracle
from rcmd.rows.validation import Array, as_array, checked_numbers

READERS: dict[str, Callable[[str], Any]] = {"loss": parse_loss, "oracle": parse_oracle}


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


class PartParameters(BaseEstimator):
    """An estimator whose ``loss`` and ``oracle`` have parameters of their own.

    ``oracle__radius`` is the field ``radius`` of the oracle, as grid searches write it. Losses
    and oracles never change: setting a field puts another object in place.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and if ``deep`` the fields of the loss and the oracle."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in READERS:
                for field, value in part_fields(name, params[name]).items():
                    params[f"{name}__{field}"] = value
        return params

    def set_params(self, **params: Any) -> PartParameters:
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
    """

    X: Any
    y: Array
    targets: Array
    weights: Array | None

    def rows(self, chosen: Array) -> Training:
        """Some of the samples."""
        weights = None if self.weights is None else self.weights[chosen]
        return Training(self.X[chosen], self.y[chosen], self.targets[:, chosen], weights)

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
    weights = checked_numbers("sample_weight", as_array("sample_weight", sample_weight))
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; expected ({n},), one number for each row "
            "of X"
        )
    if weights.min() < 0:
        raise ValueError(f"sample_weight holds {weights.min()}; expected numbers ≥ 0")
    if not weights.any():
        raise ValueError("sample_weight is zero throughout; expected a positive weight somewhere")
    return weights.astype(float)
