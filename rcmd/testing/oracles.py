"""The contract of an oracle, identity by identity.

``penalty`` and ``violation`` say what R is, ``cvxpy_form`` says it once more; ``argmin`` and
``minimum`` must agree with them, and with each other, on random costs.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.oracles.base import LinearMinOracle
from rcmd.testing import causes
from rcmd.testing.domains import DomainInspection
from rcmd.testing.report import Failure, Report, shown
from rcmd.validation import refuse_class

Array = npt.NDArray[Any]


def check_oracle(
    oracle: LinearMinOracle, p: int = 5, *, rng: int | np.random.Generator = 0
) -> Report:
    """Check every identity of an oracle in p variables; a ``ContractError`` lists all failures.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> check_oracle(L1Ball(2.0)).ok
    True
    """
    return inspect_oracle(oracle, p, rng=rng).checked()


def inspect_oracle(
    oracle: LinearMinOracle, p: int = 5, *, rng: int | np.random.Generator = 0
) -> Report:
    """The report of ``check_oracle``, also where something fails.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> class Wrong(L1Ball):
    ...     def minimum(self, c): return -2 * super().minimum(c)
    >>> inspect_oracle(Wrong(1.0)).ok
    False
    """
    if not isinstance(oracle, LinearMinOracle):
        refuse_class("oracle", oracle)
        raise TypeError(
            f"oracle is {oracle!r}; expected an object of a class derived from LinearMinOracle"
        )
    inspection = Inspection(oracle, p, np.random.default_rng(rng))
    for identity in (
        inspection.feasible_atoms,
        inspection.attained_minimum,
        inspection.optimal_atoms,
        inspection.support_function,
        inspection.convexity,
        inspection.strong_convexity,
        inspection.fenchel_young_form,
        inspection.prediction_range,
        inspection.outside_points,
        inspection.leaving_rays,
        inspection.ties,
        inspection.cvxpy_form,
    ):
        identity()
    return inspection.report


class Inspection(DomainInspection):
    """The identities of the minimization itself."""

    def attained_minimum(self) -> None:
        """minimum(c) = cᵀβ̃ + R(β̃)."""
        identity = "minimum is attained at argmin"
        samples = []
        for c, beta in zip(self.costs, self.atoms, strict=True):
            found, expected = float(self.oracle.minimum(c)), self.objective(c, beta)
            samples.append((c, found, expected, self.room(c)))
        wrong = [s for s in samples if not abs(s[1] - s[2]) <= s[3]]
        failures = []
        if wrong:
            c, found, expected, _ = max(wrong, key=lambda s: abs(s[1] - s[2]) / (1e-12 + abs(s[2])))
            failures = [Failure(identity, {"c": c}, found, expected, *_ratio(samples))]
        self.report.record(identity, failures)

    def optimal_atoms(self) -> None:
        """No other point of dom R does better than argmin."""
        identity = "argmin is at least as good as every other point of dom R"
        failures, reversed_everywhere = [], True
        for c, beta in zip(self.costs, self.atoms, strict=True):
            mine = self.objective(c, beta)
            values = [self.objective(c, other) for other in self.members]
            best = int(np.argmin(values))
            if values[best] < mine - self.room(c):
                opposite = np.asarray(self.oracle.argmin(-c).dense(c), dtype=float)
                reversed_everywhere &= self.objective(c, opposite) < mine
                failures.append((c, mine, values[best]))
        found = []
        if failures:
            c, mine, best_value = max(
                failures, key=lambda f: (f[1] - f[2]) / (abs(f[0]).sum() + 1e-12)
            )
            cause, remedy = (
                (causes.WRONG_SIGN, "argmin(−c) is better: it maximizes instead")
                if reversed_everywhere
                else (causes.UNKNOWN, "another point of dom R is better")
            )
            found = [Failure(identity, {"c": c}, mine, best_value, cause, remedy)]
        self.report.record(identity, found)

    def support_function(self) -> None:
        """−minimum(−·) is R*: concave with slope argmin, homogeneous for a set."""
        identity = "minimum is a support function: concave with slope argmin"
        for (c, beta), other in itertools.product(
            zip(self.costs, self.atoms, strict=True), self.costs
        ):
            bound = float(self.oracle.minimum(c)) + float((other - c) @ beta)
            value = float(self.oracle.minimum(other))
            if value > bound + self.room(c) + self.room(other):
                cause = self._so_far(causes.UNKNOWN)
                remedy = "min over β of cᵀβ + R(β) is concave in c"
                failure = Failure(identity, {"c": other, "from": c}, value, bound, cause, remedy)
                self.report.record(identity, [failure])
                return
        if self.oracle.indicator:
            for c in self.costs:
                found, expected = (
                    float(self.oracle.minimum(3 * c)),
                    3 * float(self.oracle.minimum(c)),
                )
                if not abs(found - expected) <= 6 * self.room(c):
                    failure = Failure(
                        identity, {"c": 3 * c}, found, expected, causes.WRONG_FLAG,
                        "not homogeneous: R is no indicator; set indicator = False",
                    )  # fmt: skip
                    self.report.record(identity, [failure])
                    return
        self.report.record(identity)

    def strong_convexity(self) -> None:
        """R(mid) ≤ mean of the ends − μ‖a − b‖²/8."""
        identity = "R is μ-strongly convex"
        mu, largest, place = float(self.oracle.mu), math.inf, None
        for a, b in itertools.islice(itertools.combinations(self.members, 2), 300):
            square = float((a - b) @ (a - b))
            if square < 1e-6 * (1 + a @ a + b @ b):
                continue
            ends = (self.oracle.penalty(a) + self.oracle.penalty(b)) / 2
            curve = 8 * float(ends - self.oracle.penalty((a + b) / 2)) / square
            if curve < largest:
                largest, place = curve, (a + b) / 2
        failures = []
        if not 0 <= mu <= largest * (1 + 1e-6) + 1e-9:
            failures = [
                Failure(
                    identity,
                    {"β": place},
                    mu,
                    f"at most {shown(max(largest, 0.0))}",
                    causes.TOO_LARGE,
                    f"μ = {shown(max(largest, 0.0))} would do",
                )
            ]
        self.report.record(identity, failures)

    def fenchel_young_form(self) -> None:
        """fenchel_young(β, c) = R(β) + cᵀβ − minimum(c) ≥ 0, zero at argmin."""
        identity = "fenchel_young is R(β) + cᵀβ − minimum(c), ≥ 0 and 0 at argmin"
        samples = []
        for (c, atom), beta in itertools.product(
            zip(self.costs, self.atoms, strict=True), self.members[-12:]
        ):
            for point in (atom, beta):
                expected = self.objective(c, point) - float(self.oracle.minimum(c))
                found = float(self.oracle.fenchel_young(point, c))
                samples.append((c, found, expected, 4 * self.room(c)))
        wrong = [s for s in samples if not abs(s[1] - s[2]) <= s[3]]
        failures = []
        if wrong:
            c, found, expected, _ = max(wrong, key=lambda s: abs(s[1] - s[2]))
            cause, remedy = _ratio(samples)
            cause = self._so_far(cause)
            failures = [Failure(identity, {"c": c}, found, expected, cause, remedy)]
        negative = [s for s in samples if s[1] < -s[3]]
        if negative and not failures:
            c, found, *_ = min(negative, key=lambda s: s[1])
            failures = [Failure(identity, {"c": c}, found, "≥ 0", causes.WRONG_SIGN)]
        self.report.record(identity, failures)

    def ties(self) -> None:
        """Equal costs get equal atoms."""
        identity = "ties are broken the same way every time"
        costs = [np.zeros(self.rows.p), np.ones(self.rows.p), -np.ones(self.rows.p)]
        failures = []
        for c in costs:
            first, second = (self.oracle.argmin(c.copy()).dense(c) for _ in range(2))
            if not np.array_equal(first, second):
                failures.append(
                    Failure(
                        identity,
                        {"c": c},
                        second,
                        first,
                        causes.UNKNOWN,
                        "runs could not be repeated: break ties by position",
                    )
                )
        self.report.record(identity, failures[:1])

    def cvxpy_form(self) -> None:
        """The same minimum from the CVXPY form alone."""
        from rcmd import truth

        identity = "cvxpy_form has the minimum of the oracle"
        samples = []
        for c in [*self.costs[:3], self.costs[14]]:
            try:
                found = truth.linear_minimum(self.oracle, c)
            except NotImplementedError:
                self.report.notes.append("no cvxpy_form, so rcmd.truth cannot solve with this R")
                return
            expected = float(self.oracle.minimum(c))
            samples.append((c, found, expected, 1e-6 * (1 + abs(expected))))
        wrong = [s for s in samples if not abs(s[1] - s[2]) <= s[3]]
        failures = []
        if wrong:
            c, found, expected, _ = wrong[0]
            cause, remedy = _ratio(samples)
            if cause == causes.UNKNOWN:
                remedy = "cvxpy_form describes another R than argmin and minimum do"
            failures = [Failure(identity, {"c": c}, found, expected, self._so_far(cause), remedy)]
        self.report.record(identity, failures)


def _ratio(samples: list[tuple[Array, float, float, float]]) -> tuple[str, str]:
    """The cause, if one factor turns every expected number into the found one."""
    telling = [s for s in samples if abs(s[2]) > 1e3 * s[3]]
    if telling:
        _, found, expected, _ = max(telling, key=lambda s: abs(s[2]) / s[3])
        ratio = found / expected
        if all(
            abs(s[1] - ratio * s[2]) <= (1 + abs(ratio)) * s[3] + 1e-9 * abs(s[1]) for s in samples
        ):
            if abs(ratio + 1) < 1e-6:
                return causes.WRONG_SIGN, "its negative is right everywhere"
            return causes.MISSING_FACTOR, f"it is {shown(round(ratio, 8))} times what it should be"
    return causes.UNKNOWN, "no simple change explains every wrong point"
