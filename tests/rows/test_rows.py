"""Every layout of the data against dense float64 algebra; nothing copied, nothing changed."""

import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from row_checks import ATOMS, check_rows, dense_of

from rcmd import Atom, DenseAtom, LeastSquares, Problem, RankOneAtom, Ridge, SparseAtom
from rcmd.rows import Rows, SparseRows, as_rows

F = Fraction
N, P = 7, 6


def matrix() -> np.ndarray:
    """Entries with two bits behind the point, so that every layout holds them exactly."""
    rng = np.random.default_rng(0)
    dense = rng.integers(-20, 20, size=(N, P)) / 4 * (rng.random((N, P)) < 0.6)
    dense[2] = 0  # an empty row
    dense[4] = abs(dense[4]) + 1  # a full row, all positive
    dense[5] = -dense[4]
    return dense


def csr(kind: Any = sp.csr_array, value: Any = float, index: Any = np.int32) -> Any:
    made = kind(matrix().astype(value))
    made.indices, made.indptr = made.indices.astype(index), made.indptr.astype(index)
    return made


def unsorted_csr() -> Any:
    made = csr()
    for start, stop in itertools.pairwise(made.indptr):
        for part in (made.indices, made.data):
            part[start:stop] = part[start:stop][::-1].copy()
    made.has_sorted_indices = False
    made.has_canonical_format = False
    return made


def duplicate_csr() -> Any:
    """Every entry in two halves."""
    made = csr()
    halves = (np.repeat(made.data / 2, 2), np.repeat(made.indices, 2), made.indptr * 2)
    return sp.csr_array(halves, shape=made.shape)


def read_only() -> np.ndarray:
    dense = matrix()
    dense.setflags(write=False)
    return dense


def exact() -> np.ndarray:
    return np.vectorize(F, otypes=[object])(matrix())


class Table:
    """What a table of another library looks like to NumPy."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return matrix()


def old_matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix(matrix())


LAYOUTS: dict[str, Callable[[], Any]] = {
    "float64": matrix,
    "float32": lambda: matrix().astype(np.float32),
    "int": lambda: (matrix() * 4).astype(int),
    "big-endian": lambda: matrix().astype(">f8"),
    "fortran": lambda: np.asfortranarray(matrix()),
    "strided": lambda: np.repeat(matrix(), 2, axis=1)[:, ::2],
    "transposed": lambda: matrix().T.copy().T,
    "negative strides": lambda: matrix()[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": lambda: np.frombuffer(b"x" + matrix().tobytes(), offset=1).reshape(N, P),
    "float16": lambda: matrix().astype(np.float16),
    "longdouble": lambda: matrix().astype(np.longdouble),
    "int8": lambda: (matrix() * 4).astype(np.int8),
    "masked, nothing missing": lambda: np.ma.MaskedArray(matrix()),
    "table": Table,
    "tuples": lambda: tuple(map(tuple, matrix().tolist())),
    "read-only": read_only,
    "np.matrix": old_matrix,
    "list": lambda: matrix().tolist(),
    "csr_array": csr,
    "csr_matrix": lambda: csr(sp.csr_matrix),
    "csr float32": lambda: csr(value=np.float32),
    "csr int64": lambda: csr(index=np.int64),
    "csr int values": lambda: sp.csr_array((matrix() * 4).astype(int)),
    "csr unsorted": unsorted_csr,
    "csr duplicates": duplicate_csr,
    "csc": lambda: sp.csc_array(matrix()),
    "coo": lambda: sp.coo_array(matrix()),
    "coo duplicates": lambda: sp.coo_array(duplicate_csr()),
    "lil": lambda: sp.lil_array(matrix()),
    "dok": lambda: sp.dok_array(matrix()),
    "bsr": lambda: sp.bsr_array(matrix()),
    "dia": lambda: sp.dia_array(matrix()),
    "fractions": exact,
}


# ---- atoms -------------------------------------------------------------------------------------


def check_atom(atom: Atom, vector: np.ndarray) -> None:
    indices = np.array([4, 0, 1, 1, 5, 3], dtype=np.int32)
    np.testing.assert_array_equal(atom.gather(indices), vector[indices])
    np.testing.assert_array_equal(atom.gather(indices[:0]), vector[:0])
    np.testing.assert_array_equal(atom.predict(matrix()), matrix() @ vector)
    np.testing.assert_array_equal(atom.dense(np.ones(P)), vector)
    total = np.arange(float(P))
    atom.add_to(total, -0.5)
    np.testing.assert_array_equal(total, np.arange(P) - 0.5 * vector)


@pytest.mark.parametrize("name", ATOMS)
def test_atom(name: str) -> None:
    check_atom(ATOMS[name], dense_of(ATOMS[name]))


def test_atoms_in_fractions() -> None:
    block = exact()
    vector = np.array([F(0)] * P, dtype=object)
    vector[3] = F(1, 3)
    third = SparseAtom((3,), (F(1, 3),))
    pairs = [
        (third, vector),
        (DenseAtom(vector), vector),
        (RankOneAtom(np.array([F(0), F(1)]), np.array([F(1, 3), F(0), F(0)])), vector),
    ]
    for atom, wanted in pairs:
        assert list(atom.predict(block)) == list(block @ wanted)
        assert list(atom.gather(np.array([3, 0]))) == [F(1, 3), 0]
        assert list(atom.dense(wanted)) == list(wanted)
    assert list(SparseAtom((), ()).predict(block)) == [0] * N


# ---- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("entries", [P, 3 * P, 6 * P, 100 * P])
def test_products_in_one_sweep(kind: Any, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense ones in blocks of one, three, six and all rows; sparse ones compiled, or not."""
    monkeypatch.setattr("rcmd.rows.base.PRODUCT_ENTRIES", entries)
    monkeypatch.setattr("rcmd.rows.sparse.COMPILED_FROM", entries)
    rows, weights = as_rows(kind(matrix())), np.arange(N) / 4 - 1
    v = np.arange(P) / 2 - 1
    product = rows.normal_product(weights, v)
    np.testing.assert_array_equal(product, matrix().T @ (weights * (matrix() @ v)))
    predictions, sums = rows.products(v, weights)
    np.testing.assert_array_equal(predictions, matrix() @ v)
    np.testing.assert_array_equal(sums, matrix().T @ weights)
    for vector in (weights, v):  # as those of a certificate
        vector.setflags(write=False)
    np.testing.assert_array_equal(rows.matvec(v), matrix() @ v)
    np.testing.assert_array_equal(rows.matvec(np.repeat(v, 2)[::2]), matrix() @ v)
    np.testing.assert_array_equal(rows.rmatvec(weights), weights @ matrix())
    np.testing.assert_array_equal(rows.max_norms(), abs(matrix()).max(axis=1))
    np.testing.assert_array_equal(rows.matvec(np.ones(P, dtype=int)), matrix().sum(axis=1))


