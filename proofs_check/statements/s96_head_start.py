r"""Theorem 3.1's steps begun two passes later have a smaller bound.

Paper: none; a schedule beside that of Theorem 3.1 (thm:head-start)
Claim: With $\eta_i = \frac{2N}{4N+i+1}$ and averaging weights 4N+i, under the hypotheses of
    (thm:A) and for all $N \ge 1$ and $k \ge 0$: $\mathbb E[P(\bar\beta^k)-D(\bar w^k)] \le
    \frac{8N\gamma\bar M^2}{8N+k} + \frac{4N(4N-1)D_{\max}}{(8N+k)(k+1)}$, and both bounds of
    (thm:dual) with 4N for 2N in $c_{-1}$, G, the logarithm and the noise, and 9/8 for 5/2.
Hypotheses: (A); (U); steps $\eta_i = \frac{2N}{4N+i+1}$ and weights $4N+i$; all real $N \ge 1$
Verdict: REPAIRED
Correction: The proof of (thm:A) with $g_i = 4N+i$, $c_i = g_i(g_i+1)/2$, $c_{-1} = 2N(4N-1)$, so
    that $c_i-c_{i-1} = g_i$ and $c_i\eta_i = Ng_i$. As $\eta_i \le \frac12$, F has its closed form
    everywhere and untouched rows are not needed: $t \le 1$ by (I), $1 \le t \le 24$ by the better
    of (I) and (III), $t \ge 24$ by (II). At $D_{\max} = \frac12\gamma\bar M^2$ the bound is below
    Theorem 3.1's for $k+1 \ge \frac23N$.
Proof: by hand, symbolic, interval; by mpmath's intervals and by Arb's
Check: The coefficients of the energy inequalities symbolically; the scalar inequalities in interval
    arithmetic, and without the integral for given N, in float64; (E), (E0), (E1), (I), (II), (III)
    and the theorem in fractions over all sequences of batches; rcmd's own right side. Not tight:
    the runs reach at most .32 of the bound.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, at_most_with_roots, height, sample, weight
from proofs_check.intervals.arithmetic import Numbers, both
from proofs_check.intervals.certificate import certify
from proofs_check.intervals.discrete import largest_ratio
from proofs_check.intervals.relaxation import HeadStart, Relaxation
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s37_three_bounds import (
    at_optimum,
    at_start,
    half_the_energies,
    scaled,
)
from proofs_check.statements.s38_energy_inequalities import (
    OneStepShort,
    Printed,
    TwiceTheEnd,
    WithoutStepSize,
)
from proofs_check.statements.s40_theorem_a import SIZES, DoubleNoise, HeavierWeights, WrongEnd
from proofs_check.statements.s48_dual_gap import (
    LittleDrift,
    LittleNoise,
    Sharp,
    above_the_excess,
    sharp_bounds,
)
from rcmd.model.bounds import named
from rcmd.model.constants import Constants

START = 4


class SharpLater(Sharp):
    """With 9/8 for 5/2."""

    excess = Fraction(9, 8)


@check(
    Kind.EXACT,
    named("head-start-energy"),
    planted={
        "Theorem 3.1's": named("sublinear-energy"),
        "k = T for k = T - 1": lambda c, steps: named("head-start-energy")(c, steps + 1),
        "1e-9 less": lambda c, steps: (1 - 1e-9) * named("head-start-energy")(c, steps),
    },
)
def rcmd_shows_this_bound(found: Callable[[Constants, int], float]) -> Finding:
    """rcmd's right side after k + 1 steps, with E and min{D_max, E/2}."""
    worst = 0.0
    for n, b, k in ((1, 1, 0), (2, 1, 3), (3, 2, 7), (100, 7, 1000)):
        for radius in (Fraction(1, 3), Fraction(2)):
            c = Constants(
                n=n, batch=b, gamma=1, prediction_bound=2, prediction_energy=Fraction(3),
                bregman_radius=radius, mu=0, row_energy=1, spectral_energy=None, quadratic=False,
            )  # fmt: skip
            N = Fraction(n, b)
            smaller = min(radius, Fraction(3, 2))
            expected = 24 * N / (8 * N + k)
            expected += 4 * N * (4 * N - 1) * smaller / ((8 * N + k) * (k + 1))
            worst = max(worst, abs(found(c, k + 1) / float(expected) - 1))
    return Finding(worst < 1e-14, f"eight values, relative error at most {worst:.1e}")


