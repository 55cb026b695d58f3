"""The contract of a prox function, for a loss, identity by identity.

The mirror map is taken as the definition of h: its inverse, the step, the centre and the
divergence must be those of the h whose slope it is.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from rcmd.conjugates import SampleLosses
from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.constants import Constants
from rcmd.model.prox import BregmanProx
from rcmd.model.specs import as_loss
from rcmd.rows.validation import check_kind
from rcmd.testing.losses import accepted_labels
from rcmd.testing.report import (
    Cause,
    Faults,
    Inspection,
    Report,
    Sample,
    attempt,
    compared,
    identity,
    shown,
)

BOUND = 4.0
STATES = [-3.9, -2.3, -1.1, -0.4, -0.03, 0.0, 0.2, 0.9, 1.7, 2.6, 3.7]
WEIGHTS = (1.0, 0.4, 2.5)
STEPS = [(1.3, 0.5), (-2.1, 1.0), (-7.0, 1.0), (7.0, 1.0), (0.01, 0.1)]


def check_prox(
    prox: BregmanProx,
    loss: SeparableConjugate | str = "logistic",
    labels: Sequence[float] | None = None,
) -> Report:
    """Check every identity of a prox function; a ``ContractError`` lists all failures.

    Examples
    --------
    >>> from rcmd import EuclideanProx, LeastSquares
    >>> check_prox(EuclideanProx(), LeastSquares()).ok
    True
    """
    return inspect_prox(prox, loss, labels).checked()


def inspect_prox(
    prox: BregmanProx,
    loss: SeparableConjugate | str = "logistic",
    labels: Sequence[float] | None = None,
) -> Report:
    """The report of ``check_prox``, also where something fails."""
    check_kind("prox", prox, BregmanProx, "a BregmanProx")
    loss = as_loss(loss)
    labels = accepted_labels(loss, labels)
    gamma = float(loss.gamma)
    if math.isinf(gamma):  # there is one on bounded sets only, as between the states tried
        loss, gamma = copy(loss), max(loss.curvature_bound(-BOUND, BOUND, y) for y in labels)
        vars(loss)["_gamma"] = gamma
    # Those of a small made-up problem, for a prox that asks for some.
    constants = Constants(
        n=4, batch=1, gamma=gamma, prediction_bound=BOUND, prediction_energy=gamma * BOUND**2,
        bregman_radius=gamma * BOUND**2 / 2, mu=0.5, row_energy=gamma, spectral_energy=2 * gamma,
        quadratic=loss.quadratic,
    )  # fmt: skip
    return ProxInspection(prox.bind(constants), loss, labels).run()


class ProxInspection(Inspection):
    """One prox under inspection."""

    def __init__(self, prox: BregmanProx, loss: SeparableConjugate, labels: list[float]) -> None:
        super().__init__(f"{prox!r} with {loss!r}")
        self.prox, self.loss, self.labels = prox, loss, labels

    def cases(self) -> Iterator[tuple[float, float]]:
        return itertools.product(self.labels, WEIGHTS)

    def mirror(self, s: float, y: float, weight: float) -> float:
        """h'(w) at w = ω l'(s)."""
        return float(self.prox.mirror(self.loss, s, y, weight))

    def response(self, s: float, y: float, weight: float) -> float:
        """w = ω l'(s)."""
        return weight * float(self.loss.derivative(s, y))

    @identity("mirror grows with w")
    def mirror_grows(self) -> Faults:
        for y, weight in self.cases():
            points = [(self.response(s, y, weight), self.mirror(s, y, weight), s) for s in STATES]
            for (w, m, s), (v, k, t) in itertools.pairwise(points):
                if v > w + 1e-12 and not k > m:
                    down = all(b[1] <= a[1] for a, b in itertools.pairwise(points))
                    cause = Cause.WRONG_SIGN if down else Cause.NOT_CONVEX
                    remedy = f"its value at s = {shown(s)}, where w is smaller"
                    yield {"s": t, "y": y, "weight": weight}, k, f"> {shown(m)}", cause, remedy

    @identity("inverse leads back from mirror(s) to w")
    def inverse(self) -> Faults:
        samples = []
        for (y, weight), s in itertools.product(self.cases(), STATES):
            m, w = self.mirror(s, y, weight), self.response(s, y, weight)
            back = attempt(self.prox.inverse, self.loss, m, 0.0, y, weight, BOUND)
            found = attempt(self.response, back.number, y, weight)
            room = 1e-9 * (weight + abs(w))
            samples.append(Sample({"s": s, "y": y, "weight": weight}, found, w, room))
        return self.following(compared(samples))

    @identity("centre minimizes h")
    def centre(self) -> Faults:
        for y, weight in self.cases():
            losses = SampleLosses(self.loss, np.array([y]), np.array([weight]))
            s = float(self.prox.centre(losses, np.array([BOUND]))[0])
            yield from self._optimal(s, 0.0, y, weight, {})

    @identity("step minimizes h(w) − (h'(w⁰) + η(a − s))·w over dom l*")
    def step(self) -> Faults:
        for (y, weight), s, (gap, eta) in itertools.product(self.cases(), STATES, STEPS):
            losses = SampleLosses(self.loss, np.array([y]), np.array([weight]))
            after = self.prox.step(
                losses, np.array([BOUND]), np.array([0]), np.array([s]), np.array([gap]), eta
            )
            target = self.mirror(s, y, weight) + eta * gap
            point = {"s": s, "gap": gap, "eta": eta}
            yield from self._optimal(float(after[0]), target, y, weight, point)

    def _optimal(
        self, s: float, target: float, y: float, weight: float, point: dict[str, Any]
    ) -> Faults:
        """(h'(w⁺) − target)·(v − w⁺) ≥ 0 for every response v."""
        place = {**point, "y": y, "weight": weight}
        if not math.isfinite(s):
            yield place, s, "a finite state", Cause.UNSTABLE
            return
        m, w = self.mirror(s, y, weight), self.response(s, y, weight)
        ends = [self.response(t, y, weight) for t in (-BOUND, BOUND)]
        room = 1e-8 * (1 + abs(m) + abs(target)) * (weight + abs(w))
        if min((m - target) * (v - w) for v in ends) < -room:
            negative = abs(m + target) < 1e-8 * (1 + abs(target))
            cause = self.first_cause(Cause.WRONG_SIGN if negative else Cause.UNKNOWN)
            remedy = "h' at the new w should be this, or w at an end of the domain"
            yield place, m, target, cause, remedy

    @identity("divergence is D_h(w, w')")
    def divergence(self) -> Faults:
        """D_h(w, w') = ∫ (h'(v) − h'(w')) dv from w' to w."""
        samples = []
        pairs = itertools.product(STATES[1::2], repeat=2)
        for (y, weight), (t, s) in itertools.product(self.cases(), pairs):
            w = self.response(t, y, weight)
            expected, error = self._integral(s, t, y, weight)
            found = attempt(self.prox.divergence, self.loss, w, s, y, weight)
            point = {"w": w, "s": s, "y": y, "weight": weight}
            samples.append(Sample(point, found, expected, error + 1e-6 * expected + 1e-9))
        wrong = [sample for sample in samples if not sample.right]
        if wrong and all(sample.point["weight"] != 1.0 for sample in wrong):
            first, remedy = wrong[0], "right for weight 1 only: ω is forgotten somewhere"
            yield first.point, str(first.found), first.expected, Cause.MISSING_FACTOR, remedy
        yield from self.following(compared(samples))

    def _integral(self, s: float, t: float, y: float, weight: float) -> tuple[float, float]:
        """By the trapezoidal rule along s, extrapolated once, and by how much that moved it."""
        path = np.linspace(s, t, 241).tolist()
        w = np.array([self.response(a, y, weight) for a in path])
        m = np.array([self.mirror(a, y, weight) for a in path])
        m = m - m[0]
        fine = ((m[1:] + m[:-1]) / 2 * np.diff(w)).reshape(-1, 2).sum(axis=1)
        coarse = (m[2::2] + m[:-1:2]) / 2 * np.diff(w[::2])
        # Panel by panel, as errors at the kinks of l' do not cancel.
        return float((fine + (fine - coarse) / 3).sum()), 2 * float(abs(fine - coarse).sum())
