"""Any set or regularizer that CVXPY can express."""

import itertools
import math
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import IN_FLOATS, Array, LinearMinOracle, cp
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import positive_counts

TOLERANCES = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
INSIDE = 1e-12
"""Atoms are moved towards the middle of dom R until they miss it by no more, if that helps."""

UNRESOLVED = 1e-9
"""Distances to a set with auxiliary variables are not told from 0 below this share of its size."""

RANGE_ROWS = 200
"""Up to so many rows, M_j is found by the solver; beyond, from the bounding box."""

ONE_THREAD = threading.RLock()
"""Held while CVXPY's variables and parameters have the values of one call."""


@dataclass(frozen=True)
class HalfDisc:
    """strength·‖β‖₁ on ‖β‖₂ ≤ radius, β_1 ≥ 0, an example for ``CvxpyOracle``."""

    strength: float
    radius: float

    def __call__(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.strength * cp.norm1(beta), [cp.norm2(beta) <= self.radius, beta[0] >= 0]


class CvxpyOracle(LinearMinOracle):
    """R(β) = expression where the constraints hold, both given by ``form(β)`` in CVXPY.

    Each call solves one parametrized problem with CLARABEL, some milliseconds; a class of
    your own is faster where R has a formula. The problem is refused unless it is convex, not
    empty and bounded, which takes 2p solves.

    ``minimum`` is the solver's dual value less the residual of its dual point times ten times
    the size of its primal point. This is a lower bound as far as no optimum of the problem
    CVXPY hands to the solver is ten times larger: safe, but not proved as for ``Polytope``.
    Atoms are as exact as the solver, for exponential cones to about 1e-7 of the costs.

    Parameters
    ----------
    form
        A function of a CVXPY expression β of length p that returns (expression, constraints);
        the expression is 0 for the indicator of a set. The constraints may have further variables
        z, as for the image of a polytope, β = A z; then a small problem says whether β is in dom R,
        right to about 1e-9 of its size. In the expression such are refused: R(β) would be a number
        of the solver's, which no certificate can rest on.
    p
        The number of variables.

    Examples
    --------
    >>> import cvxpy as cp
    >>> disc = CvxpyOracle(lambda beta: (0, [cp.norm2(beta) <= 2, beta >= 0]), 2)
    >>> disc.argmin(np.array([1.0, -1.0])).vector.round(6) + 0.0
    array([0., 2.])
    """

    exact_atoms, refuses_exact, sized_by = False, IN_FLOATS, "p"
    short_formula = "the function's own"
    spec, cost, section = "cvxpy:FORM", "CLARABEL", "files"
    caches = "_beta", "_expression", "_constraints", "_bare", "_whole", "_nearest"

    @classmethod
    def example(cls, draw: Any) -> Self:
        return cls(HalfDisc(draw.magnitude(), draw.magnitude()), draw.p)

    def __init__(self, form: Callable[[Any], tuple[Any, list[Any]]], p: int) -> None:
        if not callable(form):
            raise TypeError(
                f"form of CvxpyOracle is {form!r}; expected a function of a CVXPY variable that "
                "returns (expression, constraints)"
            )
        self.form = form
        (self.p,) = positive_counts("p", p, "CvxpyOracle", "the variables")
        self._beta = cp.Variable(self.p)
        returned = form(self._beta)
        if not (isinstance(returned, tuple) and len(returned) == 2):
            raise TypeError(
                f"form of CvxpyOracle returned {returned!r}; expected (expression, constraints), "
                "with 0 as the expression for the indicator of a set"
            )
        self._expression, self._constraints = returned[0], list(returned[1])
        if isinstance(self._expression, float) and self._expression == 0:
            self._expression = 0
        if not self.indicator and any(z is not self._beta for z in self._expression.variables()):
            raise ValueError(
                f"form of CvxpyOracle returned the expression {self._expression}, which has "
                "variables beside β; expected them in the constraints only: R(β) must follow from "
                "β alone to be certified"
            )
        self._bare = self._whole = _Parametrized(self._beta, 0, self._constraints)
        if not self.indicator:
            self._whole = _Parametrized(self._beta, self._expression, self._constraints)
        self._lower, self._upper, self._middle = self._box()
        self._size = float(max(abs(self._lower).max(), abs(self._upper).max())) or 1.0
        self._nearest = _Near(self._beta, self._constraints) if self._bare.auxiliary else None

    def __repr__(self) -> str:
        return f"CvxpyOracle({getattr(self.form, '__name__', self.form)}, p={self.p})"

    def __reduce__(self) -> Any:
        """Copies and other processes make the problem anew: CVXPY's own state does not travel."""
        return type(self), (self.form, self.p)

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return isinstance(self._expression, int)

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self._inside(self._whole.solve(c)[0]))

    def minimum(self, c: Array) -> float:
        return self._whole.solve(c)[1]

    def violation(self, beta: Array) -> float:
        if not np.isfinite(self.penalty(beta)):
            return math.inf
        if self._nearest is not None:
            return max(self._nearest.distance(beta, self._size) - UNRESOLVED, 0.0)
        with ONE_THREAD:
            self._beta.value = np.asarray(beta, dtype=float)
            misses = [np.max(constraint.violation()) for constraint in self._constraints]
        return float(np.max([*misses, 0.0])) / self._size

    def penalty(self, beta: Array) -> Any:
        if self.indicator:
            return 0
        with ONE_THREAD:
            self._beta.value = np.asarray(beta, dtype=float)
            return float(self._expression.value)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """Two solves a row; for many rows, the wider range over the bounding box."""
        if rows.n > RANGE_ROWS:
            return rows.box_range(self._lower, self._upper)
        lows = [self._bare.solve(rows.row(j))[1] for j in range(rows.n)]
        highs = [-self._bare.solve(-rows.row(j))[1] for j in range(rows.n)]
        return np.array(lows), np.array(highs)

    def describe(self) -> str:
        kind = "indicator of a set" if self.indicator else "a regularizer"
        return f"{kind} given to CVXPY, in {self.p} variables"

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.form(beta)

    def _box(self) -> tuple[Array, Array, Array]:
        """The ends of every variable, and the mean of the points at which they are reached."""
        ends, points = np.empty((2, self.p)), []
        for j, (side, sign) in itertools.product(range(self.p), ((0, 1.0), (1, -1.0))):
            c = np.zeros(self.p)
            c[j] = sign
            try:
                point, bound = self._bare.solve(c)
            except Unsolved as failure:
                sentence = str(failure)
                if "'infeasible" in sentence:
                    sentence = (
                        "the constraints of CvxpyOracle contradict each other, so that dom R is "
                        "empty; expected at least one point that fulfils them all"
                    )
                elif "'unbounded" in sentence:
                    way = "below" if sign > 0 else "above"
                    sentence = (
                        f"the set of CvxpyOracle is unbounded: β[{j}] can be {way} every number; "
                        "expected a bounded set (Assumption 1.1): add constraints"
                    )
                raise ValueError(sentence) from None
            ends[side, j] = sign * bound
            points.append(point)
        return ends[0], ends[1], np.mean(points, axis=0)

    def _inside(self, beta: Array) -> Array:
        """``beta``, moved to where it is feasible, at most a millionth of the way to the middle."""
        best, least = beta, self.violation(beta)
        for share in 10.0 ** np.arange(-13, -5):
            if least <= INSIDE:
                break
            moved = beta + share * (self._middle - beta)
            miss = self.violation(moved)
            if miss < least:
                best, least = moved, miss
        return best


