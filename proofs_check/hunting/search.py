"""Random restarts and a local search for the largest E[gap]/bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from proofs_check.exact.paths import expectation, levels
from proofs_check.hunting.drawing import Shape, draw_shape
from proofs_check.hunting.enumeration import Means, enumerate_runs
from proofs_check.hunting.facts import Facts
from proofs_check.hunting.instance import Instance
from proofs_check.hunting.theorems import Theorem

SCOUTS, LOCAL_EVALUATIONS = 20, 120
"""Problems drawn at a restart, the best of which begins a local search; and its length."""

SMALLEST_STEP = 1e-4
LARGEST = 4
"""In size, of a coordinate of the search: numbers from 1/400 to 400."""

PRINTED_DIGITS = 6
WORKING_DIGITS = 50
FINALISTS = 5
"""Best instances of the float64 search that are evaluated again to 50 digits."""


@dataclass(frozen=True)
class Catch:
    """The worst instance found, evaluated to 50 digits."""

    theorem: Theorem
    instance: Instance
    gap: Any
    bound: Any
    ratio: Any
    evaluations: int

    @property
    def violates(self) -> bool:
        """Whether E[gap] exceeds the bound; equality, which some attain, may round up.

        The difference of two numbers of 50 digits is exact in any working precision.
        """
        return bool(self.gap - self.bound > 1e-30 * self.bound)


@dataclass(frozen=True)
class _Found:
    ratio: float
    shape: Shape
    point: Any


def hunt(
    theorem: Theorem,
    rng: np.random.Generator,
    *,
    evaluations: float = math.inf,
    seconds: float = math.inf,
    watch: Callable[[int, float], None] = lambda evaluations, ratio: None,
) -> Catch:
    """Search until one of the budgets ends and some problem was not masked.

    What is found depends on the generator and on the number of evaluations alone; ``watch`` is
    told that number and the largest ratio so far.
    """
    if evaluations < 1:
        raise ValueError(f"evaluations is {evaluations}; expected at least 1")
    end = time.perf_counter() + seconds
    done = 0
    best: list[_Found] = []
    for found in _search(theorem, rng):
        done += 1
        best = _best_of_each_shape([*best, found])
        watch(done, best[0].ratio)
        over = done >= evaluations or time.perf_counter() >= end
        if over and best[0].ratio > -math.inf:
            break
    catch = confirmed(theorem, best[0].shape.instance(best[0].point), done)
    for found in best[1:]:
        if found.ratio > catch.ratio:  # else the first was no fake of rounding
            other = confirmed(theorem, found.shape.instance(found.point), done)
            catch = max(catch, other, key=lambda one: one.ratio)
    return catch


def confirmed(theorem: Theorem, instance: Instance, evaluations: int) -> Catch:
    """The instance with short numbers, its ratio by the exact engine to 50 digits."""
    short = instance.rounded(PRINTED_DIGITS)
    with mpmath.workdps(WORKING_DIGITS):
        facts = Facts(short, lambda x: mpmath.mpf(repr(float(x))))
        means = exact_means(facts, theorem)
        gap, bound = theorem.gap(means), theorem.bound(facts, means)
        return Catch(theorem, short, gap, bound, gap / bound, evaluations)


def exact_means(facts: Facts, theorem: Theorem) -> Means:
    """All runs, one after the other, in the number type of ``facts``."""
    instance, problem = facts.instance, facts.problem
    *_, paths = levels(problem, theorem.steps(facts), instance.batch, instance.steps)
    return Means(
        expectation(paths, lambda path: path.gap()),
        expectation(paths, lambda path: path.last_gap()),
        expectation(paths, lambda path: problem.dual(path.w[-1]) - problem.dual(path.w[0])),
    )


def ratio(theorem: Theorem, instance: Instance) -> float:
    """E[gap]/bound in float64; −∞ where rounding would decide."""
    facts = Facts(instance, float)
    if theorem.masked(facts):
        return -math.inf
    means = enumerate_runs(instance, theorem.steps(facts))
    bound = float(theorem.bound(facts, means))
    scale = float(facts.gamma * facts.M**2)
    return float(theorem.gap(means)) / bound if bound > 1e-9 * scale else -math.inf


def _search(theorem: Theorem, rng: np.random.Generator) -> Iterator[_Found]:
    """One evaluation after the other, without end; every third restart goes on from the best."""
    best: _Found | None = None
    restart = 0
    while True:
        restart += 1
        if best is None or restart % 3:
            scouts = []
            for _ in range(SCOUTS):
                shape = draw_shape(theorem, rng)
                scouts.append(_found(theorem, shape, rng.normal(size=shape.size)))
                yield scouts[-1]
            here, step = max(scouts, key=lambda found: found.ratio), 0.5
        else:
            here, step = best, 0.3
        for _ in range(LOCAL_EVALUATIONS):
            moves = rng.normal(size=here.shape.size) * (rng.random(here.shape.size) < 0.5)
            point = np.clip(here.point + step * moves, -LARGEST, LARGEST)
            there = _found(theorem, here.shape, point)
            yield there
            better = there.ratio > here.ratio
            here = there if better else here
            step = max(step * (1.6 if better else 0.9), SMALLEST_STEP)
        best = here if best is None or here.ratio > best.ratio else best


def _found(theorem: Theorem, shape: Shape, point: Any) -> _Found:
    return _Found(ratio(theorem, shape.instance(point)), shape, point)


def _best_of_each_shape(found: list[_Found]) -> list[_Found]:
    """The finalists, of different shapes, the best first."""
    chosen: list[_Found] = []
    for one in sorted(found, key=lambda one: -one.ratio):
        if one.shape not in [other.shape for other in chosen]:
            chosen.append(one)
    return chosen[:FINALISTS]
