r"""One step of the dual method against a fixed w.

Paper: the first display of the proof of Theorem 3.1 (eq:nonsmooth-theonehand), Section 3
Claim: For every i and every $w \in \mathcal W$: $\langle -g^i, w-w^i\rangle \ge -2\gamma M^2\eta_i
    + \frac{n}{\eta_i}\mathbb E_{j_i} D_h(w,w^{i+1}) - \frac{n}{\eta_i} D_h(w,w^i)$, by a chain of
    five lines.
Hypotheses: (A); (U); b = 1; (3.1); w does not depend on $j_i$
Verdict: HOLDS
Correction: It holds for every w that is fixed before $j_i$ is drawn, not for one that depends on
    it. The second line is an equality, and w leaves no trace in the slack, which is exactly
    $2\gamma M^2\eta_i - \frac{1}{n\eta_i}\sum_j D_{l_j}(s_j+\eta_i u_j, s_j)$ for $u =
    X\tilde\beta^i - s^i$.
Proof: by hand, symbolic
Check: The slack symbolically, row by row; all five lines in fractions, for all histories of small
    problems and w the response to every extreme point of $\mathrm{dom} R$.
Tested: n ≤ 2, p ≤ 2, b = 1, k ≤ 3; squared and Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import step
from proofs_check.exact.fitted import family
from proofs_check.exact.paths import Path, levels, start
from proofs_check.exact.problem import Vector, dot
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


def bregman_change(eta: Any, u: Any, w: Any, before: Any, after: Any) -> Any:
    """D_l(s + ηu, ŝ) − D_l(s, ŝ) for w = l'(ŝ): the terms at ŝ cancel."""
    return after - before - w * eta * u


@check(
    Kind.SYMBOLIC,
    bregman_change,
    planted={
        "step without its size": lambda eta, u, w, before, after: after - before - w * u,
        "sign of w": lambda eta, u, w, before, after: after - before + w * eta * u,
        "values exchanged": lambda eta, u, w, before, after: before - after - w * eta * u,
    },
)
def slack_does_not_depend_on_w(change: Any) -> Finding:
    """u(w − w^i) + (1/η)[D_l(s+ηu, ŝ) − D_l(s, ŝ)] = (1/η) D_l(s+ηu, s), a row's share of it."""
    eta, u, w, now, before, after = sp.symbols("eta u w w_i l_s l_new")
    left = u * (w - now) + change(eta, u, w, before, after) / eta
    curvature = (after - before - now * eta * u) / eta
    wrong = sp.simplify(left - curvature)
    return Finding(wrong == 0, f"left side minus (1/eta) D_l(s + eta u, s): {wrong}")


def printed_lines(path: Path, hat: Vector, M: Any, gamma: Any) -> list[Any]:
    """The six sides of the chain after ``path``, for w = ∇L(hat)."""
    problem, n, i = path.problem, path.problem.n, len(path.batches)
    eta = path.steps.eta(i)
    w, now, u = problem.response(hat), path.w[-1], step(path.extended((0,)), i)
    far = tuple(a - b for a, b in zip(w, now, strict=True))
    sums = [Fraction(0)] * 5
    for j in range(n):
        after = path.extended((j,))
        moved = tuple(a - b for a, b in zip(after.w[-1], now, strict=True))
        gain = (problem.bregman(hat, after.s[-1]) - problem.bregman(hat, path.s[-1])) / eta
        inner = -u[j] / n * moved[j]
        sums[0] += -u[j] / n * far[j]
        sums[1] += inner + problem.bregman(after.s[-1], path.s[-1]) / eta + gain
        sums[2] += inner + dot(moved, moved) / (2 * n * gamma * eta) + gain
        sums[3] += -n * gamma * eta * (u[j] / n) ** 2 / 2 + gain
        sums[4] += gain
    return [-dot(u, far) / n, *sums[:4], -2 * gamma * M**2 * eta + sums[4]]


def with_an_eighth(path: Path, hat: Vector, M: Any, gamma: Any) -> list[Any]:
    """The last line with γM²η/8 for 2γM²η."""
    lines = printed_lines(path, hat, M, gamma)
    return [*lines[:-1], lines[-1] + 15 * gamma * M**2 * path.steps.eta(len(path.batches)) / 8]


def with_half_a_distance(path: Path, hat: Vector, M: Any, gamma: Any) -> list[Any]:
    """The second line with part of D_h(w^{i+1}, w^i) left out."""
    lines = printed_lines(path, hat, M, gamma)
    lines[2] -= sum(
        path.problem.bregman(path.extended((j,)).s[-1], path.s[-1]) for j in range(path.problem.n)
    )
    return lines


@check(
    Kind.EXACT,
    printed_lines,
    planted={"the last constant": with_an_eighth, "part of a distance": with_half_a_distance},
)
def five_lines_in_fractions(lines: Callable[..., list[Any]]) -> Finding:
    """The first three sides are equal, the others decrease."""
    chains, closest = 0, Fraction(10**9)
    for fitted in family(31, 8, (1, 2)):
        problem = fitted.problem
        gamma, M = max(loss.gamma for loss in problem.losses), max(fitted.bounds)
        steps = sublinear(Fraction(problem.n))
        for paths in ([start(problem, steps)], *levels(problem, steps, 1, 3)):
            for path in paths:
                for corner in fitted.corners:
                    found = lines(path, problem.predictions(corner), M, gamma)
                    equal = found[0] == found[1] == found[2]
                    if not (equal and found[2] >= found[3] >= found[4] >= found[5]):
                        shown = ", ".join(f"{float(x):.4f}" for x in found)
                        return Finding(False, f"the chain of {len(path.batches)} steps: {shown}")
                    room = 2 * gamma * M**2 * steps.eta(len(path.batches))
                    closest = min(closest, (found[2] - found[5]) / room)
                    chains += 1
    detail = f"{chains} chains; lines 1 and 2 equal; least slack {float(closest):.3f} of 2γM²η"
    return Finding(True, detail, 1 - closest)
