"""Objects written as name:parameter:…, and those that wait for the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from rcmd.specs.kinds import Kind, Shape, Waiting


class Form:
    """How an object of the class ``makes`` is written.

    Each parameter has the name of an argument of ``build``, by default of the class itself,
    and the kind of word that stands for it; optional ones come last.
    """

    def __init__(
        self, makes: type, build: Callable[..., Any] | None = None, /, **parameters: Kind
    ) -> None:
        self.makes, self.build, self.parameters = makes, build or makes, parameters

    def shown(self, name: str) -> str:
        """The form in words: ``ridge:STRENGTH[:RADIUS]``."""
        words = (
            f"[:{_word(name, kind)}]" if kind.may_be_left_out else f":{_word(name, kind)}"
            for name, kind in self.parameters.items()
        )
        return name + "".join(words)

    def arguments(self, text: str, owner: str) -> dict[str, Any]:
        """What the words after the name stand for."""
        name, *words = text.split(":")
        kinds = list(self.parameters.items())
        if kinds and kinds[-1][1].takes_rest and len(words) >= len(kinds):
            words[len(kinds) - 1 :] = [":".join(words[len(kinds) - 1 :])]
        required = sum(not kind.may_be_left_out for _, kind in kinds)
        if not required <= len(words) <= len(kinds):
            raise ValueError(f"{owner} has {len(words)} parameter(s); expected {self.shown(name)}")
        return {
            name: kind.read(word, owner, _word(name, kind))
            for (name, kind), word in zip(kinds, words, strict=False)
        }

    def make(self, arguments: Mapping[str, Any]) -> Any:
        """The object, or one that waits where an argument does."""
        if any(isinstance(value, Waiting) for value in arguments.values()):
            return Waiting(
                lambda p, shape: self.make(
                    {name: made(value, p, shape) for name, value in arguments.items()}
                )
            )
        return self.build(**arguments)


def parsed(what: str, text: str, known: Mapping[str, Form]) -> Any:
    """The object that ``text`` stands for; ``what`` it is called in faults."""
    name, owner = text.partition(":")[0], f"{what} {text!r}"
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(known[n].shown(n) for n in near)}? " if near else ""
        plural = "losses" if what == "loss" else f"{what}s"
        raise ValueError(f"{owner} is unknown; {meant}`rcmd list {plural}` shows all of them")
    form = known[name]
    return form.make(form.arguments(text, owner))


def made(part: Any, p: int, shape: Shape | None = None) -> Any:
    """``part`` for p variables, which are a matrix of that shape if one is given."""
    while isinstance(part, Waiting):
        part = part.finish(p, shape)
    return part


def _word(name: str, kind: Kind) -> str:
    return kind.shown or name.upper()
