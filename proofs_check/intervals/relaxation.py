r"""The scalar functions that Theorem 3.1's repaired proof is left with, for γ = M̄ = 1.

The weights are g_i = rN+i, with r = 2 in the theorem and r = 4 in ``HeadStart``. Let
t = (k+1)/N and e_i = η_i = 2/(r+x_i) at x_i = (i+1)/N. Dividing by N(k+1) = N²t,

* G/(N²t) = (2rN+k)/(2N) ≤ (2r+t)/2;
* a/(N²t) ≤ α' = α − 2(r+2+t)z/(r+t)² with z = c_k S_{k+1}/(2N²t) and α = A(t)/t, for
  a ≤ N Σ F(η_i) − N(rN+2N+k+1)/2 · S_{k+1}, Σ F(η_i) ≤ N A(t) and c_k ≤ N²(r+t)²/2. Here
  A(t) = ∫_0^t F(2/(r+x)) dx for a majorant F of

      1 + e + e²U − (1/2+e)S   over   U ≤ 1 + 2√((1−π)S) + S,

  which is what inequality (E1) leaves of U_i; F must decrease in x for the integral to exceed
  the sum;
* y²/(N²t) ≤ Y = ((2r+t)/2 + 2α' − 2z)/(r+t), by (E0).

Each of the three bounds (I), (II), (III) of E[G·gap], so divided, must be at most 4 beyond what
the D_max term of the theorem allows. S_i ≤ 1 − e_i² and π_i ≥ e^{−x_i}, which r = 2 asks for
while x_i ≤ 1, are not needed for r = 4: there e ≤ 1/2.
"""

from __future__ import annotations

from typing import Any

from proofs_check.intervals.arithmetic import Numbers

CELLS = 1024
"""Cells of [0, 1], where F has no closed form that is seen to decrease."""

TAIL_CELLS = 16
"""Cells of each unit interval above 1, for the small term of F without an integral in sight."""

END = 24
"""Beyond this t every term of bound (II) decreases."""


class Relaxation:
    """F, A and the three bounds in intervals of a kind; a planted bug overrides one of them."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    start = 2
    """r."""

    origin = 1
    """F has no closed form that is seen to decrease before this x."""

    late = 37
    """Cells from the origin on where (I) alone is enough; the next begins at t = 3.3125."""

    def curved(self, e: Any) -> Any:
        """e⁴/(1/2+e−e²): the maximum of 2e²x − (1/2+e−e²)x² over x = √S."""
        return e**4 / (self.numbers.rational(1, 2) + e - e**2)

    def smooth(self, e: Any) -> Any:
        """F for e ≤ 2/3: it increases with e."""
        return 1 + e + e**2 + self.curved(e)

    def capped(self, left: Any, right: Any) -> Any:
        """An upper bound of F on the cell left ≤ x ≤ right of [0, 1].

        The quadratic 2Bx − Cx² in x = √S with B = e²√(1−π) and C = 1/2+e−e² is largest at B/C,
        or at the cap √(1−e²) where that comes first.
        """
        large, small = 2 / (2 + left), 2 / (2 + right)
        numbers = self.numbers
        B = large**2 * numbers.sqrt(1 - numbers.exp(-right))
        C = numbers.rational(1, 2) + small - large**2
        cap = numbers.sqrt(1 - small**2)
        gain = 2 * B * cap - C * cap**2 if numbers.below(B - C * cap) >= 0 else B**2 / C
        return 1 + large + large**2 + gain

    def touched(self, t: Any) -> Any:
        """4 − 3e^{−t} ≥ 4 − 3π_i ≥ U_i for i ≤ k, t ≤ 1."""
        return 4 - 3 * self.numbers.exp(-t)

    def lowered(self, t: Any, alpha: Any, z: Any) -> Any:
        """α'."""
        return alpha - 2 * (self.start + 2 + t) * z / (self.start + t) ** 2

    def jensen(self, t: Any, alpha: Any, z: Any) -> Any:
        """(I) with (E0) and (E1): half of Σ g_i U_i."""
        return (2 * self.start + t) / 4 + self.lowered(t, alpha, z) - z

    def noise(self, t: Any, alpha: Any, z: Any) -> Any:
        """Y."""
        steps = (2 * self.start + t) / 2 + 2 * self.lowered(t, alpha, z) - 2 * z
        return steps / (self.start + t)

    def at_start(self, t: Any, alpha: Any, z: Any, z_top: Any) -> Any:
        """(III) without d, where κ = l'(0); z_top is the z under the root."""
        noise = self.numbers.largest(self.noise(t, alpha, z), self.numbers.rational(0))
        drift = self.lowered(t, alpha, z)
        return drift + noise + 2 * self.numbers.sqrt(noise * z_top)

    def at_optimum(self, t: Any, alpha: Any) -> Any:
        """(II) without the d that the theorem has as well, where κ = w*; d ≤ r²N²/4."""
        rational = self.numbers.rational
        noise = self.noise(t, alpha, rational(0))
        start = rational(self.start**2, 4) / t
        return alpha + noise + 2 * self.numbers.sqrt(noise * (alpha + start))


class HeadStart(Relaxation):
    """Weights 4N + i: no step is above 1/2, so that F has its closed form everywhere."""

    start, origin, late = 4, 0, 16


class Drift:
    """Upper bounds of A(t) for t = o, o + 1/16, …, 24, o the origin, from a relaxation's F."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.numbers = numbers = relaxation.numbers
        self.start, self.origin = relaxation.start, relaxation.origin
        self.first = self.start + self.origin
        edges = [numbers.rational(m, CELLS) for m in range(self.origin * CELLS + 1)]
        self.top = least = numbers.above(relaxation.smooth(numbers.rational(2, self.first)))
        self.head = numbers.rational(0)
        for left, right in zip(reversed(edges[:-1]), reversed(edges[1:]), strict=True):
            least = numbers.largest(least, relaxation.capped(left, right))
            self.head = numbers.above(self.head + least / CELLS)
        self.tail = [numbers.rational(0)]
        for m in range((END - self.origin) * TAIL_CELLS):
            e = 2 / (self.first + numbers.rational(m, TAIL_CELLS))
            self.tail.append(numbers.above(self.tail[-1] + relaxation.curved(e) / TAIL_CELLS))

    def __call__(self, m: int) -> Any:
        """A(t) at t = o + m/16: ∫(1 + e + e²) in closed form, the rest cell by cell."""
        numbers = self.numbers
        t = self.origin + numbers.rational(m, TAIL_CELLS)
        closed = t - self.origin + 2 * numbers.log((self.start + t) / self.first)
        closed += 4 * (numbers.rational(1, self.first) - 1 / (self.start + t))
        return numbers.above(self.head + closed + self.tail[m])

    def average(self, m: int) -> Any:
        """A(t)/t there, an upper bound for all later t since F decreases; F where t = 0."""
        t = self.origin + self.numbers.rational(m, TAIL_CELLS)
        return self(m) / t if self.numbers.below(t) > 0 else self.top

    def excess(self) -> Any:
        """An upper bound of A(t) − t − 2 ln(1+t/r) for every t: the integral of F − 1 − e.

        Past END the curved term is 32/(v²(v²+4v−8)) ≤ 32/v⁴ at v = r + x.
        """
        rational = self.numbers.rational
        head = self.head - self.origin - 2 * self.numbers.log(rational(self.first, self.start))
        beyond = rational(32, 3 * (self.start + END) ** 3)
        return head + rational(4, self.first) + self.tail[-1] + beyond
