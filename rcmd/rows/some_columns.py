"""Some columns of sparse rows, kept beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.rows.sparse import SparseRows, both_sides

Array = npt.NDArray[Any]


class SomeColumns:
    """The entries of X in the distinct, ascending ``columns``, row by row.

    Examples
    --------
    >>> from rcmd.rows import as_rows
    >>> import scipy.sparse as sp
    >>> rows = as_rows(sp.csr_array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]))
    >>> SomeColumns(rows, np.array([1, 2])).gram(np.ones(2))
    array([[13., 12.],
           [12., 16.]])
    >>> SomeColumns(rows, np.array([1, 2])).matvec(np.array([0.0, 1.0, -1.0]))
    array([ 2., -1.])
    """

    def __init__(self, rows: SparseRows, columns: Array) -> None:
        from rcmd.engine.kernels.columns import count, pick

        matrix, self.columns = rows.matrix, columns
        places = np.full(rows.p, -1, dtype=np.int32)
        places[columns] = np.arange(len(columns))
        size = count(matrix.indices, places)
        values, where = np.empty(size + 1), np.empty(size + 1, dtype=np.int32)
        offsets = np.zeros(rows.n + 1, dtype=matrix.indptr.dtype)
        data = matrix.data, matrix.indices, matrix.indptr
        pick(*data, places, values, where, offsets)
        self._entries = values, where, offsets

    def matvec(self, beta: Array) -> Array:
        """Xβ for a β that is 0 in all other columns; to the bit, where X is in double precision."""
        from rcmd.engine.kernels.columns import weighted_sums

        sums = np.empty(len(self._entries[2]) - 1)
        weighted_sums(*self._entries, beta[self.columns], sums)
        return sums

    def rmatvec(self, w: Array) -> Array:
        """Σ_j w_j x_jk for every column k."""
        from rcmd.engine.kernels.columns import column_sums

        sums = np.zeros(len(self.columns))
        column_sums(*self._entries, w, sums)
        return sums

    def gram(self, curvatures: Array) -> Array:
        """Σ_j c_j x_jk x_jl for the columns k and l."""
        from rcmd.engine.kernels.gram import sparse_gram

        total = np.zeros((len(self.columns),) * 2)
        sparse_gram(*self._entries, curvatures, total)
        return both_sides(total)
