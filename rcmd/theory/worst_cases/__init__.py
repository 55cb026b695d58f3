"""Worst cases over all smooth convex losses, as semidefinite programmes.

A bound on a method that only adds vectors and takes inner products asks how large an expression
in inner products and function values can be. Its vectors enter through their Gram matrix, any
positive semidefinite matrix in a large enough dimension; its losses enter through finitely many
values and gradients, which belong to some loss if and only if the interpolation inequalities
hold. So the worst case is a linear function of a positive semidefinite matrix. For the paper's
losses of *one* variable the Gram matrices should have rank one; without that the programme is an
upper bound of the worst case, and instances that are run bound it from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rcmd.methods.rcmd import RCMD
from rcmd.model.bounds import Bound
from rcmd.model.schedules import Schedule
from rcmd.theory.hunting import Catch, hunt
from rcmd.theory.worst_cases.strong_tree import printed_sigma, strong_programme
from rcmd.theory.worst_cases.tree import programme, published_step, published_weight

MOST_HISTORIES = 40
"""Sequences of rows, shorter ones included, that a programme may have."""


def worst_case(
    n: int,
    iterations: int,
    *,
    step: Callable[[int], Any] | None = None,
    weight: Callable[[int], Any] | None = None,
    mu: Any = 0,
    evaluations: int = 300,
) -> WorstCase:
    """The largest E[gap] of all problems with n rows after so many steps, enclosed.

    Units are those of γM²: for ``mu`` = 0, E[P(β̄) − D(w̄)] for γ = M = 1; else
    E[P(β̄) − D(w)] at the last w, for γ = M = max‖x_j‖ = 1 and a ``mu``-strongly convex R.

    Parameters
    ----------
    n, iterations
        Small: the programme has a vector for every sequence of rows.
    step, weight
        η_i and the averaging weight c_i, as functions of i that give numbers or fractions; by
        default those of Theorem 3.1, or of Theorem 3.2 where ``mu`` is above 0.
    mu
        Strong convexity of R.
    evaluations
        Of the search for an instance that comes near.

    Examples
    --------
    >>> found = worst_case(1, 2, evaluations=40)
    >>> found.lower <= found.upper, round(float(found.upper), 4)
    (True, 0.5)
    >>> half = worst_case(2, 2, step=lambda i: Fraction(1, 2), weight=lambda i: 1, evaluations=40)
    >>> round(float(half.upper), 3)  # the paper's is 0.525
    0.391
    """
    for name, value in (("n", n), ("iterations", iterations)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number from 1 on")
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu is {mu!r}; expected a number from 0 on")
    length = iterations if mu else iterations - 1
    histories = sum(n**i for i in range(length + 1))
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"n is {n} and iterations {iterations}, for which the programme has {histories} "
            f"sequences of rows; expected at most {MOST_HISTORIES}: take fewer"
        )
    etas = None if step is None else lambda n, i: Fraction(step(i))
    weights = None if weight is None else lambda n, i: Fraction(weight(i))
    if mu:
        gram, gap = strong_programme(
            n, length, Fraction(mu), step=etas, weight=weights, one=Fraction(1)
        )
    else:
        gram, gap = programme(
            n, length, etas or published_step, weights or published_weight, one=Fraction(1)
        )
    unit = Bound("γM²", value=lambda c, k: float(c.gamma * c.prediction_bound**2))
    own = _Own(n, mu, step, weight)
    near = hunt(
        unit, evaluations=evaluations, seconds=math.inf, last=mu > 0, n=n, iterations=iterations,
        mu=float(mu) or None, method=lambda problem, batch: RCMD(schedule=own),
    )  # fmt: skip
    return WorstCase(gram.certified(gap), near)


@dataclass(frozen=True)
class WorstCase:
    """The worst case in units of γM²: between ``lower`` and ``upper``.

    Attributes
    ----------
    upper
        A number that no problem exceeds, proved by rational multipliers.
    instance
        The worst problem found, whose ratio is ``lower``.
    """

    upper: Fraction
    instance: Catch

    @property
    def lower(self) -> float:
        """E[gap]/(γM²) of ``instance``."""
        return self.instance.ratio


@dataclass(frozen=True)
class _Own(Schedule):
    """Steps and weights that are functions of i, or the paper's."""

    n: int
    mu: Any
    eta: Callable[[int], Any] | None
    weight: Callable[[int], Any] | None

    def step(self, i: Any) -> Any:
        if self.eta is not None:
            return float(self.eta(i))
        if self.mu:
            return 1 / float(printed_sigma(self.n, self.mu))
        return float(published_step(self.n, i))

    def _weight(self, i: int) -> float:
        if self.weight is not None:
            return float(self.weight(i))
        if self.mu:
            size = self.n * float(printed_sigma(self.n, self.mu))
            return (size / (size - 1)) ** i
        return float(published_weight(self.n, i))

    def _total(self, i: int) -> float:
        return math.fsum(self._weight(m) for m in range(i + 1))

    def mixing(self, i: Any) -> Any:
        return self._weight(i) / self._total(i)

    def growth(self, i: Any, base: int) -> Any:
        return self._total(i) / self._total(base)
