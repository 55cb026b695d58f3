"""The theorems' bounds: as the paper prints them, as they hold, and where each applies.

They are about the algorithm started at w⁰ = ∇L(0), with h = L*/n but for Theorem I, and batches of
b rows drawn uniformly without replacement. ``iterations`` counts the steps done: after t of them
the algorithm has β̄^{t−1}, w̄^{t−1} and w^t, so Theorem 3.1 ("sublinear"), and the same with the
steps of ``HeadStart`` ("head-start"), is read at k = t − 1 and Theorem 3.2 ("linear", η = 1/σ_b)
at k = t. Theorem I ("exact") is ours: Theorem 3.2's weights with
the exact coordinate steps of ``ExactProx``. There P(β̃^i) − D(w^i) ≤ Nσ_b E_i[D(w^{i+1}) − D(w^i)]
for all losses; by convexity of P, Σ_i q^i (P(β̄^{k−1}) − D(w^k)) has an expectation of at most
Σ_m (Nσ_b q^{m−1} − Σ_{i<m} q^i) E[D(w^m) − D(w^{m−1})], where every coefficient is Nσ_b − 1.
"quartz" is the method of Qu, Richtárik and Zhang (2015), ``Quartz``, whose k is the steps done.

N = n/b; σ is the paper's coordinate-wise relative smoothness, σ_b the one in expectation over
batches (σ_1 = σ), s_n the one in every direction; q = Nσ_b/(Nσ_b − 1); E = (1/n) Σ γ_j M_j² ≤ γM²;
and V = min{D_max, E/2}, since D_h(ŵ, w⁰) ≤ E/2 for every response ŵ (half of Prop. 3.1's γM²).
PROVED: for every problem with these constants. REFUTED: some problem breaks the statement, and no
proof covers the case at hand. A bound is about runs that keep all of its ``hypotheses``.

Examples
--------
>>> from rcmd.model.constants import Constants
>>> logistic = Constants(n=2, batch=1, gamma=0.25, prediction_bound=10.0, prediction_energy=25.0,
...                      bregman_radius=math.log(2), mu=1.0, row_energy=0.25, spectral_energy=0.5,
...                      quadratic=False)
>>> round(named("theorem-3.2-first")(logistic, 1), 6)  # a problem whose expected gap is 2.059730
0.866434
>>> named("theorem-3.2-first").verdict_for(logistic, 1).name
'REFUTED'
>>> bound, value = best(logistic, 8, "linear")
>>> bound.name, round(value, 4)
('linear-any-loss', 0.1224)
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from rcmd.conjugates.base import numeric_parts
from rcmd.rows.validation import takes

if TYPE_CHECKING:
    from rcmd.model.constants import Constants
    from rcmd.model.problem import Problem

Kind = Literal["sublinear", "head-start", "linear", "exact", "quartz"]


class Verdict(enum.Enum):
    """What is known about an inequality."""

    PROVED = "proved"
    CONJECTURED = "conjectured"
    REFUTED = "refuted"
    CLAIMED = "claimed"


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


@dataclass(frozen=True)
class Bound:
    """One inequality; ``bound(constants, iterations)`` is its right-hand side.

    Your own has a name and a ``value``, is about the expectation of a run's ``pair_gap``, and is
    claimed: ``solve(problem, bounds=[mine])`` shows it where its hypotheses hold.

    Attributes
    ----------
    name, label
        Its name here, and the paper's number ('' when the paper does not have it).
    words, entry
        What it is in a few words, and its entries in the ledger of ``proofs_check``.
    schedule
        The schedule it is about: Theorem 3.1's ("sublinear"), ``HeadStart`` ("head-start"),
        Theorem 3.2's ("linear"), I's ("exact"), Quartz's ("quartz"), or the class of one of your
        own, or of a method of your own.
    formula
        Its right side.
    verdict, reason
        What is known for general losses, and why.
    value
        The right-hand side as a function of the constants and the paper's k; with a class of
        your own for ``schedule``, k is the number of steps done.
    only
        What it asks for beyond what all bounds of its schedule do.
    proved_when
        The cases (constants, k) that are proved although ``verdict`` is weaker.
    of
        What it bounds: E[P − D], P − D in every run ("every gap"), E[D* − D] ("dual"), or the gap
        P(E β̄) − E D ("mean"), of the pair (β̄, w) that its theorem is about.
    prox, sampler
        The classes it is about, in the place of the paper's.
    at_least
        Where constants of ``value`` take long to find: a lower estimate of it without them.

    Examples
    --------
    >>> bound = named("theorem-3.2-first")
    >>> bound.formula, bound.verdict
    ('D_max/(q^k − 1)', <Verdict.REFUTED: 'refuted'>)
    >>> Bound("mine", value=lambda c, k: 6 * c.blocks * c.prediction_energy / (k + 1))
    Bound('mine', E[P(β̄^k) − D(w̄^k)] ≤ value(constants, k), claimed)
    """

    name: str
    label: str = ""
    schedule: Kind | type = "sublinear"
    formula: str = "value(constants, k)"
    verdict: Verdict = Verdict.CLAIMED
    reason: str = "its author claims it; rcmd has no proof"
    value: Callable[[Constants, int], float] = None  # type: ignore[assignment]
    only: tuple[Hypothesis, ...] = ()
    proved_when: Callable[[Constants, int], bool] = lambda c, k: False
    of: Literal["gap", "every gap", "dual", "mean"] = "gap"
    prox: type | None = None
    sampler: type | None = None
    at_least: Callable[[Constants, int], float] | None = None
    words: str = ""
    entry: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise TypeError(f"name of a Bound is {self.name!r}; expected a word")
        if not takes(self.value, 2):
            raise TypeError(
                f"value of the Bound {self.name!r} is {self.value!r}; expected a function of "
                "(constants, k), such as lambda c, k: 8 * c.blocks * c.prediction_energy / (k + 1)"
            )
        if not isinstance(self.schedule, type) and self.schedule not in _BY_SCHEDULE:
            raise ValueError(
                f"schedule of the Bound {self.name!r} is {self.schedule!r}; expected 'sublinear', "
                "'head-start', 'linear', 'exact', 'quartz', or the class of a schedule or a method"
            )
        if self.of not in SIDES:
            raise ValueError(
                f"of of the Bound {self.name!r} is {self.of!r}; expected 'gap', 'every gap', "
                "'dual' or 'mean'"
            )
        for part in (self.prox, self.sampler):
            if not isinstance(part, type | None):
                raise TypeError(
                    f"prox or sampler of the Bound {self.name!r} is {part!r}; expected a class, "
                    "such as EuclideanProx, or None"
                )
        if not all(isinstance(one, Hypothesis) for one in self.only):
            raise TypeError(
                f"only of the Bound {self.name!r} is {self.only!r}; expected a tuple of Hypothesis"
            )

    def __repr__(self) -> str:
        return f"Bound({self.name!r}, {self.what} ≤ {self.formula}, {self.verdict.value})"

    @property
    def what(self) -> str:
        """The left side.

        Examples
        --------
        >>> named("linear-dual").what, Bound("mine", schedule=dict, value=max).what
        ('E[D* − D(w^k)]', 'E[pair_gap]')
        """
        if self.of == "gap" and isinstance(self.schedule, type):
            return "E[pair_gap]"
        return SIDES[self.of].format(*_PAIRS.get(self.schedule, ("β̄", "w̄")))

    @property
    def of_a_run(self) -> bool:
        """Whether a run knows its left side."""
        return self.of in ("gap", "every gap")

    @property
    def _asks(self) -> tuple[Hypothesis, ...]:
        steps = self.schedule
        *prox, sampler = _PARTS["sublinear" if isinstance(steps, type) else steps]
        return (
            *([_has(self.prox)] if self.prox else prox),
            _has(self.sampler) if self.sampler else sampler,
            *_ALWAYS,
            *((_has(steps),) if isinstance(steps, type) else _BY_SCHEDULE[steps]),
            *self.only,
        )

    def hypotheses(self, run: RunFacts) -> list[tuple[str, bool]]:
        """Return what the bound asks of a run, in words, and whether this run has it.

        Examples
        --------
        >>> from rcmd import L1Ball, LeastSquares, Problem
        >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
        >>> run = RunFacts.of(problem, problem.constants(), theorem="sublinear", own_sampler=False)
        >>> [words for words, holds in named("sublinear-sharp").hypotheses(run) if not holds]
        ['the sampler is UniformSampler itself: all batches of b rows are equally likely']
        """
        return [(one.words, one.holds(run)) for one in self._asks]

    def broken(self, run: RunFacts) -> str:
        """Return the first hypothesis that fails on this run, in words; '' where none does."""
        return next((one.otherwise for one in self._asks if not one.holds(run)), "")

    def why_not(self, constants: Constants) -> str:
        """Return why the bound does not apply to these constants; '' when it does."""
        kind: Any = None if isinstance(self.schedule, type) else self.schedule
        parts = self.schedule, self.prox, self.sampler
        return self.broken(RunFacts(constants, kind, parts=parts))

    def applies(self, constants: Constants) -> bool:
        """Return whether the statement, true or not, is about these constants."""
        return not self.why_not(constants)

    def verdict_for(self, constants: Constants, iterations: int) -> Verdict:
        """Return what is known for these constants after ``iterations`` steps."""
        proved = self.proved_when(constants, self._index(constants, iterations))
        return Verdict.PROVED if proved else self.verdict

    def __call__(self, constants: Constants, iterations: int) -> float:
        """Return the right-hand side after ``iterations`` steps."""
        return self.value(constants, self._index(constants, iterations))

    def said(self) -> str:
        """Return what a run that shows the bound says of it."""
        return f"bound {self.name!r}: {self.what} ≤ {self.formula}, {self.verdict.value}"

    @property
    def reference(self) -> str:
        """Whose it is, with the paper's number, and its entry; '' for one of your own.

        Examples
        --------
        >>> named("theorem-3.2-first").reference, named("sublinear-energy").reference
        ('Theorem 3.2 (ledger: thm:strong)', 'ours (ledger: thm:A-per-sample)')
        """
        whose = self.label or ("Qu et al. 2015" if self.schedule == "quartz" else "ours")
        return f"{whose} (ledger: {self.entry})" if self.entry else self.label

    def described(self) -> str:
        """Return name, words and reference, in a line below a table of values.

        Examples
        --------
        >>> named("exact-start").described()
        'exact-start: Theorem I with the first gap; ours (ledger: thm:exact-step)'
        """
        return f"{self.name}: {'; '.join(filter(None, (self.words, self.reference)))}"

    def _index(self, constants: Constants, iterations: int) -> int:
        """Return the paper's k, once the bound is known to apply."""
        k = _index_of(self.schedule, iterations)
        if reason := self.why_not(constants):
            raise ValueError(f"the bound {self.name!r} does not apply: {reason}")
        return k


