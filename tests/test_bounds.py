"""The bounds against exact fractions, many-digit arithmetic and whole enumerated runs."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from rcmd.bounds import Bound, Verdict, all_bounds, best, named, valid
from rcmd.constants import Constants

F = Fraction
NAMES = [bound.name for bound in all_bounds()]
LINEAR = [bound.name for bound in all_bounds() if bound.schedule == "linear"]


def make(**changes: Any) -> Constants:
    """Return rational constants of a problem with n = 6, b = 1 and unequal energies."""
    values: dict[str, Any] = {
        "n": 6,
        "batch": 1,
        "gamma": F(2),
        "prediction_bound": F(3),
        "prediction_energy": F(10),
        "bregman_radius": F(4),
        "mu": F(1, 2),
        "row_energy": F(3),
        "spectral_energy": F(11),
        "quadratic": False,
    }
    return Constants(**(values | changes))


# The logistic problem that refutes Theorem 3.2's first inequality: D_max = ln 2, σ = 9/8.
CE1 = Constants(2, 1, 0.25, 10.0, 25.0, math.log(2), 1.0, 0.25, 0.5, False)
CASES = [
    make(),
    make(batch=2),
    make(batch=4),  # N = 3/2
    make(batch=6),
    make(quadratic=True),
    make(quadratic=True, batch=3),
    make(n=1, spectral_energy=F(3)),
    make(mu=F(1, 1000), row_energy=F(5), spectral_energy=F(29)),
    make(mu=F(50)),
]


# ---- the right-hand sides, written once more from the paper, in fractions ----------------------


def exact(name: str, c: Constants, t: int) -> Any:
    """Return the right-hand side in fractions; roots and logarithms by mpmath."""
    blocks, k = F(c.n, c.batch), t - 1
    printed, energy = c.gamma * c.prediction_bound**2, c.prediction_energy
    radius = min(c.bregman_radius, energy / 2)
    weights = [2 * blocks + i for i in range(k + 1)]
    total, before = sum(weights), blocks * (2 * blocks - 1)
    after = before + total

    def root(x: F) -> Any:
        return mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)

    if name in ("theorem-3.1-first", "theorem-3.1-second", "sublinear-energy"):
        big = energy if name == "sublinear-energy" else printed
        small = {"theorem-3.1-first": c.bregman_radius, "sublinear-energy": radius}.get(name, big)
        return (4 * blocks * big * (k + 1) + before * small) / total
    if name == "sublinear-by-hand":
        noise = 2 * energy * (blocks - 1) * sum(g * g for g in weights) / (after * total)
        return (root(exact("sublinear-energy", c, t)) + root(noise)) ** 2
    if name == "sublinear-pathwise":
        return 2 * energy
    if name in ("sublinear-dual", "sublinear-sharp"):
        logarithm = mpmath.log(1 + mpmath.mpf(t) / (2 * blocks.numerator) * blocks.denominator)
        scale = mpmath.mpf(blocks.numerator) / blocks.denominator
        drift = scale * energy.numerator / energy.denominator
        drift *= t + 2 * scale * logarithm + 2.5 * scale
        tail = before * radius
        drift_tail = drift + mpmath.mpf(tail.numerator) / tail.denominator
        whole = mpmath.mpf(total.numerator) / total.denominator
        if name == "sublinear-dual":
            return drift_tail / whole
        noise = (scale - 1) * (whole * energy.numerator / energy.denominator + 2 * drift)
        noise /= 2 * scale + t
        return (mpmath.sqrt(drift_tail) + mpmath.sqrt(noise)) ** 2 / whole

    share = F(c.batch - 1, max(c.n - 1, 1))
    mixed = (1 - share) * c.row_energy + share * c.spectral_energy
    as_printed = name.startswith(("theorem", "remark"))
    sigma = 1 + (c.row_energy if as_printed else mixed) / (c.n * c.mu)
    full = 1 + c.spectral_energy / (c.n * c.mu)
    size = blocks * sigma
    growth = (size / (size - 1)) ** t - 1
    ascent = (blocks - 1) / (size - 1) * energy / 2
    shrink = (1 - 1 / size) ** t
    if name == "linear-energy":
        hand = (root((1 + 1 / sigma) / growth) + root((1 - 1 / blocks) / (sigma - 1))) ** 2
        extra = max(F(0), (blocks - 1) * (2 - blocks)) / (size - 1)
        ratio = (size + extra) / growth
        least = min(mpmath.mpf(ratio.numerator) / ratio.denominator, hand)
        return least * energy.numerator / energy.denominator / 2
    return {
        "theorem-3.2-first": c.bregman_radius / growth,
        "theorem-3.2-second": printed / growth,
        "remark-3.4-first": c.bregman_radius / growth,
        "remark-3.4-second": printed / growth,
        "corollary-3.2": size * shrink * c.bregman_radius,
        "corollary-energy": size * shrink * energy,
        "linear-quadratic": radius / growth,
        "linear-any-loss": full * (radius + ascent) / growth,
        "linear-conjecture": (radius + ascent) / growth,
        "linear-uniform": min(F(2), sigma / (2 * (sigma - 1))) * energy,
        "linear-dual": shrink * (energy / 2 + sigma * radius),
    }[name]


def agrees(value: Callable[[Constants, int], float], name: str) -> None:
    """Assert that ``value`` is the bound of that name, to the last digits."""
    for c, t in itertools.product(CASES, (1, 2, 3, 7, 40)):
        if named(name).applies(c):
            assert value(c, t) == pytest.approx(float(exact(name, c, t)), rel=2e-13), (c, t)


@pytest.mark.parametrize("name", NAMES)
def test_every_bound_agrees_with_its_fraction(name: str) -> None:
    agrees(named(name), name)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("sublinear-pathwise", "linear-uniform")])
def test_a_step_too_many_or_too_few_is_caught(name: str) -> None:
    bound = named(name)
    for shift in (-1, 1):
        with pytest.raises(AssertionError):
            agrees(lambda c, t, s=shift: bound.value(c, bound._index(c, t) + s + 10) if t == 0 else bound(c, max(1, t + s)), name)


BATCHED = [n for n in NAMES if not n.startswith(("theorem-3.2", "corollary-3.2", "sublinear-path"))]


@pytest.mark.parametrize("name", BATCHED)
def test_n_in_the_place_of_n_over_b_is_caught(name: str) -> None:
    bound = named(name)
    with pytest.raises(AssertionError):
        agrees(lambda c, t: bound.value(replace(c, batch=1), bound._index(c, t)), name)
