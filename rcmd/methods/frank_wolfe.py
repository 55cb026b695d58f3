"""Frank–Wolfe with the whole gradient in every step, for sets and for penalties."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.methods.step_rules import Segment, StepRule, check_rule, rule_named
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array


class FullGradient(Progress):
    """A run whose steps see ∇f(β) and a minimizer of ∇f(β)ᵀβ + R(β); it keeps s = Xβ."""

    def __init__(
        self, method: Any, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        if batch is not None and batch != problem.n:
            raise ValueError(
                f"batch is {batch} rows; expected None or n = {problem.n}: {type(method).__name__} "
                "takes the gradient over all rows in every step"
            )
        super().__init__(problem, rng)
        self.method = method
        self._rule = rule_named(method.rule, problem)
        self.predictions = problem.rows.matvec(self.beta)
        self._dearest = problem.n

    @abstractmethod
    def move(self, w: Array, slope: Any, atom: Atom) -> None:
        """Change β and ``predictions``, given w = ∇L(Xβ), ``slope`` = ∇f(β) and its atom."""

    def step(self) -> None:
        w, before = self.w, self.gradients
        slope = self.problem.gradient(w)
        self.gradients += self.problem.n
        self.move(w, slope, self.lowest_atom(slope))
        self._dearest = max(self._dearest, self.gradients - before)

    def searched(self, segment: Segment) -> Any:
        """The step that the rule takes; an evaluation of all losses counts n gradients."""
        share = self._rule.share(segment)
        self.gradients += segment.evaluations * self.problem.n
        return share

    @property
    def s(self) -> Array:
        return self.predictions

    @property
    def step_gradients(self) -> int:
        """The most that a step used so far, n at first: a line search's cost is not known ahead."""
        return self._dearest


@dataclass(frozen=True)
class FrankWolfe(Method):
    """β ← β + α_k (β̃ − β), β̃ a minimizer of ∇f(β)ᵀβ + R(β), with α_0 = 1.

    For sets this is Frank & Wolfe's method (Jaggi 2013), for other R the generalized one (Bach
    2015). With open-loop steps it is deterministic mirror descent on (D), which needs no method of
    its own: ``solve(problem, batch=problem.n)`` runs that, with the theorems' steps.

    ``rule`` says what α_k is for k ≥ 1, with the gap g = ∇f(β)ᵀ(β − β̃) + R(β) − R(β̃):

    - ``"open-loop"``: 2/(k+2).
    - ``"short-step"``: min(g/(L‖β̃ − β‖²), 1), L the smoothness of f.
    - ``"exact"``: the minimizer over [0, 1] of f(β + α(β̃ − β)) + (1−α)R(β) + αR(β̃), which is P
      on the segment for a set, and an upper bound of it for any other convex R.
    - ``"adaptive"``: the short step with L estimated by backtracking (Pedregosa, Negiar, Askari &
      Jaggi 2020).

    All have P(β^k) − P* = O(1/k), the last three without ever raising P, and O(q^k) with q < 1
    where R is strongly convex. A trial of a line search counts n gradients.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0]], [0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=FrankWolfe(), tol=1e-3).success
    True
    >>> solve(problem, method=FrankWolfe("exact"), tol=1e-9).nit
    2
    """

    rule: StepRule = "open-loop"
    random = False
    note = "Frank-Wolfe: O(1/k), no bound is printed"

    def __post_init__(self) -> None:
        check_rule(self, StepRule)

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _FrankWolfe(self, problem, batch, rng)


class _FrankWolfe(FullGradient):
    def move(self, w: Array, slope: Any, atom: Atom) -> None:
        column = self.problem.rows.predict_at([atom])
        reached = (column if isinstance(column, np.ndarray) else column.toarray())[:, 0]
        if self._rule is None or self.iteration == 0:
            share: Any = Fraction(2, self.iteration + 2)
            share = share if self.problem.exact else float(share)
        else:
            share = self.searched(self._segment(w, atom, reached))
        self.predictions = (1 - share) * self.predictions + share * reached
        self.beta *= 1 - share
        atom.add_to(self.beta, share)

    def _segment(self, w: Array, atom: Atom, reached: Array) -> Segment:
        problem, beta, penalty = self.problem, self.beta, self.problem.oracle.penalty

        def direction() -> Any:
            back = beta.copy()
            back *= -1
            atom.add_to(back, 1)
            return back

        chord = 0 if problem.oracle.indicator else penalty(atom.dense(beta)) - penalty(beta)
        return Segment(problem, self.s, w, reached - self.s, direction, chord=chord)