def _has(kind: type) -> Hypothesis:
    """The run has this very class, which is no part of the paper."""
    return Hypothesis(
        f"the run has {kind.__name__} itself",
        f"the run has no {kind.__name__} itself: a subclass or an altered one is another",
        lambda run: kind in run.parts,
    )


def _index_of(kind: Kind | type, iterations: int) -> int:
    """Return the k of the theorem of this kind, whose averages begin at 0 or at 1."""
    if isinstance(iterations, bool) or not isinstance(iterations, Integral) or iterations < 1:
        raise ValueError(f"iterations is {iterations!r}; expected a whole number from 1 on")
    return int(iterations) - (kind in ("sublinear", "head-start"))


def _sizes(c: Constants) -> tuple[float, float, float]:
    """N, E and V."""
    energy = float(c.prediction_energy)
    return float(c.blocks), energy, min(float(c.bregman_radius), energy / 2)


def _printed_energy(c: Constants) -> float:
    return float(c.gamma * c.prediction_bound**2)


def _theorem_31(c: Constants, k: int, energy: Any, radius: Any, passes: int = 2) -> float:
    """With the weights passes·N + i."""
    blocks, first = float(c.blocks), passes * float(c.blocks)
    leading = 8 * blocks * float(energy) / (2 * first + k)
    return leading + first * (first - 1) * float(radius) / ((2 * first + k) * (k + 1))


