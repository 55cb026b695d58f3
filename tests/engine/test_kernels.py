"""Parts of kernels that are plain functions, run as Python with each instruction spelled out."""

from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import CompositeProx, EuclideanProx, Logistic, SampleLosses
from rcmd.engine.compiled import _make_centre, _make_step
from rcmd.engine.kernels import coordinatewise, layout
from rcmd.rows import DenseRows, SparseRows

LENGTHS = [0, 1, 3, 15, 16, 17, 32, 33, 100, 150, 2, 0]


@pytest.fixture(params=["dense", "csr", "short"])
def rows(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A matrix with rows of all lengths, and its tuple; or one of fewer than 16 entries."""
    rng = np.random.default_rng(0)
    lengths = [0, 1, 3, 2, 0] if request.param == "short" else LENGTHS
    matrix = np.zeros((len(lengths), 200))
    for row, length in zip(matrix, lengths, strict=True):
        row[rng.permutation(200)[:length]] = rng.integers(1, 9, length)
    dense = request.param == "dense"
    made: Any = DenseRows(matrix) if dense else SparseRows(sp.csr_array(matrix))
    return matrix, layout.rows_tuple(made)


sparse = pytest.mark.parametrize("rows", ["csr", "short"], indirect=True)


def test_the_type_of_a_tuple_says_which_rows(rows: Any) -> None:
    matrix, parts = rows
    assert layout.is_dense(numba.typeof(parts)) == (parts[0].size == matrix.size)


def match_16(columns: Any, start: Any, wanted: Any) -> Any:
    return np.uint64(sum(1 << t for t in range(16) if columns[int(start) + t] == wanted))


def lowest_bit(mask: Any) -> Any:
    return np.uint64((int(mask) & -int(mask)).bit_length() - 1)


@sparse
def test_every_entry_is_found_and_no_other(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that left the array would be an IndexError here."""
    matrix, parts = rows
    monkeypatch.setattr(layout, "match_16", match_16)
    monkeypatch.setattr(layout, "lowest_bit", lowest_bit)
    for j, k in np.ndindex(matrix.shape):
        assert layout._search_entry(parts, np.uint64(j), np.uint64(k)) == matrix[j, k], (j, k)


@sparse
def test_the_leading_entries_of_a_row_are_asked_for(
    rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every 64 bytes from the first entry on, of columns and values, up to 128 entries."""
    matrix, parts = rows
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(layout, "prefetch", lambda array, at: asked.append((id(array), int(at))))
    values, columns, offsets = parts
    for j in range(len(matrix)):
        asked.clear()
        layout._prefetch_csr(parts, np.uint64(j))
        first, count = int(offsets[j]), min(int((matrix[j] != 0).sum()), 128)
        wanted = []
        for array in (columns, values):
            size = array.itemsize
            wanted += [(id(array), first * size + 64 * k) for k in range(-(-count * size // 64))]
        assert asked == wanted


def test_a_row_times_the_shapes_of_slopes(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, parts = rows
    for name in ("row_start", "row_length", "column", "value"):
        resolve = getattr(layout, name).__wrapped__  # what a compiler calls, with types
        chosen = resolve(numba.typeof(parts), *[None] * (resolve.__code__.co_argcount - 1))
        monkeypatch.setattr(coordinatewise, name, chosen)
    monkeypatch.setattr(coordinatewise, "add", coordinatewise.add.py_func)
    slopes = np.arange(200.0) - 90.0
    columns = np.stack([slopes, slopes + 0.5, slopes - 0.5], axis=1)
    dot = coordinatewise._make_dot(lambda oracle, slope: oracle * slope * slope)
    for j, row in enumerate(matrix):
        wanted = row @ (3.0 * columns[:, coordinatewise.SLOPE] ** 2)
        assert dot(parts, np.uint64(j), columns, 3.0) == wanted


@pytest.mark.parametrize("prox", [EuclideanProx(), CompositeProx(3.0, 5)], ids=repr)
def test_the_compiled_step_reads_its_own_row_of_the_table(prox: Any) -> None:
    """The numbers of the reference engine, from a table behind the fields of loss and prox."""
    rng = np.random.default_rng(0)
    y, weights, bounds = np.array([1.0, -1.0, 1.0]), np.array([0.5, 2.0, 1.0]), np.arange(1.0, 4.0)
    s, gap = rng.uniform(-0.5, 0.5, 3), rng.standard_normal(3)
    theta = np.concatenate([[7.0, 8.0], np.stack([weights, bounds], axis=1).ravel()])
    losses = SampleLosses(Logistic(), y, weights)
    readers = (lambda theta: losses.loss, lambda theta: prox)
    step, centre = _make_step(*readers, 2), _make_centre(*readers, 2)
    found = [step(theta, s[j], gap[j], 0.3, y[j], float(j)) for j in range(3)]
    assert found == prox.step(losses, bounds, np.arange(3), s, gap, 0.3).tolist()
    found = [centre(theta, y[j], weights[j], bounds[j]) for j in range(3)]
    assert found == prox.centre(losses, bounds).tolist()
