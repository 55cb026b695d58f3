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
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rcmd.methods.rcmd import RCMD
from rcmd.model.bounds import Bound, asked
from rcmd.model.constants import Constants
from rcmd.model.schedules import LinearSchedule, Schedule, SublinearSchedule
from rcmd.rows.validation import check_kind
from rcmd.theory.hunting import Catch, hunt
from rcmd.theory.worst_cases.strong_tree import printed_sigma, strong_programme
from rcmd.theory.worst_cases.tree import programme

MOST_HISTORIES = 40
"""Sequences of rows, shorter ones included, that a programme may have."""

ENERGY = Bound("energy", formula="E", value=lambda c, k: float(c.prediction_energy))


def worst_case(
    n: int,
    iterations: int,
    *,
    schedule: Schedule | None = None,
    bound: Bound | str = ENERGY,
    mu: Any = 0,
    evaluations: int = 300,
) -> WorstCase:
    """The largest E[gap]/bound of all problems with n rows after so many steps, enclosed.

    For ``mu`` = 0 that is E[P(β̄) − D(w̄)], else E[P(β̄) − D(w)] at the last w for a strongly convex
    R. Left out, the bound is E = (1/n) Σ γ_j M_j², at most γM². The programme has γ_j M_j² = 1 for
    all j; as it is convex and rows may be relabelled, that is the worst case of all with E = 1.

    Parameters
    ----------
    n, iterations
        Small: the programme has a vector for every sequence of rows.
    schedule
        Step sizes and weights of your own; by default those of Theorem 3.1, or of Theorem 3.2
        where ``mu`` is above 0.
    bound
        Your own, or rcmd's by name: E or γM² times a number of n, b, k and σ. D_max in it counts as
        0. Where ``upper`` is at most 1, it is proved for this n and so many steps.
    mu
        Strong convexity of R, in units of max γ_j‖x_j‖².
    evaluations
        Of the search for an instance that comes near.

    Examples
    --------
    >>> found = worst_case(1, 2, evaluations=40)
    >>> found.lower <= found.upper, round(float(found.upper), 4)
    (True, 0.5)
    >>> found = worst_case(1, 2, bound="sublinear-energy", evaluations=40)
    >>> round(float(found.upper), 4)
    0.3125
    """
    for name, value in (("n", n), ("iterations", iterations)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number from 1 on")
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu is {mu!r}; expected a number from 0 on")
    check_kind("schedule", schedule, Schedule | None, "a Schedule, or None")
    if schedule is not None and schedule.sees_run:
        raise ValueError(
            f"schedule {type(schedule).__name__} sees the run; expected a schedule of i alone"
        )
    length = iterations if mu else iterations - 1
    histories = sum(n**i for i in range(length + 1))
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"n is {n} and iterations {iterations}, for which the programme has {histories} "
            f"sequences of rows; expected at most {MOST_HISTORIES}: take fewer"
        )
    claim = bound if bound is ENERGY else asked([bound], of=["gap"])[0]
    sigma = float(printed_sigma(n, mu)) if mu else None
    own = schedule or (LinearSchedule(float(n), sigma) if mu else SublinearSchedule(float(n)))
    given: dict[str, Any] = {"one": Fraction(1)}
    if schedule is not None:
        given["step"] = lambda n, i: Fraction(schedule.step(i))
        given["weight"] = lambda n, i: Fraction(schedule.mixing(i) * schedule.growth(i, 0))
    gram, gap = (
        strong_programme(n, length, Fraction(mu), **given) if mu else programme(n, length, **given)
    )
    unit = Constants(
        n=n, batch=1, gamma=1.0, prediction_bound=1.0, prediction_energy=1.0, bregman_radius=0.0,
        mu=float(mu), row_energy=1.0, spectral_energy=1.0, quadratic=False,
    )  # fmt: skip
    near = hunt(
        claim, evaluations=evaluations, seconds=math.inf, last=mu > 0, n=n, iterations=iterations,
        mu=float(mu) or None, method=lambda problem, batch: RCMD(schedule=own),
    )  # fmt: skip
    return WorstCase(gram.certified(gap) / Fraction(claim(unit, iterations)), near)


@dataclass(frozen=True)
class WorstCase:
    """The worst E[gap]/bound: between ``lower`` and ``upper``.

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
        """E[gap]/bound of ``instance``."""
        return self.instance.ratio
