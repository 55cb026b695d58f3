"""Methods by the names of the command line, the dual engine among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from rcmd.methods import (
    SCGM,
    SCGS,
    SFW,
    STORC,
    SVRF,
    Apcg,
    AwayStep,
    BlendedPairwise,
    FrankWolfe,
    Method,
    OnlineFrankWolfe,
    Pairwise,
    SagFrankWolfe,
    SarahFrankWolfe,
    Sdca,
)
from rcmd.problem import Problem
from rcmd.run import Options, iterate


@dataclass(frozen=True)
class Entrant:
    """A method that takes part.

    Attributes
    ----------
    name
        How it is written.
    method
        ``None`` for the dual engine.
    corrective
        Whether the engine may end with corrections.
    shares_batch
        Whether its batches are of the size asked for; the others follow rules of their own.
    random
        Whether another seed is another run.
    """

    name: str
    method: Method | None = None
    corrective: bool = False
    shares_batch: bool = False
    random: bool = True

    def options(self, batch: int, seed: int) -> Options:
        """What ``rcmd.solve`` needs to run it."""
        return {
            "method": self.method,
            "corrective": self.corrective,
            "batch": batch if self.shares_batch else None,
            "seed": seed,
        }


ENTRANTS = {
    entrant.name: entrant
    for entrant in (
        Entrant("gsfw", shares_batch=True),
        Entrant("rcmd", corrective=True, shares_batch=True),
        Entrant("fw", FrankWolfe(), random=False),
        Entrant("away", AwayStep(), random=False),
        Entrant("pairwise", Pairwise(), random=False),
        Entrant("bpcg", BlendedPairwise(), random=False),
        Entrant("sfw", SFW()),
        Entrant("svrf", SVRF()),
        Entrant("storc", STORC()),
        Entrant("scgm", SCGM(), shares_batch=True),
        Entrant("scgs", SCGS()),
        Entrant("sag", SagFrankWolfe(), shares_batch=True),
        Entrant("sarah", SarahFrankWolfe()),
        Entrant("online", OnlineFrankWolfe(), shares_batch=True),
        Entrant("sdca", Sdca(), shares_batch=True),
        Entrant("apcg", Apcg()),
    )
}
"""gsfw is the engine alone, the algorithm of the paper; rcmd may end with corrections."""


def parse_entrants(text: str) -> list[Entrant]:
    """Entrants as names with commas, a step rule after a colon where there is a choice.

    >>> [entrant.name for entrant in parse_entrants("gsfw,fw:exact")]
    ['gsfw', 'fw:exact']
    """
    words = [word.strip() for word in text.split(",")]
    repeated = {word for word in words if words.count(word) > 1}
    if repeated:
        raise ValueError(
            f"methods {text!r} name {' and '.join(sorted(repeated))} more than once; expected "
            "each once"
        )
    return [_entrant(word) for word in words]


def _entrant(word: str) -> Entrant:
    name, colon, rule = word.partition(":")
    if name not in ENTRANTS:
        near = get_close_matches(name, ENTRANTS, n=3, cutoff=0.5)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"method {word!r} is unknown; expected some of {_known()}{meant}")
    entrant = ENTRANTS[name]
    if not colon:
        return entrant
    method: Any = entrant.method
    if method is None or "rule" not in {field.name for field in fields(method)}:
        raise ValueError(f"method {word!r} has a step rule; expected {name} alone, it has none")
    return replace(entrant, name=word, method=replace(method, rule=rule))


def fitting(
    problem: Problem, entrants: Sequence[Entrant], batch: int, budget: int
) -> tuple[list[Entrant], dict[str, str]]:
    """Those that take this problem and budget, and why the others do not, by name."""
    fit, refused = [], {}
    for entrant in entrants:
        try:
            options: Options = entrant.options(batch, 0) | {"max_gradients": budget}
            iterate(problem, **options)
        except ValueError as reason:
            refused[entrant.name] = str(reason)
        else:
            fit.append(entrant)
    return fit, refused


def _known() -> str:
    return ", ".join(ENTRANTS)
