r"""The dual gap alone decreases with leading constant 2 instead of 8.

Paper: none; sharpens Theorem 3.1 for the dual (thm:dual)
Claim: $\mathbb E[D^*-D(\bar w^k)] \le \frac{a+N(2N-1)D_{\max}}{G}$ and $a \le N\gamma\bar M^2(k+1+
    2N\ln(1+\frac{k+1}{2N})+\frac52N)$, so that the leading term is $\frac{2N\gamma\bar M^2}{k}$;
    and $\mathbb E[P(\bar\beta^k)-D(\bar w^k)] \le (\sqrt{A_k}+\sqrt{\frac{(N-1)(\gamma\bar
    M^2+2a_k)} {2N+k+1}})^2$ with $A_k$ the first bound and $a_k$ that of a/G, so that its leading
    constant is $2(1+\frac1{\sqrt2})^2 = 5.83$.
Hypotheses: (A); (U); (3.1)
Verdict: REPAIRED
Correction: The first is (thm:fixed-w) at w*. The second is (II) of (lem:three-bounds) with $y^2
    \le \frac{N-1}{2N+k+1}(G\gamma\bar M^2+2a)$ from (E0), $g_i \le g_k$ and $\frac{g_k}{2c_k} =
    \frac1{2N+k+1}$. The bound of a is (lem:energies): $\sum_iF(\eta_i) \le NA(\frac{k+1}N)$ with
    $A(t) \le t+2\ln(1+\frac t2)+\frac52$.
Proof: by hand, symbolic, interval; the constant 5/2 by mpmath's intervals and by Arb's
Check: The constant 5/2 in interval arithmetic; the limits symbolically; a, the dual gap and the gap
    against them in fractions, the logarithm rounded down. Not tight: the runs reach at most .3 of
    the bounds; the constant 5/2 could be 2.485.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, at_most_with_roots, sample
from proofs_check.intervals.arithmetic import both
from proofs_check.intervals.relaxation import Drift, Relaxation
from proofs_check.statement import Finding, Kind, check


@check(
    Kind.INTERVAL,
    Fraction(5, 2),
    planted={"2.48 for 2.5": Fraction(62, 25), "2 for 2.5": Fraction(2)},
)
def constant_of_the_drift(constant: Fraction) -> Finding:
    """A(t) − t − 2 ln(1+t/2) for every t, by mpmath's intervals and by Arb's."""
    return above_the_excess(constant, Relaxation)


def above_the_excess(constant: Fraction, kind: type[Relaxation]) -> Finding:
    """Whether the constant is above that of these weights."""
    words, enough, highest = [], True, 0.0
    for numbers in both():
        excess = Drift(kind(numbers)).excess()
        room = numbers.rational(constant.numerator, constant.denominator) - excess
        enough &= bool(numbers.below(room) >= 0)
        highest = max(highest, float(numbers.above(excess)))
        words.append(f"{highest:.5f} ({numbers.name})")
    detail = f"the integral of F − 1 − e is at most {' and '.join(words)}"
    return Finding(enough, detail, highest / float(constant))


def drift(N: Any, k: Any, log: Any, excess: Fraction = Fraction(5, 2)) -> Any:
    """The bound of a for γM̄² = 1, with ``log`` for ln(1 + (k+1)/2N)."""
    return N * (k + 1 + 2 * N * log + excess * N)


@check(
    Kind.SYMBOLIC,
    drift,
    planted={
        "coefficient 2": lambda N, k, log: 2 * drift(N, k, log),
        "a logarithm too many": lambda N, k, log: drift(N, k, log) + N * k * log,
        "k^2 for k": lambda N, k, log: drift(N, k**2, log),
    },
)
def leading_constants(drift: Any) -> Finding:
    """The limits of k/N times the bounds."""
    N, k = sp.symbols("N k", positive=True)
    total = (4 * N + k) * (k + 1) / 2
    mean = sp.nsimplify(drift(N, k, sp.log(1 + (k + 1) / (2 * N)))) / total
    dual = mean + N * (2 * N - 1) / (2 * total)
    noise = (N - 1) * (1 + 2 * mean) / (2 * N + k + 1)
    leading = sp.limit(dual * k / N, k, sp.oo)
    whole = sp.simplify((sp.sqrt(leading) + sp.sqrt(sp.limit(noise * k / N, k, sp.oo))) ** 2)
    many_rows = sp.limit(whole, N, sp.oo)
    agrees = leading == 2 and sp.simplify(many_rows - 2 * (1 + 1 / sp.sqrt(2)) ** 2) == 0
    return Finding(bool(agrees), f"leading constants {leading} and {many_rows} for large N")


def rounded_log(x: Fraction) -> Fraction:
    """A rational number at most ln(1+x): 2v + 2v³/3 + 2v⁵/5 for v = x/(2+x)."""
    v = x / (2 + x)
    return 2 * v + 2 * v**3 / 3 + 2 * v**5 / 5


class Sharp:
    """The three bounds for a run, with (1/n) Σ γ_j M_j² for γM̄²."""

    excess = Fraction(5, 2)

    def drift(self, run: Energies) -> Any:
        """That of a."""
        log = rounded_log((run.k + 1) / (run.r * run.N))
        return run.fitted.energy * drift(run.N, run.k, log, self.excess)

    def noise(self, run: Energies) -> Any:
        """That of y²."""
        share = (run.N - 1) / (run.r * run.N + run.k + 1)
        return share * (run.total * run.fitted.energy + 2 * self.drift(run))


class LittleDrift(Sharp):
    """A fifth of a."""

    def drift(self, run: Energies) -> Any:
        return super().drift(run) / 5


class LittleNoise(Sharp):
    """An eighth of y²."""

    def noise(self, run: Energies) -> Any:
        return super().noise(run) / 8


@check(
    Kind.EXACT,
    Sharp,
    planted={"a fifth of the drift": LittleDrift, "an eighth of the noise": LittleNoise},
)
def bounds_in_fractions(sharp: Callable[[], Sharp]) -> Finding:
    """a, y², the dual gap and the gap."""
    return sharp_bounds(sharp(), 2)


def sharp_bounds(bounds: Sharp, r: int) -> Finding:
    """Whether they hold for every run with weights rN+i."""
    runs = sample(equal=False, r=r)
    largest = Fraction(0)
    for run in runs:
        a, noise = bounds.drift(run), bounds.noise(run)
        dual = run.total * (run.fitted.optimum - run.dual)
        holds = run.drift <= a and run.noise <= noise and dual <= a + run.offset
        if not holds or not at_most_with_roots(run.total * run.gap, a + run.offset, noise):
            return Finding(False, f"N = {run.N}, k = {run.k}: one of the bounds fails")
        largest = max(largest, dual / (a + run.offset))
    detail = f"{len(runs)} runs, dual gap at most {float(largest):.4f} of its bound"
    return Finding(True, detail, largest)