@pytest.mark.parametrize("kind", [float, np.float32])
def test_compiled_products_are_those_of_scipy_to_the_bit(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that iterates do not depend on how large the data are."""
    monkeypatch.setattr("rcmd.rows.sparse.COMPILED_FROM", 0)
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 200), density=0.2, format="csr", rng=rng, dtype=kind)
    rows, double = as_rows(X), X.astype(float)
    for _ in range(5):
        beta, w = (rng.standard_normal(m) * 10.0 ** rng.integers(-5, 5, m) for m in (200, 300))
        np.testing.assert_array_equal(rows.matvec(beta), double @ beta)
        np.testing.assert_array_equal(rows.rmatvec(w), double.T @ w)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("wide", [False, True])
def test_compiled_products_have_the_same_bits(
    dtype: Any, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resumed run, and one on several processes, form them one by one."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 40), density=0.3, format="csr", random_state=rng, dtype=dtype)
    X.data[:] = rng.standard_normal(X.nnz)
    X = sp.vstack([X, sp.csr_array((1, 40), dtype=dtype)], format="csr")  # an empty row
    if wide:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    beta, w = rng.standard_normal(40), rng.standard_normal(301)
    plain, compiled = as_rows(X), as_rows(X.copy())
    apart, norms = (plain.matvec(beta), plain.rmatvec(w)), plain.max_norms()
    monkeypatch.setattr("rcmd.rows.sparse.COMPILED_FROM", X.nnz)
    for found, wanted in zip(compiled.products(beta, w), apart, strict=True):
        assert np.array_equal(found, wanted)
        assert found.dtype == np.float64
    if dtype == np.float64:
        from rcmd.rows.sparse_kernels import both_products

        known = len(both_products.signatures)
        beta.setflags(write=False)
        compiled.products(beta, w)
        assert len(both_products.signatures) == known, "compiled once for arrays of both kinds"
    assert np.array_equal(compiled.max_norms(), norms)
    assert norms[-1] == 0


def check_double(rows: Rows) -> None:
    """Results are float64 whatever the data are."""
    beta, w = np.ones(rows.p), np.ones(rows.n)
    found = [rows.matvec(beta), rows.rmatvec(w), rows.square_norms(), rows.row(0)]
    found += [*rows.entry_range(), *rows.box_range(beta, beta)]
    assert [array.dtype for array in found] == [np.dtype(float)] * len(found)
    assert rows.number_type == np.dtype(float)


def scaled(name: str) -> np.ndarray:
    return matrix() * 4 if name in ("int", "int8", "csr int values") else matrix()


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows(name: str) -> None:
    X, before = LAYOUTS[name](), LAYOUTS[name]()
    rows = as_rows(X)
    check_rows(rows, scaled(name))
    if sp.issparse(X):
        for part in ("data", "row", "col", "indices", "indptr", "offsets", "rows"):
            if hasattr(X, part):
                np.testing.assert_array_equal(getattr(X, part), getattr(before, part))
    else:
        np.testing.assert_array_equal(np.asarray(X), np.asarray(before))
    if name == "fractions":
        assert rows.number_type == np.dtype(object)
        assert all(isinstance(entry, Fraction) for entry in rows.square_norms())
    else:
        check_double(rows)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_what_is_no_number_is_refused_wherever_it_stands(make: Any, bad: float) -> None:
    for place in ((0, 0), (4, 5), (N - 1, P - 1)):
        X = matrix() + 1.0
        X[place] = bad
        with pytest.raises(
            ValueError, match=rf"X holds {bad} at position \({place[0]}, {place[1]}"
        ):
            as_rows(make(X))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_single_precision_data_are_accumulated_in_double(make: Any) -> None:
    single = np.full((1, 3000), 0.1, dtype=np.float32)
    rows = as_rows(make(single))
    double = single.astype(float)
    assert rows.square_norms()[0] == pytest.approx((double**2).sum(), rel=1e-14)
    assert rows.matvec(np.ones(3000))[0] == pytest.approx(double.sum(), rel=1e-14)
    predicted = rows.predict(np.array([0]), DenseAtom(np.ones(3000)))[0]
    assert predicted == pytest.approx(double.sum(), rel=1e-14)


def test_blocks_of_large_single_data_cover_every_row() -> None:
    rng = np.random.default_rng(0)
    single = rng.integers(-8, 8, size=(300_000, 2)).astype(np.float32)
    rows, dense = as_rows(single), single.astype(float)
    w = rng.integers(-8, 8, size=len(dense)).astype(float)
    np.testing.assert_array_equal(rows.rmatvec(w), dense.T @ w)
    np.testing.assert_array_equal(rows.square_norms(), (dense**2).sum(axis=1))


# ---- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float64", "float32", "read-only", "np.matrix", "fractions"])
def test_dense_data_are_not_copied(name: str) -> None:
    X = LAYOUTS[name]()
    array = as_rows(X).array
    assert np.shares_memory(array, X)
    assert type(array) is np.ndarray


@pytest.mark.parametrize("name", ["csr_array", "csr_matrix", "csr float32", "csr int64"])
def test_canonical_sparse_data_are_not_copied(name: str) -> None:
    X = LAYOUTS[name]()
    kept = as_rows(X).matrix
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(kept, part), getattr(X, part))


def test_rows_pass_through() -> None:
    rows = as_rows(matrix())
    assert as_rows(rows) is rows


def test_sparse_data_are_not_densified() -> None:
    wide = sp.csr_array(([1.0, 2.0], ([0, 1], [10**9, 3])), shape=(2, 2 * 10**9))
    rows = as_rows(wide)
    atom = SparseAtom((10**9,), (5.0,))
    np.testing.assert_array_equal(rows.predict(np.array([1, 0]), atom), [0.0, 5.0])
    np.testing.assert_array_equal(rows.square_norms(), [1.0, 4.0])
    np.testing.assert_array_equal(rows.max_norms(), [1.0, 2.0])


# ---- spectral energy ---------------------------------------------------------------------------


def check_spectral(rows: Rows, dense: np.ndarray, scales: np.ndarray) -> None:
    true = np.linalg.norm(np.sqrt(scales)[:, None] * dense, 2) ** 2
    found = rows.spectral_energy(scales)
    assert true <= found <= true * (1 + 2e-9)
    assert rows.spectral_energy(scales) == found


def spectral_cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    bad = 1 + np.arange(2) / 2
    return {
        "tall": rng.normal(size=(40, 7)),
        "wide": rng.normal(size=(7, 40)),
        "layout": matrix(),
        "one row": rng.normal(size=(1, 5)),
        "one column": rng.normal(size=(5, 1)),
        "identity": np.eye(12),
        "clustered": np.diag(1 + 1e-7 * np.arange(30)),
        "blocks": np.kron(np.diag([1.0, 3.0, 2.0]), np.ones((3, 2))),
        "a structured start in the null space": np.outer([1.0, 1.0], [bad[1], -bad[0]]),
        "tiny": 1e-8 * rng.normal(size=(9, 4)),
    }


@pytest.mark.parametrize("name", spectral_cases())
def test_spectral_energy(name: str) -> None:
    dense = spectral_cases()[name]
    for scales in (np.ones(len(dense)), np.linspace(0.1, 3, len(dense))):
        check_spectral(as_rows(dense), dense, scales)
        check_spectral(as_rows(sp.csr_array(dense)), dense, scales)


def test_rows_of_nothing() -> None:
    for rows in (as_rows(np.zeros((4, 3))), as_rows(sp.csr_array((4, 3)))):
        assert rows.spectral_energy(np.ones(4)) == 0
        check_reduce(rows, np.zeros((4, 3)))


def test_spectral_energy_that_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def astray(*_: Any, **__: Any) -> Any:
        raise sp.linalg.ArpackNoConvergence("no convergence", np.zeros(0), np.zeros((0, 0)))

    rows = as_rows(sp.csr_array(np.diag([1.0, 2.0, 3.0])))
    monkeypatch.setattr(sp.linalg, "eigsh", astray)
    with pytest.raises(ValueError, match="the constant σ needs, was not found by 10000 rounds"):
        rows.spectral_energy(np.ones(3))
    with pytest.raises(ValueError, match="scale the columns of X to the same norm"):
        Problem(rows, np.ones(3), LeastSquares(), Ridge(1.0)).constants(2).sigma  # noqa: B018


def test_spectral_energy_of_fractions() -> None:
    check_spectral(as_rows(exact()), matrix(), np.ones(N))


# ---- reductions of rows --------------------------------------------------------------------------


def check_reduce(rows: Rows, dense: np.ndarray) -> int:
    """Entries and columns, through functions that mind neither order nor zeros.

    Returns the number of blocks.
    """
    blocks = 0

    def place(entries: Any, where: Any) -> Any:
        nonlocal blocks
        blocks += 1
        return (entries * (1 + where)).sum(axis=1)

    def largest(entries: Any, where: Any) -> Any:
        return abs(entries).max(axis=1)

    np.testing.assert_array_equal(rows.reduce(place), dense @ (1 + np.arange(rows.p)))
    np.testing.assert_array_equal(rows.reduce(largest), abs(dense).max(axis=1))
    return blocks


@pytest.mark.parametrize("name", LAYOUTS)
def test_reduce(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = as_rows(LAYOUTS[name]())
    few = check_reduce(rows, scaled(name))
    for module in ("base", "sparse"):
        monkeypatch.setattr(f"rcmd.rows.{module}.BLOCK_ENTRIES", 8)
    assert check_reduce(rows, scaled(name)) > few


def test_the_default_reduction() -> None:
    class Plain(SparseRows):
        reduce = Rows.reduce

    check_reduce(Plain(csr()), matrix())


@pytest.mark.parametrize(
    ("name", "place", "value", "told"),
    [
        ("indices", 1, 3, "an entry in column 3; expected columns from 0 to 2"),
        ("indices", 0, -1, "an entry in column -1; expected columns"),
        ("indptr", 2, 9, "ends with 9 while X has 3 indices and 3 values"),
        ("indptr", 1, 4, "does not begin with 0 and increase"),
        ("indptr", 0, 1, "does not begin with 0 and increase"),
    ],
)
def test_indices_that_point_elsewhere_are_refused(name, place, value, told):
    """Machine code would read there."""
    X = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    assert isinstance(as_rows(X), SparseRows)
    getattr(X, name)[place] = value
    with pytest.raises(ValueError, match=told):
        as_rows(X)


@pytest.mark.parametrize("name", ["indices", "indptr"])
@pytest.mark.parametrize("kind", [float, ">i4", np.uint16])
def test_indices_of_another_kind_are_refused(name, kind):
    X = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    setattr(X, name, getattr(X, name).astype(kind))
    with pytest.raises(ValueError, match=f"X.{name} is an array of .*; expected int32 or int64"):
        as_rows(X)
