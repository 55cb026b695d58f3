"""The lp balls between l1 and l∞, the l∞ ball, boxes, and ridge on a box."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import (
    IRRATIONAL,
    Array,
    CoordinateRule,
    Coordinatewise,
    NormBall,
    NumberOrVector,
    cp,
)
from rcmd.oracles.vectors import row_norms
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import checked_numbers, positive


@dataclass(frozen=True)
class LpBall(NormBall):
    """The set {‖β‖_order ≤ radius} for 1 < order < ∞; M_j = radius·‖x_j‖_dual.

    The dual order has 1/order + 1/dual = 1.

    Examples
    --------
    >>> ball = LpBall(10.0, 1.5)
    >>> round(float(ball.minimum(np.array([3.0, -4.0, 5.0]))), 9)  # 3³ + 4³ + 5³ = 6³
    -60.0
    """

    radius: Any
    order: Any
    formula = "indicator of ‖β‖_{order} ≤ {radius}"
    spec, bound_words = "lp:RADIUS:ORDER", "radius·‖x‖_q, 1/q = 1 − 1/order"
    numpy_pass = "np.power(abs(c), 1.7)"
    refuses_exact = IRRATIONAL

    @classmethod
    def example(cls, draw: Any) -> Self:
        return cls(draw.magnitude(), 1.05 + draw.magnitude(1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order in (1, 2, math.inf):
            raise ValueError(
                f"order of LpBall is {self.order!r}, which has a class of its own: use L1Ball, "
                "L2Ball or LInfBall"
            )
        positive("order", self.order, "LpBall")
        if self.order < 1:
            raise ValueError(
                f"order of LpBall is {self.order!r}; expected a number above 1, below which "
                "there is no norm"
            )

    @property
    def dual(self) -> float:
        """order/(order − 1), the order of the dual norm."""
        return float(self.order / (self.order - 1))

    def write_atom(self, c: Any, out: Any) -> None:
        scale, total, power = 0.0, 0.0, 1 / (self.order - 1)
        for k in range(len(c)):
            scale = max(scale, abs(c[k]))
        for k in range(len(c)):
            size = abs(c[k]) / scale if scale > 0 else 0.0
            out[k] = size**power
            total += size * out[k]
        # Σ size^dual ≥ 1, whatever the order.
        factor = self.radius / total ** (1 / self.order) if scale > 0 else 0.0
        for k in range(len(c)):
            out[k] = math.copysign(out[k], c[k]) * -factor

    def argmin(self, c: Array) -> DenseAtom:
        """The same by NumPy, whose powers are faster than one after the other."""
        sizes = np.abs(c, dtype=float)
        scale = float(sizes.max())
        if scale == 0:
            return DenseAtom(sizes)
        sizes /= scale
        powers = sizes ** float(1 / (self.order - 1))
        factor = self.radius / float(sizes @ powers) ** (1 / float(self.order))
        np.copysign(powers, c, out=powers)
        powers *= -factor
        return DenseAtom(powers)

    def norm(self, beta: Array) -> Any:
        return row_norms(beta[None], float(self.order))[0]

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        return row_norms(entries, self.dual)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """‖c‖·radius·[Σ_j t_j^q/q + |b_j|^p/p − t_j b_j + (1 − Σ_j |b_j|^p)/p], Young's terms.

        Here p and q are the order and its dual, t = |c|/‖c‖_q and b = −β sign(c)/radius.
        """
        order, dual = float(self.order), self.dual
        norm = self.dual_norm(c)
        if norm == 0:
            return 0.0
        t, b = abs(c) / norm, np.clip(-beta * np.sign(c) / self.radius, -1, 1)
        # Where c_j = 0, b_j counts by its size alone.
        powers = np.minimum(abs(beta) / self.radius, 1) ** order
        young = np.maximum(t**dual / dual + powers / order - t * b, 0).sum()
        return self.radius * norm * (young + max(1 - powers.sum(), 0) / order)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        powers = cp.Variable(beta.size)
        # |β_j|/radius ≤ powers_j^(1/order) as a cone.
        cones = cp.PowCone3D(
            powers, np.ones(beta.size), beta / float(self.radius), 1 / float(self.order)
        )
        return 0, [cones, cp.sum(powers) <= 1]


@dataclass(frozen=True)
class LInfBall(NormBall, Coordinatewise):
    """The set {‖β‖_∞ ≤ radius}; M_j = radius·‖x_j‖₁.

    Examples
    --------
    >>> LInfBall(2.0).argmin(np.array([0.5, -1.0, 0.0])).vector
    array([-2.,  2.,  2.])
    """

    radius: Any
    formula = "indicator of ‖β‖_∞ ≤ {radius}"
    spec, bound_words = "linf:RADIUS", "radius·‖x‖₁"
    numpy_pass = "abs(c).argmax()"

    def coordinate_rule(self, p: int) -> CoordinateRule:
        return CoordinateRule(lower=-self.radius, upper=self.radius)

    def shape(self, c: Any) -> Any:
        return -self.radius if c > 0 else self.radius

    def argmin(self, c: Array) -> DenseAtom:
        # Five times as fast as np.where, whose branches random signs defeat.
        return DenseAtom((c > 0) * (-2 * self.radius) + self.radius)

    def norm(self, beta: Array) -> Any:
        return abs(beta).max()

    def dual_norm(self, c: Array) -> Any:
        return abs(c).sum()

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |c_j| (radius + β_j sign c_j)."""
        distance = self.radius + np.where(c > 0, beta, -beta)
        return (abs(c) * np.maximum(distance, 0)).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        corner = np.full(rows.p, self.radius, dtype=rows.number_type)
        return rows.box_range(-corner, corner)

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.norm_inf(beta)


