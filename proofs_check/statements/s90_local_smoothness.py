r"""Losses need be smooth only where predictions lie.

Paper: none; widens Assumption 1.1 (thm:local-smoothness)
Claim: every bound of this ledger that holds for $\gamma_j$-smooth $l_j$ holds when $l_j$ is convex
    and differentiable and $l_j'$ has the Lipschitz constant $\gamma_j$ on $I_j =
    \mathrm{conv}(\{0\}\cup\{x_j^T\beta : \beta\in\mathrm{dom}\,R\})$ alone: so $\gamma_j =
    \sup_{I_j}l_j''$ is enough.
Hypotheses: (A) but for the smoothness of $l_j$ outside $I_j$; those of the bound
Verdict: HOLDS
Correction: let $\tilde l_j$ be $l_j$ on $I_j$ and its tangents at the ends outside: convex and
    $\gamma_j$-smooth. All $s_j^i$, and $x_j^T\beta$ for $\beta$ in dom R, lie in $I_j$
    (s-bound), so that the run, its atoms and P on dom R are the same for both. The duals are
    means of values $l_j'(s)$ with s in $I_j$, hence such values, and there $l_j^{*} =
    \tilde l_j^{*}$, for the supremum is attained in $I_j$: D is the same, too, and so are $D^{*}$,
    $D_{\max}$ and the Fenchel-Young terms. With steps of its own, a bound's $\sigma$ is that of
    $\tilde l_j$.
Proof: by hand; from s-bound
Check: parabolas whose curvature is a hundred times larger outside $I_j$: the runs and gaps are
    those of the parabolas, over all sequences of batches in fractions, and stay below the bound of
    (thm:strong-any-loss) with the curvature in $I_j$; a shorter interval is noticed.
Tested: n ≤ 3, p = 1, b ≤ 2, k ≤ 3; squared losses, steep outside of an interval
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.problem import Small
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import drawn, squared
from proofs_check.statement import Finding, Kind, check

F = Fraction
STEEP = 100


@dataclass(frozen=True)
class Steep:
    """A parabola between ``low`` and ``high``, of ``STEEP`` times its curvature outside."""

    inside: Any
    low: Any
    high: Any

    @property
    def gamma(self) -> Any:
        return self.inside.gamma

    def _beyond(self, s: Any) -> Any:
        return s - min(max(s, self.low), self.high)

    def value(self, s: Any) -> Any:
        return self.inside.value(s) + (STEEP - 1) * self.gamma * self._beyond(s) ** 2 / 2

    def derivative(self, s: Any) -> Any:
        return self.inside.derivative(s) + (STEEP - 1) * self.gamma * self._beyond(s)

    def conjugate(self, w: Any) -> Any:
        slopes = [self.inside.derivative(end) for end in (self.low, self.high)]
        beyond = w - min(max(w, slopes[0]), slopes[1])
        s = (w - beyond) / self.gamma + self.inside.y + beyond / (STEEP * self.gamma)
        return w * s - self.value(s)


def interval(one: Strong, j: int) -> tuple[Any, Any]:
    """The ends of I_j."""
    ends = [one.problem.rows[j][0] * corner[0] for corner in one.corners]
    return min(0, *ends), max(0, *ends)


def shorter(share: Any) -> Any:
    """That share of I_j."""
    return lambda one, j: tuple(share * end for end in interval(one, j))


def steep(one: Strong, ends: Any) -> Strong:
    """The same with losses that are steep beyond ``ends``."""
    losses = [Steep(loss, *ends(one, j)) for j, loss in enumerate(one.problem.losses)]
    return Strong(Small(one.problem.rows, losses, one.problem.regularizer), one.b)


@check(
    Kind.EXACT,
    interval,
    {"nine tenths of it": shorter(F(9, 10)), "half of it": shorter(F(1, 2))},
)
def runs_and_gaps_are_those_of_the_smooth_losses(ends: Any) -> Finding:
    """k ≤ 3, n ≤ 3 and b ≤ 2, and the bound for all losses with both distances at most E/2."""
    generator, same, total, largest = default_rng(90), 0, 0, F(0)
    for n, b in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2)):
        for _ in range(4):
            smooth = drawn(generator, squared, n, b)
            one = steep(smooth, ends)
            for (k, gap), (_, expected) in zip(one.gaps(3), smooth.gaps(3), strict=True):
                share = 1 + (one.N - 1) / (one.T - 1)
                bound = one.sigma_full * share * one.energy / 2 / (one.q**k - 1)
                largest = max(largest, gap / bound)
                total += 1
                same += gap == expected
    agrees = same == total and largest <= 1
    return Finding(agrees, f"{same} of {total} gaps; largest ratio {float(largest):.3f}", largest)
