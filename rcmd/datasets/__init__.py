"""Data sets as pairs (X, y): LIBSVM files, plain or compressed, and generated problems."""

from rcmd.datasets.faults import DataError
from rcmd.datasets.fetching import load, locate
from rcmd.datasets.generated import make_classification, make_regression
from rcmd.datasets.labels import map_labels
from rcmd.datasets.libsvm import LibsvmData, read_libsvm

__all__ = [
    "DataError",
    "LibsvmData",
    "load",
    "locate",
    "make_classification",
    "make_regression",
    "map_labels",
    "read_libsvm",
]