def _sublinear(c: Constants, k: int) -> float:
    return _theorem_31(c, k, *_sizes(c)[1:])


def _sublinear_by_hand(c: Constants, k: int) -> float:
    blocks, energy, _ = _sizes(c)
    mean_square = 4 * blocks**2 + 2 * blocks * k + k * (2 * k + 1) / 6  # of 2N + i, i ≤ k
    last = (2 * blocks + k) * (2 * blocks + k + 1)
    noise = 8 * energy * (blocks - 1) * mean_square / (last * (4 * blocks + k))
    return (math.sqrt(_sublinear(c, k)) + math.sqrt(noise)) ** 2


_EXCESS = {2: 2.5, 4: 1.125}
"""By passes r: at most N times this is added to k + 1 + 2N ln(1 + (k+1)/rN) in the drift."""


def _drift(c: Constants, k: int, passes: int = 2) -> float:
    """2N E (1 + [2N ln(1 + (k+1)/2N) + 5N/2] / (k+1)) / (4N+k): the steps' own curvature.

    That is for the weights 2N + i of the theorem; the others are passes·N + i.
    """
    blocks, energy, _ = _sizes(c)
    extra = 2 * blocks * math.log1p((k + 1) / (passes * blocks)) + _EXCESS[passes] * blocks
    return 2 * blocks * energy * (1 + extra / (k + 1)) / (2 * passes * blocks + k)


def _dual(c: Constants, k: int, passes: int = 2) -> float:
    return _drift(c, k, passes) + _theorem_31(c, k, 0, _sizes(c)[2], passes)


def _sharp(c: Constants, k: int, passes: int = 2) -> float:
    blocks, energy, _ = _sizes(c)
    noise = (blocks - 1) * (energy + 2 * _drift(c, k, passes)) / (passes * blocks + k + 1)
    return (math.sqrt(_dual(c, k, passes)) + math.sqrt(noise)) ** 2


def _excess(c: Constants, sigma: Any) -> float:
    """Nσ − 1, subtracted in the constants' own number type."""
    return max(0.0, float(c.blocks * sigma - 1))


def _log_growth(excess: float, k: int) -> float:
    """Logarithm of q^k for q = 1 + 1/(Nσ − 1), infinite when Nσ = 1."""
    return k * math.log1p(1 / excess) if excess > 0 else math.inf


def _decay(excess: float, k: int) -> float:
    """1/(q^k − 1), without forming q^k."""
    x = _log_growth(excess, k)
    return math.exp(-x) / -math.expm1(-x)


def _printed(c: Constants, k: int, scale: Any) -> float:
    return float(scale) * _decay(_excess(c, c.sigma_printed), k)


def _corollary(c: Constants, k: int, scale: Any) -> float:
    excess = _excess(c, c.sigma)
    return float(scale) * (1 + excess) * math.exp(-_log_growth(excess, k))


def _linear_conjecture(c: Constants, k: int) -> float:
    blocks, energy, radius = _sizes(c)
    excess = _excess(c, c.sigma)
    ascent = (blocks - 1) / excess * energy / 2 if blocks > 1 else 0
    return (radius + ascent) * _decay(excess, k)