class _Parametrized:
    """min cᵀβ + share·expression subject to the constraints, for parameters c and share."""

    def __init__(self, beta: Any, expression: Any, constraints: list[Any]) -> None:
        self.beta, self.c = beta, cp.Parameter(beta.size)
        self.share = cp.Parameter(nonneg=True)
        self.homogeneous = isinstance(expression, int)
        penalty = 0 if self.homogeneous else self.share * expression
        self.problem = cp.Problem(cp.Minimize(self.c @ beta + penalty), constraints)
        self.auxiliary = any(one is not beta for one in self.problem.variables())
        if not self.problem.is_dcp(dpp=True):
            raise ValueError(
                "form of CvxpyOracle is no convex problem by CVXPY's rules; expected a convex "
                "expression and convex constraints"
            )

    def solve(self, c: Array) -> tuple[Array, float]:
        """A minimizer of cᵀβ + expression and a lower bound of the minimum."""
        # Costs of size one, at which the solver's tolerances are meant.
        size = float(abs(c).max())
        scale = (size or 1.0) if self.homogeneous else max(size, 1.0)
        with ONE_THREAD, warnings.catch_warnings():
            self.c.value, self.share.value = np.asarray(c, dtype=float) / scale, 1 / scale
            # What the solver reports enters the bound, which says more than a warning.
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            for tolerances in (TOLERANCES, {}):  # its own, where it cannot reach ours
                data, chain, inverse = self.problem.get_problem_data(
                    cp.CLARABEL, solver_opts=tolerances
                )
                raw = chain.solve_via_data(self.problem, data, False, False, tolerances)
                solution = chain.invert(raw, inverse)
                if solution.status != "solver_error":
                    break
        if solution.status not in ("optimal", "optimal_inaccurate"):
            raise Unsolved(
                f"CVXPY ended with status {solution.status!r} instead of an optimum; expected "
                "constraints of moderate size: scale them"
            )
        x, z = np.asarray(raw.x), np.asarray(raw.z)
        residual = data["c"] + data["A"].T @ z + (data["P"] @ x if data.get("P") is not None else 0)
        allowance = abs(residual).sum() * 10 * (1 + abs(x).max())
        bound = solution.opt_val - max(raw.obj_val - raw.obj_val_dual, 0.0) - allowance
        exact = self.homogeneous and not np.any(c)
        point = np.array(solution.primal_vars[self.beta.id])
        return point, 0.0 if exact else float(scale * bound)


class _Near:
    """The distance of a point to dom R in the largest entry, by a minimum over all variables.

    A constraint's own violation says nothing where it has auxiliary ones.
    """

    def __init__(self, beta: Any, constraints: list[Any]) -> None:
        self.point, self.scale = cp.Parameter(beta.size), cp.Parameter(nonneg=True)
        # In units of the set's size, at which the solver's tolerances are meant.
        distance = cp.norm_inf(self.scale * beta - self.point)
        self.problem = cp.Problem(cp.Minimize(distance), constraints)

    def distance(self, beta: Array, size: float) -> float:
        with ONE_THREAD, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            self.point.value, self.scale.value = np.asarray(beta, dtype=float) / size, 1 / size
            self.problem.solve(cp.CLARABEL, **TOLERANCES)
        if self.problem.status not in ("optimal", "optimal_inaccurate"):
            raise Unsolved(
                f"CVXPY ended with status {self.problem.status!r} where it looked for a point near "
                "β; expected constraints of moderate size: scale them"
            )
        return float(self.problem.value)


class Unsolved(RuntimeError):
    """The solver found no optimum."""
