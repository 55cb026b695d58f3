"""The table of losses: l as mathematics writes it, in balls or power series; points of l*.

For a convex, differentiable l and any s, l*(l'(s)) = s·l'(s) − l(s). So no conjugate is needed, but
for every w_j an s_j with l'(s_j) next to it; that moves w within dom l*, exactly. An entry of the
table reads the numbers of a loss (``width``, …); an expression is read from its text.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from flint import arb, arb_series

from rcmd import conjugates
from rcmd.conjugates.expressions.loss import ExpressionLoss
from rcmd.testing.enclosure.balls import Ball, ball
from rcmd.testing.enclosure.expressions import FUNCTIONS, formula_of, greater, part, softplus

NEWTON_STEPS = 12


@dataclass(frozen=True)
class Pair:
    """A loss: l(s; y, …) for a ball or a series s, and who proposes an s with l'(s) = w."""

    function: Callable[..., Any]
    propose: Callable[..., float]
    assumes: str = ""
    """What is taken for granted about the loss."""

    def value(self, s: Ball, *at: Ball) -> Ball:
        """l(s; y, …)."""
        return part(self.function(s, *at), 0)

    def dual(self, w: Ball, *at: Ball) -> tuple[Ball, Ball]:
        """l'(s) next to w, and l* there."""
        s, jet, _ = self.nearest(w, *at)
        slope = part(jet, 1)
        return slope, slope * s - part(jet, 0)

    def nearest(self, w: Ball, *at: Ball) -> tuple[Ball, Any, Ball]:
        """An s with l'(s) next to w, the series of l there, and l'(s) − w: by Newton's rule."""
        first = self.propose(*(float(number.mid()) for number in (w, *at)))
        far = (sign * 2.0**k for k in range(12) for sign in (-1, 1))
        starts = [first] if math.isfinite(first) else list(far)
        best = min((self._graph(ball(s), w, *at) for s in starts), key=_distance)
        for _ in range(NEWTON_STEPS):
            s, jet, error = best
            moved = (s - error / (2 * part(jet, 2))).mid()
            trial = self._graph(moved, w, *at) if moved.is_finite() else best
            if not 2 * _distance(trial) < _distance(best):  # what is left is rounding
                break
            best = trial
        return best

    def _graph(self, s: Ball, w: Ball, *at: Ball) -> tuple[Ball, Any, Ball]:
        jet = self.function(arb_series([s, 1], 3), *at)
        return s, jet, part(jet, 1) - w


def _distance(graph: tuple[Ball, Any, Ball]) -> Ball:
    """How far l'(s) may be from w."""
    error = graph[2].abs_upper()
    return error if error.is_finite() else arb.pos_inf()


# ---- the table ---------------------------------------------------------------------------------

size, log_cosh = FUNCTIONS["abs"], FUNCTIONS["logcosh"]


def above(x: Any) -> Any:
    """x₊."""
    return greater(x, arb(0))


def clipped(q: Any, low: Any, high: Any, width: Ball) -> Any:
    """max over low ≤ v ≤ high of vq − width·v²/2."""
    beyond = above(q - width * high) ** 2 + above(width * low - q) ** 2
    return (q * q - beyond) / (2 * width)


def scaled(g: Callable[[Any], Any]) -> Callable[..., Any]:
    """width²·g((s − y)/width)."""
    return lambda s, y, width: width * width * g((s - y) / width)


def expectile(s: Any, y: Ball, level: Ball) -> Any:
    """½level·(y − s)₊² + ½(1 − level)·(s − y)₊²."""
    return (level * above(y - s) ** 2 + (1 - level) * above(s - y) ** 2) / 2


def negative_binomial(s: Any, y: Ball, dispersion: Ball) -> Any:
    """(y + r) log(1 + exp(s)/r) − ys, r = 1/dispersion."""
    return (y + 1 / dispersion) * softplus(s + dispersion.log()) - y * s


TABLE: dict[type, Callable[..., Any]] = {
    conjugates.LeastSquares: lambda s, y: (s - y) ** 2 / 2,
    conjugates.Logistic: lambda s, y: softplus(-y * s),
    conjugates.Huber: scaled(lambda t: clipped(t, -1, 1, arb(1))),
    conjugates.PseudoHuber: scaled(lambda t: (1 + t * t).sqrt() - 1),
    conjugates.LogCosh: scaled(log_cosh),
    conjugates.Fair: scaled(lambda t: size(t) - (1 + size(t)).log()),
    conjugates.SmoothedHinge: lambda s, y, width: clipped(above(1 - y * s), 0, 1, width),
    conjugates.SquaredHinge: lambda s, y: above(1 - y * s) ** 2 / 2,
    conjugates.SoftplusHinge: lambda s, y, width: width * softplus((1 - y * s) / width),
    conjugates.SmoothedQuantile: lambda s, y, level, width: clipped(
        s - y, -level, 1 - level, width
    ),
    conjugates.EpsilonInsensitive: lambda s, y, tolerance, width: clipped(
        above(size(s - y) - tolerance), 0, 1, width
    ),
    conjugates.Expectile: expectile,
    conjugates.CrossEntropy: lambda s, y: softplus(s) - y * s,
    conjugates.Poisson: lambda s, y: s.exp() - y * s,
    conjugates.NegativeBinomial: negative_binomial,
    conjugates.Gamma: lambda s, y: s + y * (-s).exp(),
    conjugates.Exponential: lambda s, y: (-y * s).exp(),
}
"""l(s; y) and the numbers of the loss by their names."""


def pair_of(loss: Any) -> Pair:
    """The entry of a loss; a sentence where there is none."""
    kind, propose = type(loss), loss.conjugate_derivative
    if ExpressionLoss in kind.__bases__:
        return Pair(formula_of(loss), propose, "l is convex in s")
    if kind not in TABLE:
        raise ValueError(
            f"loss {loss!r} is of the class {kind.__name__}, for which there are no formulas "
            "of its own to verify with; expected a loss that rcmd ships, or from_expression(…)"
        )
    numbers = {field.name: ball(getattr(loss, field.name)) for field in fields(loss)}
    return Pair(partial(TABLE[kind], **numbers), propose)
