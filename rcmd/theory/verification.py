"""A bound of the expected gap, put to independent runs, with an error rate stated beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.methods.dual_ascent import Quartz
from rcmd.methods.rcmd import RCMD
from rcmd.model.bounds import Bound, asked
from rcmd.model.certificate import certify
from rcmd.model.problem import Problem
from rcmd.model.prox import ConjugateProx, ExactProx
from rcmd.rows.validation import Array
from rcmd.theory.bernstein import FAILURE_RATE, certified_mean, samples_needed
from rcmd.theory.enumeration import sampler_of, started

MOST_RUNS = 100_000
"""Runs that a verification takes on without being told how many."""

SHARE = 0.5
"""Of a bound: a mean gap of at most this part of it is certified by the runs that are planned."""


def verify(
    bound: Bound | str,
    problem: Problem,
    iterations: int,
    *,
    method: RCMD | Quartz | None = None,
    batch: int | float | None = None,
    seeds: Iterable[int] | None = None,
    error: float = FAILURE_RATE,
) -> Verification:
    """Whether E[pair_gap] is at most ``bound`` after ``iterations`` steps, from independent runs.

    No gap of a run leaves [0, span], a range that is proved; the empirical Bernstein bound of
    Maurer and Pontil then gives both ends of the expectation, each wrong with probability at most
    ``error``, whatever the distribution. ``rcmd.theory.expected_gap`` has no error, on problems
    small enough for it.

    Parameters
    ----------
    bound
        Your own, or rcmd's by name.
    problem, iterations, method, batch
        What is run, as in ``expected_gap``: ``RCMD()`` with the paper's prox by default.
    seeds
        One for each run. Left out, their number is found before the first run, so that a mean
        gap of half the bound is enough, whatever the variance.
    error
        How often each end may be wrong.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> print(verify("sublinear-energy", problem, 20, seeds=range(300)))
    'sublinear-energy' holds: E[gap] after 20 steps is in [0, 0.7982] and the bound 1.509 ...
    """
    if not 0 < error < 1:
        raise ValueError(f"error is {error!r}; expected a probability between 0 and 1")
    (claim,) = asked([bound], of=["gap"])
    if isinstance(method, RCMD) and method.sampler is not None:
        raise ValueError(
            f"method has the sampler {method.sampler!r}; expected none, as each run has a seed of "
            "its own"
        )
    if isinstance(method, RCMD) and type(method.prox) not in (type(None), ConjugateProx, ExactProx):
        raise ValueError(
            f"method has the prox {method.prox!r}, for which no range of the gap is proved; "
            "expected the paper's, or ExactProx()"
        )
    run = started(problem, iterations, method, batch)
    if why := claim.broken(run.facts):
        raise ValueError(f"bound {claim.name!r} is not about these runs: {why}")
    value, span = float(claim(run.facts.constants, int(iterations))), pathwise_span(problem)
    last = run.facts.theorem in ("linear", "exact", "quartz")
    if run.facts.theorem == "quartz" or (last and run.facts.constants.batch not in (1, problem.n)):
        span *= 2  # D(w) may fall: P(β̄) ≤ P* + span and D(w) ≥ P* − span
    if seeds is None:
        planned = samples_needed(value, span, SHARE, error) if 0 < value < span else 2
        if planned > MOST_RUNS:
            raise ValueError(
                f"bound {claim.name!r} is {value:.4g} after {iterations} steps, where gaps may be "
                f"up to {span:.4g}: that takes {planned:,} runs; expected at most {MOST_RUNS:,}, "
                "or seeds of your own: range(1000)"
            )
        seeds = range(planned)
    gaps = sampled_gaps(run, int(iterations), seeds, last)
    if len(gaps) < 2:
        raise ValueError(f"seeds hold {len(gaps)} numbers; expected at least 2, one for each run")
    upper = certified_mean(gaps, span, error)
    lower = span - certified_mean(span - gaps, span, error)
    return Verification(
        claim.name, int(iterations), len(gaps), float(gaps.mean()), max(lower, 0.0),
        min(upper, span), value, error,
    )  # fmt: skip


@dataclass(frozen=True)
class Verification:
    """What independent runs say of a bound.

    Attributes
    ----------
    name, iterations, runs
        The bound, the steps of each run, and the runs.
    mean, lower, upper
        The mean gap, and the ends between which its expectation lies.
    bound, error
        The bound, and how often each end may be wrong.
    """

    name: str
    iterations: int
    runs: int
    mean: float
    lower: float
    upper: float
    bound: float
    error: float

    @property
    def verdict(self) -> str:
        """``"holds"``, ``"broken"``, or ``"open"`` where the bound is between the ends."""
        if self.upper <= self.bound:
            return "holds"
        return "broken" if self.lower > self.bound else "open"

    def __str__(self) -> str:
        says = {"holds": "holds", "broken": "is broken", "open": "stays open"}[self.verdict]
        return (
            f"{self.name!r} {says}: E[gap] after {self.iterations:,} steps is in "
            f"[{self.lower:.4g}, {self.upper:.4g}] and the bound {self.bound:.4g} "
            f"(mean {self.mean:.4g} of {self.runs:,} runs; each end errs at most {self.error:g})"
        )


def sampled_gaps(run: Any, iterations: int, seeds: Iterable[int], last: bool) -> Array:
    """P(β̄) − D of the last w, or of w̄, of a run for each seed, by one that is set back."""
    fresh, gaps = deepcopy(run.state()), []
    for seed in seeds:
        run.load_state(deepcopy(fresh))
        sampler_of(run).rng = np.random.default_rng(seed)
        run.advance(iterations)
        beta, w_average = run.averages()
        gaps.append(float(certify(run.problem, beta, run.w if last else w_average).gap))
    return np.array(gaps)


def pathwise_span(problem: Problem) -> float:
    """(1/n) Σ_j γ_j width_j²/2, at least the gap of every run with the paper's prox and b = 1.

    The gap of an atom and of the w it was made at is (1/n) Σ_j D_{l_j}(x_jᵀβ̃, s_j), of two points
    of I_j, the interval of 0 and the predictions, of length ``width_j``. P is convex, and D is
    concave (averages) and does not decrease along coordinate steps of size 1/σ (last w). In a run
    of Quartz, too, w_j is l_j' at a point of I_j, but D may fall.
    """
    low, high = problem.prediction_ranges
    return float(problem.mean(problem.losses.gammas * (high - low) ** 2) / 2)
