r"""The linear bounds that rcmd prints hold, and it prints no refuted one.

Paper: none; about rcmd.model.bounds (rcmd:linear-bounds)
Claim: every bound that rcmd.model.bounds calls proved for a problem and the linear schedule is at
    least the expected gap (or $\mathbb{E}[D^{*}-D(w^k)]$, where it is about the dual alone), for
    batches too; bounds that are false for the problem are not among them.
Hypotheses: (A); (B); (S); (M); (P)
Verdict: REPAIRED
Correction: each follows from the entries on the fixed response, quadratic losses, all losses, the
    martingale, the factor, the early range and the spectral norm, with $N = n/b$, $\sigma_b$ and
    $E = \frac1n\sum_j\gamma_jM_j^2$ for $\gamma M^2$: curvatures enter only as weights
    $\gamma_j$ in $U_i$, $S_i$ and $Y$, and $D_h(\hat w,w^0) \le \frac E2$.
Proof: by hand, symbolic; thm:strong-early and the others named
Check: the constants of named and drawn problems given to rcmd, its bounds compared with the
    expectations of the exact engine over all sequences of batches, b = 1, 2, 3; the
    counterexamples among the problems; $\gamma_j$ different from row to row. Not tight:
    theorem-3.2-second, of which .21 is reached, and linear-dual, .47.
Tested: n ≤ 4, p ≤ 2, b ≤ 3, k ≤ 3; squared, Huber-like, shifted and logistic losses
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import mpmath

from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import dot
from proofs_check.exact.strong import Strong, largest_eigenvalue, mean
from proofs_check.exact.strong_instances import F, huber, labelled, logistic, pull, zoo
from proofs_check.statement import Finding, Kind, check
from rcmd.model import bounds
from rcmd.model.constants import Constants

ROUNDING = 1e-12
"""rcmd's bounds are floats; the expectations are exact."""


def constants(one: Strong) -> Constants:
    """What rcmd asks of a problem, energies weighted by each γ_j."""
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
        spectral_energy=float(largest_eigenvalue(one.problem.rows, gammas)),
        quadratic=all(isinstance(loss, Squared) for loss in one.problem.losses),
        start_gap=float(one.start_gap),
        parallel=len(one.problem.rows[0]) == 1,
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
        """‖diag(√γ_j)X‖₂²/γ."""
        return largest_eigenvalue(self.problem.rows, self.gammas) / self.gamma


@cache
def cases() -> list[Strong]:
    """Counterexamples, with σ_b, and drawn problems for b = 1, 2, 3."""
    named = [huber(), huber(3), pull(2, 10, 2), pull(3, 10, 3), pull(3, 10, 2)]
    named += [labelled(3, F(1, 4), F(3, 5), 3), logistic(), logistic(3), logistic(3, b=2)]
    picked = [one for b in (1, 2, 3) for one in zoo(b)[::3]]
    return [Weighted(one.problem, one.b, solution=one.solution) for one in [*named, *picked]]


def left_sides(one: Strong, k: int) -> dict[str, float]:
    """What a bound is about: the gap, that of the mean iterate, and the dual value's alone."""
    paths, dual = one.levels(k)[-1][1], one.dual_means(k)[k]
    at_mean = one.problem.primal(tuple(map(mean, zip(*(p.beta for p in paths), strict=True))))
    found = {
        "gap": one.gaps(k)[-1][1],
        "linear-mean": at_mean - dual,
        "linear-dual": one.value - dual,
    }
    return {name: float(value) for name, value in found.items()}


@cache
def runs() -> list[tuple[Constants, int, dict[str, float]]]:
    """Constants, k ≤ 3 and left sides of every case."""
    with mpmath.workdps(30):
        return [(constants(one), k, left_sides(one, k)) for one in cases() for k in (1, 2, 3)]


def ratios(select: Any) -> dict[str, float]:
    """The largest left over right side of each bound that ``select`` gives."""
    largest: dict[str, float] = {}
    for numbers, k, lefts in runs():
        for bound in select(numbers, k):
            left = lefts.get(bound.name, lefts["gap"])
            if left > ROUNDING:
                ratio = left / bound(numbers, k)
                largest[bound.name] = max(largest.get(bound.name, 0.0), ratio)
    return largest


def valid(numbers: Constants, k: int) -> list[Any]:
    """What rcmd calls proved."""
    return bounds.valid(numbers, k, "linear")


def part(name: str, share: float) -> Any:
    """The same with a part of one bound."""
    return lambda numbers, k: [
        replace(bound, value=lambda c, k, of=bound.value: share * of(c, k))
        if bound.name == name
        else bound
        for bound in valid(numbers, k)
    ]


@cache
def top() -> float:
    """The largest ratio of all."""
    return max(ratios(valid).values())


def exceeded(numbers: Constants, k: int) -> list[Any]:
    """All so much lower that one fails by a part in a milliard."""
    share = top() * (1 - 1e-9)
    return [
        replace(bound, value=lambda c, k, of=bound.value: share * of(c, k))
        for bound in valid(numbers, k)
    ]


def later(numbers: Constants, k: int) -> list[Any]:
    """Each bound two steps later."""
    return [
        replace(bound, value=lambda c, k, of=bound.value: of(c, k + 2))
        for bound in valid(numbers, k)
    ]


def applicable(verdicts: tuple[Any, ...]) -> Any:
    """All bounds about these constants whose general verdict is among ``verdicts``."""
    return lambda numbers, k: [
        bound
        for bound in bounds.all_bounds()
        if bound.schedule == "linear" and bound.applies(numbers) and bound.verdict in verdicts
    ]


BITING = ("linear-quadratic", "linear-any-loss", "linear-conjecture", "linear-uniform",
          "linear-mean", "linear-energy")  # fmt: skip
"""Bounds of which some problem reaches more than half."""


@check(
    Kind.FLOAT,
    valid,
    {
        "one of them exceeded by 1e-9": exceeded,
        "refuted ones printed too": applicable((bounds.Verdict.PROVED, bounds.Verdict.REFUTED)),
        "taken two steps later": later,
    }
    | {f"half of {name}": part(name, 0.5) for name in BITING}
    | {"two fifths of linear-dual": part("linear-dual", 0.4)},
)
def what_rcmd_calls_proved_holds(select: Any) -> Finding:
    """Over all sequences of batches, k ≤ 3."""
    found = ratios(select)
    words = ", ".join(f"{name} {ratio:.3f}" for name, ratio in found.items())
    return Finding(
        max(found.values()) <= 1 + ROUNDING, f"largest ratios: {words}", max(found.values())
    )


@check(
    Kind.FLOAT,
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
