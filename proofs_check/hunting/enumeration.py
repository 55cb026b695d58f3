"""All runs of a small problem at once, in float64: one row of each array per run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from proofs_check.exact.paths import all_batches
from proofs_check.exact.schedules import Steps
from proofs_check.hunting.instance import Instance, Polytope

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """Expectations over all index sequences, after k steps.

    Attributes
    ----------
    average_gap
        E[P(β̄^{k−1}) − D(w̄^{k−1})].
    last_gap
        E[P(β̄^{k−1}) − D(w^k)].
    ascent
        E[D(w^k) − D(w^0)].
    """

    average_gap: Any
    last_gap: Any
    ascent: Any


def enumerate_runs(instance: Instance, steps: Steps) -> Means:
    """The means over all runs, each step done for all of them together."""
    rows, loss, domain = np.array(instance.rows), _Losses(instance), _Domain(instance)
    n, p = rows.shape
    batches = all_batches(n, instance.batch)
    chosen = np.zeros((len(batches), n), dtype=bool)
    for mask, batch in zip(chosen, batches, strict=True):
        mask[list(batch)] = True

    s, beta, w_average, total = np.zeros((1, n)), np.zeros((1, p)), np.zeros((1, n)), 0.0

    def dual(w: Array, conjugates: Array) -> Array:
        slope = w @ rows / n
        atom = domain.argmin(slope)
        return (slope * atom).sum(1) + domain.value(atom) - conjugates.mean(1)

    start = loss.derivative(s)
    dual_start = dual(start, s * start - loss.value(s))
    for i in range(instance.steps):
        w = loss.derivative(s)
        atom = domain.argmin(w @ rows / n)
        eta, weight = float(steps.eta(i)), float(steps.weight(i))
        total += weight
        share = weight / total
        beta = np.repeat(beta + share * (atom - beta), len(batches), axis=0)
        w_average = np.repeat(w_average + share * (w - w_average), len(batches), axis=0)
        moved = s + eta * (atom @ rows.T - s)
        s = np.where(chosen, moved[:, None], s[:, None]).reshape(-1, n)

    primal = loss.value(beta @ rows.T).mean(1) + domain.value(beta)
    last = loss.derivative(s)
    dual_last = dual(last, s * last - loss.value(s))
    return Means(
        float((primal - dual(w_average, loss.conjugate(w_average))).mean()),
        float((primal - dual_last).mean()),
        float((dual_last - dual_start).mean()),
    )


class _Losses:
    """l_j of columns j, for many runs at once."""

    def __init__(self, instance: Instance) -> None:
        self.kind = instance.loss
        self.numbers = np.array(instance.parameters).T

    def value(self, s: Array) -> Array:
        if self.kind == "squared":
            return (s - self.numbers[0]) ** 2 / 2
        if self.kind == "softplus":
            return np.logaddexp(0, -self.numbers[0] * s)
        width, curvature, tilt = self.numbers
        inner = np.minimum(abs(s), width)
        return inner * (abs(s) - inner / 2) + curvature * s * s / 2 + tilt * s

    def derivative(self, s: Array) -> Array:
        if self.kind == "squared":
            return s - self.numbers[0]
        if self.kind == "softplus":
            y = self.numbers[0]
            return -y * np.exp(-np.logaddexp(0, y * s))
        width, curvature, tilt = self.numbers
        return np.clip(s, -width, width) + curvature * s + tilt

    def conjugate(self, w: Array) -> Array:
        if self.kind == "squared":
            return w * w / 2 + self.numbers[0] * w
        if self.kind == "softplus":
            v = np.clip(-w / self.numbers[0], 0, 1)
            return _times_log(v) + _times_log(1 - v)
        width, curvature, tilt = self.numbers
        slope = w - tilt
        inside = slope / (1 + curvature)
        outside = (slope - np.sign(slope) * width) / curvature
        s = np.where(abs(inside) <= width, inside, outside)
        return w * s - self.value(s)


class _Domain:
    """R, for many runs at once."""

    def __init__(self, instance: Instance) -> None:
        domain = instance.domain
        self.vertices = np.array(domain.vertices) if isinstance(domain, Polytope) else None
        if not isinstance(domain, Polytope):
            self.mu, self.centre = domain.mu, np.array(domain.centre)
            self.lower, self.upper = self.centre - domain.below, self.centre + domain.above

    def argmin(self, slope: Array) -> Array:
        if self.vertices is not None:
            return self.vertices[(slope @ self.vertices.T).argmin(1)]
        return np.clip(self.centre - slope / self.mu, self.lower, self.upper)

    def value(self, beta: Array) -> Array:
        if self.vertices is not None:
            return np.zeros(len(beta))
        return self.mu * ((beta - self.centre) ** 2).sum(1) / 2


def _times_log(v: Array) -> Array:
    return v * np.log(np.where(v > 0, v, 1))
