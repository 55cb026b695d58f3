"""Frank–Wolfe over active atoms: away steps, pairwise steps, and blended pairwise steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.active_set import ActiveSet, ActiveSetProgress, Move, inner, refuse_unfit
from rcmd.methods.base import Method, Progress
from rcmd.methods.full_gradient import Array
from rcmd.methods.step_rules import SearchRule, check_rule, rule_named
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom


@dataclass(frozen=True)
class AwayStep(Method):
    """Towards the best atom, or away from the worst active one, whichever descends more steeply.

    With β = Σ_i λ_i a_i, β̃ a minimizer of ∇f(β)ᵀβ over the set and a_v the active atom with the
    largest ∇f(β)ᵀa_v: where ∇f(β)ᵀ(β − β̃) ≥ ∇f(β)ᵀ(a_v − β) the direction is β̃ − β with α ≤ 1,
    else β − a_v with α ≤ λ_v/(1 − λ_v), at which a_v is dropped (Guélat & Marcotte 1986;
    Lacoste-Julien & Jaggi 2015). α is chosen by ``rule``, as for ``FrankWolfe``.

    On a polytope with f strongly convex P(β^k) − P* falls by a constant factor in at least half
    of the iterations.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Simplex, solve
    >>> problem = Problem(np.eye(3), [0.6, 0.3, -1.0], LeastSquares(), Simplex())
    >>> solve(problem, method=AwayStep(), tol=1e-12).beta.round(6)
    array([0.65, 0.35, 0.  ])
    """

    rule: SearchRule = "exact"
    random = False
    note = "Away-step Frank-Wolfe: linear on polytopes where f is strongly convex; no bound printed"

    def __post_init__(self) -> None:
        check_rule(self, SearchRule)

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        refuse_unfit(self, problem, batch)
        return _AwayStep(problem, rng, rule_named(self.rule, problem))


class _AwayStep(ActiveSetProgress):
    def choose(self, active: ActiveSet, slope: Array, atom: Atom) -> Move:
        here = slope @ self.beta
        _, worst = active.extremes(slope)
        # A single atom is β itself, and away from it leads nowhere.
        if len(active.atoms) == 1 or here - inner(slope, atom) >= inner(slope, worst) - here:
            return Move(None, atom, 1)
        weight = active.weight(worst)
        return Move(worst, None, weight / (1 - weight))


@dataclass(frozen=True)
class Pairwise(Method):
    """β ← β + α (β̃ − a_v), 0 ≤ α ≤ λ_v: from the worst active atom to the best of all.

    a_v is the active atom with the largest ∇f(β)ᵀa_v and λ_v its weight (Lacoste-Julien & Jaggi
    2015). α is chosen by ``rule``, as for ``FrankWolfe``. Linear on polytopes with f strongly
    convex, but for swaps: steps that move all of a_v's weight to an atom that was not active. For
    m atoms in all, the theory allows 3·m! of them for every step that makes progress.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Simplex, solve
    >>> problem = Problem(np.eye(3), [0.6, 0.3, -1.0], LeastSquares(), Simplex())
    >>> solve(problem, method=Pairwise(), tol=1e-12).beta.round(6)
    array([0.65, 0.35, 0.  ])
    """

    rule: SearchRule = "exact"
    random = False
    note = "Pairwise Frank-Wolfe: linear on polytopes where f is strongly convex; no bound printed"

    def __post_init__(self) -> None:
        check_rule(self, SearchRule)

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        refuse_unfit(self, problem, batch)
        return _Pairwise(problem, rng, rule_named(self.rule, problem))


class _Pairwise(ActiveSetProgress):
    def choose(self, active: ActiveSet, slope: Array, atom: Atom) -> Move:
        _, worst = active.extremes(slope)
        return Move(worst, atom, active.weight(worst))


@dataclass(frozen=True)
class BlendedPairwise(Method):
    """Weight moved among the active atoms while that promises as much as a Frank–Wolfe step.

    With a_v and a_u the active atoms with the largest and the smallest ∇f(β)ᵀa: where
    ∇f(β)ᵀ(a_v − a_u) ≥ ∇f(β)ᵀ(β − β̃), β ← β + α (a_u − a_v) with 0 ≤ α ≤ λ_v, else a Frank–Wolfe
    step to β̃ (Tsuji, Tanaka & Pokutta 2022). No swaps to new atoms: linear on polytopes with f
    strongly convex. α is chosen by ``rule``, as for ``FrankWolfe``.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Simplex, solve
    >>> problem = Problem(np.eye(3), [0.6, 0.3, -1.0], LeastSquares(), Simplex())
    >>> solve(problem, method=BlendedPairwise(), tol=1e-12).beta.round(6)
    array([0.65, 0.35, 0.  ])
    """

    rule: SearchRule = "exact"
    random = False
    note = "Blended pairwise conditional gradients: linear on polytopes where f is strongly convex"

    def __post_init__(self) -> None:
        check_rule(self, SearchRule)

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        refuse_unfit(self, problem, batch)
        return _BlendedPairwise(problem, rng, rule_named(self.rule, problem))


class _BlendedPairwise(ActiveSetProgress):
    def choose(self, active: ActiveSet, slope: Array, atom: Atom) -> Move:
        best, worst = active.extremes(slope)
        if inner(slope, worst) - inner(slope, best) >= slope @ self.beta - inner(slope, atom):
            return Move(worst, best, active.weight(worst))
        return Move(None, atom, 1)
