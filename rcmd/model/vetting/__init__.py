"""Classes that are not rcmd's own, checked before anything is certified.

A certificate is right where l is convex and γ-smooth on I_j = conv({0} ∪ {x_jᵀβ: β ∈ dom R}), where
(l, l*) are conjugate, and where ``minimum`` is a lower bound over dom R. All of it is checked here
for the problem's own data: at some of its samples, at fixed, irregular points of their I_j and at
costs of the form Xᵀw/n, in some ten milliseconds. What passes is *sampled*, not proved.
``rcmd.testing`` has the full list of identities, with the likely cause of each failure.

``losses``, ``oracles`` and ``other_parts`` have the checks; ``subject`` what they share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, numeric_parts
from rcmd.conjugates.samples import SampleLosses
from rcmd.model.fingerprint import fingerprint
from rcmd.model.ownership import foreign, names, unaltered
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule
from rcmd.model.vetting.losses import LossCheck
from rcmd.model.vetting.oracles import OracleCheck, costs_for, seeds_for
from rcmd.model.vetting.other_parts import check_prox, check_rows, check_schedule
from rcmd.model.vetting.subject import Sample, Subject

LARGE = 10_000
"""From so many variables on, fewer costs are tried."""

MOST_KEPT = 1000
"""Checks that are remembered; beyond, all are forgotten."""

_passed: dict[Any, Any] = {}


def vet(problem: Problem, found: dict[str, list[Any]]) -> dict[str, str]:
    """What each of these parts rests on; a fault is refused with a ``ValueError``.

    ``found`` has the foreign objects in the loss, the oracle and the rows, as far as there are any.
    """
    grounds, sample = {}, Sample(problem)
    if "rows" in found:
        subject = Subject(names(found["rows"]), "rcmd.testing.check_rows")
        check_rows(subject, problem, sample)
        grounds["rows"] = f"sampled at {len(sample.places)} rows"
    if "loss" in found:  # before the oracle, whose costs are made of slopes
        grounds["loss"] = _vet_losses(problem, found["loss"], sample)
    if "oracle" in found:
        # A function in a class of rcmd's own has been judged by it before, and calls are dear.
        few = problem.p > LARGE or callable(found["oracle"][0])
        seeds = seeds_for(problem, sample, few)
        key = (
            *map(type, found["oracle"]),
            fingerprint((problem.oracle, sample.rows.array, *seeds)),
        )
        if key not in _passed:
            costs = costs_for(problem.oracle, sample.rows, seeds, few)
            subject = Subject(names(found["oracle"]), "rcmd.testing.check_oracle")
            check = OracleCheck(subject, problem.oracle, sample, costs)
            check.run(few)
            _remember(key, f"sampled at {len(costs)} costs by {check.calls} oracle calls")
        grounds["oracle"] = _passed[key]
    return grounds


def vet_run(problem: Problem, prox: BregmanProx, schedule: Schedule) -> None:
    """Refuse a prox or a schedule that is not rcmd's own and breaks its contract."""
    if foreign(prox):
        check_prox(Subject(type(prox).__name__, "rcmd.testing.check_prox"), problem, prox)
    if foreign(schedule):
        check_schedule(Subject(type(schedule).__name__, "rcmd.testing.check_schedule"), schedule)


def _vet_losses(problem: Problem, found: list[Any], sample: Sample) -> str:
    loss, losses = problem.loss, problem.losses.some(sample.places)
    # Only rcmd's own word is a proof, such as that of a class made from an expression.
    ours, proved = type(loss).__module__.partition(".")[0] == "rcmd" and unaltered(loss), False
    if ours and type(loss).proved_on is not SeparableConjugate.proved_on:
        _refuse_undefined(problem.losses)
        if getattr(loss, "gamma_origin", "") == "proved":  # no ranges are needed then
            return "proved"
        # Where l bends down outside of I_j, l* may come from another s with l'(s) = w: see below.
        proved = loss.proved_on(*problem.losses.shifted(*problem.prediction_ranges))
    low = np.minimum(np.asarray(sample.low, dtype=float), 0.0)
    high = np.maximum(np.asarray(sample.high, dtype=float), 0.0)
    key = (
        *map(type, found),
        fingerprint(
            (loss, losses.y, losses.weights, losses.offset, losses.fields, losses.unit_gammas)
        ),
    )
    nothing = np.full(len(low), np.inf)
    lowest, highest, ground, raised = _passed.get(key, (nothing, -nothing, "", 1.0))
    estimated = "gamma" in numeric_parts(type(loss))
    if not ((low >= lowest).all() and (high <= highest).all()):
        subject, points = Subject(names(found), "rcmd.testing.check_conjugate"), 0
        gammas = np.asarray(losses.gammas, dtype=float)
        weights = np.ones(len(low)) if losses.weights is None else losses.weights.astype(float)
        for k, j in enumerate(sample.places.tolist()):
            y, gamma, weight = float(losses.y[k]), float(gammas[k] / weights[k]), float(weights[k])
            where = f"sample {j} (label {y:g})"
            pair = loss if losses.plain else losses.one(k)
            check = LossCheck(subject, loss, pair, gamma, y, weight, where, estimated)
            points += check.run(float(low[k]), float(high[k]), k)
            raised = max(raised, check.gamma / gamma)
        ground = f"sampled at {points} predictions"
        _remember(key, (low, high, ground, raised))
    if raised > 1 and problem.losses.unit_gammas is not None:
        problem.losses.unit_gammas = raised * problem.losses.unit_gammas
        vars(loss)["_gamma"] = float(problem.losses.unit_gammas.max())
    return "proved" if proved else str(ground)


def _refuse_undefined(losses: SampleLosses) -> None:
    """Refuse extreme labels and fields at which a formula, proved or not, is no number.

    Few are looked at, so that Python does it, which raises where compiled code makes NaN.
    """
    parts = (losses.y, *losses.fields)
    places = [at for part in parts for at in (part.argmin(), part.argmax(), abs(part).argmin())]
    some = losses.some(places)
    some.value(0 * some.y)


def _remember(key: Any, value: Any) -> None:
    if len(_passed) >= MOST_KEPT:
        _passed.clear()
    _passed[key] = value
