r"""What the printed proof of Theorem 3.1 does prove: the bound against a fixed w.

Paper: none; what is left of the proof of Theorem 3.1 (thm:fixed-w)
Claim: For N = n/b, every w fixed beforehand and $a = N\sum_{i\le k}\frac{2N+i}{2N+i+1} \mathbb
    E\frac1n\sum_j\gamma_j(u^i_j)^2$, $u^i = X\tilde\beta^i - s^i$: $G\,\mathbb E
    [\phi(\bar\beta^k,w)-D(\bar w^k)] \le a + N(2N-1)D_h(w,w^0) - c_k\mathbb E D_h(w,w^{k+1})$ with
    $G = \frac{(4N+k)(k+1)}2$, $c_k = \frac{(2N+k)(2N+k+1)}2$, and $a \le 4N(k+1)\gamma M^2$.
Hypotheses: (A); (U); (3.1); w does not depend on any draw
Verdict: REPAIRED
Correction: So the bound of Theorem 3.1 holds for $\mathbb E[D^*-D(\bar w^k)]$ by w = w*, and for
    $P(\mathbb E\bar\beta^k)-\mathbb E D(\bar w^k)$ by $w = \nabla L(X\,\mathbb E\bar\beta^k)$; for
    n = 1 or b = n nothing is random, and it is the theorem.
Proof: by hand; the printed proof, to which lem:sublinear-martingale adds the identities
Check: All three in fractions over all sequences of batches, w at w* and at the responses to every
    extreme point, N = 1, 3/2, 2 and 3.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from proofs_check.exact.energies import Energies, sample
from proofs_check.exact.paths import Path
from proofs_check.exact.problem import Vector
from proofs_check.statement import Finding, Kind, check


def ceiling(run: Energies, near: Any, far: Any) -> Any:
    """a + c_{−1}·near − c_k·far, for the distances D_h(w, w⁰) and E D_h(w, w^{k+1})."""
    return run.drift + run.first * near - run.last * far


def saddle(path: Path, hat: Vector) -> Any:
    """φ(β̄^k, ∇L(hat))."""
    return path.problem.saddle(path.beta, path.problem.response(hat))


def distance(path: Path, hat: Vector) -> Any:
    """D_h(∇L(hat), w^{k+1})."""
    return path.problem.bregman(hat, path.s[-1])


@check(
    Kind.EXACT,
    ceiling,
    planted={
        "half of the drift": lambda run, near, far: ceiling(run, near, far) - run.drift / 2,
        "c_{-2} for c_{-1}": lambda run, near, far: (
            ceiling(run, near, far) - (2 * run.N - 1) * near
        ),
        "distance at the end counted twice": lambda run, near, far: ceiling(run, near, 2 * far),
    },
)
def bound_at_fixed_w(ceiling: Callable[..., Any]) -> Finding:
    """At w* and at the response to every extreme point."""
    count, largest = 0, Fraction(0)
    for run in sample():
        problem = run.fitted.problem
        for point in (run.fitted.beta, *run.fitted.corners):
            hat = problem.predictions(point)
            near = problem.bregman(hat, run.paths[0].s[0])
            left = run.total * (run.mean(partial(saddle, hat=hat)) - run.dual)
            right = ceiling(run, near, run.mean(partial(distance, hat=hat)))
            if left > right:
                found = f"{float(left):.4f} > {float(right):.4f}"
                return Finding(False, f"N = {run.N}, k = {run.k}: {found}")
            largest = max(largest, left / right if right > 0 else Fraction(0))
            count += 1
    return Finding(True, f"{count} pairs of a run and a w", largest)


def _columns(run: Energies) -> list[Vector]:
    """Each coordinate of β̄^k in all runs."""
    return list(zip(*(path.beta for path in run.paths), strict=True))


def published(run: Energies) -> Any:
    """G B_k with the smallest D_max and (1/n) Σ γ_j M_j²."""
    return 4 * run.N * (run.k + 1) * run.fitted.energy + run.offset


@check(
    Kind.EXACT,
    published,
    planted={
        "an eighth of the first term": lambda run: (
            published(run) - Fraction(7, 2) * run.N * (run.k + 1) * run.fitted.energy
        ),
        "nothing but D_max": lambda run: run.offset,
    },
)
def dual_gap_and_mean_primal(published: Callable[[Energies], Any]) -> Finding:
    """E[D* − D(w̄)] and P(E β̄) − E D(w̄)."""
    largest = Fraction(0)
    for run in sample():
        problem = run.fitted.problem
        mean = tuple(sum(column) / len(run.paths) for column in _columns(run))
        for left in (run.fitted.optimum - run.dual, problem.primal(mean) - run.dual):
            if run.total * left > published(run):
                return Finding(False, f"N = {run.N}, k = {run.k}: {float(left):.4f} is above")
            largest = max(largest, run.total * left / published(run))
    detail = f"{len(sample())} runs; at most {float(largest):.4f} of the bound"
    return Finding(True, detail, largest)
