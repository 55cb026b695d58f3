"""Polytopes given by their inequalities, which are linear programmes, or by their vertices."""

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import Array, LinearMinOracle, Matrix, Vector, cp
from rcmd.oracles.linear_programmes import OnProgramme, Programme
from rcmd.oracles.vectors import dot, first_largest, leading
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import as_array, checked_numbers, is_sparse, sp

RANGE_ROWS = 1000
"""Up to so many rows, M_j is found by linear programmes; beyond, from the bounding box."""

ROUNDING = 2e-15
"""What a point of a hull may miss, where the vertices are of size 1."""

NO_CONSTRAINT = "leave out the rows that are no constraints"


class Polytope(OnProgramme):
    """The set {Aβ ≤ b, A_equal β = b_equal, lower ≤ β ≤ upper}, bounded and not empty.

    Each oracle call is a linear programme, which HiGHS (package highspy) solves from the vertex
    of the last call. Where several vertices are best, it solves it once more from no start, so
    that the answer does not depend on earlier calls; and a run begins with none. ``minimum`` and
    ``fenchel_young`` do not trust the solver: they come from its multipliers by weak duality,
    and hold for whatever multipliers it returns.

    Variables without two finite ends are bounded first, by one programme for each open end.

    Parameters
    ----------
    A, b
        m × p inequalities, dense or sparse.
    A_equal, b_equal
        Optional equations.
    lower, upper
        Optional ends of each variable, numbers or vectors; none by default.

    Examples
    --------
    >>> triangle = Polytope([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.0, 0.0, 1.0])
    >>> triangle.argmin(np.array([1.0, -2.0])).vector, triangle.minimum(np.array([1.0, -2.0]))
    (array([0., 1.]), -2.0)
    """

    formula = "indicator of a polytope with {m} inequalities and {m_equal} equations"
    short_formula = "Aβ ≤ b"
    spec, section, sized_by = "polytope:A:B", "files", "A"

    @classmethod
    def example(cls, draw: Any) -> Self:
        """Some half-spaces around a point, within a box."""
        sides = draw.numbers(draw.whole(1, 4), draw.p)
        inside, reach = draw.numbers(draw.p), draw.magnitude()
        offsets = sides @ inside + draw.whole_numbers(0, 100, len(sides)) / 100 * reach
        return cls(sides, offsets, lower=inside - reach, upper=inside + reach)

    def __init__(
        self,
        A: Matrix,
        b: Vector,
        A_equal: Any = None,
        b_equal: Any = None,
        *,
        lower: Any = None,
        upper: Any = None,
    ) -> None:
        inequalities = _matrix("A", A)
        self.m, self.p = inequalities.shape
        if (A_equal is None) != (b_equal is None):
            raise ValueError(
                "A_equal and b_equal of Polytope belong together, and one of them is missing; "
                "expected both or neither"
            )
        equations = sp.csr_array((0, self.p)) if A_equal is None else _matrix("A_equal", A_equal)
        self.m_equal = equations.shape[0]
        if equations.shape[1] != self.p:
            raise ValueError(
                f"A_equal of Polytope has {equations.shape[1]} columns and A has {self.p}; "
                "expected one column for each variable in both"
            )
        most = _vector("b", b, self.m)
        exact = np.zeros(0) if b_equal is None else _vector("b_equal", b_equal, self.m_equal)
        low, high = _ends(lower, -np.inf, self.p), _ends(upper, np.inf, self.p)
        if not (low <= high).all():
            raise ValueError(
                "lower of Polytope exceeds upper in some place; expected lower ≤ upper"
            )
        system = sp.vstack([inequalities, equations], format="csr")
        sides = np.r_[np.full(self.m, -np.inf), exact], np.r_[most, exact]
        self._given = low, high
        low, high = _bounding_box(system, *sides, low, high)
        self.lower, self.upper = low, high
        self.programme = Programme(system, *sides, low, high)

    def __repr__(self) -> str:
        return f"Polytope(m={self.m}, m_equal={self.m_equal}, p={self.p})"

    def declared_size(self) -> int:
        return self.p

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self.programme.vertex(c))

    def minimum(self, c: Array) -> float:
        """The lower bound that the solver's multipliers prove."""
        return self.programme.bound(c, self.programme.solve(c)[1])

    def fenchel_young(self, beta: Array, c: Array) -> float:
        """Σ_i |y_i|·(slack of row i) + Σ_j |c − Aᵀy|_j·(distance of β_j from its better end)."""
        return self.programme.slack(c, self.programme.solve(c)[1], beta)

    def violation(self, beta: Array) -> float:
        return self.programme.violation(beta)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """Two linear programmes a row; for many rows, the wider range over the bounding box."""
        if rows.n > RANGE_ROWS:
            return rows.box_range(self.lower, self.upper)
        return super().prediction_range(rows)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        # In units of the set's own size, which interior-point methods need.
        sizes, reach = self.programme.row_reach, self.programme.reach
        system = sp.csr_array(self.programme.A * reach / sizes[:, None])
        most = self.programme.row_upper / sizes
        unit = cp.multiply(beta, 1 / reach)
        inside = [unit >= self.lower / reach, unit <= self.upper / reach]
        inside.append(system[: self.m] @ unit <= most[: self.m])
        if self.m_equal:
            inside.append(system[self.m :] @ unit == most[self.m :])
        return 0, inside


