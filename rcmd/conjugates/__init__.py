"""Losses as conjugate pairs."""

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.least_squares import LeastSquares
from rcmd.conjugates.logistic import Logistic
from rcmd.conjugates.samples import SampleLosses

__all__ = ["LeastSquares", "Logistic", "SampleLosses", "SeparableConjugate"]
