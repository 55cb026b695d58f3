"""Objects written as name:parameter:…, by the ``spec`` of their classes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import is_dataclass
from difflib import get_close_matches
from typing import Any, get_origin, get_type_hints

from rcmd import conjugates, oracles
from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.refused import Refused
from rcmd.model.specs.kinds import KINDS, NUMBER, WHOLE, Kind, Shape, Waiting
from rcmd.model.user_code import load
from rcmd.oracles.base import LinearMinOracle


class Spec:
    """How an object of the class ``makes`` is written: its ``spec``, with the types of its fields.

    A field ``p`` that the spec does not name is the number of variables.

    Examples
    --------
    >>> spec = Spec(oracles.Ridge)
    >>> spec.name, spec.text, list(spec.parameters), spec.required
    ('ridge', 'ridge:STRENGTH[:RADIUS]', ['strength', 'radius'], 1)
    """

    def __init__(self, makes: Any) -> None:
        self.makes = makes
        self.name, *words = makes.spec.replace("[", "").replace("]", "").split(":")
        self.required = makes.spec.partition("[")[0].count(":")
        hints = get_type_hints(makes if is_dataclass(makes) else makes.__init__, None, None, True)
        accepted = inspect.signature(makes).parameters
        names = {name.upper(): name for name in accepted}
        unknown = [word for word in words if word not in names]
        if unknown:
            raise TypeError(
                f"spec of {makes.__name__} is {makes.spec!r}, and {unknown[0]} is none of its "
                f"arguments; expected among {', '.join(names)}"
            )
        self.parameters: dict[str, Kind] = {
            names[word]: _kind(hints.get(names[word])) for word in words
        }
        self.text = makes.spec
        for name, kind in self.parameters.items():
            self.text = self.text.replace(f":{name.upper()}", f":{_word(name, kind)}")
        self.waits = "p" in accepted and "p" not in self.parameters

    def parse(self, text: str, owner: str) -> Any:
        """The object that ``text`` stands for, or one that waits where an argument does."""
        words, kinds = text.split(":")[1:], list(self.parameters.items())
        if kinds and kinds[-1][1].takes_rest and len(words) >= len(kinds):
            words[len(kinds) - 1 :] = [":".join(words[len(kinds) - 1 :])]
        if not self.required <= len(words) <= len(kinds):
            raise ValueError(f"{owner} has {len(words)} parameter(s); expected {self.text}")
        arguments: dict[str, Any] = {}
        for (name, kind), word in zip(kinds, words, strict=False):
            value = kind.read(word, owner, _word(name, kind))
            arguments |= value if isinstance(value, dict) else {name: value}
        if self.waits:
            arguments["p"] = Waiting(lambda p, shape: p)
        if not any(isinstance(value, Waiting) for value in arguments.values()):
            return self.makes(**arguments)
        return Waiting(
            lambda p, shape: self.makes(
                **{name: for_columns(value, p, shape) for name, value in arguments.items()}
            )
        )


def for_columns(part: Any, p: int, shape: Shape | None = None) -> Any:
    """``part`` for p variables, which are a matrix of that shape if one is given."""
    return part.finish(p, shape) if isinstance(part, Waiting) else part


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
        loss = load(text)
        if not isinstance(loss, SeparableConjugate):
            raise ValueError(f"loss {text!r} is {loss!r}; expected a SeparableConjugate")
        return loss
    refused = REFUSED.get(text.partition(":")[0])
    if refused is not None:
        refused()
    named: SeparableConjugate = _named("loss", text, LOSSES)
    return named


def parse_oracle(text: str) -> LinearMinOracle | Waiting:
    """An oracle as name:parameter:…, such as ``l1:5`` or ``nuclear:50x40:30``.

    Where a parameter depends on the data, it waits for them; ``for_columns`` finishes it.

    >>> parse_oracle("ridge:0.1")
    Ridge(strength=0.1, radius=None)
    >>> parse_oracle("scaled:2:l1:5")
    Scaled(oracle=L1Ball(radius=5.0), factor=2.0)
    >>> for_columns(parse_oracle("group-l2:2:1"), p=4).groups
    array([0, 0, 1, 1])
    """
    oracle: LinearMinOracle | Waiting = _named("oracle", text, ORACLES)
    return oracle


def parse_batch(text: str) -> int | float:
    """Rows per step: ``32``, or a share of all rows, ``1%``.

    >>> parse_batch("1%"), parse_batch("32")
    (0.01, 32)
    """
    if text.endswith("%"):
        percent: float = NUMBER.read(text[:-1], f"batch {text!r}", "share")
        if not 0 < percent <= 100:
            raise ValueError(
                f"batch {text!r} is no share of all rows; expected up to 100%, above 0%"
            )
        return percent / 100
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"batch {text!r} is neither a whole number of rows nor a percentage such as 1%"
        ) from None


def _named(what: str, text: str, known: Mapping[str, Spec]) -> Any:
    """The object that ``text`` stands for; ``what`` it is called in faults."""
    name, owner = text.partition(":")[0], f"{what} {text!r}"
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(known[n].text for n in near)}? " if near else ""
        plural = "losses" if what == "loss" else f"{what}s"
        raise ValueError(f"{owner} is unknown; {meant}`rcmd list {plural}` shows all of them")
    return known[name].parse(text, owner)


def _parts(text: str) -> dict[str, Any]:
    """SIZE:ORACLE,…, as the fields of a ``Product``."""
    found: list[tuple[int, LinearMinOracle]] = []
    for part in text.split(","):
        word, _, oracle = part.partition(":")
        size = WHOLE.read(word, f"part {part!r}", "SIZE")
        found.append((size, for_columns(parse_oracle(oracle), size)))
    sizes, parts = zip(*found, strict=True)
    return {"oracles": parts, "sizes": sizes}


ORACLE = Kind(parse_oracle, "an oracle", takes_rest=True)
PARTS = Kind(_parts, "parts", shown="SIZE:ORACLE,SIZE:ORACLE,…", takes_rest=True)
ALL_KINDS = {**KINDS, LinearMinOracle: ORACLE, tuple[LinearMinOracle, ...]: PARTS}


def _kind(hint: Any) -> Kind:
    """What stands for a field of that type."""
    return ALL_KINDS.get(hint) or ALL_KINDS.get(get_origin(hint), NUMBER)


def _word(name: str, kind: Kind) -> str:
    return kind.shown or name.upper()


def _exported(package: Any, base: type) -> list[Any]:
    """The classes with a spec of their own that the package exports, in its order."""
    classes = (getattr(package, name) for name in package.__all__)
    return [cls for cls in classes if issubclass(cls, base) and vars(cls).get("spec")]


EXPRESSION = "expression:"

ORACLES = {spec.name: spec for spec in map(Spec, _exported(oracles, LinearMinOracle))}
REFUSED = {cls.spec: cls for cls in _exported(conjugates, Refused)}
"""Losses known by name whose construction says why they cannot be had."""
LOSSES = {
    spec.name: spec
    for spec in map(Spec, _exported(conjugates, SeparableConjugate))
    if spec.name not in REFUSED
}
