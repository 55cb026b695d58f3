"""What bounds ask of a run: its facts, a condition on them, and the conditions of each schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rcmd.conjugates.base import numeric_parts

if TYPE_CHECKING:
    from rcmd.model.constants import Constants
    from rcmd.model.problem import Problem

Kind = Literal["sublinear", "head-start", "linear", "exact", "quartz"]


@dataclass(frozen=True)
class RunFacts:
    """What the hypotheses of bounds read of a run; by default, of one as the theorems ask for.

    Attributes
    ----------
    constants
        Those of its problem, for its batches.
    theorem
        Whose own schedule it has: Theorem 3.1's ("sublinear"), ``HeadStart``'s ("head-start"),
        Theorem 3.2's ("linear"), Theorem I's ("exact"), Quartz's ("quartz"), or none.
    own_prox, own_sampler
        Whether these are exactly ``ConjugateProx`` (``ExactProx`` with the problem's κ_j for
        Theorem I) and ``UniformSampler``, no subclasses, with the methods that rcmd gave them, and
        NumPy's own generator.
    own_method
        Whether the method is exactly ``RCMD``, or ``Quartz``: a subclass may do other steps.
    cold
        Whether it starts at w⁰ = ∇L(0), at the first step of its schedule.
    parts
        The classes of its schedule, prox and sampler, or of its method; no altered ones.
    exact_atoms, checked, known_gammas
        Whether the oracle's atoms are exact minimizers, whether the problem's classes were checked
        or proved, and whether the class of losses says γ, which is an estimate otherwise.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> from rcmd.model.bounds import RunFacts, why_none
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> why_none(RunFacts(problem.constants(), "sublinear", cold=False))
    'the run has a warm start, and the theorems start at w⁰ = ∇L(0)'
    """

    constants: Constants
    theorem: Kind | None
    own_prox: bool = True
    own_sampler: bool = True
    own_method: bool = True
    cold: bool = True
    parts: tuple[Any, ...] = ()
    exact_atoms: bool = True
    checked: bool = True
    known_gammas: bool = True

    @classmethod
    def of(cls, problem: Problem, constants: Constants, **run: Any) -> RunFacts:
        """The facts of a run on ``problem``; ``run`` has those that are not the problem's."""
        return cls(
            constants,
            exact_atoms=problem.oracle.exact_atoms,
            checked=problem.ground != "unchecked",
            known_gammas="gamma" not in numeric_parts(type(problem.loss)),
            **run,
        )


@dataclass(frozen=True)
class Hypothesis:
    """A condition on a run: ``words`` that say it, its test, and ``otherwise`` where it fails.

    Examples
    --------
    >>> Hypothesis("batches are single rows", "b > 1", lambda facts: facts.constants.batch == 1)
    Hypothesis('batches are single rows')
    """

    words: str
    otherwise: str
    holds: Callable[[RunFacts], bool]

    def __repr__(self) -> str:
        return f"Hypothesis({self.words!r})"


def has(kind: type) -> Hypothesis:
    """The run has this very class, which is no part of the paper."""
    return Hypothesis(
        f"the run has {kind.__name__} itself",
        f"the run has no {kind.__name__} itself: a subclass or an altered one is another",
        lambda run: kind in run.parts,
    )


def tame(c: Constants) -> bool:
    """Quadratic losses, or no randomness: there V/(q^k − 1) holds."""
    return c.quadratic or c.batch == c.n


def _finite(run: RunFacts) -> bool:
    c = run.constants
    return math.isfinite(float(c.prediction_energy) + float(c.bregman_radius))


# fmt: off
_CONJUGATE = Hypothesis("the prox is ConjugateProx itself, h = L*/n",
                        "the prox is another class than ConjugateProx, a subclass of it or "
                        "altered, whose h need not be L*/n", lambda run: run.own_prox)
_EXACT = Hypothesis("the prox is ExactProx itself, with the κ_j of this problem and these batches",
                    "the prox is another class than ExactProx, a subclass of it or altered, or has "
                    "a κ of its own", lambda run: run.own_prox)
_UNIFORM = Hypothesis("the sampler is UniformSampler itself: all batches of b rows are equally "
                      "likely", "there is no theorem here for another sampler than "
                      "UniformSampler, a subclass of it or an altered one, whose draws need not be "
                      "uniform",
                      lambda run: run.own_sampler)
