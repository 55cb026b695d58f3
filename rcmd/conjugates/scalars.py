"""Scalar functions that losses share, each in a form that neither overflows nor cancels."""

import math
from typing import Any

EDGE = 2.0**-50
"""Relative rounding by which w/ω may miss an end of dom l* (a product divided again)."""

LOG_2 = 0.6931471805599453


def outside(v: Any, low: Any, high: Any) -> bool:
    """Whether v misses [low, high] by more than rounding."""
    return (v < low and v < low - EDGE * abs(low)) or (v > high and v > high + EDGE * abs(high))


# ---- entropies: the logistic family ------------------------------------------------------------


def negative_entropy(v: float) -> float:
    """v·log v + (1−v)·log(1−v), to the last digits also near its zeros v = 0 and v = 1."""
    if v <= 0.0 or v >= 1.0:
        return 0.0
    return v * math.log(v) + (1.0 - v) * math.log1p(-v)


def softplus(q: float) -> float:
    """log(1 + exp q)."""
    return max(q, 0.0) + math.log1p(math.exp(-abs(q)))


def expit(q: float) -> float:
    """1/(1 + exp(−q)), the slope of ``softplus``."""
    tail = math.exp(-abs(q))
    return (tail if q < 0.0 else 1.0) / (1.0 + tail)


def margin_of_share(v: float) -> float:
    """log((1−v)/v), the z with expit(−z) = v; infinite at v = 0 and v = 1."""
    if v <= 0.0:
        return math.inf
    if v >= 1.0:
        return -math.inf
    return math.log1p(-v) - math.log(v)


def entropy_gap(q: float, v: float, rest: float) -> float:
    """softplus(q) + negative_entropy(v) − vq, from terms of order one; ``rest`` is 1 − v."""
    linear = rest * q if q >= 0.0 else -v * q
    return linear + math.log1p(math.exp(-abs(q))) + negative_entropy(min(v, rest))


def logistic_curvature(low: float, high: float) -> float:
    """The largest slope of ``expit`` on [low, high]: at 0, or at the end next to it."""
    tail = math.exp(-max(low, -high, 0.0))
    return tail / ((1.0 + tail) * (1.0 + tail))


def logistic_radius(bound: float) -> float:
    """The divergence ln 2 − H(expit(bound)), with its quadratic majorant where that cancels."""
    if bound < 1e-3:
        return bound * bound / 8
    return math.log(2.0) + negative_entropy(expit(-bound))


# ---- exponentials ------------------------------------------------------------------------------


def exp_conjugate(v: float) -> float:
    """v log v − v, the conjugate of exp at v ≥ 0."""
    return v * math.log(v) - v if v > 0.0 else 0.0


def exp_young(q: float, v: float) -> float:
    """exp(q) + v log v − v − vq for v ≥ 0: v·(exp(d) − 1 − d) with d = q − log v."""
    if v <= 0.0:
        return bounded_exp(q)
    d = q - math.log(v)
    if d > 1.0:
        return bounded_exp(q) - v * (1.0 + d)
    return v * exp_gap(d)


def exp_gap(d: float) -> float:
    """exp(d) − 1 − d ≥ 0 for d ≤ 1."""
    if d < -1.0:
        return math.expm1(d) - d
    term = d * d / 2.0
    total = term
    for k in range(3, 21):
        term = term * d / k
        total += term
    return total


# ---- log cosh ----------------------------------------------------------------------------------


def log_cosh(t: float) -> float:
    """log cosh t; near 0 by cosh t = 1 + 2 sinh²(t/2)."""
    if abs(t) < 1.0:
        half = math.sinh(t / 2.0)
        return math.log1p(2.0 * half * half)
    return abs(t) - LOG_2 + math.log1p(math.exp(-2.0 * abs(t)))


def log_cosh_conjugate(u: float, rest: float) -> float:
    """The conjugate ½(1+u) log(1+u) + ½(1−u) log(1−u) of log cosh; ``rest`` is 1 − |u|."""
    u = abs(u)
    if rest <= 0.0:
        return LOG_2
    if u < 0.5:
        return u * math.atanh(u) + math.log1p(-u * u) / 2.0
    return ((1.0 + u) * math.log1p(u) + rest * math.log(rest)) / 2.0


def cosh_entropy(u: float) -> float:
    """``log_cosh_conjugate`` where only u is known."""
    return log_cosh_conjugate(u, 1.0 - abs(u))


