"""The rows x_j, in the layouts data come in."""

from rcmd.rows.base import Rows
from rcmd.rows.bilinear import BilinearRows
from rcmd.rows.dense import DenseRows
from rcmd.rows.disk import DiskRows
from rcmd.rows.entries import MatrixEntries
from rcmd.rows.operator import OperatorRows
from rcmd.rows.reading import as_rows
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
