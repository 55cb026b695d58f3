"""Losses as conjugate pairs (l, l*).

``base`` is the contract, ``samples`` the n pairs of a data set on arrays. Each family of losses has
a file: ``logistic``, ``huber`` (the squared loss, and parabolas continued by tangents), ``hinge``,
``smooth_absolute``, ``likelihoods`` (counts, durations, shares). ``scalars`` are shared functions,
``numeric`` computes what a class leaves out, ``expressions`` makes losses of formulas.
"""

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.hinge import SmoothedHinge, SoftplusHinge, SquaredHinge
from rcmd.conjugates.huber import (
    EpsilonInsensitive,
    Expectile,
    Huber,
    LeastSquares,
    SmoothedQuantile,
)
from rcmd.conjugates.likelihoods import (
    CrossEntropy,
    Exponential,
    Gamma,
    NegativeBinomial,
    Poisson,
)
from rcmd.conjugates.logistic import Logistic
from rcmd.conjugates.samples import SampleLosses
from rcmd.conjugates.smooth_absolute import Fair, LogCosh, PseudoHuber

__all__ = [  # noqa: RUF022 (the order of `rcmd list`)
    "Logistic", "LeastSquares", "Huber", "PseudoHuber", "LogCosh", "Fair", "SmoothedHinge",
    "SquaredHinge", "SoftplusHinge", "SmoothedQuantile", "EpsilonInsensitive", "Expectile",
    "CrossEntropy", "Poisson", "NegativeBinomial", "Gamma", "Exponential",
    "SampleLosses", "SeparableConjugate",
]  # fmt: skip
