"""Packages that are imported when they are first used."""

import sys
from importlib import import_module
from typing import Any


class Late:
    """A package that is imported when it is first used, and not to be fingerprinted."""

    def __init__(self, name: str) -> None:
        self._name = self.fingerprint = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            package = import_module(self._name)
        except ImportError:
            raise ImportError(
                f"this needs the package {self._name}, which is not installed; expected it to be: "
                f"pip install {self._name}"
            ) from None
        return getattr(package, attribute)


cp = Late("cvxpy")
"""CVXPY, which takes a second to import and is needed for ground truth alone."""

sp: Any = Late("scipy.sparse")
"""SciPy's sparse matrices, which take as long to import as all of rcmd; dense data need none."""


def is_sparse(value: Any) -> bool:
    """Whether this is a sparse matrix or array, which nobody has before they were imported."""
    return "scipy.sparse" in sys.modules and bool(sp.issparse(value))
