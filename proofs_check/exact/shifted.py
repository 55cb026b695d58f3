"""Losses moved along their argument, or tilted: curved away from 0, where every run starts."""

from __future__ import annotations

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
