"""A small problem as plain numbers, which both engines read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Literal

from proofs_check.exact.losses import Softplus, Squared, TiltedHuber
from proofs_check.exact.problem import Loss, Regularizer, Small, Vector
from proofs_check.exact.regularizers import Hull, Parabola, Ridge

LossName = Literal["squared", "softplus", "huber"]
Numbers = tuple[float, ...]

LOSSES: dict[str, Callable[..., Loss]] = {
    "squared": Squared,
    "softplus": Softplus,
    "huber": TiltedHuber,
}


@dataclass(frozen=True)
class Polytope:
    """The indicator of the convex hull of ``vertices``."""

    vertices: tuple[Numbers, ...]

    def regularizer(self, number: Callable[[float], Any]) -> Regularizer:
        return Hull(_converted(self.vertices, number))

    def corners(self, number: Callable[[float], Any]) -> tuple[Vector, ...]:
        """Points whose convex hull is dom R."""
        return _converted(self.vertices, number)


@dataclass(frozen=True)
class Bowl:
    """(mu/2)‖β − centre‖² on the box from centre − below to centre + above.

    For more than one variable the box is a cube about its centre: below = above.
    """

    mu: float
    centre: Numbers
    below: float
    above: float

    def regularizer(self, number: Callable[[float], Any]) -> Regularizer:
        if len(self.centre) > 1:
            centre = tuple(number(x) for x in self.centre)
            return Ridge(number(self.mu), centre, number(self.above))
        ((lower,), (upper,)) = self.corners(number)
        return Parabola(number(self.mu), number(self.centre[0]), lower, upper)

    def corners(self, number: Callable[[float], Any]) -> tuple[Vector, ...]:
        below, above = number(self.below), number(self.above)
        return tuple(product(*((number(x) - below, number(x) + above) for x in self.centre)))


@dataclass(frozen=True)
class Instance:
    """A problem, a batch size b and a number of steps k.

    ``parameters`` holds the arguments of each sample's loss: y, y or (width, curvature, tilt).
    """

    rows: tuple[Numbers, ...]
    loss: LossName
    parameters: tuple[Numbers, ...]
    domain: Polytope | Bowl
    batch: int
    steps: int

    @property
    def n(self) -> int:
        """Samples."""
        return len(self.rows)

    def small(self, number: Callable[[float], Any]) -> Small:
        """The problem of the exact engine, in the type that ``number`` makes of a float."""
        losses = [LOSSES[self.loss](*each) for each in _converted(self.parameters, number)]
        return Small(_converted(self.rows, number), losses, self.domain.regularizer(number))

    def rounded(self, digits: int) -> Instance:
        """The same problem with numbers of so many digits, short enough to print."""

        def short(x: float) -> float:
            return float(f"{x:.{digits}g}")

        domain: Polytope | Bowl = self.domain
        if isinstance(domain, Polytope):
            domain = Polytope(_converted(domain.vertices, short))
        else:
            (centre,) = _converted([domain.centre], short)
            domain = Bowl(short(domain.mu), centre, short(domain.below), short(domain.above))
        rows, parameters = _converted(self.rows, short), _converted(self.parameters, short)
        return replace(self, rows=rows, parameters=parameters, domain=domain)

    def as_json(self) -> dict[str, Any]:
        """The instance in lists and numbers."""
        kind = type(self.domain).__name__.lower()
        return {**asdict(self), "domain": {"kind": kind, **asdict(self.domain)}}


def _converted(vectors: Any, number: Callable[[float], Any]) -> tuple[Vector, ...]:
    return tuple(tuple(number(x) for x in vector) for vector in vectors)