def _bounding_box(
    A: Any, row_lower: Array, row_upper: Array, lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Finite ends of every variable, proved by multipliers; a sentence where there are none.

    The programme for an open end of β_j gives multipliers y with Aᵀy ≈ ±e_j, so that
    ±β_j ≥ v − Σ_k |r_k| |β_k| with the rest r summed over open variables. Where these sums
    are at most ρ < 1, every |β_k| ≤ max |v|/(1 − ρ), and the polytope is bounded.
    """
    programme = Programme(A, row_lower, row_upper, lower, upper)
    if programme.empty():
        raise ValueError(
            "the constraints of Polytope contradict each other, so that dom R is empty; expected "
            "at least one point that fulfils them all"
        )
    ends = {-1: lower.copy(), 1: upper.copy()}
    found = []
    for sign, j in [(s, int(j)) for s in (-1, 1) for j in np.flatnonzero(np.isinf(ends[s]))]:
        c = np.zeros(len(lower))
        c[j] = -sign
        try:
            y = programme.solve(c)[1]
        except RuntimeError:
            raise ValueError(
                f"Polytope is unbounded: β[{j}] can be {'above' if sign > 0 else 'below'} every "
                "number; expected a bounded set (Assumption 1.1): add constraints, or lower and "
                "upper"
            ) from None
        residual = c - A.T @ y
        open_end = np.isinf(np.where(residual > 0, lower, upper))
        kept = np.where(open_end, 0.0, residual)
        value = programme.bound(kept + A.T @ y, y)
        found.append((sign, j, value, float(abs(residual[open_end]).sum())))
    if not found:
        return lower, upper
    rest = max(f[3] for f in found)
    if rest > 0.5:
        raise ValueError(
            "the solver's multipliers do not prove that Polytope is bounded; expected constraints "
            "of moderate size: scale them, or give lower and upper"
        )
    half_open = [abs(e[np.isfinite(e)]).max(initial=0.0) for e in (lower, upper)]
    largest = max(*half_open, max(abs(f[2]) for f in found) / (1 - rest))
    for sign, j, value, share in found:
        ends[sign][j] = -sign * (value - share * largest)
    return ends[-1], ends[1]


def _matrix(name: str, values: Any) -> Any:
    if is_sparse(values):
        csr = values.tocsr()
        checked_numbers(f"{name} of Polytope", csr.data, csr=csr, remedy=NO_CONSTRAINT)
        return sp.csr_array(values, dtype=float)
    array = _numbers(name, values)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} of Polytope has shape {array.shape}; expected a matrix with one row for each "
            "constraint and one column for each variable"
        )
    return sp.csr_array(array)


def _numbers(name: str, values: Any) -> Array:
    full_name = f"{name} of Polytope"
    array = checked_numbers(full_name, as_array(full_name, values), remedy=NO_CONSTRAINT)
    return np.asarray(array, dtype=float)


def _vector(name: str, values: Any, length: int) -> Array:
    array = _numbers(name, values)
    if array.shape != (length,):
        raise ValueError(
            f"{name} of Polytope has shape {array.shape}; expected ({length},), one number for "
            "each constraint"
        )
    return array


def _ends(values: Any, default: float, p: int) -> Array:
    """One end of every variable; infinite where there is none."""
    name = "lower" if default < 0 else "upper"
    array = np.asarray(default if values is None else values, dtype=float)
    if array.shape not in ((), (p,)) or np.isnan(array).any() or (array == -default).any():
        raise ValueError(
            f"{name} of Polytope is {values!r}; expected a number, or a vector of length {p}, "
            f"with {default} where a variable has no such end"
        )
    return np.array(np.broadcast_to(array, (p,)))


@dataclass(frozen=True, eq=False)
class Hull(LinearMinOracle):
    """The convex hull of the rows of ``vertices``, an m × p array.

    Whether a point belongs to it is a linear programme, as is its ``fenchel_young``: both
    find weights λ with Σ_v λ_v v = β.

    Examples
    --------
    >>> triangle = Hull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> triangle.argmin(np.array([1.0, -2.0])).vector
    array([0., 1.])
    >>> triangle.value(np.array([0.3, 0.3])), triangle.value(np.array([0.6, 0.6]))
    (0, inf)
    """

    vertices: Matrix
    formula = "indicator of the convex hull of {count} points v"
    spec, bound_words, cost = "hull:VERTICES", "max_v |xᵀv|", "O(m·p)"
    section, sized_by = "files", "vertices"

    @classmethod
    def example(cls, draw: Any) -> Self:
        return cls(draw.whole_numbers(-2, 2, draw.whole(1, 7), draw.p) * draw.magnitude())

    def __post_init__(self) -> None:
        vertices = as_array("vertices of Hull", self.vertices)
        if vertices.ndim != 2 or 0 in vertices.shape:
            raise ValueError(
                f"vertices of Hull has shape {vertices.shape}; expected a matrix with one point "
                "in each row"
            )
        # A copy, which does not change with its caller's array.
        object.__setattr__(self, "vertices", checked_numbers("vertices of Hull", vertices).copy())

    @property
    def count(self) -> int:
        """How many points there are."""
        return len(self.vertices)

    def __repr__(self) -> str:
        return f"Hull({self.count} points in {self.vertices.shape[1]} variables)"

    def declared_size(self) -> int:
        return int(self.vertices.shape[1])

    def write_atom(self, c: Any, out: Any) -> None:
        best, largest = 0, -math.inf
        for v in range(len(self.vertices)):
            key = leading(-dot(self.vertices[v], c))
            if key > largest:
                best, largest = v, key
        for k in range(len(c)):
            out[k] = self.vertices[best, k]

    def argmin(self, c: Array) -> DenseAtom:
        """The same by NumPy, in fractions too."""
        return DenseAtom(self.vertices[first_largest(-(self.vertices @ c))])

    def minimum(self, c: Array) -> Any:
        return (self.vertices @ c).min()

    def violation(self, beta: Array) -> float:
        """The largest entry of |Σ_v λ_v v − β| for the best weights, relative to the vertices."""
        weights, size = self._weights(beta), float(abs(self.vertices).max()) or 1.0
        miss = np.asarray(self.vertices, dtype=float).T @ weights - np.asarray(beta, dtype=float)
        return float(abs(miss).max()) / size

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_v λ_v (cᵀv − min cᵀv) for weights λ of β, and what β misses by Σ_v λ_v v.

        The plain difference for fractions.
        """
        if self.vertices.dtype == object:
            return super().fenchel_young(beta, c)
        values, weights = self.vertices @ c, self._weights(beta)
        missed = abs(beta - weights @ self.vertices)
        return weights @ (values - values.min()) + abs(c) @ missed

    def _weights(self, beta: Array) -> Array:
        """λ ≥ 0 with Σ_v λ_v = 1 that brings Σ_v λ_v v closest to β, entry by entry."""
        from scipy.optimize import linprog, nnls

        size = float(abs(self.vertices).max()) or 1.0
        points = np.asarray(self.vertices, dtype=float).T / size
        target = np.asarray(beta, dtype=float) / size
        if not np.isfinite(target).all():
            return np.full(self.count, np.nan)
        with suppress(RuntimeError):  # it may go in circles
            weights, miss = nnls(np.vstack([points, np.ones(self.count)]), np.append(target, 1.0))
            if miss <= ROUNDING:  # β is in the hull, and a linear programme would come no closer
                return weights / weights.sum()
        miss = -np.ones((len(points), 1))
        near = np.block([[points, miss], [-points, miss]]), np.concatenate([target, -target])
        whole = np.append(np.ones(self.count), 0.0)[None], [1.0]
        tolerances = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
        options = dict.fromkeys(tolerances, 1e-10)
        costs = np.append(np.zeros(self.count), 1.0)
        found = linprog(costs, *near, *whole, method="highs-ds", options=options)
        if found.x is None:
            raise RuntimeError(
                f"the linear programme for a point's weights in Hull failed ({found.message}); "
                "expected vertices of moderate size: scale them"
            )
        weights = np.maximum(found.x[:-1], 0)
        return _polished(points, target, weights / weights.sum())

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """From one product with the rows for each vertex."""
        low = high = rows.matvec(self.vertices[0])
        for vertex in self.vertices[1:]:
            values = rows.matvec(vertex)
            low, high = np.minimum(low, values), np.maximum(high, values)
        return low, high

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        weights = cp.Variable(self.count, nonneg=True)
        points = np.asarray(self.vertices, dtype=float)
        return 0, [points.T @ weights == beta, cp.sum(weights) == 1]


def _polished(points: Array, target: Array, weights: Array) -> Array:
    """The weights solved for once more on the points that have some, where that is closer."""
    used = np.flatnonzero(weights)
    system = np.vstack([points[:, used], np.ones(len(used))])
    solution = np.maximum(np.linalg.lstsq(system, np.append(target, 1.0), rcond=None)[0], 0)
    if not solution.sum() > 0:
        return weights
    better = np.zeros_like(weights)
    better[used] = solution / solution.sum()
    misses = [abs(points @ candidate - target).max() for candidate in (better, weights)]
    return better if misses[0] < misses[1] else weights
