"""The contract of a regularizer R, reached only through min cᵀβ + R(β); balls of a norm."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from rcmd.oracles.writing import FORMS, KEPT, form_of, written_atom
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.processes import check_cancelled
from rcmd.rows.validation import Array as Array
from rcmd.rows.validation import as_array, checked_numbers, positive
from rcmd.rows.validation import cp as cp

Vector: TypeAlias = Annotated[Any, "vector"]
Matrix: TypeAlias = Annotated[Any, "matrix"]
DiagonalOrMatrix: TypeAlias = Annotated[Any, "diagonal or matrix"]
NumberOrVector: TypeAlias = Annotated[Any, "number or vector"]
Pairs: TypeAlias = Annotated[Any, "pairs"]
Groups: TypeAlias = Annotated[Any, "groups"]
"""Types of fields that a file of numbers or labels stands for in a spec; others are numbers."""

FEASIBILITY = 1e-10
"""Relative rounding by which a point of dom R may miss it (averages round)."""

RANGE_ROWS = 200
"""Up to so many rows, M_j is found by two calls each."""

ZERO = SparseAtom((), ())
"""The point 0."""

IRRATIONAL, IN_FLOATS = "needs irrational numbers", "computes with floats"


class VertexRule(NamedTuple):
    """An oracle whose atom has one entry, as four facts a compiled loop can use.

    The atom is −``size``·sign(c_k) at the k with the largest |c_k|, or, where only
    ``positive`` entries are allowed, ``size`` at the k with the smallest c_k; it is zero
    where that |c_k| (or −c_k) is at most ``threshold``. Which is largest, and which counts
    among equals, is what ``first_largest`` says.
    """

    size: float
    positive: bool = False
    threshold: float = -math.inf


class CoordinateRule(NamedTuple):
    """R(β) = Σ_k l1·|β_k| + (l2/2)·β_k² on lower ≤ β ≤ upper, and perhaps a ball that cuts this.

    Each is a number or a vector of length p. Corrections then go coordinate by coordinate.
    """

    l1: Any = 0.0
    l2: Any = 0.0
    lower: Any = -math.inf
    upper: Any = math.inf

    def table(self, p: int) -> Array:
        """(l1, l2, lower, upper) of p coordinates, a row each."""
        table = np.empty((p, len(self)))
        for k, part in enumerate(self):
            table[:, k] = part
        return table


class Block(NamedTuple):
    """Variables ``start`` to ``stop`` of an oracle, minimized by themselves.

    There β = shift + factor·z for the atom z of ``oracle`` at factor·c.
    """

    oracle: Any
    start: int
    stop: int
    factor: Any = 1.0
    shift: Any = 0.0


class LinearMinOracle(ABC):
    """R, a closed convex function with bounded domain, known by its linear minimizations.

    Subclasses are frozen dataclasses. ``argmin``, or one of the methods that write its answer,
    and ``minimum`` drive the engine and the dual value, ``value`` gives R itself,
    ``prediction_range`` the constants M_j.

    Examples
    --------
    The segment [0, 1] on one variable, the shortest oracle there is:

    >>> from dataclasses import dataclass
    >>> from rcmd.rows.atoms import DenseAtom
    >>> @dataclass(frozen=True)
    ... class UnitSegment(LinearMinOracle):
    ...     def argmin(self, c): return DenseAtom((c < 0) * 1.0)
    ...     def minimum(self, c): return min(c[0], 0.0)
    ...     def violation(self, beta): return max(-beta[0], beta[0] - 1, 0.0)
    >>> UnitSegment().value(np.array([0.5])), UnitSegment().value(np.array([2.0]))
    (0, inf)
    """

    indicator: ClassVar[bool] = True
    """Whether R is the indicator of a set (0 on it, +inf outside)."""

    exact_atoms: ClassVar[bool] = True
    """Whether ``argmin`` is a minimizer but for rounding; proofs take it to be one."""

    refuses_exact: ClassVar[str] = ""
    """Why exact runs are refused: ``IRRATIONAL``, ``IN_FLOATS``, or nothing."""

    takes_matrices: ClassVar[bool] = False
    """Whether c may be a sparse matrix and β a ``LowRank``, as for entries of a matrix."""

    formula: ClassVar[str] = ""
    """R in one line, for people; fields of the class may stand in braces."""

    spec: ClassVar[str] = ""
    """How the oracle is written, its fields in capitals: ``ridge:STRENGTH[:RADIUS]``.

    The fields' types say what their words are. With the next ones, and ``example`` where drawn
    fields do not fit each other, this is the entry of an oracle that ``rcmd.oracles`` exports:
    commands, lists and random tests find it there.
    """

    short_formula: ClassVar[str] = ""
    """R in the names of the parameters of ``spec``, where ``formula`` does not say it."""

    bound_words: ClassVar[str] = "by two calls a row"
    """M = max |xᵀβ| over dom R for a row x, in words."""

    numpy_pass: ClassVar[str] = ""
    """For a closed form: a pass of NumPy over c that ``argmin`` cannot avoid, to time it by.

    {k} in it stands for p/20.
    """

    mu_words: ClassVar[str] = "0"
    """μ in the fields."""

    cost: ClassVar[str] = "O(p)"
    """What one call of ``argmin`` costs."""

    section: ClassVar[str] = ""
    """Where it is listed: among ``files``, ``matrices`` or ``decorators``, or by ``indicator``."""

    square: ClassVar[bool] = False
    """Whether the variables are a square matrix."""

    sized_by: ClassVar[str] = ""
    """The field that says how many variables there are, if one does.

    It is their number, the shape of their matrix, or an array of as many entries or rows.
    """

    positive_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that are positive numbers, or ``None`` where that is their default."""

    def __post_init__(self) -> None:
        for name in self.positive_fields:
            value = getattr(self, name)
            if value is not None or getattr(type(self), name, 1) is not None:
                positive(name, value, type(self).__name__)

    def own_array(self, name: str) -> Array:
        """A field as an array of numbers: a copy, which does not change with its caller's."""
        full_name = f"{name} of {type(self).__name__}"
        array = checked_numbers(full_name, as_array(full_name, getattr(self, name))).copy()
        array.setflags(write=False)
        object.__setattr__(self, name, array)
        return array

    @classmethod
    def example(cls, draw: Any) -> Self:
        """A random oracle for ``draw.p`` variables; see ``rcmd.testing.fuzzing.cases.Draw``."""
        oracle: Self = draw.fields(cls)
        return oracle

    caches: ClassVar[tuple[str, ...]] = (KEPT,)
    """Attributes that rcmd keeps in an oracle, and that do not say which one it is."""

    write_atom: ClassVar[Any] = None
    """``write_atom(self, c, out)`` writes a minimizer of cᵀβ + R(β) into ``out``, all p entries.

    Code in loops over the arrays and the numbers and arrays of ``self``, which numba compiles as
    it stands: with it, or with ``write_entries``, a class needs no ``argmin`` and runs at machine
    speed.
    """

    write_entries: ClassVar[Any] = None
    """``write_entries(self, c, indices, values)`` does so for a minimizer with few nonzeros.

    It writes their places, each once, and their values to the beginning of the two arrays, and
    returns their number. Both have p entries, and the rest of them may be used as scratch.
    """

    def argmin(self, c: Array) -> Atom:
        """A minimizer of cᵀβ + R(β); ties are broken the same way every time."""
        if not form_of(self):
            raise NotImplementedError(
                f"{type(self).__name__} does not say where cᵀβ + R(β) is smallest; expected a "
                "method argmin(c) that returns an atom, or write_atom(c, out)"
            )
        return written_atom(self, c)

    @abstractmethod
    def minimum(self, c: Array) -> Any:
        """min_β cᵀβ + R(β) = −R*(−c), or a lower bound of it where it is not known exactly.

        Never the value at a point that may not be the best one: D(w) rests on this number, and a
        certificate would be wrong. A bound that is too low only loosens it.
        """

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        """Up to ``count`` points of dom R that are good at c, the best one first; and perhaps 0.

        Corrections take them up together; one is enough, several are faster.
        """
        return [self.argmin(c)]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        """``beta`` as a convex combination of points of dom R: (weight, point) pairs.

        The fewer corners of dom R they are, the sooner corrections end; the point
        itself will do.
        """
        return [(1.0, DenseAtom(beta))]

    @abstractmethod
    def violation(self, beta: Array) -> Any:
        """How far ``beta`` lies outside dom R, relative to the size of dom R; 0 inside."""

    def penalty(self, beta: Array) -> Any:
        """R(β) for β in dom R; 0 for the indicator of a set."""
        return 0

    def value(self, beta: Array) -> Any:
        """R(β), infinite where ``beta`` misses dom R by more than rounding."""
        # Written so that NaN is outside.
        return self.penalty(beta) if self.violation(beta) <= FEASIBILITY else math.inf

    @property
    def mu(self) -> Any:
        """Strong convexity of R in the Euclidean norm."""
        return 0

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """R(β) + R*(−c) + cᵀβ ≥ 0 for β in dom R, zero exactly at a minimizer.

        Override it with a sum of non-negative terms; this form cancels.
        """
        return self.penalty(beta) + c @ beta - self.minimum(c)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """Smallest and largest x_jᵀβ over β in dom R, for every row.

        Two oracle calls a row for the indicator of a set; beyond 200 rows two a variable where
        those are fewer, for the wider range over the bounding box. Other R must override it.
        """
        if not self.indicator:
            raise NotImplementedError(
                f"{type(self).__name__} is no indicator and defines no prediction_range(rows); "
                "add it: the smallest and largest x_jᵀβ over dom R for every row"
            )
        boxed = rows.n > max(RANGE_ROWS, rows.p)
        costs = partial(_unit, rows) if boxed else rows.row
        ends = [
            [sign * self._called(sign * costs(k)) for k in range(rows.p if boxed else rows.n)]
            for sign in (1, -1)
        ]
        low, high = (np.array(end, rows.number_type) for end in ends)
        return rows.box_range(low, high) if boxed else (low, high)

    def _called(self, c: Array) -> Any:
        check_cancelled()  # a run counts its calls before the first step by this
        return self.minimum(c)

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        """This oracle for given data: sizes checked, radii left open filled in.

        ``losses`` are the ``SampleLosses`` of the problem; ``offset`` is X·shift when the domain
        was translated by ``shift``.
        """
        self.check_rows(rows)
        return self

    def check_rows(self, rows: Rows) -> None:
        """Refuse rows of another length, and fractions where R cannot use them."""
        declared = self.declared_size()
        if declared is not None and declared != rows.p:
            raise ValueError(
                f"{self.sized_by} of {type(self).__name__} is for {declared} variables; expected "
                f"p = {rows.p}, the columns of X"
            )
        if rows.exact and self.refuses_exact:
            raise ValueError(
                f"{type(self).__name__} {self.refuses_exact} while X holds fractions; expected an "
                "oracle of rational functions, such as L1Ball or Hull, or floats: X.astype(float)"
            )

    def declared_size(self) -> int | None:
        """How many variables there must be; ``None`` for any number."""
        if not self.sized_by:
            return None
        by = getattr(self, self.sized_by)
        return len(by) if isinstance(by, np.ndarray) else int(np.prod(by, dtype=object))

    def reset(self) -> None:
        """Forget what earlier calls left behind (warm starts, counts): a run begins.

        With it a run gives the same iterates whatever the oracle was used for before.
        """
        self.load_state(None)

    def state(self) -> Any:
        """What ``reset`` would forget, in numbers, arrays, atoms and lists of them.

        It is what a checkpoint keeps of an oracle; override it together with ``load_state``.
        """
        return None

    def load_state(self, state: Any) -> None:  # noqa: B027 (most oracles remember nothing)
        """Continue as the oracle with this ``state`` would have; without one, as a fresh one."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != KEPT}

    def vertex_rule(self) -> VertexRule | None:
        """How a compiled loop finds the atom by itself, if one rule says it all."""
        return None

    def coordinate_rule(self, p: int) -> CoordinateRule | None:
        """R on p variables as a sum over coordinates, if it is one but for a ball around them."""
        return None

    def feasible_share(self, c: Array) -> Any:
        """The largest t ≤ 1 for which R*(−t·c) does not grow with the size of dom R."""
        return 1

    def blocks(self, p: int) -> list[Block]:
        """This oracle on p variables as independent ones, which a compiled loop takes in turn."""
        return [Block(self, 0, p)]

    def describe(self) -> str:
        """The formula with this object's numbers in it; the object itself where it has none."""
        if not self.formula:
            return repr(self)
        return self.formula.format_map(_Shown(self))

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        """R as a CVXPY expression (0 for a set) and the constraints β ∈ dom R."""
        raise NotImplementedError(
            f"{type(self).__name__} has no CVXPY form; define cvxpy_form(beta) returning "
            "(expression, constraints) to compare it with ground truth"
        )


