r"""Is the random response as good as a fixed one?

Paper: none; a conjecture in place of the first inequality of Theorem 3.2 (conj:strong)
Claim: for all losses $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{1}{q^k-1}\left(D_{\max}+\frac{n-1} {n\sigma-1}(D^{*}-D(w^0))\right)$; more sharply with
    $\mathbb{E}D_h(\hat w,w^0)$ for $D_{\max}$ and $\mathbb{E}D(w^k)$ for $D^{*}$.
Hypotheses: (A); (B); (S); (M)
Verdict: OPEN
Correction: it would imply the second inequality of Theorem 3.2. Proved for quadratic losses (the
    first form), b = n, and $k \le 2$. The sharp form follows wherever the martingale term of the
    base inequality is not positive.
Proof: none
Check: all sequences in fractions: drawn problems, and the worst that a search over n = 2, p = 1
    and shifted Huber losses found for each form; no violation.
Tested: n ≤ 4, p ≤ 2, b ≤ 2, k ≤ 5; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from typing import Any

from proofs_check.exact.losses import TiltedHuber
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.shifted import Shifted
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import F, zoo
from proofs_check.statement import Finding, Kind, check


def found_by_search() -> list[tuple[Strong, int]]:
    """Worst problems, and the k at which they are worst."""
    one = TiltedHuber(F(1, 85), F(1, 10**5), F(-1))
    other = TiltedHuber(F(1, 130), F(4, 5), F(2))
    sharp = Parabola(F(25000), F(-77, 50), F(-5, 2), F(7, 5))
    steep = Shifted(TiltedHuber(F(1, 5), F(71, 50), F(-63, 50)), F(61, 25))
    wide = Shifted(TiltedHuber(F(9, 5), F(1, 100), F(1, 20)), F(-3, 40))
    first = Parabola(F(72500), F(-144, 25), F(-74, 25), F(13, 20))
    return [
        (Strong(Small(((F(-3),), (F(0),)), [one, other], sharp)), 3),
        (Strong(Small(((F(-9, 25),), (F(-247, 50),)), [steep, wide], first)), 5),
    ]


def numerators(one: Strong, k: int) -> tuple[Any, Any]:
    """D_max + share·(D* − D(w⁰)) and E D_h(ŵ, w⁰) + share·E[D(w^k) − D(w⁰)]."""
    problem, zero = one.problem, (F(0),) * one.n
    share, duals = (one.N - 1) / (one.T - 1), one.dual_means(k)
    paths = one.levels(k)[-1][1]
    far = mean(problem.bregman(problem.predictions(path.beta), zero) for path in paths)
    return one.radius + share * (one.value - duals[0]), far + share * (duals[k] - duals[0])


@check(
    Kind.EXACT,
    numerators,
    {
        "without the ascent": lambda one, k: (
            one.radius,
            numerators(one, k)[1] - numerators(one, k)[0] + one.radius,
        ),
        "numerators at 4/5": lambda one, k: tuple(x * F(4, 5) for x in numerators(one, k)),
        "k − 1 for k": lambda one, k: numerators(one, k - 1),
    },
)
def no_violation_is_known(sides: Any) -> Finding:
    """n ≥ 2 and b < n; the proved cases are entries of their own."""
    problems = [(one, 3) for b in (1, 2) for one in zoo(b) if one.b < one.n]
    largest = [F(0), F(0)]
    for one, k in [*problems, *found_by_search()]:
        for place, numerator in enumerate(sides(one, k)):
            if numerator:
                ratio = (one.q**k - 1) * one.gaps(k)[-1][1] / numerator
                largest[place] = max(largest[place], ratio if ratio >= 0 else F(2))
    first, sharp = map(float, largest)
    return Finding(
        max(first, sharp) <= 1,
        f"largest ratio {first:.4f}, of the sharp form {sharp:.4f}",
        max(first, sharp),
    )