@dataclass(frozen=True, eq=False)
class Box(Coordinatewise):
    """The set {lower ≤ β ≤ upper}; each end is a number or a vector of length p.

    Examples
    --------
    >>> float(Box(0.0, 1.0).minimum(np.array([2.0, -3.0])))
    -3.0
    """

    lower: NumberOrVector
    upper: NumberOrVector
    formula = "indicator of {lower} ≤ β ≤ {upper}"
    spec, bound_words = "box:LOWER:UPPER", "at a corner"
    numpy_pass = "abs(c).argmax()"

    @classmethod
    def example(cls, draw: Any) -> Self:
        reach = draw.magnitude()
        if draw.chance(50):
            return cls(-reach, reach * draw.magnitude())
        lower = draw.numbers(draw.p) * draw.magnitude()
        return cls(lower, lower + reach * draw.whole_numbers(0, 3, draw.p) / 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = type(self).__name__
        for name in ("lower", "upper"):
            end = np.asarray(getattr(self, name))
            if end.dtype.kind == "f" and np.isinf(end).any():
                raise ValueError(
                    f"{name} of {kind} is infinite, so dom R would be unbounded; expected finite "
                    "numbers (Assumption 1.1 needs a bounded domain)"
                )
            end = checked_numbers(f"{name} of {kind}", end)
            # A copy, which does not change with its caller's array.
            object.__setattr__(self, name, end.copy() if end.ndim else end.item())
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        if lower.ndim and upper.ndim and lower.shape != upper.shape:
            raise ValueError(
                f"lower of {kind} has shape {lower.shape} and upper {upper.shape}; expected "
                "numbers or vectors of the same length"
            )
        if not np.all(lower <= upper):
            raise ValueError(f"lower of {kind} exceeds upper in some place; expected lower ≤ upper")

    def check_rows(self, rows: Rows) -> None:
        super().check_rows(rows)
        for name in ("lower", "upper"):
            end = np.asarray(getattr(self, name))
            if end.ndim and end.shape != (rows.p,):
                raise ValueError(
                    f"{name} of {type(self).__name__} has shape {end.shape}; expected a number or "
                    f"a vector of length p = {rows.p}"
                )

    @property
    def alike(self) -> bool:
        return np.ndim(self.lower) == np.ndim(self.upper) == 0

    @cached_property
    def lows(self) -> Array:
        """``lower`` as an array, of one entry for a number."""
        return np.atleast_1d(self.lower)

    @cached_property
    def highs(self) -> Array:
        """``upper`` likewise."""
        return np.atleast_1d(self.upper)

    def coordinate_rule(self, p: int) -> CoordinateRule:
        return CoordinateRule(lower=self.lower, upper=self.upper)

    def best(self, c: Any, low: Any, high: Any) -> Any:
        """Where a coordinate with the cost c is best between its ends."""
        return low if c > 0 else high

    def shape(self, c: Any) -> Any:
        return self.best(c, self.lower, self.upper)

    def write_atom(self, c: Any, out: Any) -> None:
        lows, highs = self.lows, self.highs
        for k in range(len(c)):
            low = lows[k] if len(lows) > 1 else lows[0]
            high = highs[k] if len(highs) > 1 else highs[0]
            out[k] = self.best(c[k], low, high)

    def minimum(self, c: Array) -> Any:
        atom: Any = self.argmin(c)
        return c @ atom.vector

    def violation(self, beta: Array) -> Any:
        outside = max(np.max(self.lower - beta), np.max(beta - self.upper), 0)
        size = max(np.max(abs(self.lower + 0 * beta)), np.max(abs(self.upper + 0 * beta)))
        return outside / size if size > 0 else outside

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |c_j| times the distance of β_j from the end that c_j prefers."""
        distance = np.where(c > 0, beta - self.lower, self.upper - beta)
        return (abs(c) * np.maximum(distance, 0)).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        spread = np.zeros(rows.p, dtype=rows.number_type)
        return rows.box_range(spread + self.lower, spread + self.upper)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        lower, upper = (np.asarray(end, dtype=float) for end in (self.lower, self.upper))
        return 0, [beta >= lower, beta <= upper]


@dataclass(frozen=True, eq=False)
class BoxRidge(Box):
    """R(β) = (strength/2)·‖β‖₂² on the box lower ≤ β ≤ upper; μ = strength.

    Non-negative ridge regression has the lower end 0. ``Translated`` puts the parabola's centre
    anywhere, inside the box or out of it.

    Examples
    --------
    >>> positive = BoxRidge(0.0, 4.0, strength=0.5)
    >>> positive.argmin(np.array([1.0, -1.0, -9.0])).vector
    array([0., 2., 4.])
    """

    strength: Any
    indicator, positive_fields = False, ("strength",)
    formula = "½·{strength}·‖β‖₂² on {lower} ≤ β ≤ {upper}"
    spec, mu_words = "box-ridge:LOWER:UPPER:STRENGTH", "strength"
    numpy_pass = "np.clip(-2 * c, -1, 2)"

    @classmethod
    def example(cls, draw: Any) -> Self:
        box = Box.example(draw)
        return cls(box.lower, box.upper, draw.magnitude())

    @property
    def mu(self) -> Any:
        return self.strength

    def coordinate_rule(self, p: int) -> CoordinateRule:
        return super().coordinate_rule(p)._replace(l2=self.strength)

    def best(self, c: Any, low: Any, high: Any) -> Any:
        return min(max(-c / self.strength, low), high)

    def minimum(self, c: Array) -> Any:
        best: Any = self.argmin(c)
        return (c + self.strength * best.vector / 2) @ best.vector

    def penalty(self, beta: Array) -> Any:
        # In this order, as squares of β may overflow or vanish where R(β) does not.
        return (self.strength * beta) @ beta / 2

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(strength/2)‖β − β̃‖² + (c + strength·β̃)ᵀ(β − β̃), each term from 0 on."""
        best: Any = self.argmin(c)
        gap = beta - best.vector
        steeper = np.maximum((c + self.strength * best.vector) * gap, 0)
        return (self.strength * gap) @ gap / 2 + steeper.sum()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return float(self.strength) / 2 * cp.sum_squares(beta), super().cvxpy_form(beta)[1]