def _unit(rows: Rows, k: int) -> Array:
    unit = np.zeros(rows.p, rows.number_type)
    unit[k] = 1
    return unit


@dataclass(frozen=True)
class _Shown:
    """The attributes of an oracle as its formula shows them."""

    oracle: Any

    def __getitem__(self, name: Any) -> str:
        value = getattr(self.oracle, name)
        if isinstance(value, np.ndarray):
            return f"vector of length {value.size}"
        return f"{value:.6g}" if isinstance(value, float) else str(value)


def depth(oracle: Any, method: str) -> int:
    """How far up among the classes of ``oracle`` a method is defined; 0 is its own class."""
    return next(i for i, base in enumerate(type(oracle).__mro__) if method in vars(base))


def describes_argmin(oracle: Any, *names: str) -> bool:
    """Whether one of these methods belongs to the class that defines ``argmin`` or a subclass.

    Where a subclass overrides ``argmin`` alone, or what writes it, they no longer describe it.
    """
    for base in type(oracle).__mro__:
        members = vars(base)
        if any(name in members for name in names):
            return True
        if "argmin" in members or any(form in members for form in FORMS):
            return False
    return False


def writes_atom(oracle: LinearMinOracle) -> bool:
    """Whether the class says by one of FORMS what ``argmin`` returns."""
    form = form_of(oracle)
    return bool(form) and describes_argmin(oracle, form)