@check(
    Kind.SYMBOLIC,
    lambda N, i: 2 * N / (START * N + i + 1),
    planted={
        "index shifted": lambda N, i: 2 * N / (START * N + i + 2),
        "the paper's step": lambda N, i: 2 * N / (2 * N + i + 1),
    },
)
def coefficients_for_these_weights(step: Callable[[Any, Any], Any]) -> Finding:
    """c_i − c_{i−1} = g_i, c_iη_i = Ng_i; (E) times (1+η_i)N/η_i is (E1), summed by parts."""
    N, i = sp.symbols("N i", positive=True)
    eta, g, c = step(N, i), weight(N, i, START), height(N, i, START)
    times = (1 + eta) * N / eta
    identities = {
        "weights": c - height(N, i - 1, START) - g,
        "drift": c * eta - N * g,
        "E0, S": c * (1 - eta / N) - height(N, i - 1, START),
        "E1, S": times * (1 - eta / N) - times.subs(i, i - 1) + sp.Rational(1, 2) + eta,
        "E1, last": times - ((START + 2) * N + i + 1) / 2,
    }
    wrong = [name for name, x in identities.items() if sp.simplify(x) != 0]
    return Finding(not wrong, f"five identities, wrong: {', '.join(wrong) or 'none'}")


def bound(N: Any, k: Any, r: Any = START) -> Any:
    """The bound for γM̄² = 1, D_max = 1/2; Theorem 3.1's for r = 2."""
    return 8 * N / (2 * r * N + k) + r * N * (r * N - 1) / (2 * (2 * r * N + k) * (k + 1))


@check(
    Kind.SYMBOLIC,
    bound,
    planted={
        "1% more": lambda N, k, r=START: bound(N, k, r) * (1 + sp.Rational(r - 2, 200)),
        "first weight 6N": lambda N, k, r=6: bound(N, k, r),
    },
)
def bound_is_below_theorem_31(bound: Any) -> Finding:
    """For k + 1 = 2N/3 + r, r ≥ 0: numerator and denominator of the difference have no minus."""
    n, r = sp.symbols("n r", nonnegative=True)
    N = 1 + n
    k = 2 * N / 3 + r - 1
    parts = sp.fraction(sp.together(bound(N, k, 2) - bound(N, k)))
    signs = [sp.Poly(sp.expand(part), n, r).coeffs() for part in parts]
    least = min(coefficient for part in signs for coefficient in part)
    return Finding(bool(least >= 0), f"smallest of the coefficients {least}")


@check(
    Kind.INTERVAL,
    HeadStart,
    planted={
        name: type(bug.__name__, (bug, HeadStart), {})
        for name, bug in {
            "noise doubled": DoubleNoise,
            "weights 4N + 2i": HeavierWeights,
            "S_{k+1} with the wrong sign": WrongEnd,
        }.items()
    },
)
def ranges_are_certified(relaxation: Callable[[Numbers], Relaxation]) -> Finding:
    """Each of the three ranges of t below 4, by both interval arithmetics."""
    words, highest = [], 0.0
    for numbers in both():
        found = certify(relaxation(numbers))
        highest = max(highest, *found)
        values = ", ".join(f"{name} {x:.4f}" for name, x in found._asdict().items() if x)
        words.append(f"{values} ({numbers.name})")
    return Finding(highest < 4, f"upper bounds, 4 allowed: {'; '.join(words)}", highest / 4)


