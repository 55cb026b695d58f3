r"""The bounds that rcmd prints for Theorem 3.1's schedule are the proved ones.

Paper: none; the sublinear part of rcmd.model.bounds (rcmd:sublinear-bounds)
Claim: After T steps rcmd gives, with $E = \frac1n\sum_j\gamma_jM_j^2$, $V = \min\{D_{\max},E/2\}$
    and k = T - 1, both bounds of Theorem 3.1, (thm:A) with E and V, (lem:pathwise), and both of
    (thm:dual), and calls all of them proved.
Hypotheses: (A); (U); (3.1)
Verdict: HOLDS
Correction: $V$ may take the place of $D_{\max}$ because $D_h(\hat w,w^0) \le E/2$ for every
    response $\hat w$. The sharp bound is re-derived in (thm:dual).
Proof: by hand, interval; thm:A, thm:dual
Check: Every right side against its formula in 50 digits; rcmd's constants of small rational
    problems against their definitions; and the exact expectations of those problems against every
    bound.
Tested: n ≤ 3, p ≤ 2, b ≤ n, k ≤ 3; weighted squared losses on cubes and ℓ₁ balls
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np

from proofs_check.exact.energies import Energies, all_energies
from proofs_check.exact.fitted import Fitted, family
from proofs_check.exact.losses import Squared
from proofs_check.exact.regularizers import Cube, cross_polytope
from proofs_check.statement import Finding, Kind, check
from rcmd import Box, L1Ball, LeastSquares, Problem
from rcmd.model.bounds import Verdict, all_bounds, named
from rcmd.model.constants import Constants

Lookup = Callable[[str], Callable[[Constants, int], float]]

GAP = (
    "theorem-3.1-first",
    "theorem-3.1-second",
    "sublinear-energy",
    "sublinear-sharp",
    "sublinear-pathwise",
)
DUAL = "sublinear-dual"


def formulas(c: Constants, k: int) -> dict[str, Any]:
    """The right sides from the statements, in mpmath's working precision."""

    def digits(x: Any) -> Any:
        return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator

    N, energy = digits(Fraction(c.n, c.batch)), digits(c.prediction_energy)
    printed, radius = digits(c.gamma * c.prediction_bound**2), digits(c.bregman_radius)
    smaller = min(radius, energy / 2)
    weights = [2 * N + i for i in range(k + 1)]
    total, first = sum(weights), N * (2 * N - 1)
    log = mpmath.log(1 + (k + 1) / (2 * N))
    drift = N * energy * (k + 1 + 2 * N * log + 5 * N / 2) / total
    dual = drift + first * smaller / total
    roots = mpmath.sqrt(dual), mpmath.sqrt((N - 1) * (energy + 2 * drift) / (2 * N + k + 1))
    bound = (4 * N * (k + 1) * energy + first * smaller) / total
    return {
        "theorem-3.1-first": (4 * N * (k + 1) * printed + first * radius) / total,
        "theorem-3.1-second": (4 * N * (k + 1) + first) * printed / total,
        "sublinear-energy": bound,
        "sublinear-sharp": sum(roots) ** 2,
        "sublinear-pathwise": 2 * energy,
        "sublinear-dual": dual,
    }


def problems() -> Iterator[tuple[Problem, Fitted]]:
    """Weighted squared losses on a cube or cross-polytope, for rcmd and for the exact engine."""
    for fitted in family(49, 14, (1, 2, 3), equal=False):
        losses, oracle = fitted.problem.losses, _oracle(fitted)
        if oracle is not None and all(isinstance(loss, Squared) for loss in losses):
            labels = np.array([loss.y for loss in losses if isinstance(loss, Squared)])
            weights = np.array([loss.gamma for loss in losses])
            yield (
                Problem(
                    np.array(fitted.problem.rows), labels, LeastSquares(), oracle, weights=weights
                ),
                fitted,
            )


