"""The rows x_j, in the layouts data come in."""

from rcmd.rows.base import Rows
from rcmd.rows.dense import DenseRows
from rcmd.rows.reading import as_rows
from rcmd.rows.sparse import SparseRows

__all__ = ["DenseRows", "Rows", "SparseRows", "as_rows"]