def _linear_energy(c: Constants, k: int) -> float:
    blocks, energy, _ = _sizes(c)
    sigma, excess = float(c.sigma), _excess(c, c.sigma)
    between = (blocks - 1) * (2 - blocks) / excess if 1 < blocks < 2 else 0
    noise = (blocks - 1) / (blocks * (sigma - 1)) if sigma > 1 else math.inf
    by_martingale = (math.sqrt((1 + 1 / sigma) * _decay(excess, k)) + math.sqrt(noise)) ** 2
    return energy / 2 * min((1 + excess + between) * _decay(excess, k), by_martingale)


def _linear_early(c: Constants, k: int) -> float:
    sigma, decay = float(c.sigma), _decay(_excess(c, c.sigma), k)
    share = sigma / (sigma + 1)  # σ² may overflow
    if share * share <= decay * sigma * (sigma - 1):
        root = math.sqrt(decay) / sigma + math.sqrt((sigma - 1) / sigma)
        twice = root * root
    else:
        twice = decay + share
    return float(c.prediction_energy) / 2 * twice


def _linear_spectrum(c: Constants, k: int, full: Any) -> float:
    sigma, y = float(c.sigma), float(full) - 1
    factor = min(1 + math.sqrt(y) + (1 - 1 / sigma) * y, (1 + y + sigma / (sigma + 1)) / 2)
    return factor * float(c.prediction_energy) * _decay(_excess(c, c.sigma), k)


def _by_the_first_gap(c: Constants, k: int) -> float:
    return float(c.start_gap) * _decay(_excess(c, c.sigma), k)


def _linear_uniform(c: Constants, k: int) -> float:
    sigma = float(c.sigma)
    return float(c.prediction_energy) * (min(2, sigma / (2 * sigma - 2)) if sigma > 1 else 2)


def _linear_dual(c: Constants, k: int) -> float:
    blocks, energy, radius = _sizes(c)
    excess = _excess(c, c.sigma)
    contracted = math.exp(-_log_growth(excess, k)) * (energy / 2 + float(c.sigma) * radius)
    share = (blocks - 1) / excess if blocks > 1 else 0
    # The ascent that the fixed-w bound pays for ends where D(w^k) does.
    by_fixed_w = _linear_conjecture(c, k) / (1 + share * _decay(excess, k))
    return min(contracted, by_fixed_w)


def _tame(c: Constants) -> bool:
    """Quadratic losses, or no randomness: there V/(q^k − 1) holds."""
    return c.quadratic or c.batch == c.n


def _first_proved(c: Constants, k: int) -> bool:
    return _tame(c) and bool(c.sigma <= c.sigma_printed)


def _conjecture_proved(c: Constants, k: int) -> bool:
    return _tame(c) or k == 1 or (k == 2 and c.batch == 1)


def _second_proved(c: Constants, k: int) -> bool:
    if not c.sigma <= c.sigma_printed:
        return False
    if _conjecture_proved(c, k):
        return True
    sigma, square = float(c.sigma), 2 * float(c.sigma) ** 2
    # Where q^k − 1 is as large, 'linear-early' is E/(q^k − 1).
    end = (sigma + 1) / sigma
    if square > 4:
        end = (math.sqrt(square) - 1) ** 2 / (sigma * (sigma - 1))
    if _log_growth(_excess(c, c.sigma), k) <= math.log1p(end):
        return True
    # There 'linear-spectrum' is; s_n, which takes long to find, is at least σ for b = 1.
    return square <= 4 and bool((float(c.sigma_full) - 1) * (sigma + 1) <= 1)


def _finite(run: RunFacts) -> bool:
    c = run.constants
    return math.isfinite(float(c.prediction_energy) + float(c.bregman_radius))


_PAIRS: dict[Any, tuple[str, str]] = {
    "sublinear": ("β̄^k", "w̄^k"),
    "head-start": ("β̄^k", "w̄^k"),
    "linear": ("β̄^{k−1}", "w^k"),
    "exact": ("β̄^{k−1}", "w^k"),
    "quartz": ("β^k", "w^k"),
}
SIDES = {
    "gap": "E[P({0}) − D({1})]",
    "every gap": "P({0}) − D({1}) in every run",
    "dual": "E[D* − D({1})]",
    "mean": "P(E {0}) − E D({1})",
}

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
_PARTS = {"sublinear": (_CONJUGATE, _UNIFORM), "head-start": (_CONJUGATE, _UNIFORM),
          "linear": (_CONJUGATE, _UNIFORM), "exact": (_EXACT, _MATCHED),
          "quartz": (_UNIFORM,)}
