"""Losses by name."""

from __future__ import annotations

from typing import Any

from rcmd.conjugates import (
    EpsilonInsensitive,
    Exponential,
    Fair,
    Huber,
    LeastSquares,
    LogCosh,
    Logistic,
    Poisson,
    PseudoHuber,
    SeparableConjugate,
    SmoothedHinge,
    SmoothedQuantile,
    SoftplusHinge,
    SquaredHinge,
)
from rcmd.specs.forms import Form, parsed
from rcmd.specs.kinds import NUMBER

LOSSES = {
    "logistic": Form(Logistic),
    "least-squares": Form(LeastSquares),
    "huber": Form(Huber, width=NUMBER.optional),
    "pseudo-huber": Form(PseudoHuber, width=NUMBER.optional),
    "log-cosh": Form(LogCosh, width=NUMBER.optional),
    "fair": Form(Fair, width=NUMBER.optional),
    "smoothed-hinge": Form(SmoothedHinge, width=NUMBER.optional),
    "squared-hinge": Form(SquaredHinge),
    "softplus-hinge": Form(SoftplusHinge, width=NUMBER.optional),
    "quantile": Form(SmoothedQuantile, level=NUMBER, width=NUMBER.optional),
    "insensitive": Form(EpsilonInsensitive, tolerance=NUMBER, width=NUMBER.optional),
}

REFUSED: dict[str, Any] = {"poisson": Poisson, "exponential": Exponential}
"""Losses known by name whose construction says why they cannot be had."""


EXPRESSION = "expression:"


def parse_loss(text: str) -> SeparableConjugate:
    """A loss as name[:number…], such as ``logistic`` or ``huber:0.5``.

    Also ``expression:FORMULA``, a formula in s and y, and ``FILE.py:CLASS``, a class of your own,
    with numbers in parentheses if it takes any.

    >>> parse_loss("logistic"), parse_loss("quantile:0.9")
    (Logistic(), SmoothedQuantile(level=0.9, width=1.0))
    """
    if text.startswith(EXPRESSION):
        return SeparableConjugate.from_expression(text.removeprefix(EXPRESSION))
    if ".py:" in text:
        return _own(text)
    refused = REFUSED.get(text.partition(":")[0])
    if refused is not None:
        refused()
    loss: SeparableConjugate = parsed("loss", text, LOSSES)
    return loss


def _own(text: str) -> SeparableConjugate:
    from rcmd.testing.command import load

    loss = load(text)
    if not isinstance(loss, SeparableConjugate):
        raise ValueError(f"loss {text!r} is {loss!r}; expected a SeparableConjugate")
    return loss
