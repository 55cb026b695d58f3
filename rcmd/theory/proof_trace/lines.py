"""What a line of a proof is: two numbers of a moment of a run, and how they must compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.model.constants import Constants
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array

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
    past
        The moments before this one.
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
    past: tuple[Moment, ...] = ()

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

    def sum_so_far(self, quantity: Callable[[Moment], Any]) -> Any:
        """Σ g_k times a quantity of moment k, over k ≤ i."""
        terms = [moment.weight * quantity(moment) for moment in (*self.past, self)]
        return sum(terms[1:], start=terms[0])

    def mean_so_far(self, quantity: Callable[[Moment], Any]) -> Any:
        """The same divided by G = Σ g_k."""
        return self.sum_so_far(quantity) / sum(moment.weight for moment in (*self.past, self))

    @cached_property
    def beta_average(self) -> Array:
        """β̄, the weighted mean of the atoms."""
        return self.mean_so_far(lambda m: m.atom.dense(self.problem.rows.zero()))

    @cached_property
    def w_average(self) -> Array:
        """w̄, that of the w^k."""
        return self.mean_so_far(lambda m: m.w)


class Relation(StrEnum):
    """How the two sides of a line compare."""

    AT_MOST = "≤"
    EQUAL = "="
    ON_AVERAGE = "≤ on average"
    PUBLISHED = "≤, as published: false"


@dataclass(frozen=True)
class ProofLine:
    """One inequality or identity of a proof.

    ``name`` says where the line stands in the paper or in its repair, ``statement`` what it says.
    """

    name: str
    statement: str
    sides: Callable[[Moment], Sides]
    relation: Relation = Relation.AT_MOST


def line(
    name: str, relation: Relation = Relation.AT_MOST
) -> Callable[[Callable[[Moment], Sides]], ProofLine]:
    """Make a function of a moment a line; its docstring is the statement."""
    return lambda sides: ProofLine(name, (sides.__doc__ or "").rstrip("."), sides, relation)
