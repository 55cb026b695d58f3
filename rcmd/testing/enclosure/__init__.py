"""A rigorous second opinion: the gap of a pair (β, w) as an enclosure, in ball arithmetic.

``verify`` needs nothing of rcmd but the numbers: data are read as exact doubles, ``sums`` are plain
loops, l, R and R* come from the tables in ``losses`` (``expressions``) and ``oracles``, which are
written from the mathematics, l* from l, and ``balls`` are python-flint's, with the error of every
operation.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from rcmd.model.problem import Problem, check_problem
from rcmd.rows.validation import check_kind, pip_install
from rcmd.solver.result import Result

BITS = (128, 256, 512, 1024)
"""Precisions, tried in turn."""

SHARE = 1e-3
"""Share of the gap that its enclosure may be wide."""


@dataclass(frozen=True)
class Enclosure:
    """What is proved about a pair (β, w), and what was stated.

    Attributes
    ----------
    primal, dual, gap
        Lower and upper bounds of P(β), D(w) and P(β) − D(w) ≥ P(β) − P*, at the points next to
        the saved ones that lie in dom R and in dom l*.
    moved
        How far β was moved into dom R, in its largest entry.
    stated
        The gap that the result states.
    rounding
        What a stated gap may miss: by 2⁻⁵⁰ of the terms of Xβ, Xᵀw and its own sums, which is
        the rounding of floats, and by the move of β if it was outside by 1e-10 or less.
    assumes
        What is taken for granted; empty for what rcmd ships.
    fault
        What is wrong beside the gap: β outside dom R by more than 1e-10, a P(β) that is stated too
        low or a D(w) too high; empty if nothing is.
    bits, seconds
        The precision, and the time it took.
    """

    primal: tuple[float, float]
    dual: tuple[float, float]
    gap: tuple[float, float]
    moved: float
    stated: float
    rounding: float
    assumes: str
    fault: str
    bits: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether something is proved, and nothing that is stated is better than that."""
        enough = self.stated + self.rounding >= self.gap[0]
        return math.isfinite(self.gap[1]) and not self.fault and enough

    def __str__(self) -> str:
        if not math.isfinite(self.gap[1]):
            return "Nothing is proved: D(w) or P(β) may be infinite next to this pair."
        low, high = _rounded(self.gap[0], ROUND_FLOOR), _rounded(self.gap[1], ROUND_CEILING)
        given = f" if {self.assumes}" if self.assumes else ""
        wrong = self.fault or f"the gap of the pair is at least {low}"
        verdict = "which holds" if self.holds else f"WRONG: {wrong}"
        moved = f"by at most {_rounded(self.moved, ROUND_CEILING)} to lie in dom R exactly"
        return (
            f"The suboptimality is at most {high}, proved{given} ({self.bits} bits, "
            f"{self.seconds:.3g} s).\nThe result states a gap of {self.stated:.4g}, {verdict}."
            + (f"\nThat is said of β moved {moved}." if self.moved > 0 else "")
        )


def verify(result: Result, problem: Problem) -> Enclosure:
    """Recompute the gap of ``result`` for ``problem`` rigorously, from the data and the pair alone.

    β is moved into dom R and w into dom l* first, where they miss them by rounding. Losses and
    oracles of your own are refused, and so are ``CvxpyOracle`` and rows known by products alone.
    Needs python-flint: ``pip install 'rcmd-opt[verify]'``.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic, Problem, solve, verify
    >>> problem = Problem([[1.0, 2.0], [0.5, -1.0]], [1.0, -1.0], Logistic(), L1Ball(1.0))
    >>> found = verify(solve(problem, tol=1e-6), problem)
    >>> found.holds, found.gap[0] <= found.gap[1] <= 1e-6
    (True, True)
    >>> print(found)  # doctest: +ELLIPSIS
    The suboptimality is at most ..., proved (128 bits, ... s).
    The result states a gap of ..., which holds.
    """
    started = time.perf_counter()
    check_kind("result", result, Result, "a Result, as solve and load_result return")
    check_problem(problem)
    _check_same(result, problem)
    try:
        from flint import ctx

        from rcmd.testing.enclosure.sums import enclosed
    except ImportError:
        raise ImportError(
            "verify needs the package python-flint, which is not installed; expected it to be: "
            f"{pip_install('verify')}"
        ) from None
    width = math.inf
    for bits in BITS:
        with ctx.workprec(bits):
            found = enclosed(result, problem)
        low, high = found["gap"]
        if high < math.inf and (high - low <= SHARE * high or not high - low < width / 2):
            break
        width = high - low
    primal, dual, rounding = found["primal"][0], found["dual"][1], found["rounding"]
    if found.pop("outside"):
        fault = "β lies outside dom R, where P is infinite"
    elif not result.primal >= primal - rounding:
        fault = f"P(β) is at least {_rounded(primal, ROUND_FLOOR)}, and not {result.primal:.4g}"
    elif not result.dual <= dual + rounding:
        fault = f"D(w) is at most {_rounded(dual, ROUND_CEILING)}, and not {result.dual:.4g}"
    else:
        fault = ""
    seconds = time.perf_counter() - started
    return Enclosure(**found, fault=fault, stated=float(result.gap), bits=bits, seconds=seconds)


def _check_same(result: Result, problem: Problem) -> None:
    """Refuse a result of another problem, as far as one can see."""
    if problem.spread:
        raise ValueError("problem has rows on other processes; expected a Problem with all rows")
    told = {"w": (problem.n,), "beta": problem.rows.zero().shape}
    for name, shape in told.items():
        if getattr(result, name).shape != shape:
            raise ValueError(
                f"{name} of result has shape {getattr(result, name).shape}; expected {shape}: it "
                "is the result of another problem"
            )
    about = result.about
    if about is not None:
        here = {"loss": problem.loss.formula, "regularizer": problem.oracle.describe()}
        for name, formula in here.items():
            if getattr(about, name) != formula:
                raise ValueError(
                    f"result was found with the {name} {getattr(about, name)} and problem has "
                    f"{formula}; expected the same problem"
                )


def _rounded(number: float, way: str) -> str:
    """Four digits, rounded up or down."""
    return f"{float(Context(prec=4, rounding=way).create_decimal(Decimal(number))):.4g}"
