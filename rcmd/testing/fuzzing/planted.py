"""Classes as users write them, most with a planted fault: what no certificate may vouch for.

Fields hold the fault. Without it a class is its *twin*, which is right and must be solved. The
value of a loss, and of an oracle ``norm``, ``radius`` and ``strength``, are the truth in any case.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.scalars import expit, softplus
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.rcmd import RCMD
from rcmd.model.prox import ConjugateProx
from rcmd.model.schedules import LinearSchedule, SublinearSchedule
from rcmd.oracles.base import LinearMinOracle, VertexRule
from rcmd.oracles.l1 import L1Ball
from rcmd.oracles.l2 import L2Ball
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.base import DenseRows
from rcmd.rows.validation import Array

__name__ = "planted"  # so that no class here counts as rcmd's own

# ---- losses ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Squares(SeparableConjugate):
    """(s − y)²/2, with l', l* and γ each wrong by a factor that is 1 in the twin."""

    slope: float = 1.0
    dual: float = 1.0
    curvature: float = 1.0

    @property
    def gamma(self) -> Any:
        return self.curvature

    def value(self, s: Any, y: Any) -> Any:
        return (s - y) ** 2 / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return self.slope * (s - y)

    def conjugate(self, w: Any, y: Any) -> Any:
        return self.dual * (w * w / 2 + w * y)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w + y


@dataclass(frozen=True)
class Rough(SeparableConjugate):
    """r²/2 − depth·exp(−t²/width²) + ripple·cos(r/width) + kink·|t| + bend·(t₊)²/2.

    Here r = s − y and t = r − place. With one of the terms, l is convex iff ripple ≤ width² or
    depth ≤ e^{3/2}/4 width²; γ = 1 + (2·depth + ripple)/width² + bend, and infinite with a kink.
    """

    curvature: float = 1.0
    depth: float = 0.0
    place: float = 0.0
    width: float = 1.0
    ripple: float = 0.0
    kink: float = 0.0
    bend: float = 0.0

    @property
    def gamma(self) -> Any:
        return self.curvature

    def value(self, s: Any, y: Any) -> Any:
        r = s - y
        t = r - self.place
        bump = self.depth * math.exp(-((t / self.width) ** 2))
        wave = self.ripple * math.cos(r / self.width)
        return r * r / 2 - bump + wave + self.kink * abs(t) + self.bend * max(t, 0.0) ** 2 / 2

    def derivative(self, s: Any, y: Any) -> Any:
        r = s - y
        t = r - self.place
        bump = 2 * self.depth * t / self.width * math.exp(-((t / self.width) ** 2))
        wave = self.ripple * math.sin(r / self.width)
        side = self.kink if t > 0 else -self.kink
        return r + (bump - wave) / self.width + side + self.bend * max(t, 0.0)


@dataclass(frozen=True)
class RoughUnsaid(Rough):
    """The same without a γ, which is estimated then."""

    gamma = SeparableConjugate.gamma


@dataclass(frozen=True)
class SaysQuadratic(Rough):
    """The same, which calls itself quadratic."""

    quadratic = True


@dataclass(frozen=True)
class RoughAt(Rough):
    """The same at one label, and (s − y)²/2 at all others."""

    label: float = 0.0

    def value(self, s: Any, y: Any) -> Any:
        return Rough.value(self, s, y) if y == self.label else (s - y) ** 2 / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return Rough.derivative(self, s, y) if y == self.label else s - y


@dataclass(frozen=True)
class RoughMarked(Rough):
    """The same where the field is not 0, and (s − y)²/2 elsewhere."""

    reads = ("mark",)

    def value(self, s: Any, y: Any, mark: Any) -> Any:  # type: ignore[override]
        return Rough.value(self, s, y) if mark else (s - y) ** 2 / 2

    def derivative(self, s: Any, y: Any, mark: Any) -> Any:  # type: ignore[override]
        return Rough.derivative(self, s, y) if mark else s - y


@dataclass(frozen=True)
class Steep(SeparableConjugate):
    """|y|·log(1 + exp(−s·sign y)), of which γ = |y|/4 depends on the label."""

    curvature: float = 0.25

    @property
    def gamma(self) -> Any:
        return self.curvature

    def value(self, s: Any, y: Any) -> Any:
        return abs(y) * softplus(-s if y > 0 else s)

    def derivative(self, s: Any, y: Any) -> Any:
        return -y * expit(-s if y > 0 else s)


@dataclass(frozen=True)
class SteepUnsaid(Steep):
    """The same without a γ, which is estimated then."""

    gamma = SeparableConjugate.gamma


