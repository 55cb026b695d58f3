"""The pair (P), (D): data, loss and regularizer together, checked once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, as_labels
from rcmd.conjugates.samples import SampleLosses
from rcmd.model.bounds import Kind
from rcmd.model.constants import (
    Constants,
    coefficient_names,
    describe,
    refuse_huge_labels,
    refuse_overflow,
    summarize,
)
from rcmd.model.fingerprint import fingerprint
from rcmd.model.ownership import GROUNDS, foreign, names
from rcmd.model.specs import Waiting, as_loss, as_oracle, for_columns
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.l1 import L1Ball
from rcmd.oracles.product import Product
from rcmd.rows import as_rows
from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.layouts import columns_of, numbers_of, with_ones
from rcmd.rows.lowrank import LowRank
from rcmd.rows.processes import Alone, Cancelled, Group, cancellable, counted, shared_errors
from rcmd.rows.validation import (
    Array,
    as_array,
    as_doubles,
    batch_size,
    checked_numbers,
    in_number_type,
    positive,
)

FIXED = (
    "X", "y", "weights", "offset", "fields", "loss", "rows", "n", "p", "losses", "intercept",
    "columns", "regularizer", "oracle",
)  # fmt: skip
"""What a problem is, checked once."""

FOUND = "prediction_bounds", "range_calls", "range_seconds", "_first", "_bounded"
"""What depends on R and is kept once it was found."""

OF_LOSSES = "spectral_energy", "_start_slope", "_first_slope"
"""What depends on the losses, too."""


class Problem:
    """min_β P(β) = (1/n) Σ_j ω_j l(x_jᵀβ + o_j; y_j) + R(β), and its dual.

    Parameters
    ----------
    X
        n × p data: a dense array (float64 and float32 are used as they are), a SciPy
        sparse matrix, rows on disk (``rcmd.datasets.open_rows``), or an array of
        ``fractions.Fraction`` for exact runs. It is not copied and must not change. A data frame
        of pandas or polars is read once, and its columns name the coefficients.
    y
        n labels, as the loss expects them.
    loss
        The conjugate pair (l, l*), or its name from `rcmd list losses`, such as ``"huber:0.5"``.
    oracle
        R, through its linear minimization oracle, or its name from `rcmd list oracles`.
    weights
        Optional positive sample weights ω_j; 1 by default.
    offset
        Optional o_j, which is added to the prediction x_jᵀβ, such as the logarithm of an exposure.
    fields
        Further numbers of each sample, by name, that the loss ``reads``: ``{"tau": levels}``.
    labels
        The two classes that y holds, text or numbers: the first is taken as −1, the second as +1
        (as 0 and 1 by losses of shares).
    intercept
        A bound B > 0 adds an intercept in [−B, B], outside the regularizer: ``X`` is copied once
        with a column of ones appended, ``p`` counts it, and the last entry of β is the
        intercept. R is then not strongly convex, whatever ``oracle`` is.
    verify
        Whether classes that are not rcmd's own are checked here, at the problem's own labels,
        weights, predictions and costs; a fault is refused. Certificates say what they rest on.

    Attributes
    ----------
    names
        A name for each entry of β: its column's, else β1, β2, …; ``"intercept"`` is the last.
    grounds, ground_text
        What certificates rest on, for ``"loss"``, ``"oracle"`` and ``"rows"``, and in one line that
        begins with ``ground``.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0, 2.0], [0.0, 1.0]], [1.0, -1.0], LeastSquares(), L1Ball(1.0))
    >>> float(problem.primal(np.zeros(2))), float(problem.dual(np.array([-1.0, 1.0])))
    (0.5, 0.0)
    >>> Problem([[1.0, 2.0], [0.0, 1.0]], [1.0, -1.0], "huber:0.5", "l1:5")
    Problem(n=2, p=2, loss=Huber(width=0.5), oracle=L1Ball(radius=5.0))

    With an offset, the least-squares loss sees the label y_j − o_j:

    >>> moved = Problem([[1.0], [2.0]], [1.0, 0.0], "least-squares", "l1:1", offset=[1.0, -1.0])
    >>> moved.losses.derivative(np.zeros(2))
    array([ 0., -1.])

    With an intercept, labels far from zero need no feature for it:

    >>> from rcmd import solve
    >>> shifted = Problem([[1.0], [-1.0]], [8.0, 6.0], LeastSquares(), L1Ball(5.0), intercept=10.0)
    >>> solve(shifted, batch=2, tol=1e-3).beta.round(1)
    array([1., 7.])
    """

    rows: Rows
    n: int
    p: int
    losses: SampleLosses
    intercept: Any
    columns: tuple[str, ...] | None
    regularizer: Any
    oracle: Any

    group: Group = Alone()
    """The processes that the rows are spread over: this one alone."""

    spread: ClassVar[bool] = False
    """Whether rows may be on other processes, so that only their sums are known here."""

    range_calls: int = 0
    range_seconds: float = 0.0
    """Calls of the oracle that the constants M_j took, and their time."""

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: SeparableConjugate | str,
        oracle: LinearMinOracle | Waiting | str,
        *,
        weights: Any = None,
        offset: Any = None,
        fields: Any = None,
        labels: Sequence[Any] | None = None,
        intercept: Any = None,
        verify: bool = True,
    ) -> None:
        loss, oracle = as_loss(loss), as_oracle(oracle)
        self.verify = verify
        columns = columns_of(X)
        rows = as_rows(X if columns is None else numbers_of(X, columns))
        vars(self).update(rows=rows, n=rows.n, p=rows.p, intercept=intercept, columns=columns)
        y = self._vector("y", as_labels(y, labels, loss))
        fault = loss.label_fault(y)
        if fault:
            raise ValueError(fault)
        sample_weights = None if weights is None else self._vector("weights", weights)
        if sample_weights is not None and not (sample_weights > 0).all():
            raise ValueError(
                f"weights holds {sample_weights.min()}; expected positive numbers: drop the "
                "samples whose weight is 0"
            )
        own = self._fields(loss, {} if fields is None else fields)
        start = (y[0], *(part[0] for part in own))
        if self.exact and not isinstance(loss.derivative(0 * y[0], *start), Rational):
            raise ValueError(
                f"loss {loss!r} computes with floats while X holds fractions; expected a loss of "
                "rational functions, such as LeastSquares()"
            )
        vars(self).update(
            losses=SampleLosses(
                in_number_type(loss, self.exact),
                y,
                sample_weights,
                offset=None if offset is None else self._vector("offset", offset),
                fields=own,
            )
        )
        if not self.exact:
            refuse_huge_labels(self)
        if intercept is not None:
            positive("intercept", intercept, "Problem")
            if self.exact and not isinstance(intercept, Rational):
                raise ValueError(
                    f"intercept of Problem is the float {intercept!r} while X holds fractions; "
                    "expected a fractions.Fraction"
                )
            vars(self).update(rows=with_ones(rows), p=rows.p + 1)
        self._regularize(oracle)
        self._vet()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED:
            raise AttributeError(
                f"{name} of a Problem is assigned, but was checked when it was made and does not "
                "change; expected a new one: Problem(X, y, loss, oracle), or "
                "problem.with_oracle(oracle) for another R"
            )
        super().__setattr__(name, value)

    def with_oracle(self, oracle: LinearMinOracle | str) -> Problem:
        """The same data and losses, shared, with another regularizer (and the same intercept)."""
        other = copy(self)
        for name in FOUND:
            vars(other).pop(name, None)
        other._regularize(oracle)
        other._vet()
        return other

    def thinned(self, stride: int) -> Problem | None:
        """The problem of the samples 0, stride, 2·stride, … and the same R, where rows allow it."""
        return self._thinned(self.rows.thinned(stride), slice(None, None, stride))

    def _thinned(self, rows: Rows | None, places: slice) -> Problem | None:
        """The problem of these ``rows``, which are those of the samples in ``places``."""
        if rows is None:
            return None
        other = copy(self)
        for name in (*FOUND, *OF_LOSSES, "peak", "row_sizes"):
            vars(other).pop(name, None)
        losses = self.losses.some(places)
        vars(other).update(rows=rows, n=rows.n, losses=losses)
        other._constants = {}
        return other

    def _regularize(self, oracle: LinearMinOracle | Waiting | str) -> None:
        zero, columns = self.rows.zero(), self.p - (self.intercept is not None)
        matrices = isinstance(zero, LowRank)
        whole = for_columns(as_oracle(oracle), columns, zero.shape if matrices else None)
        vars(self).update(regularizer=whole)
        if self.intercept is not None:
            whole = Product((whole, L1Ball(self.intercept)), (columns, 1))
        if matrices and not whole.takes_matrices:
            raise ValueError(
                f"oracle {whole!r} is for vectors while the rows are entries of a matrix; "
                "expected one for matrices, such as NuclearBall((50, 40), 10.0)"
            )
        bound = in_number_type(whole, self.exact).bind(self.rows, self.losses)
        vars(self).update(oracle=bound)
        self._constants: dict[int, dict[str, Any]] = {}
        if type(self.loss).gamma is SeparableConjugate.gamma:
            self._localize()

    def _localize(self) -> None:
        """γ_j on I_j, the range of predictions, for a class of losses without a γ."""
        vars(self).pop("spectral_energy", None)
        with np.errstate(over="ignore", invalid="ignore"), shared_errors(self.group):
            gammas = self.losses.local_gammas(*self.prediction_ranges)
        largest = float(self.group.largest(np.array([gammas.max()], dtype=float))[0])
        if not math.isfinite(largest):
            raise ValueError(
                f"the loss {self.loss.formula} is too steep for doubles somewhere on the range of "
                f"predictions that {self.oracle!r} allows; expected a smaller radius (a penalty "
                "takes one too: an optimum inside it is the same), a stronger penalty, or X "
                "divided by a power of ten"
            )
        vars(self).update(losses=copy(self.losses))  # without what is compiled, which may read γ
        self.losses.loss, self.losses.unit_gammas = copy(self.loss), gammas
        vars(self.losses.loss)["_gamma"] = largest

    def _vet(self) -> None:
        """Check what is not rcmd's own, and say what certificates rest on."""
        found = self._foreign()
        self.grounds = dict.fromkeys(("loss", "oracle", "rows"), "proved")
        self.ground_text, self._checked = "proved", {}
        if not found:
            return
        if self.verify:
            from rcmd.model.vetting import vet

            grounds = vet(self, found)
        else:
            grounds = dict.fromkeys(found, "unchecked")
        self.grounds |= grounds
        words = [ground.partition(" ")[0] for ground in grounds.values()]
        worst = max(words, key=GROUNDS.index)
        said = [f"{names(found[part])} {ground}" for part, ground in grounds.items()]
        self.ground_text = f"{worst}: {'; '.join(said).replace(f' {worst}', '')}".rstrip(": ")
        self._checked = self._marks(found)

    def _foreign(self) -> dict[str, list[Any]]:
        parts = {"loss": self.loss, "oracle": self.oracle, "rows": self.rows}
        return {name: own for name, part in parts.items() if (own := foreign(part))}

    def _marks(self, found: dict[str, list[Any]]) -> dict[str, str]:
        """Fingerprints of what is not rcmd's own; rows are data, which must not change."""
        return {name: fingerprint(own) for name, own in found.items() if name != "rows"}

    def check_again(self) -> None:
        """Check losses and oracles that were altered since they were checked, and begin anew.

        What a class names in ``changing`` may change; other attributes that a run counts in cost a
        check each time.
        """
        with shared_errors(self.group):
            altered = self._marks(self._foreign()) != self._checked
        if self.spread:
            altered = self.group.largest(np.array([float(altered)]))[0]
        if not altered:
            return
        for name in (*FOUND, *OF_LOSSES):
            vars(self).pop(name, None)
        losses = copy(self.losses)  # without what is compiled
        vars(losses).pop("_unit_domain", None)
        losses.unit_gammas = None
        vars(self).update(losses=losses)
        self._regularize(self.regularizer)
        self._vet()

    @property
    def ground(self) -> str:
        """What certificates rest on: ``"proved"``, ``"sampled"`` or ``"unchecked"``.

        *Proved*: all classes are rcmd's own, or a formula whose convexity and γ are proved;
        *sampled*: the others were checked, at the problem's own labels, predictions and costs;
        *unchecked*: they were not, because ``verify`` is false.
        """
        return self.ground_text.partition(":")[0]

    @property
    def X(self) -> Any:
        """The data as an array or a sparse matrix, with the column of ones of an intercept."""
        return self.rows.array if isinstance(self.rows, DenseRows) else self.rows.as_matrix()

    @property
    def y(self) -> Array:
        """The labels, read-only."""
        return self.losses.y

    @property
    def weights(self) -> Array | None:
        """The sample weights ω_j, read-only; ``None`` where all are 1."""
        return self.losses.weights

    @property
    def offset(self) -> Array | None:
        """The offsets o_j of the predictions, read-only; ``None`` where all are 0."""
        return self.losses.offset

    @property
    def fields(self) -> dict[str, Array]:
        """What the loss reads of each sample beside its label, read-only."""
        return dict(zip(self.loss.reads, self.losses.fields, strict=True))

    @property
    def loss(self) -> SeparableConjugate:
        """The conjugate pair (l, l*)."""
        return self.losses.loss

    @property
    def exact(self) -> bool:
        """Whether the data are fractions, so that runs on the reference engine are exact."""
        return self.rows.exact

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each entry of β."""
        return coefficient_names(self.p, self.columns, self.intercept is not None)

    def primal(self, beta: Array) -> Any:
        """P(β); infinite outside dom R."""
        return self.mean(self.losses.value(self.rows.matvec(beta))) + self.oracle.value(beta)

    def dual(self, w: Array) -> Any:
        """D(w) = −R*(−Xᵀw/n) − (1/n) Σ_j l_j*(w_j), offsets being a part of l_j*."""
        return self.oracle.minimum(self.gradient(w)) - self.mean(self.losses.conjugate(w))

    def saddle(self, beta: Array, w: Array) -> Any:
        """φ(β, w) = wᵀXβ/n − (1/n) Σ_j l_j*(w_j) + R(β)."""
        coupling = w @ self.rows.matvec(beta) / self.n
        return coupling - self.mean(self.losses.conjugate(w)) + self.oracle.value(beta)

    def gradient(self, w: Array) -> Array:
        """Xᵀw/n, the gradient of the loss part when w = ∇L(Xβ)."""
        return self.rows.rmatvec(w) / self.n

    def products(self, beta: Any, w: Array) -> tuple[Array, Array]:
        """Xβ and Xᵀw/n, in one sweep over the data where the rows can."""
        predictions, sums = self.rows.products(beta, w)
        return predictions, sums / self.n

    def response(self, beta: Array) -> Array:
        """∇L(Xβ), the dual response to ``beta``."""
        return self.losses.derivative(self.rows.matvec(beta))

    def mean(self, values: Array) -> Any:
        """(1/n) Σ_j values_j."""
        return values.sum() / self.n

    def total(self, part: Callable[[], Any]) -> Any:
        """The sum of what ``part``, a sum over this process's rows, is on every process."""
        return part()

    @property
    def bound_oracle(self) -> Any:
        """R with this problem's data, to be looked at; only ``oracle`` is to be called."""
        return self.oracle

    def to_cvxpy(self) -> Any:
        """(P) as a ``cvxpy.Problem`` in the variable β, which ``rcmd.from_cvxpy`` reads back.

        Examples
        --------
        >>> from rcmd import L1Ball, LeastSquares, Problem
        >>> programme = Problem([[1.0], [2.0]], [1.0, 2.0], LeastSquares(), L1Ball(0.5)).to_cvxpy()
        >>> round(float(programme.solve()), 6), programme.variables()[0].value.round(4)
        (0.3125, array([0.5]))
        """
        from rcmd.model.truth import programme  # which solves problems

        return programme(self)

    def fingerprint(self) -> dict[str, str]:
        """A hash of each part of the problem, by its name in messages."""
        losses = self.losses
        parts = {"X": self.rows, "y": losses.y, "weights": losses.weights, "loss": losses.loss}
        parts |= self._own_data() | {"oracle": self.oracle}
        return {name: fingerprint(part) for name, part in parts.items()}

    def _own_data(self) -> dict[str, Array]:
        """Offset and fields, by their names in messages, where there are any."""
        offset = {} if self.offset is None else {"offset": self.offset}
        return offset | {f"fields[{name!r}]": part for name, part in self.fields.items()}

    def gathered(self, values: Any) -> Any:
        """The vector, or matrix, for all rows, from the parts of all processes."""
        return values

    def shared(self, values: Any) -> Any:
        """What ``gathered`` gives one process, on all of them."""
        return values

    def own_part(self, values: Any) -> Any:
        """This process's part of a vector, or matrix, for all rows."""
        return values

    def generator(self, seed: int | np.random.Generator) -> np.random.Generator:
        """The random generator of a run."""
        return np.random.default_rng(seed)

    def describe(self, batch: int | float = 1, theorem: Kind | None = None) -> str:
        """The problem in formulas, Assumption 1.1 part by part, the constants, the bounds.

        The bounds are those of ``theorem``, by default of the paper's for this R.
        """
        return describe(self, batch_size(batch, self.n), theorem)

    def __repr__(self) -> str:
        return f"Problem(n={self.n}, p={self.p}, loss={self.loss!r}, oracle={self.oracle!r})"

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import problem_html

        return problem_html(summarize(self, 1))

    @property
    def prediction_ranges(self) -> tuple[Array, Array]:
        """The ends of I_j = conv({0} ∪ {x_jᵀβ: β ∈ dom R}), for every row.

        It may take many calls of the oracle; the M_j, which follow, are kept.
        """
        begun, before = time.perf_counter(), self.range_calls
        try:
            with counted(self._count_call):
                low, high = self.oracle.prediction_range(self.rows)
        finally:
            if self.range_calls > before:
                self.range_seconds += time.perf_counter() - begun
        vars(self)["prediction_bounds"] = np.maximum(abs(low), abs(high))
        return np.minimum(low, 0), np.maximum(high, 0)

    @cached_property
    def prediction_bounds(self) -> Array:
        """M_j = max over dom R of |x_jᵀβ|, for every row."""
        self.prediction_ranges  # noqa: B018 (keeps them)
        bounds: Array = vars(self)["prediction_bounds"]
        return bounds

    def _count_call(self) -> None:
        self.range_calls += 1

    @property
    def knows_ranges(self) -> bool:
        """Whether the M_j are known, or are found without a call of the oracle."""
        if "prediction_bounds" not in vars(self):
            with suppress(Cancelled), cancellable(lambda: True):
                self.prediction_bounds  # noqa: B018 (found once and kept)
        return "prediction_bounds" in vars(self)

    @property
    def first_atom(self) -> Any:
        """β̃⁰, the minimizer at w⁰ = ∇L(0), as a vector."""
        if "_first" not in vars(self):
            self._first = self.oracle.argmin(self.first_slope).dense(self.rows.zero())
        return self._first

    @property
    def first_slope(self) -> Any:
        """d⁰ = Xᵀw⁰/n."""
        if "_first_slope" not in vars(self):  # no cached property: all ranks would wait for it
            self._first_slope = self.gradient(self.losses.derivative(0 * self.losses.y))
        return self._first_slope

    @property
    def start_slope(self) -> Any:
        """The root mean square of the slopes l_j'(0)."""
        if "_start_slope" not in vars(self):
            slopes = self.losses.derivative(0 * self.losses.y)
            with np.errstate(over="ignore"):
                self._start_slope = math.sqrt(self.mean(slopes * slopes))
        return self._start_slope

    @cached_property
    def peak(self) -> float:
        """max|x_jk|, the first of the ``row_sizes``."""
        return self.rows.peak

    @cached_property
    def row_sizes(self) -> Array:
        """max|x_jk| and max‖x_j‖₂; times ‖δ‖₁ and ‖δ‖₂ they bound every |x_jᵀδ|."""
        return self._find_row_sizes()

    def _find_row_sizes(self) -> Array:
        with np.errstate(over="ignore"):
            return np.array([self.peak, math.sqrt(self.rows.square_norms().max())])

    def constants(self, batch: int | float = 1) -> Constants:
        """The constants γ, M, D_max, μ, σ_b, … for batches of ``batch`` rows or that share of n."""
        size = batch_size(batch, self.n)
        new = size not in self._constants
        if new:
            self._constants[size] = self._find_constants(size)
        found = Constants.of(self, self._constants[size])
        if new and self.spread:  # all at once: later a rank might read one alone, and wait for ever
            for name in found.__dataclass_fields__:
                getattr(found, name)
        return found

    def _find_constants(self, batch: int) -> dict[str, Any]:
        gammas, mu = self.losses.gammas, self.oracle.mu
        with np.errstate(over="ignore"), shared_errors(self.group):
            if not self.exact and self.knows_ranges:
                self._refuse_overflow()
            row_energy = (gammas * self.rows.square_norms()).max() if mu > 0 else 0.0
            if math.isinf(row_energy):
                raise ValueError(
                    "X holds numbers whose squares overflow, so that the step sizes for a strongly "
                    "convex R would be 0; expected entries below 1e150: divide X by a power of ten"
                )
        gamma, row_energy = self.group.largest(np.array([gammas.max(), row_energy]))
        return {
            "n": self.n,
            "batch": batch,
            "gamma": gamma,
            "mu": mu,
            "row_energy": row_energy if mu > 0 else None,
            "quadratic": self.loss.quadratic,
            "parallel": self.p == 1,
        }

    def _refuse_overflow(self) -> None:
        """Refuse, once, data whose P, D or gradients overflow."""
        if "_bounded" not in vars(self):
            refuse_overflow(self)
            self._bounded = True

    def find_constant(self, name: str) -> Any:
        """A constant that ``Constants`` did not need until now."""
        if name in ("spectral_energy", "start_gap") and not self.oracle.mu > 0:
            return None  # only bounds for strongly convex R read them
        if name == "spectral_energy":
            return self.spectral_energy
        if name == "start_gap":
            beta, w = self.first_atom, self.losses.derivative(0 * self.losses.y)
            terms = self.losses.fenchel_young(self.rows.matvec(beta), w)
            return self.mean(terms) + max(self.oracle.fenchel_young(beta, self.first_slope), 0)
        bounds = self.prediction_bounds
        if name == "prediction_bound":
            return self.group.largest(np.array([bounds.max()]))[0]
        if not self.exact:
            with shared_errors(self.group):
                self._refuse_overflow()
        with np.errstate(over="ignore"):  # an infinite energy is refused by every bound
            if name == "bregman_radius":
                return self.losses.bregman_radius(bounds)
            return self.mean(self.losses.gammas * bounds * bounds)

    @cached_property
    def spectral_energy(self) -> Any:
        """‖diag(√γ_j) X‖₂², the largest eigenvalue of Σ_j γ_j x_j x_jᵀ."""
        energy = self.rows.spectral_energy(self.losses.gammas)
        return Fraction(energy) if self.exact else energy

    def _fields(self, loss: SeparableConjugate, fields: Any) -> tuple[Array, ...]:
        """The fields that the loss reads, in its order, each checked."""
        if not isinstance(fields, Mapping):
            raise TypeError(
                f"fields is of type {type(fields).__name__}; expected a mapping of names to "
                "vectors, such as {'tau': levels}"
            )
        if set(fields) != set(loss.reads):
            came = ", ".join(map(str, fields)) or "none"
            expected = ", ".join(loss.reads) or "none"
            raise ValueError(
                f"fields holds {came} and {loss!r} reads {expected}; expected the same names: a "
                "class of losses says in reads = ('tau', …) which numbers of a sample it gets"
            )
        return tuple(self._vector(f"fields[{name!r}]", fields[name]) for name in loss.reads)

    def _vector(self, name: str, values: Any) -> Array:
        array = as_array(name, values)
        if array.shape != (self.n,):
            raise ValueError(
                f"{name} has shape {array.shape}; expected ({self.n},), one number for each "
                f"row of X, which has shape ({self.n}, {self.p})"
            )
        array = checked_numbers(name, array)
        if self.exact != (array.dtype == object):
            if not self.exact:
                raise ValueError(
                    f"{name} holds fractions while X holds floats; expected both exact or "
                    f"neither: convert with {name}.astype(float)"
                )
            return np.array([Fraction(value) for value in array.tolist()], dtype=object)
        # A copy: what was checked must not change.
        own = array.copy() if self.exact else as_doubles(name, array)
        own.setflags(write=False)
        return own


def check_problem(problem: Any) -> None:
    """Refuse anything but a ``Problem``, and one whose altered parts do not pass."""
    if not isinstance(problem, Problem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; expected a Problem(X, y, loss, oracle)"
        )
    problem.check_again()
