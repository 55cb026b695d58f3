"""The bounds that can be hunted, each with the runs it is about and its recorded verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from proofs_check.exact.schedules import Steps, linear, sublinear
from proofs_check.hunting.enumeration import Means
from proofs_check.hunting.facts import Facts
from proofs_check.hunting.instance import LossName

Recorded = Literal["holds", "false", "open"]
Batches = Literal["single", "several", "any"]

LARGEST_POWER = 1e9
"""q^k beyond which the gap is mostly rounding."""


@dataclass(frozen=True)
class Theorem:
    """E[gap] ≤ bound.

    Attributes
    ----------
    label, formula
        Its name and its right-hand side in words.
    recorded
        What the ledger says of it.
    strong
        Whether it is about a strongly convex R, the linear schedule and the last w.
    sigma
        The σ of that schedule.
    bound
        The right-hand side.
    batches, losses, one_variable
        The problems it is about; with ``one_variable``, those of them whose optimum is known to
        50 digits.
    """

    label: str
    formula: str
    recorded: Recorded
    strong: bool
    bound: Callable[[Facts, Means], Any]
    sigma: Callable[[Facts], Any] = lambda f: f.sigma
    batches: Batches = "single"
    losses: tuple[LossName, ...] = ("squared", "softplus", "huber")
    one_variable: bool = False

    def steps(self, facts: Facts) -> Steps:
        """The theorem's step sizes and weights."""
        return linear(facts.N, self.sigma(facts)) if self.strong else sublinear(facts.N)

    def gap(self, means: Means) -> Any:
        """The left-hand side."""
        return means.last_gap if self.strong else means.average_gap

    def masked(self, facts: Facts) -> bool:
        """Whether the numbers say more about rounding than about the theorem."""
        if facts.M < 1e-3:
            return True
        if not self.strong:
            return False
        total = facts.N * self.sigma(facts)
        return not total > 1.001 or self._power(facts) > LARGEST_POWER

    def _power(self, facts: Facts) -> Any:
        """q^k."""
        total = facts.N * self.sigma(facts)
        return (total / (total - 1)) ** facts.instance.steps

    def decay(self, facts: Facts) -> Any:
        """1/(q^k − 1)."""
        return 1 / (self._power(facts) - 1)


def _sublinear(f: Facts, energy: Any) -> Any:
    N, k = f.N, f.instance.steps - 1
    return 8 * N * energy / (4 * N + k) + 2 * N * (2 * N - 1) * f.D_max / ((4 * N + k) * (k + 1))


def _by_hand(f: Facts, means: Means) -> Any:
    N, k = f.N, f.instance.steps - 1
    weights = [2 * N + i for i in range(k + 1)]
    last = (2 * N + k) * (2 * N + k + 1) / 2
    noise = 2 * f.energy * (N - 1) * sum(g**2 for g in weights) / (last * sum(weights))
    return (_sublinear(f, f.energy) ** 0.5 + noise**0.5) ** 2


def _theorem(label: str, formula: str, recorded: Recorded, factor: Any, **about: Any) -> Theorem:
    """E[gap] ≤ factor/(q^k − 1)."""
    made = Theorem(
        label, formula, recorded, True, lambda f, m: factor(f, m) * made.decay(f), **about
    )
    return made


def _ascent_term(f: Facts) -> Any:
    return (f.n - 1) / (f.n * f.sigma - 1) * f.ascent


def _noise(f: Facts) -> Any:
    """(n−1)/(n(σ−1)), the martingale's share."""
    return (f.n - 1) / (f.n * (f.sigma - 1))


def _corollary(f: Facts, scale: Any) -> Any:
    total = f.n * f.sigma
    return total * (1 - 1 / total) ** f.instance.steps * scale


_MARTINGALE: Theorem = Theorem(
    "thm:strong-martingale", "(γM²/2)(√((1+1/σ)/(q^k−1)) + √((n−1)/(n(σ−1))))²", "holds", True,
    lambda f, m: f.gamma * f.M**2 / 2
    * (((1 + 1 / f.sigma) * _MARTINGALE.decay(f)) ** 0.5 + _noise(f) ** 0.5) ** 2,
)  # fmt: skip

THEOREMS = {theorem.label: theorem for theorem in (
    Theorem("thm:non-strong", "8nγM²/(4n+k) + 2n(2n−1)D_max/((4n+k)(k+1))", "holds", False,
            lambda f, m: _sublinear(f, f.gamma * f.M**2)),
    _theorem("thm:strong-first", "D_max/(q^k−1)", "false", lambda f, m: f.D_max),
    _theorem("thm:strong-second", "γM²/(q^k−1)", "open", lambda f, m: f.gamma * f.M**2),
    _theorem("wilderness-strong", "D_max/(q^k−1), N = n/b, σ of single rows, quadratic losses",
             "false", lambda f, m: f.D_max, batches="several", losses=("squared",)),
    Theorem("cor:linear", "nσ(1−1/(nσ))^k D_max", "false", True,
            lambda f, m: _corollary(f, f.D_max)),
    Theorem("thm:A", "8NE/(4N+k) + 2N(2N−1)D_max/((4N+k)(k+1)), E = Σγ_jM_j²/n", "holds", False,
            lambda f, m: _sublinear(f, f.energy), batches="any"),
    Theorem("thm:hand", "(√B_k + √ν_k)², B_k of thm:A", "holds", False, _by_hand, batches="any"),
    _theorem("thm:strong-quadratic", "E[D(w^k) − D(w^0)]/(q^k−1), quadratic losses", "holds",
             lambda f, m: m.ascent, losses=("squared",)),
    _theorem("thm:strong-any-loss", "s_n[D_h(w*,w^0) + (n−1)/(nσ−1)(D*−D(w^0))]/(q^k−1)", "holds",
             lambda f, m: f.sigma_n * (f.distance + _ascent_term(f)), one_variable=True),
    _theorem("conj:strong", "[D_max + (n−1)/(nσ−1)(D*−D(w^0))]/(q^k−1)", "open",
             lambda f, m: f.D_max + _ascent_term(f), one_variable=True),
    _theorem("thm:strong-batches", "D_max/(q^k−1) with σ_b and N = n/b, quadratic losses", "holds",
             lambda f, m: f.D_max, sigma=lambda f: f.sigma_b, batches="any", losses=("squared",)),
    _MARTINGALE,
    _theorem("thm:strong-factor", "(nσ/2)γM²/(q^k−1)", "holds",
             lambda f, m: f.n * f.sigma * f.gamma * f.M**2 / 2),
    Theorem("cor:linear-energy", "nσ(1−1/(nσ))^k γM²", "holds", True,
            lambda f, m: _corollary(f, f.gamma * f.M**2)),
)}  # fmt: skip
"""By label: the paper's bounds first, then the corrected ones."""
