"""The contract of rows: every method beside the matrix that ``row`` gives."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, check_kind
from rcmd.testing.report import Cause, Faults, Inspection, Report, Skip, identity, shown

RELATIVE = 1e-9
LARGEST = 10**6
"""Entries up to which X is formed."""


def check_rows(rows: Rows, *, rng: int | np.random.Generator = 0) -> Report:
    """Check every method of rows beside the dense matrix; a ``ContractError`` lists all failures.

    Examples
    --------
    >>> from rcmd.rows import as_rows
    >>> check_rows(as_rows([[1.0, 0.0], [2.0, -3.0]])).ok
    True
    """
    return inspect_rows(rows, rng=rng).checked()


def inspect_rows(rows: Rows, *, rng: int | np.random.Generator = 0) -> Report:
    """The report of ``check_rows``, also where something fails.

    Examples
    --------
    >>> from rcmd.rows import DenseRows
    >>> class Wrong(DenseRows):
    ...     def rmatvec(self, w): return 1.01 * super().rmatvec(w)
    >>> print(inspect_rows(Wrong(np.eye(2))).failures[0].remedy)
    rmatvec(w) should be Xᵀw
    """
    check_kind("rows", rows, Rows, "Rows")
    if rows.n * rows.p > LARGEST:
        raise ValueError(
            f"rows are {rows.n} × {rows.p} numbers; expected at most {LARGEST}, as the matrix is "
            "formed: check the layout on a few rows"
        )
    return RowsInspection(rows, np.random.default_rng(rng)).run()


class RowsInspection(Inspection):
    """Rows under inspection."""

    def __init__(self, rows: Rows, rng: np.random.Generator) -> None:
        super().__init__(f"{type(rows).__name__}, {rows.n} × {rows.p}")
        self.rows, self.rng = rows, rng
        half = rng.permutation(rows.n)[: (rows.n + 1) // 2]
        self.batches = [np.arange(rows.n), half, half[:1], np.array([rows.n - 1])]

    @cached_property
    def X(self) -> Array:
        rows = [np.asarray(self.rows.row(j)) for j in range(self.rows.n)]
        if any(x.shape != (self.rows.p,) for x in rows):
            raise Skip("row is wrong")
        return np.array(rows, dtype=float)

    @cached_property
    def room(self) -> float:
        """Rounding of products with numbers up to one."""
        return RELATIVE * (1e-300 + float(abs(self.X).sum()))

    def numbers(self, count: int) -> Array:
        """Eighths between −1 and 1, in the number type of the rows."""
        eighths = self.rng.integers(-8, 9, count) / 8
        exact = np.array([Fraction(number) for number in eighths], dtype=object)
        return exact if self.rows.exact else eighths

    def atoms(self) -> Iterator[Atom]:
        """Of every form that β can take up."""
        p, (one, last) = self.rows.p, self.numbers(2)
        yield SparseAtom((), ())
        if not isinstance(self.rows.zero(), LowRank):
            yield from (SparseAtom((0,), (one,)), DenseAtom(self.numbers(p)))
            yield from [SparseAtom((p - 1, 0), (last, one))][: p - 1]
        shape: Any = getattr(self.rows, "shape", ())
        if len(shape) == 2 and shape[0] * shape[1] == p:
            yield RankOneAtom(self.numbers(shape[0]), self.numbers(shape[1]))

    def compared(self, name: str, found: Any, expected: Array, words: str) -> Faults:
        """A fault where an array is not the one expected."""
        flat = dense(found)
        if flat.shape != expected.shape:
            found, right = f"{name} of shape {flat.shape}", f"shape {expected.shape}"
            yield {}, found, right, Cause.WRONG_TYPE, f"{name} should be {words}"
        elif not (missed := abs(flat - expected)).max(initial=0.0) <= self.room:
            place = int(np.nan_to_num(missed, nan=np.inf).argmax())
            point = {"entry": place}
            remedy = f"{name} should be {words}"
            yield point, flat.flat[place], expected.flat[place], Cause.UNKNOWN, remedy

    @identity("row gives vectors of p finite numbers")
    def row(self) -> Faults:
        for j in range(self.rows.n):
            x = np.asarray(self.rows.row(j))
            if x.shape != (self.rows.p,) or not np.isfinite(x.astype(float)).all():
                found = f"shape {x.shape}" if x.shape != (self.rows.p,) else shown(x)
                yield {"j": j}, found, f"{self.rows.p} finite numbers", Cause.WRONG_TYPE

    @identity("matvec is Xβ, rmatvec Xᵀw, and products both", most=None)
    def products(self) -> Faults:
        for name, side, matrix, words in (
            ("matvec", self.rows.p, self.X, "Xβ"),
            ("rmatvec", self.rows.n, self.X.T, "Xᵀw"),
        ):
            vector = self.numbers(side)
            given = vector.copy()
            argument = "β" if name == "matvec" else "w"
            found = getattr(self.rows, name)(given)
            yield from self.compared(f"{name}({argument})", found, matrix @ dense(vector), words)
            if not np.array_equal(given, vector):
                remedy = f"{name} writes into {argument}: copy it first"
                yield {}, dense(given), dense(vector), Cause.CHANGES, remedy
        beta, w = self.numbers(self.rows.p), self.numbers(self.rows.n)
        found, sums = self.rows.products(beta, w)
        yield from self.compared("products(β, w)[0]", found, self.X @ dense(beta), "Xβ")
        yield from self.compared("products(β, w)[1]", sums, self.X.T @ dense(w), "Xᵀw")

    @identity("predict and predict_at are Xβ at atoms of every form", most=None)
    def predictions(self) -> Faults:
        atoms, zero = list(self.atoms()), np.zeros(self.rows.p, dtype=self.rows.number_type)
        expected = np.array([self.X @ dense(atom.dense(zero)) for atom in atoms]).T
        for k, atom in enumerate(atoms):
            for batch in self.batches:
                name = f"predict(batch, {type(atom).__name__})"
                found = self.rows.predict(batch, atom)
                yield from self.compared(name, found, expected[batch, k], "x_jᵀβ of the batch")
        together = self.rows.predict_at(atoms)
        found = together.toarray() if sp.issparse(together) else together
        yield from self.compared("predict_at", found, expected, "a column for each atom")

    @identity("scatter adds Σ_j coefficients_j x_j")
    def scatter(self) -> Faults:
        for batch in self.batches:
            start, weights = self.numbers(self.rows.n), self.numbers(len(batch))
            total = self.rows.rmatvec(start)
            self.rows.scatter(batch, weights, total)
            expected = self.X.T @ dense(start) + self.X[batch].T @ dense(weights)
            words = "total + Σ_j coefficients_j x_j"
            yield from self.compared("scatter", total, expected, words)

    @identity("norms, ranges and the spectral energy are those of X", most=None)
    def constants(self) -> Faults:
        X, rows = self.X, self.rows
        ends = np.sort([self.numbers(rows.p), self.numbers(rows.p)], axis=0)
        sides = np.sort([X * dense(ends[0]), X * dense(ends[1])], axis=0).sum(axis=2)
        squares = (X * X).sum(axis=1)
        peak = abs(X).max(axis=1)
        for name, found, expected in (
            ("square_norms", rows.square_norms(), squares),
            ("max_norms", rows.max_norms(), peak),
            ("entry_range", np.array(rows.entry_range()), np.array([X.min(1), X.max(1)])),
            ("box_range", np.array(rows.box_range(*ends)), sides),
            ("reduce", rows.reduce(lambda block, _: (block * block).sum(axis=1)), squares),
            ("peak", np.array([rows.peak]), peak.max(keepdims=True)),
        ):
            yield from self.compared(name, found, expected, "that of X")
        scales = abs(dense(self.numbers(rows.n))) + 0.5
        energy = rows.spectral_energy(scales)
        right = float(np.linalg.norm(np.sqrt(scales)[:, None] * X, 2) ** 2)
        if not right * (1 - RELATIVE) <= energy <= right * (1 + 1e-6):
            remedy = "σ would be wrong: spectral_energy should be ‖diag(√scales) X‖₂²"
            yield {}, energy, right, self.first_cause(), remedy

    @identity("thinned has every stride-th row")
    def thinned(self) -> Faults:
        fewer = self.rows.thinned(2)
        if fewer is None:
            raise Skip("the layout has no cheap way to them")
        yield from self.compared("thinned(2)", dense_matrix(fewer), self.X[::2], "X[::2]")

    @identity("as_matrix is X")
    def matrix(self) -> Faults:
        yield from self.compared("as_matrix", dense_matrix(self.rows), self.X, "X")


def dense(values: Any) -> Array:
    """Numbers as a float array; a matrix, sparse or low-rank, row by row as a vector."""
    if sp.issparse(values):
        return np.asarray(values.toarray(), dtype=float).ravel()
    return np.asarray(values, dtype=float)


def dense_matrix(rows: Rows) -> Array:
    """``as_matrix`` as an array."""
    matrix = rows.as_matrix()
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=float)
