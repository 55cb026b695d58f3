"""Non-smooth minimization by randomized coordinate mirror descent, as in the paper's appendix."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates.base import SeparableConjugate
from rcmd.model import bounds as theory
from rcmd.model.problem import Problem
from rcmd.oracles.base import LinearMinOracle
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import Array, as_array, check_kind, checked_numbers
from rcmd.solver.result import Result
from rcmd.solver.solve import check_amount, solve

Subgradients = Callable[[Array], tuple[Any, Array]]

ROUNDING = 1e-9
"""What a subgradient may exceed its bound by, or f̄ fall below a cut, relative to the terms."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """What ``minimize`` found.

    Attributes
    ----------
    w, value
        The point and f(w).
    lower_bound
        A number that f* is not below, proved by the subgradients seen.
    expected_error
        What E[f(w̄^k)] − f* is at most, by the theorem, after the last of the run's steps.
    result
        The run, on the pair whose dual is −f/n.
    """

    w: Array
    value: float
    lower_bound: float
    expected_error: float
    result: Result

    @property
    def gap(self) -> float:
        """f(w) − f* is at most this, certified."""
        return len(self.w) * float(self.result.gap)


def minimize(
    f_bar: Subgradients,
    bounds: Any,
    tau: SeparableConjugate,
    y: Any,
    *,
    weights: Any = None,
    batch: int | float = 1,
    tol: float = 1e-4,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    seed: int | np.random.Generator = 0,
) -> Minimum:
    """Minimize f(w) = f̄(w) + Σ_j τ_j(w_j), f̄ convex and not smooth, a coordinate at a time.

    A step moves one random coordinate by a subgradient g of f̄ at w,

        τ_j'(w_j⁺) = (1 − η)τ_j'(w_j) − η g_j,        η = 2n/(2n + i + 1).

    For the average w̄ of Theorem 3.1, E[f(w̄^k)] − f* ≤ 2n ΣG_j²/(m(4n + k)) (1 + O(n log(k)/k)),
    m the strong convexity of the τ_j: the bound ``"sublinear-dual"`` of ``rcmd.bounds``. It needs
    f̄ convex, which the paper does not say; that the τ_j be differentiable, which it does not
    say either, is needed where w is the state, and not here, where τ_j'(w_j) is.

    The averaged subgradients carry a certificate: a subgradient g at v has
    f̄*(g) = gᵀv − f̄(v), and f̄* is convex.

    Parameters
    ----------
    f_bar
        A function of w that returns f̄(w) and one subgradient there.
    bounds
        G, a number or one for each coordinate: no subgradient's j-th entry exceeds G_j in size.
    tau
        The pair (l, l*) with τ_j = l*(·; y_j), strongly convex as l is smooth; ``LeastSquares()``
        is τ_j(w) = w²/2 + y_j w.
    y
        n numbers, the labels of ``tau``.
    weights
        Optional ω_j > 0, for τ_j(w) = ω_j l*(w/ω_j; y_j).
    batch, max_iterations, max_seconds, seed
        As in ``rcmd.solve``; n is the number of coordinates.
    tol
        Stop when f(w) − f* is certified to be at most this.

    Examples
    --------
    min |w − 3| + w²/2 is 2.5, at w = 1:

    >>> from rcmd import LeastSquares
    >>> from rcmd.applications.nonsmooth import minimize
    >>> def distance(w):
    ...     return abs(w[0] - 3.0), np.sign(w - 3.0)
    >>> found = minimize(distance, 1.0, LeastSquares(), [0.0], tol=1e-6)
    >>> found.w.round(3), round(found.value, 6), found.gap <= 1e-6
    (array([1.]), 2.5, True)
    """
    problem = as_dual(f_bar, bounds, tau, y, weights=weights)
    n = problem.n
    check_amount("tol", tol, "a number ≥ 0")
    result = solve(
        problem,
        batch=batch,
        tol=tol / n,
        max_iterations=max_iterations,
        max_seconds=max_seconds,
        seed=seed,
        method="rcmd",
    )
    bound = theory.named("sublinear-dual")(problem.constants(batch), result.nit)
    return Minimum(
        w=result.w,
        value=-n * float(result.dual),
        lower_bound=-n * float(result.primal),
        expected_error=n * bound,
        result=result,
    )


def as_dual(
    f_bar: Subgradients, bounds: Any, tau: SeparableConjugate, y: Any, *, weights: Any = None
) -> Problem:
    """The pair whose dual objective is −f/n, for ``rcmd.iterate`` and ``method="rcmd"``.

    X = −I, l_j = τ_j* and R = f̄*/n, so that the atom at c = −w/n is a subgradient of f̄ at w.
    (The paper's scaling, X = −nI, gives the same iterates.)

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> problem = as_dual(lambda w: (abs(w[0]), np.sign(w)), 1.0, LeastSquares(), [3.0])
    >>> float(problem.dual(np.array([-2.0])))  # −(|−2| + 2²/2 − 3·2)
    2.0
    """
    if not callable(f_bar):
        raise TypeError(
            f"f_bar is {f_bar!r}; expected a function of w that returns f̄(w) and a subgradient"
        )
    pair = "a SeparableConjugate (l, l*) with τ = l*, such as LeastSquares()"
    check_kind("tau", tau, SeparableConjugate, pair)
    labels = as_array("y", y)
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"y has shape {labels.shape}; expected (n,), a number per coordinate of w")
    n = len(labels)
    cuts = _Cuts(f_bar, _checked_bounds(bounds, n))
    minus_identity = sp.csr_array((-np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n + 1))
    # Whether f_bar is convex shows only along a run, where every certificate looks.
    return Problem(minus_identity, labels, tau, cuts, weights=weights, verify=False)


@dataclass(frozen=True, eq=False, repr=False)
class _Cuts(LinearMinOracle):
    """R(β, t) = t where t ≥ f̄*(β)/n, known by the points that subgradients give.

    The last coordinate lets averages of atoms carry an upper bound of f̄*/n, which is itself
    never computed; the rows have a zero there.
    """

    f_bar: Subgradients
    bounds: Array
    indicator = False
    formula = "t ≥ f̄*(β)/n"

    def __repr__(self) -> str:
        return "f̄*/n"

    def argmin(self, c: Array) -> DenseAtom:
        w, value, slope = self._at(c)
        return DenseAtom(np.append(slope, (slope @ w - value) / len(w)))

    def minimum(self, c: Array) -> Any:
        w, value, _ = self._at(c)
        return -value / len(w)

    def penalty(self, beta: Array) -> Any:
        return beta[-1]

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """t + f̄(w)/n − wᵀβ/n, how far f̄ lies above an average of its cuts."""
        coupling, lowest = c @ beta, self.minimum(c)
        slack = beta[-1] + coupling - lowest
        if slack < -ROUNDING * (1 + abs(beta[-1]) + abs(coupling) + abs(lowest)):
            raise ValueError(
                f"f_bar lies {-slack * len(self.bounds):.3g} below the planes that its own "
                "subgradients give; expected a convex function and its subgradients"
            )
        return slack

    def violation(self, beta: Array) -> Any:
        beyond = (abs(beta[:-1]) - self.bounds).max() / (self.bounds.max() or 1.0)
        return max(beyond, 0.0)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        return -self.bounds, self.bounds

    def _at(self, c: Array) -> tuple[Array, float, Array]:
        """w, f̄(w) and a subgradient there, checked."""
        w = -len(self.bounds) * c[:-1]
        value, slope = self.f_bar(w)
        slope = np.asarray(slope, dtype=float)
        if slope.shape != w.shape or not math.isfinite(value):
            raise ValueError(
                f"f_bar returned the value {value} and a subgradient of shape {slope.shape}; "
                f"expected a finite number and {len(w)} numbers"
            )
        fine = abs(slope) <= self.bounds * (1 + ROUNDING)  # false for NaN
        if not fine.all():
            j = int(fine.argmin())
            raise ValueError(
                f"f_bar returned a subgradient whose entry {j} is {slope[j]}; expected at most "
                f"bounds[{j}] = {self.bounds[j]} in size"
            )
        return w, float(value), slope


def _checked_bounds(bounds: Any, n: int) -> Array:
    array = checked_numbers("bounds", as_array("bounds", bounds))
    if array.shape not in ((), (n,)) or not (array >= 0).all():
        raise ValueError(
            f"bounds has shape {array.shape} and is {array!r}; expected one number ≥ 0, or one for "
            f"each of the {n} entries of y"
        )
    return np.full(n, array, dtype=float)


__all__ = ["Minimum", "as_dual", "minimize"]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
