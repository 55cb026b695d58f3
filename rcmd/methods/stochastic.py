"""Stochastic Frank-Wolfe: what its methods share, and those that never take a full gradient."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from rcmd.methods.base import BATCH, Method, Progress, refuse_matrices
from rcmd.model.problem import Problem
from rcmd.rows.validation import Array, batch_size


class Sampled(Progress):
    """A run with a gradient estimate ``slope``, made from batches of rows."""

    default_share: ClassVar[float | None] = None
    """The share of all rows that is a batch where none is given."""

    def __init__(
        self, method: Any, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        owner = type(method).__name__
        if problem.exact:
            raise ValueError(
                f"X holds fractions while {owner} computes with floats; expected floats: convert "
                "X and y with .astype(float)"
            )
        refuse_matrices(method, problem)
        super().__init__(problem, rng)
        self.method = method
        share = self.default_share
        self.batch: Any = batch or (share and batch_size(share, problem.n))
        self.slope: Array = np.zeros(problem.p)

    @property
    def step_gradients(self) -> int:
        return self.batch

    @property
    def d(self) -> Array:
        return self.slope

    def size(self, rule: int) -> int:
        """The batch given to the run, or min{rule, cap·n} rows for a ``Capped`` method."""
        return self.batch or min(rule, max(1, int(self.method.cap * self.problem.n)))

    def move(self, share: float) -> None:
        """β ← (1 − share) β + share·β̃, β̃ a minimizer of slopeᵀβ + R(β)."""
        atom = self.lowest_atom(self.slope)
        self.beta *= 1 - share
        atom.add_to(self.beta, share)


class Stochastic(Method):
    """A method whose runs are of the class ``run``."""

    run: ClassVar[type[Sampled]]

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return self.run(self, problem, batch, rng)


def check_number(method: Method, name: str, most: float, expected: str = "a number") -> None:
    """Refuse a parameter of ``method`` that is not in (0, most]."""
    value = getattr(method, name)
    number: Any = value if isinstance(value, Real) else math.nan
    if not 0 < number <= most:
        raise ValueError(
            f"{name} of {type(method).__name__} is {value!r}; expected {expected} in (0, {most:g}]"
        )


@dataclass(frozen=True)
class Capped(Stochastic):
    """A method whose batches grow up to the share ``cap`` of all rows.

    One half, as in the experiments of Lu and Freund, keeps every step random: the gradient
    estimates then never become exact, and the papers' rates hold only down to their noise.
    With ``cap=1.0`` the batches grow to all rows.
    """

    cap: float = 0.5

    def __post_init__(self) -> None:
        check_number(self, "cap", 1, "the largest batch as a share of all rows,")


class _SFW(Sampled):
    @property
    def step_gradients(self) -> int:
        return self.size((self.iteration + 1) ** 2)

    def step(self) -> None:
        self.slope = self.slope_at(self.beta, self.draw(self.step_gradients))
        self.move(2 / (self.iteration + 2))


@dataclass(frozen=True)
class SFW(Capped):
    """β_k = (1 − γ_k) β_{k−1} + γ_k β̃_k, γ_k = 2/(k+1), k = 1, 2, … (Hazan and Luo 2016).

    β̃_k is a minimizer of ∇̃_kᵀβ + R(β), with ∇̃_k the mean gradient at β_{k−1} of m_k rows.
    m_k = (G(k+1)/(LD))² gives E P(β_k) − P* = O(1/k); the default is that order without its
    constants, as in Lu and Freund's experiments: min{k², cap·n} rows, without replacement.
    """

    note = "SFW: O(1/k) in expectation while batches grow like k², no bound is printed"
    run = _SFW


class _SCGM(Sampled):
    default_share = BATCH

    def step(self) -> None:
        method, t = self.method, self.iteration + 1
        weight = method.weight / (t + 8) ** method.decay
        self.slope *= 1 - weight
        self.slope += weight * self.slope_at(self.beta, self.draw(self.batch))
        self.move(method.pace / (t + 9))


@dataclass(frozen=True)
class SCGM(Stochastic):
    """Momentum instead of large batches (Mokhtari, Hassani and Karbasi 2018, 2020).

    For t = 1, 2, … and d_0 = 0, with ∇̃f the mean gradient of a batch,

        d_t = (1 − ρ_t) d_{t−1} + ρ_t ∇̃f(β_t),     ρ_t = weight/(t+8)^decay
        β_{t+1} = (1 − γ_{t+1}) β_t + γ_{t+1} β̃_t,   γ_t = pace/(t+8)

    with β̃_t a minimizer of d_tᵀβ + R(β). The paper has ρ_t = 4/(t+8)^{2/3} and γ_t = 1/(t+8),
    the defaults, for which E P(β_t) − P* = O(t^{−1/3}) for any batch, by default the 1 % of the
    rows of Lu and Freund's experiments. Other numbers have no such theorem.
    """

    pace: float = 1.0
    weight: float = 4.0
    decay: float = 2 / 3
    any_batch = True
    note = "SCGM: O(t^(-1/3)) in expectation with its paper's steps, no bound is printed"
    run = _SCGM

    def __post_init__(self) -> None:
        check_number(self, "decay", 1.0)
        check_number(self, "pace", 10.0)  # γ_2 ≤ 1
        check_number(self, "weight", 9.0**self.decay)  # ρ_1 ≤ 1


def smoothness(problem: Problem) -> float:
    """L, the Lipschitz constant of ∇f: the largest eigenvalue of (1/n) Σ_j γ_j x_j x_jᵀ."""
    return float(problem.rows.spectral_energy(problem.losses.gammas)) / problem.n


def curvature(problem: Problem) -> float:
    """(1/n) Σ_j γ_j (2M_j)², instead of LD², as D, the diameter of dom R, is not known.

    Both bound the curvature of f over dom R; this one is in the units of predictions, which
    every oracle bounds.
    """
    return 4 * float(problem.constants().prediction_energy)


def diameter(problem: Problem) -> float:
    """D with LD² = ``curvature``; 0 where the data are all zero."""
    L = smoothness(problem)
    return math.sqrt(curvature(problem) / L) if L > 0 else 0.0


def steepness(problem: Problem) -> float:
    """G ≥ ‖∇f_j(β)‖ for all rows and all β in dom R: max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖."""
    losses, bounds = problem.losses, problem.prediction_bounds
    slopes = abs(losses.derivative(np.zeros(problem.n))) + losses.gammas * bounds
    return float((slopes * np.sqrt(problem.rows.square_norms())).max())


class _OnlineFrankWolfe(Sampled):
    default_share = BATCH

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        width = diameter(self.problem)
        self._strength = steepness(self.problem) / width if width > 0 else 0.0
        self._first = self.beta.copy()
        self._mean = self.beta.copy()  # of β_1, …, β_t
        self._linear = np.zeros(self.problem.p)  # the mean of ∇f_τ(β_τ)
        self._quadratic = 0.0  # the mean of σ_τ

    def averages(self) -> tuple[Array, Array]:
        return self._mean.copy(), self.problem.response(self._mean)

    def step(self) -> None:
        t = self.iteration + 1
        self._mean += (self.beta - self._mean) / t
        self._linear += (self.slope_at(self.beta, self.draw(self.batch)) - self._linear) / t
        self._quadratic += (self._strength * t**-0.25 - self._quadratic) / t
        self.slope = self._linear + 2 * self._quadratic * (self.beta - self._first)
        self.move(t**-0.5)


@dataclass(frozen=True)
class OnlineFrankWolfe(Stochastic):
    """Frank-Wolfe on the mean of linearized, smoothed losses (Hazan and Kale 2012).

    For t = 1, 2, … a batch with mean loss f_t comes, F_t is the mean over τ ≤ t of
    ∇f_τ(β_τ)ᵀβ + σ_τ ‖β − β_1‖² with σ_τ = (G/D) τ^{−1/4}, and

        β_{t+1} = (1 − t^{−1/2}) β_t + t^{−1/2} β̃_t

    with β̃_t a minimizer of ∇F_t(β_t)ᵀβ + R(β). This is the variant for any convex losses, with
    one batch and one oracle call a step: the regret is O(T^{3/4}), so that the mean of
    β_1, …, β_T, the solution that is certified, has E P − P* = O(T^{−1/4}). Batches are 1 % of
    the rows by default; max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖ stands for G, and D is such that
    LD² = (1/n) Σ_j γ_j (2M_j)².
    """

    any_batch = True
    note = "online Frank-Wolfe: O(T^(-1/4)) in expectation, no bound is printed"
    run = _OnlineFrankWolfe