_MATCHED = Hypothesis("the sampler is UniformSampler itself, or ImportanceSampler.matching with "
                      "the mean of the σ_j for σ", "there is no theorem here for a sampler that is "
                      "neither UniformSampler nor ImportanceSampler.matching for this problem, or "
                      "a subclass of them or altered",
                      lambda run: run.own_sampler)
PARTS = {"sublinear": (_CONJUGATE, _UNIFORM), "head-start": (_CONJUGATE, _UNIFORM),
         "linear": (_CONJUGATE, _UNIFORM), "exact": (_EXACT, _MATCHED), "quartz": (_UNIFORM,)}
ALWAYS = (
    Hypothesis("the method is RCMD itself, or Quartz itself", "the method is another class, a "
               "subclass or altered, whose steps need not be the theorem's",
               lambda run: run.own_method),
    Hypothesis("the run starts cold, at w⁰ = ∇L(0)",
               "the run has a warm start, and the theorems start at w⁰ = ∇L(0)",
               lambda run: run.cold),
    Hypothesis("atoms are exact minimizers",
               "the oracle's atoms are not exact minimizers (exact_atoms is False)",
               lambda run: run.exact_atoms),
    Hypothesis("every γ_j is known on the range of its prediction, for the problem's own labels",
               "the problem's classes are unchecked, so that no γ_j is known",
               lambda run: run.checked),
    Hypothesis("the class of losses says γ, by gamma or curvature_bound",
               "γ_j is an estimate: the class of losses has neither gamma nor curvature_bound, and "
               "needs one of them for a bound", lambda run: run.known_gammas),
)
BOUNDED = Hypothesis("dom R is bounded; E and D_max are finite",
                     "M or D_max is infinite, while Assumption 1.1 asks for a bounded dom R",
                     _finite)
_OTHER_STEPS = "the schedule is not exactly Theorem 3.1's, 3.2's or I's for this problem"
BY_SCHEDULE = {
    "sublinear": (
        Hypothesis("step sizes and weights are Theorem 3.1's, for this N", _OTHER_STEPS,
                   lambda run: run.theorem == "sublinear"),
        BOUNDED,
    ),
    "head-start": (
        Hypothesis("step sizes and weights are those of HeadStart, for this N", _OTHER_STEPS,
                   lambda run: run.theorem == "head-start"),
        BOUNDED,
    ),
    "linear": (
        Hypothesis("step sizes and weights are Theorem 3.2's, for this N and σ_b", _OTHER_STEPS,
                   lambda run: run.theorem == "linear"),
        Hypothesis("−D is σ_b-smooth relative to h, in expectation over batches, as Prop. 3.7 says "
                   "where μ > 0", "R is not strongly convex (μ = 0)",
                   lambda run: bool(run.constants.mu > 0)),
        BOUNDED,
    ),
    "exact": (
        Hypothesis("steps are 1, and weights Theorem 3.2's, for this N and σ_b", _OTHER_STEPS,
                   lambda run: run.theorem == "exact"),
        Hypothesis("R is μ-strongly convex", "R is not strongly convex (μ = 0)",
                   lambda run: bool(run.constants.mu > 0)),
    ),
}
BY_SCHEDULE["quartz"] = (
    Hypothesis("steps are 1/σ_b, and averages move by 1/(Nσ_b)",
               "the run is not one of Quartz", lambda run: run.theorem == "quartz"),
    BY_SCHEDULE["exact"][1],
)
STRONG = Hypothesis("R is μ-strongly convex, and σ_b that of Prop. 3.7: another one will not do",
                    "R is not strongly convex (μ = 0)", lambda run: bool(run.constants.mu > 0))
SINGLE = Hypothesis("single rows, b = 1", "it is about single rows, b = 1",
                    lambda run: run.constants.batch == 1)
BATCHES = Hypothesis("batches, b > 1", "it is about batches, b > 1",
                     lambda run: run.constants.batch > 1)
TAME = Hypothesis("all losses are quadratic, or b = n", "some loss is not quadratic, and b < n",
                  lambda run: tame(run.constants))
START = Hypothesis("P(β̃⁰) − D(w⁰) is known", "P(β̃⁰) − D(w⁰) is not among the constants",
                   lambda run: run.constants.start_gap is not None)
PARALLEL = Hypothesis("the rows are multiples of one, as where p = 1", "p is not 1: its rows need "
                      "to be multiples of one", lambda run: run.constants.parallel)
# fmt: on
