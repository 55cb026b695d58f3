"""What a model is fitted to: features, one vector of labels for each problem, weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.validation import as_array, checked_numbers

Array = npt.NDArray[Any]


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
