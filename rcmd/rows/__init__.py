"""The rows x_j in all data layouts, and the points β at which they predict.

- ``base``: the contract ``Rows``, and dense ones; begin here. ``layouts`` chooses among layouts.
- ``sparse`` (with ``sparse_kernels``), ``disk``, ``operator``, ``matrix_rows``: the other layouts.
- ``atoms``: what oracles return; ``lowrank``: a matrix β kept as a sum of rank-one matrices.
- ``validation``: checks of user input; ``matrix_files``: numbers from files.
- ``processes``: ranks, and cancellation.
"""

from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.disk import DiskRows
from rcmd.rows.layouts import as_rows
from rcmd.rows.matrix_rows import BilinearRows, MatrixEntries
from rcmd.rows.operator import OperatorRows
from rcmd.rows.sparse import SparseRows

__all__ = [
    "BilinearRows",
    "DenseRows",
    "DiskRows",
    "MatrixEntries",
    "OperatorRows",
    "Rows",
    "SparseRows",
    "as_rows",
]
