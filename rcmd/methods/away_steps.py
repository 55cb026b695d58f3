"""Frank–Wolfe with away steps: a linear rate on polytopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.active_set import ActiveSet, ActiveSetProgress, Move, inner, refuse_unfit
from rcmd.methods.base import Method, Progress
from rcmd.methods.full_gradient import Array
from rcmd.methods.step_rules import SearchRule, check_rule, rule_named
from rcmd.oracles.atoms import Atom
from rcmd.problem import Problem


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
