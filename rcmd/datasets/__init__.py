"""Data sets as pairs (X, y): LIBSVM files, rows on disk, and generated problems."""

from rcmd.datasets.converting import convert_libsvm
from rcmd.datasets.faults import DataError
from rcmd.datasets.fetching import load, locate
from rcmd.datasets.generated import make_classification, make_regression
from rcmd.datasets.labels import map_labels
from rcmd.datasets.libsvm import LibsvmData, read_libsvm
from rcmd.datasets.opening import StoredData, open_rows, read
from rcmd.datasets.writing import RowsWriter

__all__ = [
    "DataError",
    "LibsvmData",
    "RowsWriter",
    "StoredData",
    "convert_libsvm",
    "load",
    "locate",
    "make_classification",
    "make_regression",
    "map_labels",
    "open_rows",
    "read",
    "read_libsvm",
]