def blocks_of(oracle: LinearMinOracle, p: int) -> list[Block]:
    """``oracle.blocks(p)``, or the oracle as it is where they do not describe its ``argmin``."""
    described = describes_argmin(oracle, "blocks") and all(
        depth(oracle, "blocks") <= depth(oracle, name)
        for name in ("inner_costs", "outer")
        if hasattr(oracle, name)
    )
    return oracle.blocks(p) if described else [Block(oracle, 0, p)]


def coordinate_rule_of(oracle: LinearMinOracle, p: int) -> CoordinateRule | None:
    """``oracle.coordinate_rule(p)``, where it describes its ``argmin``."""
    return oracle.coordinate_rule(p) if describes_argmin(oracle, "coordinate_rule") else None


class NormBall(LinearMinOracle):
    """R(β) = threshold·‖β‖ on ‖β‖ ≤ radius; a set has the threshold 0.

    M_j = radius·‖x_j‖ in the dual norm.
    """

    radius: Any
    positive_fields: ClassVar[tuple[str, ...]] = ("radius",)

    @property
    def threshold(self) -> Any:
        """Slopes up to this move nothing; the strength of a penalty."""
        return 0

    @abstractmethod
    def norm(self, beta: Any) -> Any:
        """‖β‖."""

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """The dual norm of every row of a block, whose entries stand in these columns."""
        raise NotImplementedError

    def dual_norm(self, c: Any) -> Any:
        """max cᵀβ over ‖β‖ ≤ 1."""
        return self.dual_norms(c[None], None)[0]

    def slack(self, beta: Any, c: Any, level: Any, beyond: Any) -> Any:
        """level·‖β‖ + cᵀβ + room·beyond for a level of at least the dual norm of c.

        As a sum of non-negative terms.
        """
        raise NotImplementedError

    def cvxpy_norm(self, beta: Any) -> Any:
        """‖β‖ as a CVXPY expression."""
        raise NotImplementedError

    def excess(self, c: Any) -> Any:
        """(dual norm of c − threshold)₊."""
        return max(self.dual_norm(c) - self.threshold, 0)

    def minimum(self, c: Any) -> Any:
        return -self.radius * self.excess(c)

    def violation(self, beta: Any) -> Any:
        return max(self.norm(beta) - self.radius, 0) / self.radius

    def room(self, beta: Any) -> Any:
        """radius − ‖β‖, rounding below zero removed."""
        return max(self.radius - self.norm(beta), 0)

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        excess = self.excess(c)
        return self.slack(beta, c, self.threshold + excess, excess)

    def norms_of_rows(self, rows: Rows) -> Array:
        """The dual norm of every row."""
        return rows.reduce(self.dual_norms)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * self.norms_of_rows(rows)
        return -bounds, bounds

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return 0, [self.cvxpy_norm(beta) <= float(self.radius)]