def sech2(t: float) -> float:
    """1/cosh² t, the second derivative of log cosh."""
    tail = math.exp(-2.0 * abs(t))
    return 4.0 * tail / ((1.0 + tail) * (1.0 + tail))


def log_cosh_gap(t: float, u: float, rest: float) -> float:
    """log cosh t + its conjugate at u − ut; near equality from terms of second order.

    With d = t − artanh u it is log(cosh d + u sinh d) − ud.
    """
    if u < 0.0:
        t, u = -t, -u
    if u < 0.9:
        d = t - math.atanh(u)
        if abs(d) < 1.0:
            half = math.sinh(d / 2.0)
            curved, cubic = 2.0 * half * half, sinh_gap(d)
            return curved + u * cubic - log1p_gap(curved + u * (d + cubic))
    return entropy_gap(2.0 * t, (1.0 + u) / 2.0, rest / 2.0)


def sinh_gap(d: float) -> float:
    """sinh d − d for |d| ≤ 1."""
    term = d * d * d / 6.0
    total = term
    for k in range(2, 9):
        term = term * d * d / (2 * k * (2 * k + 1))
        total += term
    return total


def log1p_gap(x: float) -> float:
    """x − log(1 + x) ≥ 0 for x > −1; near 0 by log(1 + x) = 2 artanh(x/(2+x))."""
    if x < -0.4 or x > 0.6:
        return x - math.log1p(x)
    a = x / (2.0 + x)
    power, total = a * a * a, 0.0
    for k in range(3, 33, 2):
        total += power / k
        power *= a * a
    return x * a - 2.0 * total


# ---- what generated losses also call -----------------------------------------------------------


def bounded_exp(x: float) -> float:
    """The exponential, infinite where it overflows."""
    return math.exp(x) if x < 709.0 else math.inf


def square(x: float) -> float:
    """x²."""
    return x * x


def sqrt_gap(x: float, c: float) -> float:
    """√(c + x) − √c."""
    return x / (math.sqrt(c + x) + math.sqrt(c))


def nudged(v: float, low: float, high: float, scale: float) -> float:
    """v, moved to an end of [low, high] that it misses by rounding alone."""
    slack = 1e-15 * (abs(v) + abs(scale))
    if high < v <= high + slack:
        return high
    if low - slack <= v < low:
        return low
    return v


def bounded_sinh(x: float) -> float:
    """The hyperbolic sine, infinite where it overflows."""
    return math.sinh(x) if abs(x) < 709.0 else math.copysign(math.inf, x)


def bounded_cosh(x: float) -> float:
    """The hyperbolic cosine, infinite where it overflows."""
    return math.cosh(x) if abs(x) < 709.0 else math.inf


# ---- rates log(1 + exp x), Φ and 1 − exp(−exp x) of probabilities and counts ---------------------


def log_softplus(x: float) -> float:
    """log(softplus(x))."""
    return math.log(softplus(x)) if x > -36.0 else x - math.exp(x) / 2.0


def softplus_ratio(x: float) -> float:
    """expit(x)/softplus(x), the slope of ``log_softplus``."""
    return expit(x) / softplus(x) if x > -36.0 else 1.0 - math.exp(x) / 2.0


def softplus_excess(x: float) -> float:
    """p + (1 − p)·log(1 − p) with p = expit(x); near 0 by its series Σ p^k/(k(k − 1))."""
    p = expit(x)
    if p > 0.1:
        return p - expit(-x) * softplus(x)
    total = 0.0
    for k in range(18, 1, -1):
        total = (total + 1.0 / (k * (k - 1.0))) * p
    return total * p


def softplus_rest(x: float) -> float:
    """``softplus_ratio``(x) − expit(−x)."""
    return softplus_excess(x) / softplus(x) if x > -36.0 else math.exp(x) / 2.0


def normcdf(x: float) -> float:
    """Φ(x)."""
    return math.erfc(-x / math.sqrt(2.0)) / 2.0


def log_normcdf(x: float) -> float:
    """log Φ(x); far to the left from Φ = φ/``normal_hazard``."""
    if x > 0.0:
        return math.log1p(-normcdf(-x))
    if x > -2.0:
        return math.log(normcdf(x))
    return -x * x / 2.0 - math.log(math.sqrt(2.0 * math.pi) * normal_hazard(x))


