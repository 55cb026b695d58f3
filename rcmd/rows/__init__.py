"""The rows x_j, in the layouts data come in, and the points β that they predict at.

- ``base``: the contract ``Rows``; ``layouts`` chooses the one that fits. Begin here.
- ``dense``, ``sparse`` (with ``sparse_kernels``), ``disk`` (with ``files``), ``operator``,
  ``matrix_rows``: the layouts.
- ``atoms``: what oracles return; ``lowrank``: a matrix β kept as a sum of rank-one matrices.
- ``validation``: input is checked once; ``cancellation``: long work that ends early.
"""

from rcmd.rows.base import Rows
from rcmd.rows.dense import DenseRows
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
