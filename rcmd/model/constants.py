"""The constants of a problem, refused where they overflow, and its description in words."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.model import bounds

if TYPE_CHECKING:
    from rcmd.model.problem import Problem

ROUNDING = 2.0**-50
"""Relative error of a sum of products."""

LARGEST_SUM = 1e307
"""What sums over all rows must stay below: a double ends at 1.8e308."""

SURELY_SMALL = 1e70
"""Predictions up to this come from rows whose slopes cannot overflow, but for radii near 1e-200."""


@dataclass(frozen=True)
class Constants:
    """The constants of (P) for batches of ``batch`` rows drawn out of ``n``.

    Per-sample smoothness γ_j (weights make it differ from row to row) enters through
    the three *energies*, so that every bound stays as sharp as the data allow. Those of a problem
    that need the oracle, or many passes over the data, are found when they are first read.

    Attributes
    ----------
    n, batch
        Rows, and rows per step (b).
    gamma
        γ = max_j γ_j, the largest Lipschitz constant of a derivative l_j'.
    prediction_bound
        M = max_j M_j with M_j = max_{β ∈ dom R} |x_jᵀβ|.
    prediction_energy
        (1/n) Σ_j γ_j M_j², which is γ M̄² when all γ_j are equal.
    bregman_radius
        D_max, an upper bound of D_h(ŵ, w⁰) over all responses ŵ.
    mu
        Strong convexity μ of R in the Euclidean norm; 0 when it has none.
    row_energy
        max_j γ_j ‖x_j‖₂²; ``None`` where μ = 0 and it is not needed.
    spectral_energy
        ‖diag(√γ_j) X‖₂², the largest eigenvalue of Σ_j γ_j x_j x_jᵀ; ``None`` likewise.
    quadratic
        Whether every l_j is a quadratic function (some statements hold only then).
    start_gap
        P(β̃⁰) − D(w⁰) at w⁰ = ∇L(0) and its atom β̃⁰; ``None`` likewise, or where it is not known.
    parallel
        Whether all rows are known to be multiples of one, as where p = 1.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Ridge
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Ridge(0.5))
    >>> constants = problem.constants(batch=1)
    >>> float(constants.blocks), float(constants.sigma)  # σ = 1 + 2²/(2·½)
    (2.0, 5.0)
    """

    n: int
    batch: int
    gamma: Any
    prediction_bound: Any
    prediction_energy: Any
    bregman_radius: Any
    mu: Any
    row_energy: Any
    spectral_energy: Any
    quadratic: bool
    start_gap: Any = field(default_factory=lambda: None)  # no attribute of the class
    parallel: bool = field(default_factory=bool)

    @classmethod
    def of(cls, problem: Problem, found: dict[str, Any]) -> Constants:
        """Those of ``problem``, which finds the others by ``find_constant(name)``.

        It keeps them in ``found``, and not this object: it would be freed late, in a circle.
        """
        constants = cls.__new__(cls)
        vars(constants).update(found, _problem=problem, _found=found)
        return constants

    def __getattr__(self, name: str) -> Any:
        """A constant that is read for the first time."""
        if "_problem" not in vars(self) or name not in self.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if name not in self._found:
            self._found[name] = self._problem.find_constant(name)
        vars(self)[name] = self._found[name]
        return self._found[name]

    @property
    def blocks(self) -> Any:
        """N = n/b, the real number that takes the place of n for batches of b rows."""
        return type(self.gamma)(self.n) / self.batch

    def sigma_of(self, energy: Any) -> Any:
        """1 + energy/(n μ): relative smoothness of −D along directions of that energy."""
        return 1 + energy / (self.n * self.mu)

    @property
    def sigma_printed(self) -> Any:
        """σ = 1 + γ max‖x_j‖²/(n μ) of Proposition 3.7: right for b = 1 only."""
        return self.sigma_of(self.row_energy)

    @property
    def sigma(self) -> Any:
        """σ_b, the expected relative smoothness of −D for batches drawn without replacement.

        σ_b = 1 + [ (n−b)/(n−1) max_j γ_j‖x_j‖² + (b−1)/(n−1) ‖diag(√γ)X‖₂² ] / (n μ);
        b = 1 gives the paper's σ, b = n the deterministic constant. For n = 1 both
        energies agree.
        """
        if self.batch == 1:
            return self.sigma_printed
        share = type(self.gamma)(self.batch - 1) / (self.n - 1)
        return self.sigma_of((1 - share) * self.row_energy + share * self.spectral_energy)

    @property
    def sigma_full(self) -> Any:
        """s_n = 1 + ‖diag(√γ)X‖₂²/(n μ): relative smoothness of −D in every direction."""
        return self.sigma_of(self.spectral_energy)


def refuse_huge_labels(problem: Problem) -> None:
    """Refuse labels, weights and offsets whose losses overflow at the prediction 0."""
    y, own = problem.losses.y, (problem.losses.weights, problem.losses.offset)
    if all(part is None or abs(part).max() <= SURELY_SMALL for part in (y, *own)):
        return
    with np.errstate(over="ignore"):
        start = abs(problem.losses.value(0 * y))
    if not start.max() < LARGEST_SUM / problem.n:
        raise ValueError(
            f"y holds {y[start.argmax()]:.3g}, where {problem.loss!r} at the prediction 0 is "
            f"{start.max():.3g}; expected losses whose sum is below {LARGEST_SUM:g}: divide y by a "
            "power of ten (X and offset too, to have the same β), or take a loss that grows "
            "linearly"
        )


def refuse_overflow(problem: Problem) -> None:
    """Refuse data for which P, D or their gradients overflow somewhere on dom R."""
    losses, reach = problem.losses, problem.prediction_bounds
    with np.errstate(over="ignore", invalid="ignore"):
        largest: Any = math.inf
        if not losses.unbounded:
            largest = np.maximum(*(abs(end) for end in losses.domain))
            if reach.max() * largest.max() <= SURELY_SMALL:
                return
        gammas, top = losses.gammas, reach.max()
        if not problem.spread:  # else the mean slope is everybody's
            steepest = math.sqrt(problem.n) * problem.start_slope + gammas.max() * top
            if top * steepest <= SURELY_SMALL:
                return
        steepest = abs(losses.derivative(0 * losses.y)) + gammas * reach
        steepest = np.minimum(steepest, largest)
        terms = float((reach * steepest).max())
        if terms <= SURELY_SMALL:
            return
        slopes = float((problem.rows.max_norms() * steepest).max())
    # NaN, the fault of a loss, is refused by the engines.
    if problem.n * max(terms, slopes) > LARGEST_SUM:
        raise ValueError(
            f"predictions reach {reach.max():.3g} on dom R and the losses' derivatives "
            f"{steepest.max():.3g}, so that P or its gradient overflows; expected products below "
            f"{LARGEST_SUM:g}: divide X by a power of ten, and multiply the radius by it to have "
            "the same predictions"
        )


def coefficient_names(p: int, columns: tuple[str, ...] | None, intercept: bool) -> tuple[str, ...]:
    """A name for each entry of β: its column's, else β1, β2, …; the intercept's is its own.

    >>> coefficient_names(3, None, True), coefficient_names(2, ("age", "bmi"), False)
    (('β1', 'β2', 'intercept'), ('age', 'bmi'))
    """
    features = p - intercept
    names = tuple(f"β{i + 1}" for i in range(features)) if columns is None else columns
    return (*names, "intercept") if intercept else names


@dataclass(frozen=True)
class Summary:
    """What a problem is, in words and numbers, without its data.

    Attributes
    ----------
    n, p, batch
        Rows, variables, and the rows per step for which the constants hold.
    weighted, shifted
        Whether the samples have weights ω_j, and offsets o_j.
    loss, regularizer
        The formulas of l and R.
    constants
        Letter, meaning and value of each.
    columns, intercept
        The names of the features, where a data frame had them; whether there is an intercept.
    fields
        The names of what the loss reads of each sample beside its label.
    """

    n: int
    p: int
    batch: int
    weighted: bool
    loss: str
    regularizer: str
    constants: tuple[tuple[str, str, float], ...]
    shifted: bool = False
    columns: tuple[str, ...] | None = None
    intercept: bool = False
    fields: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each entry of β."""
        return coefficient_names(self.p, self.columns, self.intercept)

    def formulas(self) -> tuple[str, ...]:
        """(P), (D), l and R, a line each."""
        weight, offset = "ω_j " * self.weighted, " + o_j" * self.shifted
        known = ("y", *self.fields)
        terms = f"{weight}l(x_jᵀβ{offset}; {', '.join(f'{name}_j' for name in known)})"
        conjugates = "[l_j*(w_j) − o_j w_j]" if self.shifted else "l_j*(w_j)"
        return (
            f"(P)  min over β ∈ R^{self.p} of  1/n Σ_j {terms} + R(β),  n = {self.n}",
            f"(D)  max over w ∈ R^n of  −R*(−Xᵀw/n) − 1/n Σ_j {conjugates}",
            f"     l(s; {', '.join(known)}) = {self.loss}",
            f"     R(β)    = {self.regularizer}",
        )


