"""Losses moved along their argument, or tilted: curved away from 0, where every run starts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

from proofs_check.exact.losses import Squared, TiltedHuber


@dataclass(frozen=True)
class Shifted:
    """l(s − shift)."""

    loss: Any
    shift: Any

    @property
    def gamma(self) -> Any:
        return self.loss.gamma

    def value(self, s: Any) -> Any:
        return self.loss.value(s - self.shift)

    def derivative(self, s: Any) -> Any:
        return self.loss.derivative(s - self.shift)

    def conjugate(self, w: Any) -> Any:
        return self.loss.conjugate(w) + self.shift * w


def kinks(loss: Any) -> tuple[Any, ...]:
    """Where l' changes its slope."""
    if isinstance(loss, Shifted):
        return tuple(kink + loss.shift for kink in kinks(loss.loss))
    return (-loss.width, loss.width) if isinstance(loss, TiltedHuber) else ()


def through(loss: Any, s: Any, w: Any) -> Any:
    """The loss with a linear term more, so that l'(s) = w."""
    if isinstance(loss, Shifted):
        return replace(loss, loss=through(loss.loss, s - loss.shift, w))
    if isinstance(loss, Squared):
        return replace(loss, y=s - w / loss.gamma)
    return replace(loss, tilt=loss.tilt + w - loss.derivative(s))


def root(loss: Any, kappa: Any, s: Any, a: Any) -> Any:
    """s⁺ + κ l'(s⁺) = a + κ l'(s), between s and a; l' is affine between its kinks."""

    def excess(x: Any) -> Any:
        return x - a + kappa * (loss.derivative(x) - loss.derivative(s))

    low, high = min(s, a), max(s, a)
    points = [low, *(x for x in sorted(kinks(loss)) if low < x < high), high]
    for left, right in itertools.pairwise(points):
        if excess(left) <= 0 <= excess(right):
            rise = excess(right) - excess(left)
            return left - excess(left) * (right - left) / rise if rise else left
    raise AssertionError("the excess changes its sign between s and a")
