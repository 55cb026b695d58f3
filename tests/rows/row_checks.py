"""Every method of rows against the same on the matrix that they stand for."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd import Atom, DenseAtom, LowRank, RankOneAtom, SparseAtom
from rcmd.rows import Rows

ATOMS: dict[str, Atom] = {
    "sparse": SparseAtom((1, 4), (2.5, -0.75)),
    "sparse ints first": SparseAtom((4, 1), (1, 0.5)),
    "sparse one": SparseAtom((3,), (5,)),
    "sparse three": SparseAtom((5, 0, 2), (1.0, 0.5, -3.0)),
    "sparse none": SparseAtom((), ()),
    "dense": DenseAtom(np.array([1.0, -2.0, 0.0, 0.5, 4.0, -0.25])),
    "rank one": RankOneAtom(np.array([1.0, -2.0]), np.array([0.5, 0.0, 3.0])),
}


def dense_of(atom: Atom, p: int = 6) -> np.ndarray:
    if isinstance(atom, RankOneAtom):
        return np.outer(atom.left, atom.right).reshape(-1)
    if isinstance(atom, DenseAtom):
        return atom.vector
    assert isinstance(atom, SparseAtom)
    vector = np.zeros(p)
    for k, v in zip(atom.indices, atom.values, strict=True):
        vector[k] = v
    return vector


def check_rows(rows: Rows, X: np.ndarray, atol: float = 0.0) -> None:
    """Sums of numbers with few bits are exact in float64, in any order: then ``atol`` is 0."""
    assert (rows.n, rows.p) == X.shape
    rng = np.random.default_rng(0)
    beta, lower, w = (rng.integers(-8, 9, size) / 4 for size in (rows.p, rows.p, rows.n))
    upper = lower + rng.integers(0, 9, rows.p) / 4

    def same(found: Any, wanted: Any) -> None:
        found = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=float)
        found = found.reshape(np.shape(wanted))  # a slope may be a matrix
        np.testing.assert_allclose(found, np.asarray(wanted, dtype=float), rtol=0, atol=atol)

    same(rows.matvec(beta), X @ beta)
    same(rows.rmatvec(w), X.T @ w)
    for found, wanted in zip(rows.products(beta, w), (X @ beta, X.T @ w), strict=True):
        same(found, wanted)
    same(rows.normal_product(w, beta), X.T @ (w * (X @ beta)))
    same(rows.square_norms(), (X**2).sum(axis=1))
    same(rows.max_norms(), abs(X).max(axis=1))
    same(rows.peak, abs(X).max())
    same(rows.max_norms()[rows.peak_row], abs(X).max())
    same(rows.entry_range(), (X.min(axis=1), X.max(axis=1)))
    ends = X * lower, X * upper
    wanted = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
    same(rows.box_range(lower, upper), wanted)
    for batch in ([0], [2], [5, 2, 0], range(rows.n)[::-1]):
        index = np.array(batch)
        for atom in ATOMS.values():
            same(rows.predict(index, atom), X[index] @ dense_of(atom))
        total = rows.rmatvec(w)
        rows.scatter(index, w[index], total)
        same(total, X.T @ w + w[index] @ X[index])
    sparse = [atom for atom in ATOMS.values() if isinstance(atom, SparseAtom)]
    groups = [sparse, sparse[2:3], [*ATOMS.values()]]
    if isinstance(rows.zero(), LowRank):  # to which other atoms are not added
        groups = [[ATOMS["rank one"]]]
    for group in groups:
        same(rows.predict_at(group), X @ np.array([*map(dense_of, group)]).T)
    same([rows.row(j) for j in range(rows.n)], X)
    same(rows.as_matrix(), X)
    same(rows.matvec(rows.zero()), np.zeros(rows.n))
