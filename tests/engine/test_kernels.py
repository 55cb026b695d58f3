"""Parts of kernels that are plain functions, run as Python with each instruction spelled out."""

from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import EuclideanProx, ExactProx, Logistic, SampleLosses
from rcmd.engine.compiled import _makers
from rcmd.engine.kernels import coordinatewise, layout
from rcmd.rows import DenseRows, SparseRows


def match_16(columns: Any, start: Any, wanted: Any) -> Any:
    return np.uint64(sum(1 << t for t in range(16) if columns[int(start) + t] == wanted))


def lowest_bit(mask: Any) -> Any:
    return np.uint64((int(mask) & -int(mask)).bit_length() - 1)


@pytest.mark.parametrize("lengths", [[0, 1, 15, 16, 17, 33, 100, 150, 2, 0], [0, 1, 3, 2, 0]])
def test_rows_are_searched_asked_for_and_multiplied(lengths: Any, monkeypatch: Any) -> None:
    """A block that left the array would be an IndexError; row j is asked for by 64 bytes."""
    matrix, rng = np.zeros((len(lengths), 200)), np.random.default_rng(0)
    for row, length in zip(matrix, lengths, strict=True):
        row[rng.permutation(200)[:length]] = rng.integers(1, 9, length)
    parts: Any = layout.rows_tuple(SparseRows(sp.csr_array(matrix)))
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(layout, "match_16", match_16)
    monkeypatch.setattr(layout, "lowest_bit", lowest_bit)
    monkeypatch.setattr(layout, "prefetch", lambda array, at: asked.append((id(array), int(at))))
    for j, k in np.ndindex(matrix.shape):
        assert layout._search_entry(parts, np.uint64(j), np.uint64(k)) == matrix[j, k], (j, k)
    for j, length in enumerate(lengths):
        asked.clear()
        layout._prefetch_csr(parts, np.uint64(j))
        for array in parts[:2]:
            size, first = array.itemsize, int(parts[2][j]) * array.itemsize
            lines = range(first, first + min(length, 128) * size, 64)
            assert [at for whose, at in asked if whose == id(array)] == [*lines]
    columns = np.arange(600.0).reshape(200, 3) - 290.0
    monkeypatch.setattr(coordinatewise, "add", coordinatewise.add.py_func)
    for rows in (parts, layout.rows_tuple(DenseRows(matrix))):
        for name in ("row_start", "row_length", "column", "value"):
            resolve = getattr(layout, name).__wrapped__  # what a compiler calls, with types
            chosen = resolve(numba.typeof(rows), *[None] * (resolve.__code__.co_argcount - 1))
            monkeypatch.setattr(coordinatewise, name, chosen)
        dot = coordinatewise._make_dot(lambda oracle, slope: oracle * slope * slope)
        found = [dot(rows, np.uint64(j), columns, 3.0) for j in range(len(matrix))]
        assert found == (matrix @ (3.0 * columns[:, coordinatewise.SLOPE] ** 2)).tolist()


@pytest.mark.parametrize("prox", [EuclideanProx(), ExactProx(1.5)], ids=repr)
def test_a_compiled_step_reads_its_own_row_of_the_table(prox: Any) -> None:
    """The numbers of the reference engine, from a table behind the fields of loss and prox."""
    y, weights, bounds = np.array([1.0, -1.0, 1.0]), np.array([0.5, 2.0, 1.0]), np.arange(1.0, 4.0)
    s, gap = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 3))
    theta = np.concatenate([[7.0, 8.0], np.stack([weights, bounds], axis=1).ravel()])
    losses = SampleLosses(Logistic(), y, weights)
    readers = (lambda theta: losses.loss, lambda theta: prox)
    step, centre = (make(*readers, 2) for make in _makers(2))
    found = [step(theta, s[j], gap[j], 0.3, y[j], float(j)) for j in range(3)]
    assert found == prox.step(losses, bounds, np.arange(3), s, gap, 0.3).tolist()
    found = [centre(theta, *sample) for sample in zip(y, weights, bounds, strict=True)]
    assert found == prox.centre(losses, bounds).tolist()
