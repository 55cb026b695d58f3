"""Labels -1 and +1 from the two values that a file happens to use."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rcmd.datasets.faults import DataError

Array = NDArray[Any]


def map_labels(y: ArrayLike) -> tuple[Array, str | None]:
    """Return labels -1 and +1, and a sentence saying what was mapped if anything was.

    Examples
    --------
    >>> map_labels([1, 2, 2])
    (array([-1.,  1.,  1.]), 'labels 1 and 2 were mapped to -1 and +1 (the larger to +1)')
    """
    labels = np.asarray(y, np.float64)
    distinct = np.unique(labels)
    if distinct.size and np.all(np.abs(distinct) == 1):
        return labels, None
    shown = [repr(value).removesuffix(".0") for value in distinct[:4].tolist()]
    if distinct.size == 2 and np.all(np.isfinite(distinct)):
        mapped = f"labels {' and '.join(shown)} were mapped to -1 and +1 (the larger to +1)"
        return np.where(labels == distinct[1], 1.0, -1.0), mapped
    values = ", ".join(shown + ["..."] * (distinct.size > 4)) or "it is empty"
    wanted = "expected two finite ones: keep the rows of two classes only"
    raise DataError(f"y has {distinct.size} distinct values ({values}); {wanted}")