class NormPenalty(NormBall):
    """R(β) = strength·‖β‖ on the ball ‖β‖ ≤ radius.

    Left open, the radius is (1/n)Σ_j sup_s −s·l_j'(s) / strength, which no optimum leaves: at
    one, strength·‖β‖ = −∇f(β)ᵀβ.
    """

    strength: Any
    positive_fields = "strength", "radius"
    indicator = False

    @property
    def threshold(self) -> Any:
        return self.strength

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        bound: Any = super().bind(rows, losses, offset)
        if self.radius is not None:
            return bound
        descent = losses.largest_descent(offset)
        # Rounded up, so that no rounding cuts the optimum off; a zero descent puts it at zero.
        slack = 1 if rows.exact else 1 + 1e-12
        return replace(bound, radius=slack * descent / self.strength if descent > 0 else 1)

    def penalty(self, beta: Any) -> Any:
        return self.strength * self.norm(beta)

    def feasible_share(self, c: Any) -> Any:
        size = self.dual_norm(c)
        return 1 if size <= self.strength else self.strength / size

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return float(self.strength) * self.cvxpy_norm(beta), super().cvxpy_form(beta)[1]


class Coordinatewise(LinearMinOracle):
    """An oracle whose atom is scale(Σ_k mass(c_k)) · shape(c_k) in coordinate k.

    The methods are scalar code. Compiled into the loop, they save a pass over all p coordinates:
    where few entries of c change, few of shape(c) do, and the sum is updated. In a product, or
    around a moved or scaled set, they write the atom.
    """

    @property
    def alike(self) -> bool:
        """Whether all coordinates are treated alike: not where fields are vectors."""
        return True

    def write_atom(self, c: Any, out: Any) -> None:
        sums = (0.0, 0.0, 0.0, 0.0)  # side by side, which the processor adds at once
        whole = len(c) // 4 * 4
        for k in range(0, whole, 4):
            sums = (
                sums[0] + self.mass(c[k]),
                sums[1] + self.mass(c[k + 1]),
                sums[2] + self.mass(c[k + 2]),
                sums[3] + self.mass(c[k + 3]),
            )
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        for k in range(whole, len(c)):
            total += self.mass(c[k])
        factor = self.scale(total)
        for k in range(len(c)):
            out[k] = factor * self.shape(c[k])

    @abstractmethod
    def shape(self, c: Any) -> Any:
        """The atom's coordinate, but for the common factor."""

    def mass(self, c: Any) -> Any:
        """What a coordinate adds to the sum that the factor depends on."""
        return 0.0

    def scale(self, total: Any) -> Any:
        """The common factor."""
        return 1.0
