r"""Quartz: the gap itself decreases linearly, in expectation and from the first step on.

Paper: none; the main theorem of Qu, Richtárik and Zhang 2015, for uniform batches (thm:quartz)
Claim: let $\theta = \frac{1}{N\sigma_b}$, $\beta^0$ in dom R and $w^0$ in dom h. A step takes
    $\beta^{+} = (1-\theta)\beta+\theta\tilde\beta$, $\tilde\beta$ the atom at w, draws b rows
    uniformly and moves each drawn $w_j$ to $(1-\frac{1}{\sigma_b})w_j+\frac{1}{\sigma_b}
    l_j'(x_j^T\beta^{+})$. Then for all losses $\mathbb{E}[P(\beta^k)-D(w^k)] \le
    (1-\frac{1}{N\sigma_b})^k(P(\beta^0)-D(w^0))$, where $P(\tilde\beta^0)-D(w^0) \le
    \frac12\gamma M^2$ for $w^0 = \nabla L(0)$.
Hypotheses: (A); (B); (M); (P); steps and averages as claimed
Verdict: HOLDS
Correction: with $v_j = l_j'(x_j^T\beta^{+})$, $a = X\tilde\beta$: $l_j(x_j^T\beta^{+}) =
    v_jx_j^T\beta^{+}-l_j^{*}(v_j) \le (1-\theta)l_j(x_j^T\beta)+\theta[v_ja_j-l_j^{*}(v_j)]$ and
    R is convex, so $P(\beta^{+}) \le (1-\theta)P(\beta)+\theta\left[\frac1n\sum_j(v_ja_j-
    l_j^{*}(v_j))+R(\tilde\beta)\right]$. As in (thm:exact-step), $\mathbb{E}D(w^{+})-D(w) \ge
    \frac{1}{Nn}\sum_jM_j(\frac{v_j-w_j}{\sigma_b})$, and the strong convexity of $l_j^{*}$ pays
    for the square at any $v_j$: $M_j \ge \frac{1}{\sigma_b}\left[(v_ja_j-l_j^{*}(v_j))-
    (w_ja_j-l_j^{*}(w_j))\right]$. The difference is $(1-\theta)(P(\beta)-D(w))$, because $D(w) =
    \frac1n\sum_j(w_ja_j-l_j^{*}(w_j))+R(\tilde\beta)$. The averages' weights are $\theta(1-
    \theta)^{k-1-i}$, as in Theorem 3.2, but the derivative is taken at $\beta^{+}$ and not at
    $\tilde\beta$.
Proof: by hand
Check: in fractions over all sequences of batches, b to 3, n to 4, p = 1 and 2, with losses whose
    kinks are not at 0: the gap of each step against the step before, and of k steps against the
    first; equality at k = 1 for squared losses and equal rows.
Tested: n ≤ 4, p ≤ 2, b ≤ 3, k ≤ 4; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.paths import all_batches
from proofs_check.exact.problem import Vector, mix
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import drawn, free, kinked, moved, squared
from proofs_check.statement import Finding, Kind, check

F = Fraction
State = tuple[Vector, Vector]


@dataclass(frozen=True)
class Quartz:
    """A step, and the rate claimed of it; ``ahead``: whether l' is taken at β⁺ or at the atom."""

    theta: Callable[[Strong], Any] = lambda one: 1 / one.T
    share: Callable[[Strong], Any] = lambda one: 1 / one.sigma
    rate: Callable[[Strong], Any] = lambda one: 1 - 1 / one.T
    ahead: bool = True

    def children(self, one: Strong, state: State) -> list[State]:
        """After each batch."""
        problem, (beta, w) = one.problem, state
        atom = problem.atom(w)
        beta = mix(beta, atom, self.theta(one))
        v = problem.response(problem.predictions(beta if self.ahead else atom))
        to = mix(w, v, self.share(one))
        return [
            (beta, tuple(to[j] if j in batch else x for j, x in enumerate(w)))
            for batch in all_batches(one.n, one.b)
        ]


@cache
def instances() -> list[tuple[Strong, int]]:
    """Problems, and how many steps are enumerated."""
    generator = default_rng(96)
    sizes = [(1, 1, 4), (2, 1, 4), (3, 1, 3), (4, 1, 2)]
    sizes += [(2, 2, 3), (3, 2, 3), (4, 2, 2), (3, 3, 3), (4, 3, 2)]
    found = [(free(n, 2, b), k) for n, b, k in sizes]
    return found + [
        (drawn(generator, loss, n, b, p), k)
        for n, b, k in sizes
        for loss in (squared, kinked, moved)
        for p in (1, 2)
    ]


@check(
    Kind.EXACT,
    Quartz(),
    {
        "rate 1 % smaller": Quartz(rate=lambda one: F(99, 100) * (1 - 1 / one.T)),
        "σ_b for Nσ_b": Quartz(rate=lambda one: max(1 - 1 / one.sigma, F(0))),
        "the atom for β⁺": Quartz(theta=lambda one: F(1)),
        "β⁰ for β⁺": Quartz(theta=lambda one: F(0)),
        "steps 1 % longer": Quartz(share=lambda one: min(F(1), F(101, 100) / one.sigma)),
        "full steps": Quartz(share=lambda one: F(1)),
    },
)
def the_gap_decreases_in_every_step(method: Any) -> Finding:
    """The largest excess over the rate is 0, given the step before and from the start."""
    largest, met = F(-1), 0
    for one, steps in instances():
        problem = one.problem

        def gap(state: State, problem: Any = problem) -> Any:
            return problem.primal(state[0]) - problem.dual(state[1])

        w = problem.response((F(0),) * one.n)
        states = [(problem.atom(w), w)]
        first, rate = gap(states[0]), method.rate(one)
        for k in range(1, steps + 1):
            grown = [method.children(one, state) for state in states]
            for state, later in zip(states, grown, strict=True):
                largest = max(largest, mean(map(gap, later)) - rate * gap(state))
                met += 1
            states = [state for later in grown for state in later]
            largest = max(largest, mean(map(gap, states)) - rate**k * first)
    return Finding(largest == 0, f"{met} steps, largest excess {float(largest):.3g}")
