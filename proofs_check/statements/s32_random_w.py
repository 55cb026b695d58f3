r"""The proof's last step puts a random $\hat w$ where w had to be fixed.

Paper: the sum of one-step inequalities at $w = \hat w$ in the proof of Theorem 3.1
    (chain:random-w), Section 3
Claim: The inequalities hold for $w = \hat w = \arg\max_w \phi(\bar\beta^k, w)$, which depends on
    all indices drawn; summed, before M is put in, they would say $\mathbb E \sum_{i\le k}
    (2n+i)(\phi(\tilde\beta^i,\hat w) - D(w^i)) \le \sum_{i\le k} \frac{(2n+i)(2n+i+1)}{2}\,\mathbb
    E D_h(w^i,w^{i+1}) + n(2n-1)\,\mathbb E D_h(\hat w,w^0)$.
Hypotheses: (A); (U); b = 1; (3.1)
Verdict: PROOF GAP
Correction: It holds when $\hat w$ is replaced by any w fixed beforehand. For the random one the
    chain needs $\mathbb E \langle g^i - n\tilde g^i, \hat w - w^i\rangle \ge 0$, and nothing gives
    it: the sum above is false. It is no line of the paper, which puts $2\gamma M^2\eta_i$ for the
    distances; what is printed is true, by another proof (thm:A). The proof of Theorem 3.2 puts in
    $\hat w^{k-1}$ in the same way.
Proof: exact; by a counterexample
Check: n = 2, X = I, the cube $\|\beta\|_\infty \le 1$ and $l_j = (s-y)^2/2$, in fractions over all
    index sequences: the left side exceeds the right at y = 7/12, k = 3 and at y = 1/3, k = 5, and
    the same sums with the fixed w* do not.
Tested: n = 2, p = 2, b = 1, k ≤ 5; squared losses on a cube
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.exact.energies import Energies, energies, height, weight
from proofs_check.exact.fitted import separable
from proofs_check.exact.paths import Path
from proofs_check.exact.problem import Vector
from proofs_check.statement import Finding, Kind, check

Target = Callable[[Energies, Path], Vector]


def response_to_the_average(run: Energies, path: Path) -> Vector:
    """Xβ̄^k, where ŵ = ∇L(Xβ̄^k)."""
    return path.problem.predictions(path.beta)


def minimizer(run: Energies, path: Path) -> Vector:
    """Xβ*, where w* = ∇L(Xβ*)."""
    return path.problem.predictions(run.fitted.beta)


def sides(run: Energies, target: Target, first: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Both sides for w = ∇L(target); ``first`` gives the factor of D_h(w, w⁰)."""
    problem, N = run.fitted.problem, run.N

    def left(path: Path) -> Any:
        w = problem.response(target(run, path))
        return sum(
            weight(N, i) * (problem.saddle(path.atoms[i], w) - problem.dual(path.w[i]))
            for i in range(run.k + 1)
        )

    def right(path: Path) -> Any:
        moved = sum(
            height(N, i) * problem.bregman(path.s[i + 1], path.s[i]) for i in range(run.k + 1)
        )
        return moved + first(N) * problem.bregman(target(run, path), path.s[0])

    return run.mean(left), run.mean(right)


def published_first(N: Any) -> Any:
    """n(2n−1)."""
    return N * (2 * N - 1)


COUNTEREXAMPLES = [(Fraction(7, 12), 3), (Fraction(1, 3), 5)]


@check(
    Kind.EXACT,
    (response_to_the_average, published_first),
    planted={
        "a fixed w": (minimizer, published_first),
        "D_h(w, w0) weighted n(2n+1)": (response_to_the_average, lambda N: N * (2 * N + 1)),
    },
)
def left_side_exceeds_the_right(subject: tuple[Target, Callable[[Any], Any]]) -> Finding:
    """Both counterexamples."""
    target, first = subject
    found = [sides(energies(separable(2, y), 1, k), target, first) for y, k in COUNTEREXAMPLES]
    words = [f"{left} = {float(left):.4f} against {float(right):.4f}" for left, right in found]
    ratio = min(left / right for left, right in found)
    return Finding(ratio > 1, "; ".join(words), ratio)


@check(Kind.EXACT, minimizer, planted={"the random w": response_to_the_average})
def a_fixed_w_keeps_the_chain(target: Target) -> Finding:
    """The same two problems at w*."""
    found = [
        sides(energies(separable(2, y), 1, k), target, published_first) for y, k in COUNTEREXAMPLES
    ]
    ratio = max(left / right for left, right in found)
    words = [f"{float(left):.4f} against {float(right):.4f}" for left, right in found]
    return Finding(ratio <= 1, "at w*: " + "; ".join(words), ratio)
