"""Losses as conjugate pairs."""

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.hinge import SmoothedHinge, SoftplusHinge, SquaredHinge
from rcmd.conjugates.huber import Huber
from rcmd.conjugates.insensitive import EpsilonInsensitive
from rcmd.conjugates.least_squares import LeastSquares
from rcmd.conjugates.logistic import Logistic
from rcmd.conjugates.quantile import SmoothedQuantile
from rcmd.conjugates.refused import Exponential, Poisson
from rcmd.conjugates.samples import SampleLosses
from rcmd.conjugates.smooth_absolute import Fair, LogCosh, PseudoHuber

__all__ = [  # noqa: RUF022 (the order of `rcmd list`)
    "Logistic", "LeastSquares", "Huber", "PseudoHuber", "LogCosh", "Fair", "SmoothedHinge",
    "SquaredHinge", "SoftplusHinge", "SmoothedQuantile", "EpsilonInsensitive",
    "Poisson", "Exponential",
    "SampleLosses", "SeparableConjugate",
]  # fmt: skip
