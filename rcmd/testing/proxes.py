"""The contract of a prox function, for a loss, identity by identity.

The mirror map is taken as the definition of h: its inverse, the step, the centre and the
divergence must be those of the h whose slope it is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rcmd.conjugates import Logistic, SampleLosses
from rcmd.conjugates.base import SeparableConjugate
from rcmd.constants import Constants
from rcmd.prox import BregmanProx
from rcmd.testing import causes
from rcmd.testing.causes import Comparison, Sample
from rcmd.testing.losses import LABELS
from rcmd.testing.report import Failure, Report, attempt, shown
from rcmd.validation import refuse_class

BOUND = 4.0
STATES = [-3.9, -2.3, -1.1, -0.4, -0.03, 0.0, 0.2, 0.9, 1.7, 2.6, 3.7]
WEIGHTS = (1.0, 0.4, 2.5)
STEPS = [(1.3, 0.5), (-2.1, 1.0), (-7.0, 1.0), (7.0, 1.0), (0.01, 0.1)]


def check_prox(
    prox: BregmanProx,
    loss: SeparableConjugate | None = None,
    labels: Sequence[float] | None = None,
) -> Report:
    """Check every identity of a prox function; a ``ContractError`` lists all failures.

    ``loss`` is the logistic one unless given.

    Examples
    --------
    >>> from rcmd import EuclideanProx, LeastSquares
    >>> check_prox(EuclideanProx(), LeastSquares()).ok
    True
    """
    return inspect_prox(prox, loss, labels).checked()


def inspect_prox(
    prox: BregmanProx,
    loss: SeparableConjugate | None = None,
    labels: Sequence[float] | None = None,
) -> Report:
    """The report of ``check_prox``, also where something fails.

    Examples
    --------
    >>> from rcmd import ConjugateProx
    >>> class Wrong(ConjugateProx):
    ...     def inverse(self, loss, m, s, y, weight, bound): return 2 * m
    >>> inspect_prox(Wrong()).ok
    False
    """
    if not isinstance(prox, BregmanProx):
        refuse_class("prox", prox)
        raise TypeError(f"prox is {prox!r}; expected an object of a class derived from BregmanProx")
    loss = loss or Logistic()
    given = LABELS[:4] if labels is None else labels
    accepted = [float(y) for y in given if not loss.label_fault(np.array([float(y)]))]
    if not accepted:
        raise ValueError(f"{type(loss).__name__} accepts none of the labels {tuple(given)}")
    inspection = Inspection(prox.bind(_constants(loss)), loss, accepted)
    for identity in (
        inspection.mirror_grows,
        inspection.inverse,
        inspection.centre,
        inspection.step,
        inspection.divergence,
    ):
        identity()
    return inspection.report


def _constants(loss: SeparableConjugate) -> Constants:
    """Those of a small made-up problem, for a prox that asks for some."""
    gamma = float(loss.gamma)
    return Constants(
        n=4, batch=1, gamma=gamma, prediction_bound=BOUND, prediction_energy=gamma * BOUND**2,
        bregman_radius=gamma * BOUND**2 / 2, mu=0.5, row_energy=gamma, spectral_energy=2 * gamma,
        quadratic=loss.quadratic,
    )  # fmt: skip


class Inspection:
    """One prox under inspection; each public method checks one identity and records it."""

    def __init__(self, prox: BregmanProx, loss: SeparableConjugate, labels: list[float]) -> None:
        self.prox, self.loss, self.labels = prox, loss, labels
        self.report = Report(f"{prox!r} with {loss!r}")

    def cases(self) -> Iterator[tuple[float, float]]:
        """All (y, weight)."""
        return itertools.product(self.labels, WEIGHTS)

    def mirror(self, s: float, y: float, weight: float) -> float:
        """h'(w) at w = ω l'(s)."""
        return float(self.prox.mirror(self.loss, s, y, weight))

    def response(self, s: float, y: float, weight: float) -> float:
        """w = ω l'(s)."""
        return weight * float(self.loss.derivative(s, y))

    def mirror_grows(self) -> None:
        """h is convex: its slope grows with w."""
        identity = "mirror grows with w"
        for y, weight in self.cases():
            points = [(self.response(s, y, weight), self.mirror(s, y, weight), s) for s in STATES]
            for (w, m, s), (v, k, t) in itertools.pairwise(points):
                if v > w + 1e-12 and not k > m:
                    down = all(b[1] <= a[1] for a, b in itertools.pairwise(points))
                    failure = Failure(
                        identity, {"s": t, "y": y, "weight": weight}, k, f"> {shown(m)}",
                        causes.WRONG_SIGN if down else causes.NOT_CONVEX,
                        f"its value at s = {shown(s)}, where w is smaller",
                    )  # fmt: skip
                    self.report.record(identity, [failure])
                    return
        self.report.record(identity)

    def inverse(self) -> None:
        """The way back from mirror(s) ends at the same w."""
        samples = []
        for (y, weight), s in itertools.product(self.cases(), STATES):
            m, w = self.mirror(s, y, weight), self.response(s, y, weight)
            back = attempt(self.prox.inverse, self.loss, m, 0.0, y, weight, BOUND)
            found = attempt(self.response, back.number, y, weight)
            room = 1e-9 * (weight + abs(w))
            samples.append(Sample({"s": s, "y": y, "weight": weight}, found, w, room))
        self._record("inverse leads back from mirror(s) to w", samples)

    def centre(self) -> None:
        """The prox centre has h' = 0, or pushes against the end of the domain."""
        identity = "centre minimizes h"
        failures = []
        for y, weight in self.cases():
            losses = SampleLosses(self.loss, np.array([y]), np.array([weight]))
            s = float(self.prox.centre(losses, np.array([BOUND]))[0])
            failures += [*self._optimal(identity, s, 0.0, y, weight, {})]
        self.report.record(identity, failures[:1])

    def step(self) -> None:
        """The step solves its variational inequality."""
        identity = "step minimizes h(w) − (h'(w⁰) + η(a − s))·w over dom l*"
        failures = []
        for (y, weight), s, (gap, eta) in itertools.product(self.cases(), STATES, STEPS):
            losses = SampleLosses(self.loss, np.array([y]), np.array([weight]))
            after = self.prox.step(
                losses, np.array([BOUND]), np.array([0]), np.array([s]), np.array([gap]), eta
            )
            target = self.mirror(s, y, weight) + eta * gap
            point = {"s": s, "gap": gap, "eta": eta}
            failures += [*self._optimal(identity, float(after[0]), target, y, weight, point)]
        self.report.record(identity, failures[:1])

    def _optimal(
        self, identity: str, s: float, target: float, y: float, weight: float, point: dict[str, Any]
    ) -> Iterator[Failure]:
        """(h'(w⁺) − target)·(v − w⁺) ≥ 0 for every response v."""
        if not math.isfinite(s):
            place = {**point, "y": y, "weight": weight}
            yield Failure(identity, place, s, "a finite state", causes.UNSTABLE)
            return
        m, w = self.mirror(s, y, weight), self.response(s, y, weight)
        ends = [self.response(t, y, weight) for t in (-BOUND, BOUND)]
        room = 1e-8 * (1 + abs(m) + abs(target)) * (weight + abs(w))
        worst = min((m - target) * (v - w) for v in ends)
        if worst < -room:
            cause = self.report.causes[0] if not self.report.ok else causes.UNKNOWN
            if self.report.ok and abs(m + target) < 1e-8 * (1 + abs(target)):
                cause = causes.WRONG_SIGN
            yield Failure(
                identity, {**point, "y": y, "weight": weight}, m, target, cause,
                "h' at the new w should be this, or w at an end of the domain",
            )  # fmt: skip

    def divergence(self) -> None:
        """D_h(w, w') = ∫ (h'(v) − h'(w')) dv from w' to w, and ≥ 0."""
        samples = []
        for (y, weight), (t, s) in itertools.product(
            self.cases(), itertools.product(STATES[1::2], repeat=2)
        ):
            w = self.response(t, y, weight)
            expected, error = self._integral(s, t, y, weight)
            found = attempt(self.prox.divergence, self.loss, w, s, y, weight)
            point = {"w": w, "s": s, "y": y, "weight": weight}
            samples.append(Sample(point, found, expected, error + 1e-6 * expected + 1e-9))
        forgotten = [sample for sample in samples if sample.point["weight"] != 1.0]
        if all(s.right for s in samples if s.point["weight"] == 1.0) and not all(
            s.right for s in forgotten
        ):
            identity = "divergence is D_h(w, w')"
            wrong = next(sample for sample in forgotten if not sample.right)
            failure = Failure(
                identity, wrong.point, str(wrong.found), wrong.expected,
                causes.MISSING_FACTOR, "right for weight 1 only: ω is forgotten somewhere",
            )  # fmt: skip
            self.report.record(identity, [failure])
            return
        self._record("divergence is D_h(w, w')", samples)

    def _integral(self, s: float, t: float, y: float, weight: float) -> tuple[float, float]:
        """By the trapezoidal rule along s, extrapolated once, and by how much that moved it."""
        start = self.mirror(s, y, weight)

        path = np.linspace(s, t, 241).tolist()
        w = np.array([self.response(a, y, weight) for a in path])
        m = np.array([self.mirror(a, y, weight) for a in path]) - start
        fine = ((m[1:] + m[:-1]) / 2 * np.diff(w)).reshape(-1, 2).sum(axis=1)
        coarse = (m[2::2] + m[:-1:2]) / 2 * np.diff(w[::2])
        # Panel by panel, as errors at the kinks of l' do not cancel.
        return float((fine + (fine - coarse) / 3).sum()), 2 * float(abs(fine - coarse).sum())

    def _record(self, identity: str, samples: list[Sample]) -> None:
        failures = Comparison(identity, samples).failures()
        if failures and not self.report.ok:
            first = failures[0]
            failures = [
                Failure(identity, first.point, first.found, first.expected, self.report.causes[0])
            ]
        self.report.record(identity, failures)
