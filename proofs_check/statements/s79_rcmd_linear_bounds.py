r"""The linear bounds that rcmd prints hold, and it prints no refuted one.

Paper: none; about rcmd.model.bounds (rcmd:linear-bounds)
Claim: every bound that rcmd.model.bounds calls proved for a problem and the linear schedule is at
    least the expected gap (or $\mathbb{E}[D^{*}-D(w^k)]$, where it is about the dual alone), for
    batches too; bounds that are false for the problem are not among them.
Verdict: REPAIRED
Correction: each follows from the entries on the fixed response, quadratic losses, all losses, the
    martingale, the factor, the early range and the spectral norm, with $N = n/b$, $\sigma_b$ and
    $E = \frac1n\sum_j\gamma_jM_j^2$ for $\gamma M^2$: curvatures enter only as weights
    $\gamma_j$ in $U_i$, $S_i$ and $Y$, and $D_h(\hat w,w^0) \le \frac E2$.
Check: the constants of named and drawn problems given to rcmd, its bounds compared with the
    expectations of the exact engine over all sequences of batches, b = 1, 2, 3; the
    counterexamples among the problems; $\gamma_j$ different from row to row.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath

from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import dot
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import F, huber, labelled, logistic, pull, zoo
from proofs_check.statement import Finding, Kind, check
from rcmd.model import bounds
from rcmd.model.constants import Constants

ROUNDING = 1e-12
"""rcmd's bounds are floats; the expectations are exact."""


def constants(one: Strong) -> Constants:
    """What rcmd asks of a problem with one variable, energies weighted by each γ_j."""
    gammas = [loss.gamma for loss in one.problem.losses]
    rows = [dot(row, row) for row in one.problem.rows]
    energies = [gamma * row for gamma, row in zip(gammas, rows, strict=True)]
    return Constants(
        n=one.n,
        batch=one.b,
        gamma=float(one.gamma),
        prediction_bound=float(max(one.bounds)),
        prediction_energy=float(one.energy),
        bregman_radius=float(one.radius),
        mu=float(one.mu),
        row_energy=float(max(energies)),
        spectral_energy=float(sum(energies)),
        quadratic=all(isinstance(loss, Squared) for loss in one.problem.losses),
        start_gap=float(one.start_gap),
    )


class Weighted(Strong):
    """Runs with rcmd's σ_b, whose energies have each row's own γ_j."""

    @property
    def gammas(self) -> list[Any]:
        """γ_j."""
        return [loss.gamma for loss in self.problem.losses]

    @property
    def row(self) -> Any:
        """max γ_j‖x_j‖²/γ."""
        pairs = zip(self.gammas, self.problem.rows, strict=True)
        return max(gamma * dot(row, row) for gamma, row in pairs) / self.gamma

    @property
    def spectral(self) -> Any:
        """Σ γ_j x_j²/γ, for p = 1."""
        pairs = zip(self.gammas, self.problem.rows, strict=True)
        return sum(gamma * dot(row, row) for gamma, row in pairs) / self.gamma


@cache
def cases() -> list[Strong]:
    """Counterexamples, with σ_b, and drawn problems for b = 1, 2, 3."""
    named = [huber(), huber(3), pull(2, 10, 2), pull(3, 10, 3), pull(3, 10, 2)]
    named += [labelled(3, F(1, 4), F(3, 5), 3), logistic(), logistic(3), logistic(3, b=2)]
    picked = [one for b in (1, 2, 3) for one in zoo(b)[::3]]
    return [Weighted(one.problem, one.b) for one in [*named, *picked]]


@cache
def worst(select: Any) -> tuple[float, str, int]:
    """The largest expectation/bound over all cases and k ≤ 3, its bound, and the comparisons."""
    largest, name, compared = 0.0, "", 0
    with mpmath.workdps(30):
        for one in cases():
            numbers = constants(one)
            for k, gap in one.gaps(3):
                missing = one.value - one.dual_means(k)[k]
                for bound in select(numbers, k):
                    left = float(missing if bound.dual_only else gap)
                    right = bound(numbers, k)
                    compared += 1
                    if left > ROUNDING and left / right > largest:
                        largest, name = left / right, bound.name
    return largest, name, compared


def valid(numbers: Constants, k: int) -> list[Any]:
    """What rcmd calls proved."""
    return bounds.valid(numbers, k, "linear")


class _Changed:
    """A bound, multiplied by a factor and taken later."""

    def __init__(self, bound: Any, factor: float, later: int) -> None:
        self.name, self.dual_only = f"{bound.name}, changed", bound.dual_only
        self.bound, self.factor, self.later = bound, factor, later

    def __call__(self, numbers: Constants, k: int) -> float:
        return self.factor * float(self.bound(numbers, k + self.later))


def applicable(verdicts: tuple[Any, ...]) -> Any:
    """All bounds about these constants whose general verdict is among ``verdicts``."""
    return lambda numbers, k: [
        bound
        for bound in bounds.all_bounds()
        if bound.schedule == "linear" and bound.applies(numbers) and bound.verdict in verdicts
    ]


@check(
    Kind.EXACT,
    valid,
    {
        "refuted ones printed too": applicable((bounds.Verdict.PROVED, bounds.Verdict.REFUTED)),
        "taken two steps later": lambda numbers, k: [
            _Changed(bound, 1.0, 2) for bound in valid(numbers, k)
        ],
        "one of them exceeded by 1e-9": lambda numbers, k: [
            _Changed(bound, worst(valid)[0] * (1 - 1e-9), 0) for bound in valid(numbers, k)
        ],
    },
)
def what_rcmd_calls_proved_holds(select: Any) -> Finding:
    """Over all sequences of batches, k ≤ 3."""
    largest, name, compared = worst(select)
    return Finding(
        largest <= 1 + ROUNDING,
        f"{compared} comparisons, largest ratio {largest:.6f} ({name})",
        1 - largest,
    )


@check(
    Kind.EXACT,
    "theorem-3.2-first",
    {"a bound that holds": "linear-any-loss", "one that always holds": "linear-energy"},
)
def the_refuted_bound_would_be_caught(name: str) -> Finding:
    """Its value at two logistic losses is exceeded, and ``best`` does not return it."""
    with mpmath.workdps(30):
        one = logistic()
        numbers = constants(one)
        gap = float(one.gaps(1)[0][1])
        bound = bounds.named(name)
        best, value = bounds.best(numbers, 1, "linear")
        agrees = gap > bound(numbers, 1) and best.name != name and value >= gap
        return Finding(
            agrees, f"gap {gap:.4f}, {name} {bound(numbers, 1):.4f}, best {best.name} {value:.4f}"
        )