_ALWAYS = (
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
_BOUNDED = Hypothesis("dom R is bounded; E and D_max are finite",
                      "M or D_max is infinite, while Assumption 1.1 asks for a bounded dom R",
                      _finite)
_OTHER_STEPS = "the schedule is not exactly Theorem 3.1's, 3.2's or I's for this problem"
_BY_SCHEDULE = {
    "sublinear": (
        Hypothesis("step sizes and weights are Theorem 3.1's, for this N", _OTHER_STEPS,
                   lambda run: run.theorem == "sublinear"),
        _BOUNDED,
    ),
    "head-start": (
        Hypothesis("step sizes and weights are those of HeadStart, for this N", _OTHER_STEPS,
                   lambda run: run.theorem == "head-start"),
        _BOUNDED,
    ),
    "linear": (
        Hypothesis("step sizes and weights are Theorem 3.2's, for this N and σ_b", _OTHER_STEPS,
                   lambda run: run.theorem == "linear"),
        Hypothesis("−D is σ_b-smooth relative to h, in expectation over batches, as Prop. 3.7 says "
                   "where μ > 0", "R is not strongly convex (μ = 0)",
                   lambda run: bool(run.constants.mu > 0)),
        _BOUNDED,
    ),
    "exact": (
        Hypothesis("steps are 1, and weights Theorem 3.2's, for this N and σ_b", _OTHER_STEPS,
                   lambda run: run.theorem == "exact"),
        Hypothesis("R is μ-strongly convex", "R is not strongly convex (μ = 0)",
                   lambda run: bool(run.constants.mu > 0)),
    ),
}
_BY_SCHEDULE["quartz"] = (
    Hypothesis("steps are 1/σ_b, and averages move by 1/(Nσ_b)",
               "the run is not one of Quartz", lambda run: run.theorem == "quartz"),
    _BY_SCHEDULE["exact"][1],
)
_STRONG = Hypothesis("R is μ-strongly convex, and σ_b that of Prop. 3.7: another one will not do",
                     "R is not strongly convex (μ = 0)", lambda run: bool(run.constants.mu > 0))
_SINGLE = Hypothesis("single rows, b = 1", "it is about single rows, b = 1",
                     lambda run: run.constants.batch == 1)
_BATCHES = Hypothesis("batches, b > 1", "it is about batches, b > 1",
                      lambda run: run.constants.batch > 1)
_TAME = Hypothesis("all losses are quadratic, or b = n", "some loss is not quadratic, and b < n",
                   lambda run: _tame(run.constants))
_START = Hypothesis("P(β̃⁰) − D(w⁰) is known", "P(β̃⁰) − D(w⁰) is not among the constants",
                    lambda run: run.constants.start_gap is not None)
_WHOLE_OR_HALVES = Hypothesis("n/b is not between 1 and 2", "its proof leaves out 1 < n/b < 2",
                              lambda run: not 1 < run.constants.blocks < 2)
_CE1 = "two logistic losses, x = y = 1, R = (β+10)²/2 on [−10, 0]: 2.0597 > 0.8664 at k = 1"

_BOUNDS = (
    Bound("theorem-3.1-first", "Theorem 3.1", "sublinear",
          "8NγM²/(4N+k) + 2N(2N−1)D_max/((4N+k)(k+1))", Verdict.PROVED,
          "the printed proof treats a random ŵ as a fixed w; 'sublinear-energy' proves more",
          lambda c, k: _theorem_31(c, k, _printed_energy(c), c.bregman_radius),
          words="as printed, with D_max", entry="thm:non-strong"),
    Bound("theorem-3.1-second", "Theorem 3.1", "sublinear",
          "8NγM²/(4N+k) + 2N(2N−1)γM²/((4N+k)(k+1))", Verdict.PROVED,
          "follows from the first inequality by Prop. 3.1, D_max ≤ γM²",
          lambda c, k: _theorem_31(c, k, _printed_energy(c), _printed_energy(c)),
          words="as printed, with γM²", entry="thm:non-strong"),
    Bound("sublinear-energy", "", "sublinear",
          "8NE/(4N+k) + 2N(2N−1)V/((4N+k)(k+1))", Verdict.PROVED,
          "energy inequalities bound the martingale that ŵ brings in; the last scalar "
          "inequalities are certified in interval arithmetic", _sublinear,
          words="Theorem A: E for γM² in Theorem 3.1", entry="thm:A-per-sample"),
    Bound("sublinear-by-hand", "", "sublinear",
          "(√B_k + √ν_k)², B_k of 'sublinear-energy', ν_k = 2(N−1)E Σ(2N+i)²/(c_k G)",
          Verdict.PROVED, "the same martingale by Cauchy–Schwarz alone, without a computer; "
          "at most 4 B_k", _sublinear_by_hand,
          words="Theorem 3.1 by hand, up to a factor 4", entry="thm:hand"),
    Bound("sublinear-sharp", "", "sublinear",
          "(√A_k + √((N−1)(E+2a_k)/(2N+k+1)))², A_k of 'sublinear-dual', a_k its first term",
          Verdict.PROVED, "keeps the energies of the steps, for 5.83 N E/k instead of 8 N E/k "
          "when k is large, and 2 E/k when b = n", _sharp,
          words="Theorem 3.1 with the energies of the steps", entry="lem:three-bounds"),
    Bound("sublinear-pathwise", "", "sublinear", "2E",
          Verdict.PROVED, "each atom's own gap is (1/n) Σ D_{l_j}(x_jᵀβ̃, s_j) with |s_j| ≤ M_j",
          lambda c, k: 2 * _sizes(c)[1], of="every gap",
          words="twice the energy, in every run", entry="lem:pathwise"),
    Bound("sublinear-dual", "", "sublinear",
          "2NE(1 + [2N ln(1+(k+1)/2N) + 5N/2]/(k+1))/(4N+k) + 2N(2N−1)V/((4N+k)(k+1))",
          Verdict.PROVED, "w* is fixed, so the printed argument holds, with energies in it",
          _dual, of="dual",
          words="the dual gap alone", entry="thm:dual"),
    Bound("head-start-energy", "", "head-start",
          "8NE/(8N+k) + 4N(4N−1)V/((8N+k)(k+1))", Verdict.PROVED,
          "the proof of 'sublinear-energy', two passes later; no step is above 1/2",
          lambda c, k: _theorem_31(c, k, *_sizes(c)[1:], passes=4),
          words="Theorem 3.1 for a head start of two passes", entry="thm:head-start"),
    Bound("head-start-sharp", "", "head-start",
          "(√A_k + √((N−1)(E+2a_k)/(4N+k+1)))², A_k of 'head-start-dual', a_k its first term",
          Verdict.PROVED, "as 'sublinear-sharp', two passes later",
          lambda c, k: _sharp(c, k, 4),
          words="the same with the energies of the steps", entry="thm:head-start"),
    Bound("head-start-dual", "", "head-start",
          "2NE(1 + [2N ln(1+(k+1)/4N) + 9N/8]/(k+1))/(8N+k) + 4N(4N−1)V/((8N+k)(k+1))",
          Verdict.PROVED, "as 'sublinear-dual', two passes later",
          lambda c, k: _dual(c, k, 4), of="dual",
          words="the dual gap alone", entry="thm:head-start"),
    Bound("head-start-pathwise", "", "head-start", "2E",
          Verdict.PROVED, "as 'sublinear-pathwise'", lambda c, k: 2 * _sizes(c)[1], of="every gap",
          words="twice the energy, in every run", entry="lem:pathwise"),
    Bound("theorem-3.2-first", "Theorem 3.2", "linear", "D_max/(q^k − 1)",
          Verdict.REFUTED, _CE1 + "; proved for quadratic losses and for n = 1",
          lambda c, k: _printed(c, k, c.bregman_radius), (_SINGLE,), _first_proved,
          words="as printed, with D_max", entry="thm:strong"),
    Bound("theorem-3.2-second", "Theorem 3.2", "linear", "γM²/(q^k − 1)",
          Verdict.CONJECTURED, "the printed summation by parts drops a term; proved for quadratic "
          "losses, n = 1, k ≤ 2, q^k ≤ 2.65 and s_n ≤ 1 + 1/(σ+1)",
          lambda c, k: _printed(c, k, _printed_energy(c)), (_SINGLE,), _second_proved,
          words="as printed, with γM²", entry="thm:strong-second"),
    Bound("remark-3.4-first", "Remark 3.4", "linear",
          "D_max/(q^k − 1), q with σ for σ_b, and η = 1/σ", Verdict.REFUTED,
          "n = b = 2, l = s²/2, x = 1, R = 5(β−1)² on [0, 1]: 41/882 > 1/40 at k = 1",
          lambda c, k: _printed(c, k, c.bregman_radius), (_BATCHES,), _first_proved,
          words="as printed, with the σ of one row", entry="wilderness-strong"),
    Bound("remark-3.4-second", "Remark 3.4", "linear",
          "γM²/(q^k − 1), q with σ for σ_b, and η = 1/σ", Verdict.REFUTED,
          "n = b = 3, l = s²/2, x = 1, R = 5(β−1)² on [0, 1]: 91/1922 > 1/30 at k = 1",
          lambda c, k: _printed(c, k, _printed_energy(c)), (_BATCHES,), _second_proved,
          words="as printed, with the σ of one row", entry="wilderness-strong"),
    Bound("corollary-3.2", "Corollary 3.2", "linear", "nσ(1 − 1/(nσ))^k D_max",
          Verdict.REFUTED, _CE1 + "; proved for quadratic losses and for n = 1",
          lambda c, k: _corollary(c, k, c.bregman_radius), (_SINGLE,), _first_proved,
          words="as printed, with D_max", entry="cor:linear"),
    Bound("corollary-energy", "", "linear", "Nσ_b(1 − 1/(Nσ_b))^k E", Verdict.PROVED,
          "Corollary 3.2 with E for D_max: 'linear-energy' when q^k ≥ 2, the uniform 2E before",
          lambda c, k: _corollary(c, k, c.prediction_energy), (_STRONG, _WHOLE_OR_HALVES),
          words="Corollary 3.2 with the energy E", entry="cor:linear"),
    Bound("linear-quadratic", "", "linear", "V/(q^k − 1)", Verdict.PROVED,
          "Theorem 3.2 with σ_b: for quadratic losses an atom's gap is at most Nσ_b times the "
          "expected ascent; for b = n the printed proof, as nothing is random",
          lambda c, k: _sizes(c)[2] * _decay(_excess(c, c.sigma), k), (_TAME,),
          words="Theorem 3.2 for quadratic losses", entry="thm:strong-quadratic"),
    Bound("linear-any-loss", "", "linear",
          "s_n (V + (N−1)/(Nσ_b−1) E/2)/(q^k − 1)", Verdict.PROVED,
          "P(β) − D(w) ≤ s_n(φ(β, w*) − D(w)) brings the random ŵ back to the fixed w*",
          lambda c, k: float(c.sigma_full) * _linear_conjecture(c, k), (_STRONG,),
          at_least=lambda c, k: float(c.sigma_printed) * _linear_conjecture(c, k),
          words="Theorem 3.2 for all losses, by w*", entry="thm:strong-any-loss"),
    Bound("linear-energy", "", "linear",
          "C E/(q^k − 1), C = ½ min{Nσ_b, (√(1+1/σ_b) + √((q^k−1)(N−1)/(N(σ_b−1))))²}, "
          "with (N−1)(2−N)/(Nσ_b−1) more beside Nσ_b when 1 < N < 2", Verdict.PROVED,
          "Theorem 3.2's second inequality with the factor its proof costs", _linear_energy,
          (_STRONG,),
          words="Theorem N, or the martingale bound", entry="thm:strong-factor"),
    Bound("linear-early", "", "linear",
          "(E/2)(1/√x + √(σ_b(σ_b−1)))²/σ_b² while xσ_b ≤ (σ_b+1)²(σ_b−1), x = q^k − 1; "
          "(E/2)(1/x + σ_b/(σ_b+1)) from then on", Verdict.PROVED,
          "an atom's gap is at most a share of the ascent and one of the step's energy",
          _linear_early, (_STRONG,),
          words="Theorem E, for early steps", entry="thm:strong-early"),
    Bound("linear-spectrum", "", "linear",
          "C E/(q^k − 1), C = min{1 + √y + (1−1/σ_b)y, (1 + y + σ_b/(σ_b+1))/2}, y = s_n − 1",
          Verdict.PROVED, "the energies of the steps are paid by φ(β̃^i, w*) − D*",
          lambda c, k: _linear_spectrum(c, k, c.sigma_full), (_STRONG,),
          at_least=lambda c, k: _linear_spectrum(c, k, c.sigma_printed),
          words="Theorem U, by the spectral norm of X", entry="thm:strong-spectrum"),
    Bound("linear-start", "", "linear", "(P(β̃⁰) − D(w⁰))/(q^k − 1)", Verdict.REFUTED,
          "n = 1, x = 1, Huber's loss of width 2 at y = 8/3, R = β²: 1/18 > 1/36 at k = 1; proved "
          "for quadratic losses, and for all with the steps of 'exact-start'",
          _by_the_first_gap, (_START,),
          lambda c, k: c.quadratic,
          words="the first gap for D_max", entry="ex:strong-smaller, thm:strong-quadratic"),
    Bound("linear-conjecture", "", "linear",
          "(V + (N−1)/(Nσ_b−1) E/2)/(q^k − 1)", Verdict.CONJECTURED,
          "holds for every fixed w; for the random ŵ proved for quadratic losses, b = n, k = 1, "
          "and k = 2 with b = 1", _linear_conjecture, proved_when=_conjecture_proved,
          words="Theorem B for the random response", entry="conj:strong"),
    Bound("linear-uniform", "", "linear", "min{2, σ_b/(2(σ_b−1))} E", Verdict.PROVED,
          "2E as 'sublinear-pathwise', for D(w^k) grows in expectation, if b = 1 in every run; "
          "the other from an identity for the energies of the steps", _linear_uniform,
          words="at most two energies, for every k", entry="thm:strong-early"),
    Bound("linear-mean", "", "linear",
          "(V + r E/2)/(q^k − 1), r = (N−1)/(Nσ_b − 1)", Verdict.PROVED,
          "Theorem 3.2's proof for a w fixed beforehand, its Abel summation done in full",
          _linear_conjecture, of="mean",
          words="Theorem B at the mean β̄", entry="thm:strong-fixed"),
    Bound("linear-dual", "", "linear",
          "min{(E/2 + σ_b V)(1 − 1/(Nσ_b))^k, (V + r E/2)/(q^k − 1 + r)}", Verdict.PROVED,
          "N(D* − D) + Nσ_b D_h(w*, ·) contracts in expectation; or 'linear-mean' at w*",
          _linear_dual, of="dual",
          words="Theorem B at w*, the dual gap alone", entry="thm:strong-fixed"),
    Bound("exact-start", "", "exact", "(P(β̃⁰) − D(w⁰))/(q^k − 1)", Verdict.PROVED,
          "Theorem I: all ascents have one coefficient, and D* ≤ P(β̃⁰); attained at k = 1",
          _by_the_first_gap, (_START,),
          words="Theorem I with the first gap", entry="thm:exact-step"),
    Bound("exact-energy", "", "exact", "(E/2)/(q^k − 1)", Verdict.PROVED,
          "Theorem I, where the gap of the first step is (1/n) Σ D_{l_j}(x_jᵀβ̃⁰, 0) ≤ E/2",
          lambda c, k: _sizes(c)[1] / 2 * _decay(_excess(c, c.sigma), k), (_BOUNDED,),
          words="Theorem I with the energy E", entry="thm:exact-step"),
    Bound("exact-uniform", "", "exact", "2E", Verdict.PROVED,
          "as 'sublinear-pathwise', for D(w^k) grows in expectation, if b = 1 in every run",
          lambda c, k: 2 * _sizes(c)[1], (_BOUNDED,),
          words="twice the energy, for every k", entry="lem:pathwise"),
    Bound("quartz-start", "", "quartz",
          "(1 − 1/(Nσ_b))^k (P(β̃⁰) − D(w⁰))", Verdict.PROVED,
          "their main theorem: a step multiplies the expected gap by at most 1 − 1/(Nσ_b)",
          lambda c, k: float(c.start_gap) * math.exp(-_log_growth(_excess(c, c.sigma), k)),
          (_START,),
          words="the first gap, smaller with every step", entry="thm:quartz"),
)
# fmt: on


def all_bounds() -> tuple[Bound, ...]:
    """Return every bound, refuted ones included.

    Examples
    --------
    >>> sorted({bound.verdict.value for bound in all_bounds()})
    ['conjectured', 'proved', 'refuted']
    """
    return _BOUNDS


def named(name: str) -> Bound:
    """Return the bound of that name, even if refuted: ``valid`` and ``best`` give proved ones.

    Examples
    --------
    >>> named("sublinear-energy").verdict.value
    'proved'
    """
    for bound in _BOUNDS:
        if bound.name == name:
            return bound
    names = ", ".join(bound.name for bound in _BOUNDS)
    raise ValueError(f"no bound is named {name!r}; expected one of {names}")


def asked(bounds: Any, of: Sequence[str] = ("gap", "every gap")) -> tuple[Bound, ...]:
    """Return the bounds that are asked for: claimed ones, and rcmd's own by name.

    They must be ``of`` these; a run knows neither D* nor a mean over all runs.

    Examples
    --------
    >>> [bound.name for bound in asked(["theorem-3.1-first", Bound("mine", value=max)])]
    ['theorem-3.1-first', 'mine']
    """
    found: list[Bound] = []
    if not isinstance(bounds, Bound | str | Iterable):
        raise TypeError(f"bounds is {bounds!r}; expected a list, such as ['theorem-3.1-first']")
    for bound in [bounds] if isinstance(bounds, Bound | str) else list(bounds):
        if isinstance(bound, str):
            bound = named(bound)
        if not isinstance(bound, Bound):
            raise TypeError(
                f"bounds holds {bound!r}; expected a Bound, such as Bound('mine', value=…), or "
                "the name of one of rcmd.model.bounds"
            )
        if bound.verdict is not Verdict.CLAIMED:
            bound = named(bound.name)  # what is proved or refuted here is rcmd's own
        elif any(bound.name == one.name for one in (*_BOUNDS, *found)):
            raise ValueError(
                f"bounds holds a claim named {bound.name!r}, which another bound is called; "
                "expected a name of its own"
            )
        if bound.of not in of:
            raise ValueError(
                f"bounds holds {bound.name!r}, which bounds {bound.what}; expected bounds of "
                f"{' or '.join(SIDES[one].format('β̄', 'w') for one in of)}"
            )
        found.append(bound)
    return tuple(found)


def valid(constants: Constants, iterations: int, kind: Kind = "sublinear") -> list[Bound]:
    """Return the bounds proved for these constants, steps and schedule.

    Examples
    --------
    >>> from rcmd.model.constants import Constants
    >>> lasso = Constants(n=9, batch=3, gamma=1.0, prediction_bound=1.0, prediction_energy=0.5,
    ...                   bregman_radius=0.25, mu=0.0, row_energy=1.0, spectral_energy=None,
    ...                   quadratic=True)
    >>> len(valid(lasso, 10)), valid(lasso, 10, "linear")
    (7, [])
    """
    if kind not in _PARTS:
        raise ValueError(
            f"kind is {kind!r}; expected 'sublinear', 'head-start', 'linear', 'exact' or 'quartz'"
        )
    k = _index_of(kind, iterations)
    if not named(LEAST[kind]).applies(constants):
        return []
    about = [b for b in _BOUNDS if b.schedule == kind]
    # Hypotheses come last: they may ask for constants that take a pass over the data.
    known = [b for b in about if b.verdict is Verdict.PROVED or b.proved_when(constants, k)]
    return [b for b in known if b.applies(constants)]


LEAST: dict[Kind, str] = {
    "sublinear": "sublinear-pathwise", "head-start": "head-start-pathwise",
    "linear": "linear-uniform", "exact": "exact-start", "quartz": "quartz-start",
}  # fmt: skip
"""The bounds that ask for nothing beyond what all of their schedule do."""


def why_none(run: RunFacts) -> str:
    """Return why no theorem bounds this run, in words; '' where one does.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> why_none(RunFacts.of(problem, problem.constants(), theorem="linear"))
    'R is not strongly convex (μ = 0)'
    """
    return named(LEAST[run.theorem or "sublinear"]).broken(run)


def best(constants: Constants, iterations: int, kind: Kind = "sublinear") -> tuple[Bound, float]:
    """Return the smallest proved bound of the whole duality gap, and its value.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> bound, value = best(problem.constants(), 100)
    >>> bound.verdict.value, round(value, 3)
    ('proved', 0.246)
    """
    gaps = [b for b in valid(constants, iterations, kind) if b.of_a_run]
    if not gaps:
        raise ValueError(f"no {kind} bound applies: {why_none(RunFacts(constants, kind))}")
    k = _index_of(kind, iterations)
    found = [(b, b.value(constants, k)) for b in gaps if b.at_least is None]
    for bound in gaps:
        least = None if bound.at_least is None else bound.at_least(constants, k)
        if least is not None and least < min(value for _, value in found):
            found.append((bound, bound.value(constants, k)))
    return min(found, key=lambda pair: pair[1])


__all__ = [
    "Bound",
    "Hypothesis",
    "RunFacts",
    "Verdict",
    "all_bounds",
    "asked",
    "best",
    "named",
    "valid",
    "why_none",
]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
