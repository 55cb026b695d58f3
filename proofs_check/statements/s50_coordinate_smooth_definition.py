r"""Relative smoothness along coordinates, and relative strong convexity.

Paper: Definitions 3.2 and 3.3 (def:coordinate-smooth), Section 3.1
Claim: $f(x+te_j) \le f(x) + \langle\nabla f(x), te_j\rangle + \sigma D_h(x+te_j, x)$ for any x,
    t, j defines coordinate-wise smoothness; the reverse inequality in all directions, with $\mu$
    for $\sigma$, relative strong convexity.
Hypotheses: f and h are differentiable where gradients stand
Verdict: HOLDS
Correction: to be read for $x$ in the interior of dom h and $x+te_j$ in dom h, where the gradients
    and $D_h$ exist. The first says that $\sigma h - f$ is convex along every coordinate, so that
    $\sigma h_j'(x_j) - \partial_j f(x)$ does not decrease with $x_j$; the second that $f - \mu h$
    is convex.
Proof: by hand, symbolic
Check: symbolically, $\sigma D_h - D_f$ is the Bregman distance of $\sigma h - f$ for any f and h;
    exactly, in the dual $(\sigma-1)s_j + x_j^T\tilde\beta$ does not decrease as $w_j = l_j'(s_j)$
    grows, which is the first definition for $f = -D$, and breaks for a smaller $\sigma$.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), no steps; squared, Huber-like and shifted
    losses
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check


def slack(sigma: Any, of_h: Any, of_f: Any) -> Any:
    """σD_h − D_f."""
    return sigma * of_h("new", "old") - of_f("new", "old")


@check(
    Kind.SYMBOLIC,
    slack,
    {
        "σ at D_f": lambda sigma, of_h, of_f: of_h("new", "old") - sigma * of_f("new", "old"),
        "D_h from the new point": lambda sigma, of_h, of_f: (
            sigma * of_h("old", "new") - of_f("new", "old")
        ),
    },
)
def the_slack_is_the_distance_of_a_difference(formula: Any) -> Finding:
    """σD_h − D_f against D_{σh−f}, values and slopes at two points being any numbers."""
    sigma, t = sympy.symbols("sigma t")
    value = {(g, at): sympy.Symbol(f"{g}_{at}") for g in "fh" for at in ("old", "new")}
    slope = {(g, at): sympy.Symbol(f"d{g}_{at}") for g in "fh" for at in ("old", "new")}

    def bregman(values: dict[str, Any], slopes: dict[str, Any], to: str, at: str) -> Any:
        return values[to] - values[at] - slopes[at] * (t if to == "new" else -t)

    def of(g: str) -> Any:
        values, slopes = ({at: d[g, at] for at in ("old", "new")} for d in (value, slope))
        return lambda to, at: bregman(values, slopes, to, at)

    both = [{at: sigma * d["h", at] - d["f", at] for at in ("old", "new")} for d in (value, slope)]
    rest = sympy.expand(formula(sigma, of("h"), of("f")) - bregman(both[0], both[1], "new", "old"))
    return Finding(rest == 0, f"rest {rest}")


@check(
    Kind.EXACT,
    lambda sigma: sigma,
    {
        "σ − 1/100, where the bound is attained": lambda sigma: sigma - Fraction(1, 100),
        "the part σ − 1 of R* halved": lambda sigma: (1 + sigma) / 2,
    },
)
def the_definition_is_a_monotone_slope(constant: Any) -> Finding:
    """(σ−1)s_j + x_jᵀβ̃(w) along s_j = −3, …, 3, for every coordinate of every problem."""
    smallest = None
    for one in zoo():
        sigma, problem = constant(one.sigma), one.problem
        for j in range(one.n):
            slopes = []
            for s in (Fraction(step, 2) for step in range(-6, 7)):
                point = tuple(s if i == j else Fraction(1, 4) for i in range(one.n))
                predicted = problem.predictions(problem.atom(problem.response(point)))[j]
                slopes.append((sigma - 1) * s + predicted)
            rise = min(b - a for a, b in itertools.pairwise(slopes))
            smallest = rise if smallest is None else min(smallest, rise)
    assert smallest is not None
    return Finding(smallest == 0, f"smallest increase {float(smallest):.3g}")
