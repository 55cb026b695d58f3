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


Function = Callable[[Ball], Ball]


def of_residual(g: Function, dual: Function, low: Any = None, high: Any = None) -> Pair:
    """g(s − y), for g with the conjugate ``dual`` from ``low`` to ``high``."""
    return Pair(lambda s, y: g(s - y), lambda w, y: dual(w) + w * y, lambda y: (low, high))


def of_margin(g: Function, dual: Function, most: Any = None) -> Pair:
    """g(−ys) for y = ±1, where dom g* begins with 0 and ends with ``most``."""
    least = None if most is None else -most
    return Pair(
        lambda s, y: g(-y * s),
        lambda w, y: dual(-y * w),
        lambda y: (least, 0) if y > 0 else (0, most),
    )


def of_mean(g: Function, dual: Function, most: Any = None) -> Pair:
    """g(s) − ys, likewise."""
    return Pair(
        lambda s, y: g(s) - y * s,
        lambda w, y: dual(w + y),
        lambda y: (-y, None if most is None else most - y),
    )


def smooth_absolute(g: Function, dual: Function) -> Callable[[Any], Pair]:
    """width²·g(t), t = (s − y)/width, for g with the conjugate ``dual`` on [−1, 1]."""

    def pair(loss: Any) -> Pair:
        width = ball(loss.width)
        square = width * width
        return of_residual(
            lambda r: square * g(r / width), lambda w: square * dual(w / width), -width, width
        )

    return pair


def smoothed_hinge(loss: Any) -> Pair:
    """max over 0 ≤ v ≤ 1 of v(1 − ys) − width·v²/2."""
    width = ball(loss.width)
    return of_margin(lambda q: clipped(1 + q, 0, 1, width), lambda v: width * v * v / 2 - v, 1)


def softplus_hinge(loss: Any) -> Pair:
    """width·log(1 + exp((1 − ys)/width))."""
    width = ball(loss.width)
    return of_margin(
        lambda q: width * softplus((1 + q) / width), lambda v: width * entropy(v) - v, 1
    )


def quantile(loss: Any) -> Pair:
    """max over −level ≤ v ≤ 1 − level of v(s − y) − width·v²/2."""
    width, low, high = ball(loss.width), -ball(loss.level), 1 - ball(loss.level)
    return of_residual(
        lambda r: clipped(r, low, high, width), lambda w: width * w * w / 2, low, high
    )


def insensitive(loss: Any) -> Pair:
    """max over 0 ≤ v ≤ 1 of v(|s − y| − tolerance) − width·v²/2."""
    width, tolerance = ball(loss.width), ball(loss.tolerance)
    return of_residual(
        lambda r: clipped(positive(abs(r) - tolerance), 0, 1, width),
        lambda w: width * w * w / 2 + tolerance * abs(w),
        -1,
        1,
    )


def expectile(loss: Any) -> Pair:
    """½level·(y − s)₊² + ½(1 − level)·(s − y)₊²."""
    low, high = ball(loss.level), 1 - ball(loss.level)
    return of_residual(
        lambda r: (low * positive(-r) ** 2 + high * positive(r) ** 2) / 2,
        lambda w: (positive(-w) ** 2 / low + positive(w) ** 2 / high) / 2,
    )


def exp_conjugate(v: Ball) -> Ball:
    """v log v − v for v ≥ 0."""
    return xlogx(positive(v)) - v


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


TABLE: dict[type, Callable[[Any], Pair]] = {
    conjugates.LeastSquares: lambda loss: of_residual(lambda r: r * r / 2, lambda w: w * w / 2),
    conjugates.Logistic: lambda loss: of_margin(softplus, entropy, 1),
    conjugates.Huber: smooth_absolute(lambda t: clipped(t, -1, 1, arb(1)), lambda u: u * u / 2),
    conjugates.PseudoHuber: smooth_absolute(
        lambda t: (1 + t * t).sqrt() - 1, lambda u: 1 - positive(1 - u * u).sqrt()
    ),
    conjugates.LogCosh: smooth_absolute(  # 2 cosh t = exp(t)(1 + exp(−2t))
        lambda t: softplus(-2 * t) + t - arb(2).log(),
        lambda u: entropy((1 + u) / 2) + arb(2).log(),
    ),
    conjugates.Fair: smooth_absolute(
        lambda t: abs(t) - positive(abs(t)).log1p(), lambda u: -abs(u) - (-abs(u)).log1p()
    ),
    conjugates.SmoothedHinge: smoothed_hinge,
    conjugates.SquaredHinge: lambda loss: of_margin(
        lambda q: positive(1 + q) ** 2 / 2, lambda v: v * v / 2 - v
    ),
    conjugates.SoftplusHinge: softplus_hinge,
    conjugates.SmoothedQuantile: quantile,
    conjugates.EpsilonInsensitive: insensitive,
    conjugates.Expectile: expectile,
    conjugates.CrossEntropy: lambda loss: of_mean(softplus, entropy, 1),
    conjugates.Poisson: lambda loss: of_mean(arb.exp, exp_conjugate),
    conjugates.NegativeBinomial: negative_binomial,
    conjugates.Gamma: gamma,
    conjugates.Exponential: lambda loss: of_margin(arb.exp, exp_conjugate),
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
