"""Generated problems: labels and responses of a sparse linear model."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.rows.validation import Array, check_seed

Pair = tuple[Any, Array]
Rng = np.random.Generator | int  # a generator, or a seed for one


def make_classification(n: int = 400, p: int = 100, *, density: float = 0.1, rng: Rng) -> Pair:
    """Generate labels -1 and +1 by a logistic model whose sparse truth has l1 norm 5.

    With n above p, the least mean logistic loss in the l1 ball of radius 5 is around 0.4.
    X is a ``csr_array``, or dense for ``density=1``; every draw comes from ``rng``.

    Examples
    --------
    >>> X, y = make_classification(50, 20, density=0.2, rng=0)
    >>> X.shape, X.nnz, sorted(set(y.tolist()))
    ((50, 20), 200, [-1.0, 1.0])
    """
    check_seed(rng, "rng")
    rng = np.random.default_rng(rng)
    x, margins = _design(n, p, density, 2.5, rng)
    return x, np.where(rng.logistic(size=n) < margins, 1.0, -1.0)


def make_regression(n: int = 400, p: int = 100, *, density: float = 0.1, rng: Rng) -> Pair:
    """Generate a least squares problem likewise: signal of spread 1, Gaussian noise of 1/2.

    Examples
    --------
    >>> X, y = make_regression(50, 20, density=1, rng=0)
    >>> X.shape, y.shape, type(X).__name__
    ((50, 20), (50,), 'ndarray')
    """
    check_seed(rng, "rng")
    rng = np.random.default_rng(rng)
    x, signal = _design(n, p, density, 1.0, rng)
    return x, signal + 0.5 * rng.standard_normal(n)


def _design(n: int, p: int, density: float, spread: float, rng: np.random.Generator) -> Pair:
    """Draw X and a sparse truth, X scaled to give their product, also returned, the spread."""
    if n < 1 or p < 1 or not 0 < density <= 1:
        raise ValueError(f"n={n}, p={p}, density={density}; expected n, p >= 1, 0 < density <= 1")
    x: Any = rng.uniform(-1.0, 1.0, (n, p) if density == 1 else math.ceil(density * n * p))
    if density < 1:
        cells = np.sort(rng.choice(n * p, size=x.size, replace=False))
        x = sp.csr_array((x, np.stack(np.divmod(cells, p)).astype(np.int32)), shape=(n, p))
    support = rng.choice(p, size=min(p, max(5, math.ceil(1 / density))), replace=False)
    truth = np.zeros(p)
    truth[support] = rng.uniform(0.5, 1.5, support.size) * rng.choice([-1.0, 1.0], support.size)
    product = x @ (truth * (5.0 / np.abs(truth).sum()))
    scale = spread / (math.sqrt(np.mean(product**2)) or spread)
    return x * scale, product * scale
