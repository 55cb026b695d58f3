"""A bound: one inequality, what it asks of a run, and what is known of it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from rcmd.model.bounds.hypotheses import ALWAYS, BY_SCHEDULE, PARTS, Hypothesis, Kind, RunFacts, has
from rcmd.rows.validation import takes

if TYPE_CHECKING:
    from rcmd.model.constants import Constants


class Verdict(enum.Enum):
    """What is known about an inequality."""

    PROVED = "proved"
    CONJECTURED = "conjectured"
    REFUTED = "refuted"
    CLAIMED = "claimed"


PAIRS: dict[Any, tuple[str, str]] = {
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
    >>> from rcmd.model.bounds import Bound, named
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
        if not isinstance(self.schedule, type) and self.schedule not in BY_SCHEDULE:
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
        >>> from rcmd.model.bounds import Bound, named
        >>> named("linear-dual").what, Bound("mine", schedule=dict, value=max).what
        ('E[D* − D(w^k)]', 'E[pair_gap]')
        """
        if self.of == "gap" and isinstance(self.schedule, type):
            return "E[pair_gap]"
        return SIDES[self.of].format(*PAIRS.get(self.schedule, ("β̄", "w̄")))

    @property
    def of_a_run(self) -> bool:
        """Whether a run knows its left side."""
        return self.of in ("gap", "every gap")

    @property
    def _asks(self) -> tuple[Hypothesis, ...]:
        steps = self.schedule
        *prox, sampler = PARTS["sublinear" if isinstance(steps, type) else steps]
        return (
            *([has(self.prox)] if self.prox else prox),
            has(self.sampler) if self.sampler else sampler,
            *ALWAYS,
            *((has(steps),) if isinstance(steps, type) else BY_SCHEDULE[steps]),
            *self.only,
        )

    def hypotheses(self, run: RunFacts) -> list[tuple[str, bool]]:
        """Return what the bound asks of a run, in words, and whether this run has it.

        Examples
        --------
        >>> from rcmd import L1Ball, LeastSquares, Problem
        >>> from rcmd.model.bounds import RunFacts, named
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
        >>> from rcmd.model.bounds import named
        >>> named("theorem-3.2-first").reference, named("sublinear-energy").reference
        ('Theorem 3.2 (ledger: thm:strong)', 'ours (ledger: thm:A-per-sample)')
        """
        whose = self.label or ("Qu et al. 2015" if self.schedule == "quartz" else "ours")
        return f"{whose} (ledger: {self.entry})" if self.entry else self.label

    def described(self) -> str:
        """Return name, words and reference, in a line below a table of values.

        Examples
        --------
        >>> from rcmd.model.bounds import named
        >>> named("exact-start").described()
        'exact-start: Theorem I with the first gap; ours (ledger: thm:exact-step)'
        """
        return f"{self.name}: {'; '.join(filter(None, (self.words, self.reference)))}"

    def _index(self, constants: Constants, iterations: int) -> int:
        """Return the paper's k, once the bound is known to apply."""
        k = index_of(self.schedule, iterations)
        if reason := self.why_not(constants):
            raise ValueError(f"the bound {self.name!r} does not apply: {reason}")
        return k


def index_of(kind: Kind | type, iterations: int) -> int:
    """Return the k of the theorem of this kind, whose averages begin at 0 or at 1."""
    if isinstance(iterations, bool) or not isinstance(iterations, Integral) or iterations < 1:
        raise ValueError(f"iterations is {iterations!r}; expected a whole number from 1 on")
    return int(iterations) - (kind in ("sublinear", "head-start"))
