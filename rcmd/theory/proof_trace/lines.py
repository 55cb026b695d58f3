"""What a line of a proof is: two numbers of the moments of a run, and how they must compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.model.constants import Constants
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom

Array = npt.NDArray[Any]
Sides = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class Moment:
    """Iteration i, its batch still to be drawn: E_i is the mean over ``batches``.

    Attributes
    ----------
    problem, constants
        The instance.
    i, eta, weight
        The iteration, η_i, and its weight g_i in the averages.
    s, atom
        The mirror variable s^i and β̃^i.
    fixed
        A dual point w that does not depend on the draws, as the proofs need it.
    batches
        All batches that may be drawn, as masks.
    drawn
        The mask of the one that was.
    """

    problem: Problem
    constants: Constants
    i: int
    eta: Any
    weight: Any
    s: Array
    atom: Atom
    fixed: Array
    batches: Sequence[Array]
    drawn: Array

    @property
    def blocks(self) -> Any:
        """N = n/b."""
        return self.constants.blocks

    @property
    def gammas(self) -> Array:
        """γ_j."""
        return self.problem.losses.gammas

    @cached_property
    def w(self) -> Array:
        """w^i = ∇L(s^i)."""
        return self.problem.losses.derivative(self.s)

    @cached_property
    def predictions(self) -> Array:
        """a^i = Xβ̃^i."""
        return self.problem.rows.predict(np.arange(self.problem.n), self.atom)

    @cached_property
    def gap(self) -> Array:
        """u^i = a^i − s^i, which is n times a subgradient g^i of D at w^i."""
        return self.predictions - self.s

    @cached_property
    def s_all(self) -> Array:
        """s if every row were drawn."""
        return self.s + self.eta * self.gap

    @cached_property
    def w_all(self) -> Array:
        """r^{i+1}: w if every row were drawn."""
        return self.problem.losses.derivative(self.s_all)

    @cached_property
    def s_next(self) -> Array:
        """s^{i+1}, after the batch that was drawn."""
        return self.moved(self.drawn)

    @cached_property
    def dual(self) -> Any:
        """D(w^i)."""
        return self.problem.dual(self.w)

    @cached_property
    def atom_penalty(self) -> Any:
        """R(β̃^i)."""
        return self.problem.oracle.penalty(self.atom.dense(self.problem.rows.zero()))

    def moved(self, batch: Array) -> Array:
        """s after the rows of a mask were drawn."""
        return np.where(batch, self.s_all, self.s)

    def expected(self, quantity: Callable[[Array], Any]) -> Any:
        """E_i of a function of s^{i+1}."""
        return sum(quantity(self.moved(batch)) for batch in self.batches) / len(self.batches)

    def mean(self, values: Array) -> Any:
        """(1/n) Σ_j."""
        return self.problem.mean(values)

    def inner(self, w: Array) -> Any:
        """⟨g^i, w − w^i⟩."""
        return self.mean(self.gap * (w - self.w))

    def saddle(self, w: Array) -> Any:
        """φ(β̃^i, w)."""
        conjugate = self.problem.losses.conjugate(w)
        return self.mean(w * self.predictions - conjugate) + self.atom_penalty

    def bregman(self, w: Array, s: Array) -> Any:
        """D_h(w, ∇L(s)), the mean Fenchel–Young gap."""
        return self.mean(self.problem.losses.fenchel_young(s, w))

    def response(self, s: Array) -> Array:
        """∇L(s)."""
        return self.problem.losses.derivative(s)


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

    def line(sides: Callable[[Moment], Sides]) -> ProofLine:
        return ProofLine(name, _statement(sides), lambda moments: sides(moments[-1]), relation)

    return line


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
