"""Estimators for scikit-learn, an optional extra: ``pip install 'rcmd-opt[sklearn]'``.

``estimators`` has the four of them; what they share is in ``model``, the choice of a radius or
strength in ``cross_validation``.
"""

from rcmd.rows.validation import pip_install

try:
    import sklearn  # noqa: F401
except ImportError:
    raise ImportError(
        f"rcmd.sklearn needs scikit-learn, which is not installed: {pip_install('sklearn')}"
    ) from None

from rcmd.sklearn.estimators import (
    GSFWClassifier,
    GSFWClassifierCV,
    GSFWRegressor,
    GSFWRegressorCV,
)

__all__ = ["GSFWClassifier", "GSFWClassifierCV", "GSFWRegressor", "GSFWRegressorCV"]
