"""Data sets as pairs (X, y).

``libsvm`` and ``tables`` read files, ``fetching`` finds or downloads published ones, ``folder``
writes rows to disk and opens them, ``generated`` makes problems. Begin with ``read(path)``,
``read_table(path)`` or ``load("a9a")``; bad files raise a ``rcmd.FileError``.
"""

from rcmd.datasets.fetching import load, locate
from rcmd.datasets.folder import RowsWriter, StoredData, convert_libsvm, open_rows, read
from rcmd.datasets.generated import make_classification, make_regression
from rcmd.datasets.libsvm import LibsvmData, map_labels, read_libsvm
from rcmd.datasets.tables import Table, TableData, read_table

__all__ = [
    "LibsvmData",
    "RowsWriter",
    "StoredData",
    "Table",
    "TableData",
    "convert_libsvm",
    "load",
    "locate",
    "make_classification",
    "make_regression",
    "map_labels",
    "open_rows",
    "read",
    "read_libsvm",
    "read_table",
]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