def summarize(problem: Problem, batch: int, *, found: bool = False) -> Summary:
    """The summary of ``problem`` for batches of so many rows; M, E, D_max and σ_b where known.

    With ``found``, E and D_max, which only bounds need, are there if they were found before.
    """
    constants = problem.constants(batch)
    rows = [("γ", "smoothness of the losses", constants.gamma)]
    ranges = (
        ("M", "largest |x_jᵀβ| over dom R", "prediction_bound"),
        ("E", "(1/n) Σ γ_j M_j², at most γM²", "prediction_energy"),
        ("D_max", "Bregman radius of the responses", "bregman_radius"),
    )
    if problem.knows_ranges:
        wanted = [row for row in ranges if row[0] == "M" or not found or row[2] in vars(constants)]
        rows += [(letter, words, getattr(constants, name)) for letter, words, name in wanted]
    rows.append(("μ", "strong convexity of R", constants.mu))
    if constants.mu > 0 and (batch == 1 or "spectral_energy" in vars(constants)):
        rows.append(("σ_b", "relative smoothness for these batches", constants.sigma))
    return Summary(
        n=problem.n,
        p=problem.p,
        batch=batch,
        weighted=problem.losses.weights is not None,
        loss=problem.loss.formula,
        regularizer=problem.oracle.describe(),
        constants=tuple((name, meaning, float(value)) for name, meaning, value in rows),
        shifted=problem.losses.offset is not None,
        columns=problem.columns,
        intercept=problem.intercept is not None,
        fields=tuple(problem.loss.reads),
    )


