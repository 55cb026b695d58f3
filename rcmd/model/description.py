"""A problem in words: its formulas, Assumption 1.1 part by part, constants, theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rcmd.model import bounds
from rcmd.model.constants import Constants

if TYPE_CHECKING:
    from rcmd.model.problem import Problem


@dataclass(frozen=True)
class Summary:
    """What a problem is, in words and numbers, without its data.

    Attributes
    ----------
    n, p, batch
        Rows, variables, and the rows per step for which the constants hold.
    weighted
        Whether the samples have weights ω_j.
    loss, regularizer
        The formulas of l and R.
    constants
        Letter, meaning and value of each.
    """

    n: int
    p: int
    batch: int
    weighted: bool
    loss: str
    regularizer: str
    constants: tuple[tuple[str, str, float], ...]

    def formulas(self) -> tuple[str, ...]:
        """(P), (D), l and R, a line each."""
        weight = "ω_j " if self.weighted else ""
        return (
            f"(P)  min over β ∈ R^{self.p} of  1/n Σ_j {weight}l(x_jᵀβ; y_j) + R(β),  n = {self.n}",
            "(D)  max over w ∈ R^n of  −R*(−Xᵀw/n) − 1/n Σ_j l_j*(w_j)",
            f"     l(s; y) = {self.loss}",
            f"     R(β)    = {self.regularizer}",
        )


def summarize(problem: Problem, batch: int) -> Summary:
    """The summary of ``problem`` for batches of so many rows."""
    return Summary(
        n=problem.n,
        p=problem.p,
        batch=batch,
        weighted=problem.losses.weights is not None,
        loss=problem.loss.formula,
        regularizer=problem.oracle.describe(),
        constants=_constants(problem.constants(batch)),
    )


def describe(problem: Problem, batch: int) -> str:
    """The text of ``Problem.describe``."""
    constants, summary = problem.constants(batch), summarize(problem, batch)
    parts = (
        *summary.formulas(),
        "Assumption 1.1",
        *_assumption(problem, constants),
        f"Constants, for batches of {batch} out of {problem.n} rows (N = n/b)",
        *(f"  {name:<6}{_show(value):<12}{meaning}" for name, meaning, value in summary.constants),
        "Theorems",
        *_theorems(constants),
    )
    return "\n".join(parts)


def _assumption(problem: Problem, constants: Constants) -> tuple[str, ...]:
    strict = "holds" if problem.loss.strictly_convex else "convex, not strictly: s-form only"
    zero = not math.isinf(problem.oracle.value(problem.rows.zero()))
    bounded = math.isfinite(constants.prediction_bound)
    return (
        _line("(1) l is γ-smooth and strictly convex", f"{strict}, γ = {_show(constants.gamma)}"),
        *((f"      {problem.loss.note}",) if problem.loss.note else ()),
        _line(
            "(2) dom R is bounded, the oracle attains its minimum",
            f"holds, |x_jᵀβ| ≤ {_show(constants.prediction_bound)}" if bounded else "FAILS",
        ),
        _line("(3) 0 ∈ dom R", "holds" if zero else "fails, and no proof needs it"),
        _line("(–) R is proper and convex", "taken on trust from the oracle; the paper omits it"),
    )


def _constants(constants: Constants) -> tuple[tuple[str, str, float], ...]:
    rows = [
        ("γ", "smoothness of the losses", constants.gamma),
        ("M", "largest |x_jᵀβ| over dom R", constants.prediction_bound),
        ("E", "(1/n) Σ γ_j M_j², at most γM²", constants.prediction_energy),
        ("D_max", "Bregman radius of the responses", constants.bregman_radius),
        ("μ", "strong convexity of R", constants.mu),
    ]
    if constants.mu > 0:
        rows.append(("σ_b", "relative smoothness for these batches", constants.sigma))
    return tuple((name, meaning, float(value)) for name, meaning, value in rows)


def _theorems(constants: Constants) -> tuple[str, ...]:
    linear = constants.mu > 0
    verdict = (
        "R is strongly convex: Theorem 3.2's schedule, with corrected bounds"
        if linear
        else "R is not strongly convex: Theorem 3.1's schedule and bound"
    )
    kind: bounds.Kind = "linear" if linear else "sublinear"
    lines = [f"  {verdict}"]
    if not bounds.valid(constants, 1, kind):
        return (*lines, "  no bound: the constants are too large for a floating-point number")
    for passes in (1, 10, 100, 1000):
        steps = math.ceil(passes * constants.blocks)
        bound, value = bounds.best(constants, steps, kind)
        after = f"after {passes} pass{'es' if passes > 1 else ''} over the data"
        lines.append(_line(f"{after}, {bound.what} ≤", f"{value:.4g}  ({bound.name})"))
    return tuple(lines)


def _line(left: str, right: str) -> str:
    return f"  {left + ' ':.<62} {right}"


def _show(value: Any) -> str:
    return f"{float(value):.6g}"
