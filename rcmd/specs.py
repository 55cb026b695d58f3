"""Losses, oracles and batches from the words of a command line."""

from __future__ import annotations

from collections.abc import Callable
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
from rcmd.oracles import Box, L1Ball, L1Penalty, L2Ball, LinearMinOracle, Ridge, Simplex

Spec = dict[str, tuple[Callable[..., Any], tuple[str, ...], int]]

LOSSES: Spec = {
    "logistic": (Logistic, (), 0),
    "least-squares": (LeastSquares, (), 0),
    "huber": (Huber, ("WIDTH",), 0),
    "pseudo-huber": (PseudoHuber, ("WIDTH",), 0),
    "log-cosh": (LogCosh, ("WIDTH",), 0),
    "fair": (Fair, ("WIDTH",), 0),
    "smoothed-hinge": (SmoothedHinge, ("WIDTH",), 0),
    "squared-hinge": (SquaredHinge, (), 0),
    "softplus-hinge": (SoftplusHinge, ("WIDTH",), 0),
    "quantile": (SmoothedQuantile, ("LEVEL", "WIDTH"), 1),
    "insensitive": (EpsilonInsensitive, ("TOLERANCE", "WIDTH"), 1),
}
"""Name to (class, parameters, how many of them are required)."""

REFUSED = {"poisson": Poisson, "exponential": Exponential}
"""Losses known by name whose construction says why they cannot be had."""

ORACLES: Spec = {
    "l1": (L1Ball, ("RADIUS",), 1),
    "l2": (L2Ball, ("RADIUS",), 1),
    "box": (Box, ("LOWER", "UPPER"), 2),
    "simplex": (Simplex, ("RADIUS",), 0),
    "ridge": (Ridge, ("STRENGTH", "RADIUS"), 1),
    "l1-penalty": (L1Penalty, ("STRENGTH", "RADIUS"), 1),
}
"""Name to (class, parameters, how many of them are required)."""


def parse_loss(text: str) -> SeparableConjugate:
    """A loss as name[:number…], such as ``logistic`` or ``huber:0.5``.

    >>> parse_loss("logistic"), parse_loss("quantile:0.9")
    (Logistic(), SmoothedQuantile(level=0.9, width=1.0))
    """
    refused = REFUSED.get(text.partition(":")[0])
    if refused is not None:
        refused()
    loss: SeparableConjugate = _parsed("loss", text, LOSSES)
    return loss


def parse_oracle(text: str) -> LinearMinOracle:
    """An oracle as name:number:…, such as ``l1:5`` or ``box:-1:1``.

    >>> parse_oracle("ridge:0.1")
    Ridge(strength=0.1, radius=None)
    """
    oracle: LinearMinOracle = _parsed("oracle", text, ORACLES)
    return oracle


def loss_form(name: str) -> str:
    """How a loss is written: ``quantile:LEVEL[:WIDTH]``."""
    return _form(name, LOSSES)


def oracle_form(name: str) -> str:
    """How an oracle is written: ``ridge:STRENGTH[:RADIUS]``."""
    return _form(name, ORACLES)


def _parsed(kind: str, text: str, known: Spec) -> Any:
    name, *words = text.split(":")
    if name not in known:
        forms = ", ".join(_form(one, known) for one in known)
        raise ValueError(f"{kind} {text!r} is unknown; expected one of {forms}")
    build, parameters, required = known[name]
    if not required <= len(words) <= len(parameters):
        raise ValueError(
            f"{kind} {text!r} has {len(words)} parameter(s); expected {_form(name, known)}"
        )
    return build(*(_number(word, f"{kind} {text!r}") for word in words))


def _form(name: str, known: Spec) -> str:
    _, parameters, required = known[name]
    needed = "".join(f":{word}" for word in parameters[:required])
    return name + needed + "".join(f"[:{word}]" for word in parameters[required:])


def parse_batch(text: str) -> int | float:
    """Rows per step: ``32``, or a share of all rows, ``1%``.

    >>> parse_batch("1%"), parse_batch("32")
    (0.01, 32)
    """
    if text.endswith("%"):
        return _number(text[:-1], f"batch {text!r}") / 100
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"batch {text!r} is neither a whole number of rows nor a percentage such as 1%"
        ) from None


def _number(word: str, owner: str) -> Any:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"{owner} holds {word!r}; expected a number there") from None
