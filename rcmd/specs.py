"""Losses, oracles and batches from the words of a command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcmd.conjugates import LeastSquares, Logistic, SeparableConjugate
from rcmd.oracles import Box, L1Ball, L1Penalty, L2Ball, LinearMinOracle, Ridge, Simplex

LOSSES: dict[str, Callable[[], SeparableConjugate]] = {
    "logistic": Logistic,
    "least-squares": LeastSquares,
}

ORACLES: dict[str, tuple[Callable[..., LinearMinOracle], tuple[str, ...], int]] = {
    "l1": (L1Ball, ("RADIUS",), 1),
    "l2": (L2Ball, ("RADIUS",), 1),
    "box": (Box, ("LOWER", "UPPER"), 2),
    "simplex": (Simplex, ("RADIUS",), 0),
    "ridge": (Ridge, ("STRENGTH", "RADIUS"), 1),
    "l1-penalty": (L1Penalty, ("STRENGTH", "RADIUS"), 1),
}
"""Name to (class, parameters, how many of them are required)."""


def parse_loss(text: str) -> SeparableConjugate:
    """A loss by name.

    >>> parse_loss("logistic")
    Logistic()
    """
    if text not in LOSSES:
        raise ValueError(f"loss {text!r} is unknown; expected one of {', '.join(LOSSES)}")
    return LOSSES[text]()


def parse_oracle(text: str) -> LinearMinOracle:
    """An oracle as name:number:…, such as ``l1:5`` or ``box:-1:1``.

    >>> parse_oracle("ridge:0.1")
    Ridge(strength=0.1, radius=None)
    """
    name, *words = text.split(":")
    if name not in ORACLES:
        forms = ", ".join(oracle_form(known) for known in ORACLES)
        raise ValueError(f"oracle {text!r} is unknown; expected one of {forms}")
    build, parameters, required = ORACLES[name]
    if not required <= len(words) <= len(parameters):
        raise ValueError(
            f"oracle {text!r} has {len(words)} parameter(s); expected {oracle_form(name)}"
        )
    return build(*(_number(word, f"oracle {text!r}") for word in words))


def oracle_form(name: str) -> str:
    """How an oracle is written: ``ridge:STRENGTH[:RADIUS]``."""
    _, parameters, required = ORACLES[name]
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
