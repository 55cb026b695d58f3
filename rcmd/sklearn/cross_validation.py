"""Radii or strengths compared by cross-validation, along one certified path in each fold."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from rcmd.rows.validation import Array, as_array, checked_numbers
from rcmd.sklearn.model import (
    LinearModel,
    Training,
    checked_weights,
    part_fields,
    refuse_interrupted,
)
from rcmd.solver.path import path


class Sweep(NamedTuple):
    """What is compared, and how; ``widest`` is the oracle with the largest solutions."""

    parameter: Literal["strength", "radius"]
    values: list[float]
    widest: Any
    scorer: Any
    seed: int


@dataclass(eq=False, repr=False)
class SweptModel(LinearModel):
    """A linear model whose oracle's strength or radius is chosen by cross-validation."""

    _: KW_ONLY
    values: Any = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
    cv: Any = None
    scoring: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> SweptModel:
        """Score every value in every fold, then fit the best one to all the data.

        ``sample_weight`` and ``offset`` count in the fits and in the scores.
        """
        values = _checked_values(self.values)
        if offset is not None and self.scoring is not None:
            raise ValueError(
                f"offset is given while scoring is {self.scoring!r}, whose predictions would miss "
                "it; expected scoring=None, the estimator's own score"
            )
        training = self._training(X, y, sample_weight, offset)
        oracle = self._regularizer()
        parameter = swept_parameter(oracle)
        widest = replace(oracle, **{parameter: (min if parameter == "strength" else max)(values)})
        scorer = check_scoring(self, scoring=self.scoring)
        sweep = Sweep(parameter, values, widest, scorer, self._seed())
        counts = None if sample_weight is None else checked_weights(sample_weight, len(training.y))
        splits = check_cv(self.cv, training.y, classifier=is_classifier(self))
        folds = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold)(self, sweep, training, split, counts)
            for split in splits.split(training.X, training.y)
        )
        self.values_ = np.array(values)
        self.scores_, self.gaps_, reached = np.array(folds).transpose(2, 0, 1)
        means = self.scores_.mean(axis=0)
        if np.isnan(means).any():
            raise ValueError(
                "the scores of some folds are NaN, so that no value is the best; expected a "
                "scoring that is defined on every fold: give folds more samples, or another scoring"
            )
        self.value_ = values[int(means.argmax())]
        self.oracle_ = replace(oracle, **{parameter: self.value_})
        last = self._solve(training.normalized(), self.oracle_, sweep.seed)
        every = np.append(reached, [result.success for result in last]).astype(bool)
        self._warn_unless(every, max(self.gaps_.max(), self.duality_gap_))
        return self


def swept_parameter(oracle: Any) -> Literal["strength", "radius"]:
    """What is swept: the strength of a penalty, the radius of a set.

    >>> from rcmd import L1Ball, Ridge
    >>> swept_parameter(Ridge(0.1)), swept_parameter(L1Ball(5.0))
    ('strength', 'radius')
    """
    known = part_fields("oracle", oracle)
    if "strength" in known:
        return "strength"
    if "radius" in known:
        return "radius"
    raise ValueError(
        f"oracle is {oracle!r}, which has neither a strength nor a radius; expected one of them "
        "to sweep: use GridSearchCV for other fields"
    )


def _checked_values(values: Any) -> list[float]:
    numbers = checked_numbers("values", as_array("values", values))
    if numbers.ndim != 1 or not numbers.size or not (numbers > 0).all():
        raise ValueError(f"values is {values!r}; expected one or more positive numbers")
    return [float(number) for number in numbers]


def _fold(
    model: SweptModel,
    sweep: Sweep,
    training: Training,
    split: tuple[Array, Array],
    counts: Array | None,
) -> list[tuple[float, float, bool]]:
    """For each value the score on the rows left out, the certified gap, and if it is small."""
    inside, outside = training.rows(split[0]).normalized(), training.rows(split[1])
    if is_classifier(model) and not np.ptp(inside.targets, axis=1).all():
        raise ValueError(
            "a fold of cv has no samples of positive weight of some class to train on; expected "
            "every class in every fold: use fewer folds"
        )
    rng, paths = np.random.default_rng(sweep.seed), []
    for labels in inside.targets:
        # The interval of the intercept must do for every value.
        problem = model._posed(inside, labels, sweep.widest)
        options = model._options(problem, rng)
        paths.append(path(problem, sweep.values, parameter=sweep.parameter, **options))
        refuse_interrupted(paths[-1])
    own = {} if counts is None else {"sample_weight": counts[split[1]]}
    own |= {} if outside.offset is None else {"offset": outside.offset}
    shell = copy(model)
    # The rows are taken from a plain array, whose columns have no names.
    shell.__dict__.pop("feature_names_in_", None)
    table = []
    for results in zip(*paths, strict=True):
        shell._take(results)
        score = float(sweep.scorer(shell, outside.X, outside.y, **own))
        gap = max(float(result.gap) for result in results)
        table.append((score, gap, all(result.success for result in results)))
    return table
