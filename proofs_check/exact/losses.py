"""Losses in any number type, one object per sample."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath


@dataclass(frozen=True)
class Squared:
    """(gamma/2)(s − y)²."""

    y: Any
    gamma: Any = Fraction(1)

    def value(self, s: Any) -> Any:
        return self.gamma * (s - self.y) ** 2 / 2

    def derivative(self, s: Any) -> Any:
        return self.gamma * (s - self.y)

    def conjugate(self, w: Any) -> Any:
        return w * w / (2 * self.gamma) + self.y * w


@dataclass(frozen=True)
class TiltedHuber:
    """Huber's loss of width ``width``, plus (curvature/2)s² + tilt·s."""

    width: Any
    curvature: Any
    tilt: Any

    @property
    def gamma(self) -> Any:
        return 1 + self.curvature

    def value(self, s: Any) -> Any:
        inner = min(abs(s), self.width)
        return inner * (abs(s) - inner / 2) + self.curvature * s * s / 2 + self.tilt * s

    def derivative(self, s: Any) -> Any:
        return min(max(s, -self.width), self.width) + self.curvature * s + self.tilt

    def conjugate(self, w: Any) -> Any:
        slope = w - self.tilt
        s = slope / (1 + self.curvature)
        if abs(s) > self.width:
            s = (slope - self.width if slope > 0 else slope + self.width) / self.curvature
        return w * s - self.value(s)


@dataclass(frozen=True)
class Softplus:
    """ln(1 + exp(−y s)) in mpmath's working precision; logistic for y = ±1, γ = y²/4."""

    y: Any

    @property
    def gamma(self) -> Any:
        return mpmath.mpf(self.y) ** 2 / 4

    def value(self, s: Any) -> Any:
        return mpmath.log1p(mpmath.exp(-self.y * s))

    def derivative(self, s: Any) -> Any:
        return -self.y / (1 + mpmath.exp(self.y * s))

    def conjugate(self, w: Any) -> Any:
        v = -w / mpmath.mpf(self.y)
        return _times_log(v) + _times_log(1 - v)


def _times_log(v: Any) -> Any:
    return v * mpmath.log(v) if v > 0 else 0 * v