def _oracle(fitted: Fitted) -> Box | L1Ball | None:
    """rcmd's own words for the set of the problem, where it has them."""
    p, one = len(fitted.beta), Fraction(1)
    if fitted.problem.regularizer == Cube(one):
        return Box(-one, one)
    return L1Ball(one) if fitted.problem.regularizer == cross_polytope(p, one) else None


@cache
def runs() -> list[tuple[Constants, Energies]]:
    """Every batch size and k ≤ 3 of those problems."""
    return [
        (problem.constants(b), run)
        for problem, fitted in problems()
        for b in range(1, problem.n + 1)
        for run in all_energies(fitted, b, 3)
    ]


def scaled(name: str, factor: float) -> Lookup:
    """A table whose bound ``name`` is multiplied by ``factor``."""
    return lambda wanted: (
        lambda c, steps: named(wanted)(c, steps) * (factor if wanted == name else 1)
    )


PLANTED: dict[str, Lookup] = {
    "k = T for k = T - 1": lambda name: lambda c, steps: named(name)(c, steps + 1),
    "n for n/b": lambda name: lambda c, steps: named(name)(replace(c, batch=1), steps),
    "dual bound a little higher": scaled("sublinear-dual", 1 + 1e-9),
    "sharp bound a little lower": scaled("sublinear-sharp", 1 - 1e-9),
}


@check(Kind.DIGITS, named, planted=PLANTED)
def right_sides_in_fifty_digits(table: Lookup) -> Finding:
    """With D_max as rcmd finds it, and with a smaller one."""
    worst, count = 0.0, 0
    with mpmath.workdps(50):
        for c, run in runs():
            varied = replace(c, bregman_radius=c.bregman_radius * Fraction(2, 3))
            for constants in (c, varied):
                for name, value in formulas(constants, run.k).items():
                    found = table(name)(constants, run.k + 1)
                    worst = max(worst, float(abs(found - value) / (value or 1)))
                    count += 1
    return Finding(worst < 1e-13, f"{count} values, relative error at most {worst:.1e}")


@check(
    Kind.EXACT,
    lambda c: (c.prediction_energy, c.bregman_radius),
    planted={
        "energy of one row": lambda c: (c.prediction_energy / c.n, c.bregman_radius),
        "a third of D_max": lambda c: (c.prediction_energy, c.bregman_radius / 3),
    },
)
def constants_of_small_problems(of: Callable[[Constants], tuple[Any, Any]]) -> Finding:
    """The energy exactly, V against the largest distance."""
    checked = 0
    for problem, fitted in problems():
        energy, radius = of(problem.constants())
        if energy != fitted.energy or min(radius, energy / 2) < fitted.radius:
            return Finding(False, f"n = {problem.n}: {energy}, {radius} for {fitted.energy}")
        checked += 1
    return Finding(True, f"{checked} problems: the energy is exact, V is at least D_max")


@check(
    Kind.FLOAT,
    named,
    planted={f"a tenth of {name}": scaled(name, 0.1) for name in (*GAP[2:], DUAL)},
)
def bounds_hold_for_exact_expectations(table: Lookup) -> Finding:
    """Every run; the list of bounds is complete and all are called proved."""
    claimed = {b.name for b in all_bounds() if b.schedule == "sublinear"}
    proved = {b.name for b in all_bounds() if b.verdict is Verdict.PROVED}
    if claimed != {*GAP, DUAL} or not claimed <= proved:
        return Finding(False, f"rcmd lists {', '.join(sorted(claimed))}")
    largest, count = dict.fromkeys((*GAP, DUAL), 0.0), 0
    for c, run in runs():
        for name in GAP:
            ratio = float(run.gap) / table(name)(c, run.k + 1)
            largest[name] = max(largest[name], ratio)
        ratio = float(run.fitted.optimum - run.dual) / table(DUAL)(c, run.k + 1)
        largest[DUAL] = max(largest[DUAL], ratio)
        count += 1
    words = ", ".join(f"{name} {ratio:.3f}" for name, ratio in largest.items())
    top = max(largest.values())
    return Finding(top <= 1, f"{count} runs; largest ratios: {words}", top)