def describe(problem: Problem, batch: int, theorem: bounds.Kind | None) -> str:
    """The text of ``Problem.describe``."""
    constants, _ = problem.constants(batch), problem.prediction_bounds  # asked for: at any cost
    constants.spectral_energy  # noqa: B018 (found once and kept)
    summary = summarize(problem, batch)
    parts = (
        *summary.formulas(),
        "Assumption 1.1",
        *_assumption(problem, constants),
        f"Constants, for batches of {batch} out of {problem.n} rows (N = n/b)",
        *(f"  {name:<6}{_show(value):<12}{meaning}" for name, meaning, value in summary.constants),
        "Theorems",
        *_theorems(problem, constants, theorem or ("linear" if constants.mu > 0 else "sublinear")),
    )
    return "\n".join(parts)


def _assumption(problem: Problem, constants: Constants) -> tuple[str, ...]:
    said = {part: "holds" if word == "proved" else word for part, word in problem.grounds.items()}
    strict = said["loss"]
    if not problem.loss.strictly_convex:
        weaker = "convex, not strictly: s-form only"
        strict = weaker if strict == "holds" else f"{strict}; {weaker}"
    zero = not math.isinf(problem.oracle.value(problem.rows.zero()))
    bounded = math.isfinite(constants.prediction_bound)
    return (
        _line("(1) l is γ-smooth and strictly convex", f"{strict}, γ = {_show(constants.gamma)}"),
        *((f"      {problem.loss.note}",) if problem.loss.note else ()),
        _line(
            "(2) dom R is bounded, the oracle attains its minimum",
            f"{said['oracle']}, |x_jᵀβ| ≤ {_show(constants.prediction_bound)}"
            if bounded
            else "FAILS",
        ),
        _line("(3) 0 ∈ dom R", "holds" if zero else "fails, and no proof needs it"),
        _line("(–) R is proper and convex", f"{said['oracle']}; the paper omits it"),
        _line("(–) what certificates rest on", problem.ground_text),
    )


STEPS: dict[bounds.Kind, str] = {
    "sublinear": "Theorem 3.1's schedule and bound",
    "head-start": "the schedule of HeadStart and its bounds",
    "linear": "Theorem 3.2's schedule, with corrected bounds",
    "exact": "exact coordinate steps and the bounds of Theorem I",
    "quartz": "the steps of Quartz and their bound",
}


def _theorems(problem: Problem, constants: Constants, kind: bounds.Kind) -> tuple[str, ...]:
    lines = [f"  R is {'' if constants.mu > 0 else 'not '}strongly convex: {STEPS[kind]}"]
    if why := bounds.why_none(bounds.RunFacts.of(problem, constants, theorem=kind)):
        return (*lines, f"  no bound: {why}")
    # As in a run, nothing is said that rounding would hide.
    shown: dict[str, bounds.Bound] = {}
    floor = ROUNDING * float(problem.mean(abs(problem.losses.value(0 * problem.losses.y))))
    for passes in (1, 10, 100, 1000):
        steps = math.ceil(passes * constants.blocks)
        bound, value = bounds.best(constants, steps, kind)
        after = f"after {passes} pass{'es' if passes > 1 else ''}"
        lines.append(_line(f"{after}, {bound.what} ≤", f"{max(value, floor):.4g}  ({bound.name})"))
        shown[bound.name] = bound
    words = (
        textwrap.wrap(bound.described(), 76, break_on_hyphens=False) for bound in shown.values()
    )
    return (*lines, *("\n    ".join([f"  {first}", *more]) for first, *more in words))


def _line(left: str, right: str) -> str:
    return f"  {left + ' ':.<52} {right}"


def _show(value: Any) -> str:
    return f"{float(value):.6g}"
