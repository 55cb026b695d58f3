"""scikit-learn's own checks of estimators, and that they notice what they should."""

from typing import Any

import pytest

pytest.importorskip("sklearn")
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator

from rcmd.sklearn import GSFWClassifier, GSFWClassifierCV, GSFWRegressor, GSFWRegressorCV

SWEPT: dict[str, Any] = {"oracle": "l1:5", "values": (1.0, 5.0), "cv": 3}


def each_check(*estimators: Any) -> Any:
    cases = [case for estimator in estimators for case in estimator_checks_generator(estimator)]
    names = [f"{type(estimator).__name__}-{check.func.__name__}" for estimator, check in cases]
    return pytest.mark.parametrize(("estimator", "check"), cases, ids=names)


@each_check(GSFWClassifier(), GSFWRegressor())
def test_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@each_check(GSFWClassifierCV(), GSFWRegressorCV())
def test_checks_of_sweeps(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", ["overwrite_params", "pickle", "unfitted", "dtypes"])
@pytest.mark.parametrize("estimator", [GSFWClassifierCV(**SWEPT), GSFWRegressorCV(**SWEPT)])
def test_checks_of_sweeps_in_short(estimator: Any, check: str) -> None:
    getattr(estimator_checks, f"check_estimators_{check}")(type(estimator).__name__, estimator)