# ---- oracles -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cube(LinearMinOracle):
    """R(β) = strength/2 ‖β‖² on ‖β‖_∞ ≤ radius, with the fault that is named."""

    radius: float
    strength: float = 0.0
    fault: str = ""
    size: float = 0.0

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return not self.strength

    def norm(self, beta: Array) -> float:
        return float(abs(beta).max())

    def best(self, c: Array) -> Array:
        """The minimizer of cᵀβ + R(β)."""
        if self.strength:
            return np.clip(-c / self.strength, -self.radius, self.radius)
        return -self.radius * np.sign(c)

    def found(self, c: Array) -> Array:
        """What the oracle takes for it."""
        atom = self.best(c)
        if self.fault in {"argmin", "heuristic"} or (
            self.fault == "rare heuristic" and self.size * c[0] > abs(c[-1])
        ):
            atom[1:] = 0  # a search that ends with the first coordinate
        if self.fault == "short":
            atom *= 1 - self.size
        if self.fault == "outside":
            atom *= 1 + self.size
        return atom

    def argmin(self, c: Array) -> DenseAtom:
        atom = self.found(c)
        if self.fault == "writes":
            c[:] = np.sign(c)
        if self.fault == "buffer":
            buffer = vars(self).setdefault("buffer", np.empty_like(atom))
            buffer[:] = atom
            return DenseAtom(buffer)
        return DenseAtom(atom)

    def minimum(self, c: Array) -> Any:
        claimed = self.fault in {"heuristic", "rare heuristic", "short"}
        atom = self.found(c) if claimed else self.best(c)
        lowest = c @ atom + self.penalty(atom)
        return lowest + self.size * abs(lowest) if self.fault == "minimum" else lowest

    def violation(self, beta: Array) -> Any:
        reach = self.radius * (1 + self.size if self.fault == "outside" else 1)
        return max(self.norm(beta) - reach, 0) / self.radius

    def penalty(self, beta: Array) -> Any:
        return self.strength / 2 * (beta @ beta)

    @property
    def mu(self) -> Any:
        return self.strength * (1 + self.size if self.fault == "mu" else 1)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        lowest = replace(self, strength=0.0, fault="").minimum
        reach = -np.array([lowest(rows.row(j)) for j in range(rows.n)])
        reach *= 1 - self.size if self.fault == "range" else 1
        return -reach, reach


@dataclass(frozen=True)
class Disc(Cube):
    """R(β) = strength/2 ‖β‖² on ‖β‖₂ ≤ radius, likewise."""

    def norm(self, beta: Array) -> float:
        return float(np.linalg.norm(beta))

    def best(self, c: Array) -> Array:
        length = self.norm(c)
        if length <= self.strength * self.radius:
            return -c / self.strength if self.strength else 0 * c
        return -c * (self.radius / length)


class HiddenCube(Cube):
    """``Cube``, whose fault is private."""

    def __init__(
        self, radius: float, strength: float = 0.0, fault: str = "", size: float = 0.0
    ) -> None:
        vars(self).update(radius=radius, strength=strength, _fault=fault, _size=size)

    fault = property(lambda self: self._fault)
    size = property(lambda self: self._size)


@dataclass(frozen=True)
class Shaped(L2Ball):
    """The ball, for compiled loops with shorter atoms where c is positive."""

    share: float = 1.0

    def shape(self, c: Any) -> Any:
        return -self.share * c if c > 0.0 else -c


@dataclass(frozen=True)
class Ruled(L1Ball):
    """The ball, for compiled loops with another radius."""

    share: float = 1.0

    def vertex_rule(self) -> VertexRule:
        return VertexRule(self.share * self.radius)


# ---- rows, samplers, proxes, schedules, methods ------------------------------------------------


class Damped(DenseRows):
    """A matrix, with a share of its spectral energy."""

    def __init__(self, array: Any, share: float) -> None:
        super().__init__(array)
        self.share = share

    def spectral_energy(self, scales: Array) -> float:
        return self.share * super().spectral_energy(scales)


class SameMethod(RCMD):
    """A subclass that changes nothing."""


class Idle(RCMD):
    """Steps that are counted and not taken."""

    def start(self, *at: Any, **named: Any) -> Any:
        progress = super().start(*at, **named)
        engine: Any = progress.engine
        engine.advance = lambda steps: vars(engine).update(iteration=engine.iteration + steps)
        return progress


def first_rows(uniforms: Array, taken: Array, batches: Array) -> None:
    """Batches of the first rows."""
    batches[:] = np.arange(batches.shape[1])


def refilled(n: int, batch: int, rng: np.random.Generator) -> UniformSampler:
    """A ``UniformSampler`` whose batches come from ``first_rows``."""
    sampler = UniformSampler(n, batch, rng)
    sampler.fill = first_rows
    return sampler


class SameDraw(UniformSampler):
    """A subclass that changes nothing."""


class RowZero(UniformSampler):
    """The first rows, always."""

    def draw(self, steps: int) -> Array:
        return np.tile(np.arange(self.batch), (steps, 1))


class Biased(UniformSampler):
    """The first rows in nine of ten steps."""

    def draw(self, steps: int) -> Array:
        first = self.rng.random(steps) < 0.9
        return np.where(first[:, None], np.arange(self.batch), super().draw(steps))


class SameProx(ConjugateProx):
    """A subclass that changes nothing."""


class SlowProx(ConjugateProx):
    """A mirror variable of 100 s, so that steps are a hundredth of the theorem's."""

    def mirror(self, loss: Any, s: Any, y: Any, weight: Any) -> Any:
        return 100 * s

    def inverse(self, loss: Any, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        return m / 100


class SameSteps(SublinearSchedule):
    """A subclass that changes nothing."""


class ShortSteps(SublinearSchedule):
    """Steps of a hundredth of the theorem's."""

    def step(self, i: Any) -> Any:
        return super().step(i) / 100


class ShortLinear(LinearSchedule):
    """Steps of a hundredth of the theorem's."""

    def step(self, i: Any) -> Any:
        return super().step(i) / 100
