"""Estimators for scikit-learn, an optional extra: ``pip install 'rcmd[sklearn]'``."""

try:
    import sklearn  # noqa: F401
except ImportError:
    raise ImportError(
        "rcmd.sklearn needs scikit-learn, which is not installed: pip install 'rcmd[sklearn]'"
    ) from None

from rcmd.sklearn.classifier import GSFWClassifier
from rcmd.sklearn.classifier_cv import GSFWClassifierCV
from rcmd.sklearn.regressor import GSFWRegressor
from rcmd.sklearn.regressor_cv import GSFWRegressorCV

__all__ = ["GSFWClassifier", "GSFWClassifierCV", "GSFWRegressor", "GSFWRegressorCV"]