def normal_hazard(x: float) -> float:
    """φ(x)/Φ(x), the slope of ``log_normcdf``."""
    if x < -2.0:
        return _hazard_excess(-x) - x
    return math.exp(-x * x / 2.0) / (math.sqrt(2.0 * math.pi) * normcdf(x))


def normal_bend(x: float) -> float:
    """h(x)·(x + h(x)) with h = ``normal_hazard``, whose slope is −``normal_bend``.

    It falls from 1 to 0: 1 − ``normal_bend``(x) is the variance of a normal variable below x.
    """
    if x < -1e8:
        return 1.0
    if x < -2.0:
        excess = _hazard_excess(-x)
        return excess * (excess - x)
    hazard = normal_hazard(min(x, 40.0))
    return hazard * (min(x, 40.0) + hazard)


def _hazard_excess(t: float) -> float:
    """φ(t)/Φ(−t) − t for t ≥ 2, by Laplace's continued fraction 1/(t + 2/(t + 3/(t + …)))."""
    excess = 0.0
    for k in range(int(20.0 + 400.0 / (t * t)), 0, -1):
        excess = k / (t + excess)
    return excess


def cloglog(x: float) -> float:
    """log(1 − exp(−exp x))."""
    if x < -30.0:
        return x - math.exp(x) / 2.0
    power = bounded_exp(x)
    return math.log(-math.expm1(-power)) if x < -0.5 else math.log1p(-math.exp(-power))


def cloglog_slope(x: float) -> float:
    """u/(exp(u) − 1) with u = exp x."""
    power = bounded_exp(x)
    if power < 1e-17:
        return 1.0
    return power / math.expm1(power) if power < 700.0 else 0.0


def cloglog_rest(x: float) -> float:
    """u + u/(exp(u) − 1) − 1 with u = exp x; near 0 by Bernoulli's numbers."""
    u = bounded_exp(x)
    if u > 0.5:
        return u + cloglog_slope(x) - 1.0
    v = u * u
    tail = 1.0 / 1209600.0 - v / 47900160.0 + v * v * 691.0 / 1307674368000.0
    return u / 2.0 + v / 12.0 - v * v * (1.0 / 720.0 - v * (1.0 / 30240.0 - v * tail))


# ---- clipped quadratics: the Huber family ------------------------------------------------------


def clipped_value(q: Any, low: Any, high: Any, width: Any) -> Any:
    """sup over low ≤ v ≤ high of vq − width·v²/2: a parabola continued by its tangents."""
    if q > width * high:
        return high * (q - width * high / 2)
    if q < width * low:
        return low * (q - width * low / 2)
    return q * q / (2 * width)


def clipped_slope(q: Any, low: Any, high: Any, width: Any) -> Any:
    """The maximizing v: q/width brought into [low, high]."""
    return min(max(q / width, low), high)


def clipped_curvature(q: Any, low: Any, high: Any, width: Any) -> Any:
    """The slope of ``clipped_slope``: 1/width between the kinks, 0 beyond."""
    return 1 / width if width * low < q < width * high else 0 * q


def clipped_gap(q: Any, v: Any, low: Any, high: Any, width: Any) -> Any:
    """``clipped_value`` + width·v²/2 − vq; infinite for other v.

    A square on the parabola, a product of two non-negative factors beyond it.
    """
    if outside(v, low, high):
        return math.inf
    if q > width * high:
        return (high - v) * (q - width * (high + v) / 2)
    if q < width * low:
        return (low - v) * (q - width * (low + v) / 2)
    return (q - width * v) * (q - width * v) / (2 * width)


def clipped_descent(reach: Any, high: Any, width: Any) -> Any:
    """sup over 0 ≤ s ≤ reach of s·min((reach − s)/width, high)."""
    if reach <= 2 * width * high:
        return reach * reach / (4 * width)
    return high * (reach - width * high)


# ---- D_max -------------------------------------------------------------------------------------


def bathtub_radius(gamma: Any, rise: Any, bound: Any) -> Any:
    """The largest ∫₀^bound t·l''(t) dt when 0 ≤ l'' ≤ γ and l' rises by ``rise`` in all.

    D_l(0, a) is that integral up to a; it is largest with all curvature at the far end.
    For a loss of s − y some label puts it there, so that nothing smaller holds for all y.
    """
    length = min(rise / gamma, bound)
    return gamma * length * (2 * bound - length) / 2
