r"""The worst case of a head start is smaller than that of Theorem 3.1's steps.

Paper: none; beside Theorem 3.1 (thm:head-start worst-case)
Claim: For $\eta_i = \frac{2n}{4n+i+1}$, weights 4n+i and $\gamma = M = 1$ the largest $\mathbb
    E[P(\bar\beta^k)-D(\bar w^k)]$ of any problem is at most .1995 at (n,k) = (1,3), .3963 at
    (2,1), .4297 at (3,1), .3914 at (2,2), .3643 at (2,3) and .4310 at (3,2), where the paper's
    schedule attains 1.22 to 1.36 times as much.
Hypotheses: (A); (U); b = 1; steps $\eta_i = \frac{2n}{4n+i+1}$ and weights $4n+i$; $\gamma = M = 1$
Verdict: HOLDS
Correction: It is not the smallest: a search over all steps and weights for one k found .1722,
    .3906, .4271 and .3531 at the first four, with $\eta_0 = \frac12$ and equal weights at k = 1,
    but no pattern that holds for every k.
Proof: exact; upper bounds by rational multipliers at the first four, none at the others
Check: The programme of (thm:non-strong worst-case), by rational multipliers at the first four and
    by a solver alone at the others; what the paper's schedule attains, in fractions.
Tested: (n,k) as claimed, all p, b = 1; all smooth losses of vectors
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s46_worst_case import attained
from rcmd.theory.worst_cases.tree import programme

CEILINGS = {(1, 3): 0.1995, (2, 1): 0.3963, (3, 1): 0.4297, (2, 2): 0.3914}
LARGE = {(2, 3): 0.3643, (3, 2): 0.43095}


def tree(n: int, k: int, r: int, one: Any) -> tuple[Any, Any]:
    """The programme of ``worst_case`` for weights rn+i."""

    def step(n: int, i: int) -> Any:
        return Fraction(2 * n, r * n + i + 1)

    return programme(n, k, step, lambda n, i: Fraction(r * n + i), one=one)


@cache
def proved(n: int, k: int, r: int = 4) -> float:
    """By rational multipliers."""
    gram, gap = tree(n, k, r, Fraction(1))
    return float(gram.certified(gap))


def solved(n: int, k: int, r: int = 4) -> float:
    """By the solver alone."""
    gram, gap = tree(n, k, r, 1.0)
    return gram.maximum(gap)


def compared(worst: Callable[[int, int], float], ceilings: dict[tuple[int, int], float]) -> Finding:
    """Whether these are the values, all below what the paper's schedule attains."""
    room, words = [], []
    for (n, k), ceiling in ceilings.items():
        found = worst(n, k)
        if not ceiling - 1e-4 < found <= ceiling:
            return Finding(False, f"({n},{k}): {found:.5f}, not {ceiling}")
        room.append(float(attained(n, k)) / ceiling)
        words.append(f"({n},{k}) {ceiling:.4f}, the paper's {room[-1]:.2f} times that")
    return Finding(min(room) > 1, f"at most {'; '.join(words)}", 1 / min(room))


PLANTED = {
    "the paper's weights and steps": lambda n, k: solved(n, k, 2),
    "three passes for four": lambda n, k: solved(n, k, 3),
}


@check(
    Kind.CERTIFIED,
    proved,
    planted=PLANTED | {"1% less": lambda n, k: 0.99 * proved(n, k)},
)
def worst_cases_are_proved(worst: Callable[[int, int], float]) -> Finding:
    """Rational multipliers for small trees."""
    return compared(worst, CEILINGS)


SEARCHED: dict[tuple[int, int], tuple[tuple[float, ...], tuple[float, ...], float]] = {
    (1, 3): ((0.3633, 0.2281, 0.2723), (0.8481, 0.7231, 1.1124, 1.3164), 0.1722),
    (2, 1): ((0.5,), (1.0, 1.0), 0.3906),
    (3, 1): ((0.5,), (1.0, 1.0), 0.4271),
    (2, 2): ((0.2959, 0.4580), (0.8629, 1.1117, 1.0255), 0.3531),
}
"""Steps, weights and their worst case, as a search by the programme's own gradients ended."""


def listed(numbers: Sequence[float]) -> Callable[[int, int], float]:
    """These numbers, as a function of n and i."""
    return lambda n, i: numbers[i]


@check(
    Kind.SEMIDEFINITE,
    1.0,
    planted={"weights to the power 0.9": 0.9, "weights to the power 1.1": 1.1},
)
def others_are_better_for_one_k(power: float) -> Finding:
    """The worst case of the steps found by search, with weights to this power."""
    words, room = [], []
    for (n, k), (steps, weights, expected) in SEARCHED.items():
        tilted = [weight**power for weight in weights]
        gram, gap = programme(n, k, listed(steps), listed(tilted))
        found = gram.maximum(gap)
        if not abs(found - expected) < 1e-4:
            return Finding(False, f"({n},{k}): {found:.5f}, not {expected}")
        words.append(f"({n},{k}) {found:.4f}")
        room.append(found / CEILINGS[n, k])
    return Finding(max(room) < 1, f"at most {', '.join(words)}", max(room))


@check(Kind.SEMIDEFINITE, solved, planted=PLANTED, slow=True)
def larger_worst_cases(worst: Callable[[int, int], float]) -> Finding:
    """Trees of some 45 vectors."""
    return compared(worst, LARGE)
