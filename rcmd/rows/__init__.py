"""The rows x_j, in the layouts data come in, and the points β that they predict at.

- ``base``: the contract ``Rows``, and dense ones; begin here. ``layouts`` chooses what fits.
- ``sparse`` (with ``sparse_kernels``), ``disk``, ``operator``, ``matrix_rows``: the other layouts.
- ``atoms``: what oracles return; ``lowrank``: a matrix β kept as a sum of rank-one matrices.
- ``validation``: input is checked once; ``matrix_files``: numbers from files.
- ``processes``: ranks, and work that ends early.
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
