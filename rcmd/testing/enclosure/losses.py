"""The table of losses: l and l* as mathematics writes them, in balls, and nothing else.

Nothing here calls a method of a loss: an entry reads its numbers (``width``, …). An expression is
read from its text; see ``expressions``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb

from rcmd import conjugates
from rcmd.conjugates.expressions.loss import ExpressionLoss
from rcmd.testing.enclosure.balls import Ball, ball, positive, softplus, xlogx


@dataclass(frozen=True)
class Pair:
    """l(s; y); l*(w; y) for w in dom l*; the ends of dom l*, ``None`` where there is none."""

    value: Callable[[Ball, Ball], Ball]
    conjugate: Callable[[Ball, Ball], Ball]
    domain: Callable[[Ball], tuple[Any, Any]] = lambda y: (None, None)
    assumes: str = ""
    """What is taken for granted about the loss."""

    def dual(self, w: Ball, y: Ball) -> tuple[Ball, Ball]:
        """The point of dom l* next to w, and l* there."""
        low, high = self.domain(y)
        w = w if low is None or w >= low else w.max(arb(low))
        w = w if high is None or w <= high else w.min(arb(high))
        return w, self.conjugate(w, y)


def clipped(q: Ball, low: Any, high: Any, width: Ball) -> Ball:
    """max over low ≤ v ≤ high of vq − width·v²/2."""
    beyond = positive(q - width * high) ** 2 + positive(width * low - q) ** 2
    return (q * q - beyond) / (2 * width)


def entropy(v: Ball) -> Ball:
    """v log v + (1 − v) log(1 − v) on 0 ≤ v ≤ 1."""
    return xlogx(positive(v)) + xlogx(positive(1 - v))


def signed(y: Ball) -> tuple[Any, Any]:
    """The w with 0 ≤ −yw ≤ 1, y = ±1."""
    return (-1, 0) if y > 0 else (0, 1)


def least_squares(loss: Any) -> Pair:
    """½(s − y)²."""
    return Pair(lambda s, y: (s - y) ** 2 / 2, lambda w, y: w * w / 2 + w * y)


def logistic(loss: Any) -> Pair:
    """log(1 + exp(−ys))."""
    return Pair(lambda s, y: softplus(-y * s), lambda w, y: entropy(-y * w), signed)


def huber(loss: Any) -> Pair:
    """½r² for |r| ≤ width, else width·|r| − ½width²."""
    width, one = ball(loss.width), arb(1)
    return Pair(
        lambda s, y: clipped(s - y, -width, width, one),
        lambda w, y: w * w / 2 + w * y,
        lambda y: (-width, width),
    )


def pseudo_huber(loss: Any) -> Pair:
    """width²(√(1 + t²) − 1), t = (s − y)/width."""
    width = ball(loss.width)
    return Pair(
        lambda s, y: width**2 * ((1 + ((s - y) / width) ** 2).sqrt() - 1),
        lambda w, y: width**2 * (1 - positive(1 - (w / width) ** 2).sqrt()) + w * y,
        lambda y: (-width, width),
    )


def log_cosh(loss: Any) -> Pair:
    """width² log cosh t, t = (s − y)/width; 2 cosh t = exp(t)(1 + exp(−2t))."""
    width = ball(loss.width)
    return Pair(
        lambda s, y: width**2 * (softplus(-2 * (s - y) / width) + (s - y) / width - arb(2).log()),
        lambda w, y: width**2 * (entropy((1 + w / width) / 2) + arb(2).log()) + w * y,
        lambda y: (-width, width),
    )


def fair(loss: Any) -> Pair:
    """width²(|t| − log(1 + |t|)), t = (s − y)/width."""
    width = ball(loss.width)
    return Pair(
        lambda s, y: width**2 * (abs(s - y) / width - positive(abs(s - y) / width).log1p()),
        lambda w, y: width**2 * (-abs(w / width) - (-abs(w / width)).log1p()) + w * y,
        lambda y: (-width, width),
    )


def smoothed_hinge(loss: Any) -> Pair:
    """max over 0 ≤ v ≤ 1 of v(1 − ys) − width·v²/2."""
    width = ball(loss.width)
    return Pair(
        lambda s, y: clipped(1 - y * s, 0, 1, width),
        lambda w, y: width * w * w / 2 + y * w,
        signed,
    )


def squared_hinge(loss: Any) -> Pair:
    """½(1 − ys)₊²."""
    return Pair(
        lambda s, y: positive(1 - y * s) ** 2 / 2,
        lambda w, y: w * w / 2 + y * w,
        lambda y: (None, 0) if y > 0 else (0, None),
    )


def softplus_hinge(loss: Any) -> Pair:
    """width·log(1 + exp((1 − ys)/width))."""
    width = ball(loss.width)
    return Pair(
        lambda s, y: width * softplus((1 - y * s) / width),
        lambda w, y: width * entropy(-y * w) + y * w,
        signed,
    )


def quantile(loss: Any) -> Pair:
    """max over −level ≤ v ≤ 1 − level of v(s − y) − width·v²/2."""
    width, low, high = ball(loss.width), -ball(loss.level), 1 - ball(loss.level)
    return Pair(
        lambda s, y: clipped(s - y, low, high, width),
        lambda w, y: width * w * w / 2 + w * y,
        lambda y: (low, high),
    )


def insensitive(loss: Any) -> Pair:
    """max over 0 ≤ v ≤ 1 of v(|s − y| − tolerance) − width·v²/2."""
    width, tolerance = ball(loss.width), ball(loss.tolerance)
    return Pair(
        lambda s, y: clipped(positive(abs(s - y) - tolerance), 0, 1, width),
        lambda w, y: width * w * w / 2 + tolerance * abs(w) + w * y,
        lambda y: (-1, 1),
    )


def expectile(loss: Any) -> Pair:
    """½level·(y − s)₊² + ½(1 − level)·(s − y)₊²."""
    low, high = ball(loss.level), 1 - ball(loss.level)
    return Pair(
        lambda s, y: (low * positive(y - s) ** 2 + high * positive(s - y) ** 2) / 2,
        lambda w, y: (positive(-w) ** 2 / low + positive(w) ** 2 / high) / 2 + w * y,
    )


def exp_conjugate(v: Ball) -> Ball:
    """v log v − v for v ≥ 0."""
    return xlogx(positive(v)) - v


def poisson(loss: Any) -> Pair:
    """exp(s) − ys."""
    return Pair(
        lambda s, y: s.exp() - y * s,
        lambda w, y: exp_conjugate(w + y),
        lambda y: (-y, None),
    )


def exponential(loss: Any) -> Pair:
    """exp(−ys)."""
    return Pair(
        lambda s, y: (-y * s).exp(),
        lambda w, y: exp_conjugate(-y * w),
        lambda y: (None, 0) if y > 0 else (0, None),
    )


def gamma(loss: Any) -> Pair:
    """s + y exp(−s)."""
    return Pair(
        lambda s, y: s + y * (-s).exp(),
        lambda w, y: exp_conjugate(1 - w) - (1 - w) * y.log(),
        lambda y: (None, 1),
    )


def negative_binomial(loss: Any) -> Pair:
    """(y + r) log(1 + exp(s)/r) − ys, r = 1/dispersion."""
    d = ball(loss.dispersion)  # 1/d is found anew, in the precision of the day
    return Pair(
        lambda s, y: (y + 1 / d) * softplus(s + d.log()) - y * s,
        lambda w, y: (y + 1 / d) * entropy((w + y) / (y + 1 / d)) - (w + y) * d.log(),
        lambda y: (-y, 1 / d),
    )


def cross_entropy(loss: Any) -> Pair:
    """log(1 + exp(s)) − ys."""
    return Pair(
        lambda s, y: softplus(s) - y * s,
        lambda w, y: entropy(w + y),
        lambda y: (-y, 1 - y),
    )


TABLE: dict[type, Callable[[Any], Pair]] = {
    conjugates.LeastSquares: least_squares,
    conjugates.Logistic: logistic,
    conjugates.Huber: huber,
    conjugates.PseudoHuber: pseudo_huber,
    conjugates.LogCosh: log_cosh,
    conjugates.Fair: fair,
    conjugates.SmoothedHinge: smoothed_hinge,
    conjugates.SquaredHinge: squared_hinge,
    conjugates.SoftplusHinge: softplus_hinge,
    conjugates.SmoothedQuantile: quantile,
    conjugates.EpsilonInsensitive: insensitive,
    conjugates.Expectile: expectile,
    conjugates.CrossEntropy: cross_entropy,
    conjugates.Poisson: poisson,
    conjugates.NegativeBinomial: negative_binomial,
    conjugates.Gamma: gamma,
    conjugates.Exponential: exponential,
}


def pair_of(loss: Any) -> Any:
    """The entry of a loss; a sentence where there is none."""
    if ExpressionLoss in type(loss).__bases__:
        from rcmd.testing.enclosure.expressions import ExpressionPair

        return ExpressionPair(loss)
    if type(loss) not in TABLE:
        raise ValueError(
            f"loss {loss!r} is of the class {type(loss).__name__}, for which there are no formulas "
            "of its own to verify with; expected a loss that rcmd ships, or from_expression(…)"
        )
    return TABLE[type(loss)](loss)
