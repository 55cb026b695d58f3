"""What a line of a proof is: two numbers of a run, and how they must compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rcmd.tracing.moment import Moment

Sides = tuple[Any, Any]


class Relation(StrEnum):
    """How the two sides of a line compare."""

    AT_MOST = "≤"
    EQUAL = "="
    ON_AVERAGE = "≤ on average"
    PUBLISHED = "≤, as published: false"


@dataclass(frozen=True)
class ProofLine:
    """One inequality or identity of a proof.

    ``sides`` is given the moments of the run so far, the present one last. ``name`` says where
    the line stands in the paper or in its repair, ``statement`` what it says.
    """

    name: str
    statement: str
    sides: Callable[[Sequence[Moment]], Sides]
    relation: Relation = Relation.AT_MOST


def at_each_step(
    name: str, relation: Relation = Relation.AT_MOST
) -> Callable[[Callable[[Moment], Sides]], ProofLine]:
    """Make a function of one moment a line; its docstring is the statement."""

    def made(sides: Callable[[Moment], Sides]) -> ProofLine:
        return ProofLine(name, _statement(sides), lambda moments: sides(moments[-1]), relation)

    return made


def along_the_run(
    name: str, relation: Relation = Relation.AT_MOST
) -> Callable[[Callable[[Sequence[Moment]], Sides]], ProofLine]:
    """Make a function of all moments so far a line, likewise."""
    return lambda sides: ProofLine(name, _statement(sides), sides, relation)


def _statement(function: Callable[..., Sides]) -> str:
    return (function.__doc__ or "").rstrip(".")


def weighted_sum(moments: Sequence[Moment], quantity: Callable[[Moment], Any]) -> Any:
    """Σ_i g_i times a quantity of moment i."""
    terms = [moment.weight * quantity(moment) for moment in moments]
    return sum(terms[1:], start=terms[0])


def total_weight(moments: Sequence[Moment]) -> Any:
    """G = Σ_i g_i."""
    return sum(moment.weight for moment in moments)


def average_beta(moments: Sequence[Moment]) -> Any:
    """β̄, the weighted mean of the atoms."""
    zero = moments[0].problem.rows.zero()
    return weighted_sum(moments, lambda m: m.atom.dense(zero)) / total_weight(moments)