@check(Kind.FLOAT, 1.0, planted={"noise doubled": 2.0})
def ranges_without_the_integral(noise_factor: float) -> Finding:
    """All k < 70N."""
    ratio, t = max(largest_ratio(N, 70, noise_factor, START) for N in SIZES)
    detail = f"{len(SIZES)} values of N, all k < 70N, float64: at most {ratio:.4f} of the bound"
    return Finding(ratio < 1, f"{detail}, at t = {t:.2f}", ratio)


def total_bound(run: Energies) -> Any:
    """4N(k+1)γM̄² + c_{−1}D_max."""
    return 4 * run.N * (run.k + 1) * run.fitted.energy + run.offset


CHAIN: dict[str, Any] = {
    "energies": Printed,
    "I": half_the_energies,
    "II": at_optimum,
    "III": at_start,
    "theorem": total_bound,
}


def broken(chain: dict[str, Any], run: Energies) -> str:
    """The first inequality of the proof that fails on this run; '' where all hold."""
    energies, gap, steps = chain["energies"](run), run.total * run.gap, range(run.k + 1)
    holds = {
        "E": all(energies.one_step(i) >= 0 and energies.rooted(i) for i in steps),
        "E0": energies.zeroth() >= 0,
        "E1": energies.first() >= 0,
        "I": gap <= chain["I"](run),
    }
    for name in ("II", "III"):
        plain, p, q = chain[name](run)
        holds[name] = at_most_with_roots(gap - plain + p + q, p, q)
    holds["theorem"] = gap <= chain["theorem"](run)
    return next((name for name, true in holds.items() if not true), "")


@check(
    Kind.EXACT,
    CHAIN,
    planted={
        "(E) with U_i for (1 - eta_i)U_i": CHAIN | {"energies": WithoutStepSize},
        "(E0) with c_{k+1} for c_k": CHAIN | {"energies": OneStepShort},
        "(E1) with almost twice its last term": CHAIN | {"energies": TwiceTheEnd},
        "(I) scaled": CHAIN | {"I": lambda run: half_the_energies(run) / 2},
        "(II) times 1/4": CHAIN | {"II": scaled(at_optimum, Fraction(1, 4))},
        "(III) times 1/4": CHAIN | {"III": scaled(at_start, Fraction(1, 4))},
        "a quarter of the bound": CHAIN | {"theorem": lambda run: total_bound(run) / 4},
    },
)
def chain_in_fractions(chain: dict[str, Any]) -> Finding:
    """Every inequality of the proof for every run."""
    runs = sample(equal=False, r=START)
    for run in runs:
        if name := broken(chain, run):
            return Finding(False, f"N = {run.N}, k = {run.k}: ({name}) fails")
    largest = max(run.total * run.gap / total_bound(run) for run in runs)
    detail = f"{len(runs)} expectations, at most {float(largest):.4f} of the bound"
    return Finding(True, detail, largest)


@check(
    Kind.INTERVAL,
    SharpLater.excess,
    planted={"1.1 for 1.125": Fraction(11, 10), "1% below the integral": Fraction(1106, 1000)},
)
def constant_of_the_drift(constant: Fraction) -> Finding:
    """A(t) − t − 2 ln(1+t/4) for every t."""
    return above_the_excess(constant, HeadStart)


@check(
    Kind.EXACT,
    SharpLater,
    planted={
        "a fifth of the drift": type("LittleDriftLater", (LittleDrift, SharpLater), {}),
        "an eighth of the noise": type("LittleNoiseLater", (LittleNoise, SharpLater), {}),
    },
)
def sharp_bounds_in_fractions(sharp: Callable[[], Sharp]) -> Finding:
    """a, y², the dual gap and the gap, as in (thm:dual)."""
    return sharp_bounds(sharp(), START)
