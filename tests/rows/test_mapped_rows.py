"""Rows on disk against the same rows in memory, and what they need of it."""

import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from row_checks import check_rows

from rcmd import (
    RCMD,
    DenseAtom,
    L1Ball,
    Logistic,
    Problem,
    SparseAtom,
    iterate,
    solve,
)
from rcmd.datasets import RowsWriter, make_classification, open_rows
from rcmd.rows import DiskRows, as_rows, disk
from rcmd.rows.disk import ArrayFile
from rcmd.rows.layouts import cut, with_ones


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of four entries, so that small data are many of them."""
    set_blocks(monkeypatch, 4)


def set_blocks(monkeypatch, entries):
    monkeypatch.setattr(disk, "BLOCK", entries)
    monkeypatch.setattr(disk, "HELD_ENTRIES", 4 * entries)


def whole_numbers(layout, dtype, n=23, p=6):
    """Small integers: every sum of their products is exact, in whatever order it is taken."""
    rng = np.random.default_rng(1)
    X = rng.integers(-4, 5, size=(n, p)).astype(dtype)
    X[rng.random((n, p)) < 0.6] = 0
    X[[0, 7, n - 1]] = 0  # empty rows, at both ends too
    X[3] = 2  # one longer than a block
    return sp.csr_array(X) if layout == "sparse" else X


def stored(folder, X, y=None, parts=3, **options):
    y = np.ones(X.shape[0]) if y is None else y
    with RowsWriter(folder / "some.rows", **options) as writer:
        for rows in np.array_split(np.arange(X.shape[0]), parts):
            writer.append(X[rows], y[rows])
    return open_rows(folder / "some.rows")


LAYOUTS = [(layout, dtype) for layout in ("sparse", "dense") for dtype in (np.float64, np.float32)]


@pytest.fixture(params=LAYOUTS, ids=lambda case: f"{case[0]}-{case[1].__name__}")
def pair(request, tmp_path):
    """The same rows on disk and in memory."""
    layout, dtype = request.param
    X = whole_numbers(layout, dtype)
    rows, _ = stored(tmp_path, X, features=X.shape[1], dtype=dtype)
    return rows, as_rows(X)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def test_rows_on_disk_are_those_in_memory(pair):
    rows, memory = pair
    assert rows.shape == (memory.n, memory.p)
    check_rows(rows, dense(memory.as_matrix()).astype(float))
    check_rows(memory, dense(rows.as_matrix()).astype(float))

    def squares_of_even_columns(entries, columns):
        return (entries * entries * (columns % 2 == 0)).sum(axis=1)

    assert np.array_equal(
        rows.reduce(squares_of_even_columns), memory.reduce(squares_of_even_columns)
    )


def test_changed_columns(pair):
    rows, memory = pair
    for change in (with_ones, lambda r: cut(r, 2, 5), lambda r: cut(with_ones(r), 3, 7)):
        mine, theirs = change(rows), change(memory)
        assert isinstance(mine, DiskRows)
        beta = np.arange(theirs.p) - 3.0
        assert np.array_equal(mine.matvec(beta), theirs.matvec(beta))
        assert np.array_equal(dense(mine.as_matrix()), dense(theirs.as_matrix()))
        batch = np.array([3, 1])
        assert np.array_equal(
            mine.predict(batch, DenseAtom(beta)), theirs.predict(batch, DenseAtom(beta))
        )
    copy = pickle.loads(pickle.dumps(with_ones(rows)))
    assert np.array_equal(copy.row(3), with_ones(memory).row(3))


@pytest.fixture
def classification(tmp_path):
    """A problem on disk and the same in memory."""
    X, y = make_classification(60, 15, density=0.3, rng=0)
    return stored(tmp_path, X, y, features=15), (X, y)


@pytest.mark.parametrize(("batch", "intercept"), [(1, 2.0), (7, None), (60, 2.0)])
def test_runs_are_those_of_the_data_in_memory(classification, batch, intercept, monkeypatch):
    set_blocks(monkeypatch, 40)
    options = {"batch": batch, "tol": 0, "max_iterations": 20, "record_at": [3, 20]}
    results = [
        solve(Problem(X, y, Logistic(), L1Ball(5.0), intercept=intercept), **options)
        for X, y in classification
    ]
    for mine, theirs in zip(*(result.history for result in results), strict=True):
        assert (mine.iteration, mine.bound) == (theirs.iteration, pytest.approx(theirs.bound))
        assert float(mine.gap) == pytest.approx(float(theirs.gap), rel=1e-10)
    assert results[0].beta == pytest.approx(results[1].beta, abs=1e-12)
    assert results[0].w == pytest.approx(results[1].w, abs=1e-12)


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_mapped_rows_run_on_the_compiled_engine(tmp_path, layout):
    """Bit for bit, and without a copy."""
    X, y = make_classification(120, 15, density=0.3 if layout == "sparse" else 1, rng=0)
    rows, labels = stored(tmp_path, X, y, features=15)
    mapped = rows.mapped()
    arrays = [mapped.data, mapped.indices] if layout == "sparse" else [mapped]
    assert all(is_mapped(array) for array in arrays)
    options = {"batch": 5, "tol": 0, "max_iterations": 200, "method": RCMD(engine="compiled")}
    mine, theirs = (
        solve(Problem(data, labels, Logistic(), L1Ball(5.0)), **options) for data in (mapped, X)
    )
    assert np.array_equal(mine.beta, theirs.beta)
    assert np.array_equal(mine.w, theirs.w)


def test_mapping_is_refused_where_scipy_would_copy(classification, monkeypatch):
    monkeypatch.setattr(disk, "LARGEST_MAPPED", 100)
    with pytest.raises(ValueError, match=r"data.npy holds 270 entries; expected at most 100 to be"):
        classification[0].X.mapped()


# ---- files --------------------------------------------------------------------------------------


def test_another_process_gets_names_not_data(tmp_path):
    X, y = make_classification(2000, 200, density=0.1, rng=0)
    rows, _ = stored(tmp_path, X, y)
    rows.predict(np.arange(5), SparseAtom((1,), (1.0,)))
    sent = pickle.dumps(rows)
    assert len(sent) < 8 * 2001 + 2000  # the offsets and some names
    assert np.array_equal(pickle.loads(sent).square_norms(), rows.square_norms())


@pytest.fixture
def read(monkeypatch):
    """Where files were read so far."""
    places, fill = [], ArrayFile.fill

    def noted(file, target, start):
        places.append(start)
        fill(file, target, start)

    monkeypatch.setattr(ArrayFile, "fill", noted)
    return places


def test_a_batch_is_read_once_where_it_is_not_too_long(pair, read):
    rows, _ = pair
    short, long = np.array([1, 5]), np.arange(23)
    for batch, times in ((short, 1), (long, 2)):
        read.clear()
        rows.predict(batch, SparseAtom((1,), (1.0,)))
        once = len(read)
        rows.scatter(batch, np.ones(len(batch)), np.zeros(rows.p))
        assert len(read) == times * once > 0
    rows.predict(short, SparseAtom((1,), (1.0,)))
    short[0] = 2  # a batch that was changed is another one
    read.clear()
    rows.scatter(short, np.ones(2), np.zeros(rows.p))
    assert read


def test_rows_that_follow_each_other_are_read_together(pair, read):
    rows, _ = pair
    files = 2 if hasattr(rows.files, "indices") else 1
    rows.files.gather(np.array([11, 10, 12]))
    assert len(read) == files
    rows.files.gather(np.array([4, 6]))
    assert len(read) == 3 * files


def test_a_file_cut_short_under_a_run_is_an_error_not_a_crash(classification):
    (X, y), _ = classification
    problem = Problem(X, y, Logistic(), L1Ball(5.0))
    run = iterate(problem, batch=20, tol=0, max_iterations=100, record_at=[1, 100])
    next(run)
    path = X.files.data.path
    os.truncate(path, os.path.getsize(path) // 2)
    with pytest.raises(
        OSError, match=r"data.npy ends at byte [\d,]+; expected [\d,]+ bytes, which"
    ):
        next(run)


def test_no_descriptor_stays_open(tmp_path):
    X, y = make_classification(20, 5, density=0.5, rng=0)
    before = len(os.listdir("/proc/self/fd"))
    for place in range(3):
        (tmp_path / str(place)).mkdir()
        rows, _ = stored(tmp_path / str(place), X, y)
        rows.square_norms()
    assert len(os.listdir("/proc/self/fd")) > before
    del rows
    assert len(os.listdir("/proc/self/fd")) == before


# ---- memory -------------------------------------------------------------------------------------


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_full_passes_hold_a_few_blocks(tmp_path, monkeypatch, layout):
    entries = 2**12
    set_blocks(monkeypatch, entries)
    rng = np.random.default_rng(0)
    n, p = 4000, 60
    X = rng.random((n, p))
    if layout == "sparse":
        X = sp.random_array((n, 20 * p), density=0.05, rng=rng, format="csr")
    rows, _ = stored(tmp_path, X)
    size = rows.files.data.bytes
    beta, w = np.ones(rows.p), np.ones(rows.n)

    def passes():
        rows.matvec(beta)
        rows.rmatvec(w)
        rows.square_norms()
        rows.entry_range()
        rows.box_range(-beta, beta)

    allowed = 8 * 12 * entries + 8 * 8 * (rows.n + rows.p)
    assert allowed < size / 2
    passes()
    assert peak(passes) < allowed
    # The planted fault: blocks as long as the data.
    set_blocks(monkeypatch, 2**20)
    assert peak(passes) > allowed


RESIDENT = """
import re, sys
from pathlib import Path
from rcmd import L1Ball, Logistic, Problem, solve
from rcmd.datasets import make_classification, open_rows

def run(X, y):
    return solve(Problem(X, y, Logistic(), L1Ball(1.0)), batch=0.01, tol=0.01).success

def most():  # not by getrusage, which counts the parent's memory too
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])

assert run(*make_classification(2000, 500, density=0.1, rng=0))  # imports and compiles
X, y = open_rows(sys.argv[1])
for rows in (X, X.mapped()):
    before = most()
    assert run(rows, y)
    print(most() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc to ask for memory")
def test_resident_memory_of_a_run(tmp_path):
    """400 MB of rows within 100 MB; mapped, as the planted fault, they are all in memory."""
    rng = np.random.default_rng(0)
    with RowsWriter(tmp_path / "large", features=2000) as writer:
        for _ in range(25):
            X = rng.standard_normal((1000, 2000))
            writer.append(X, np.where(X[:, 0] + rng.logistic(size=1000) > 0, 1.0, -1.0))
    words = [sys.executable, "-c", RESIDENT, str(tmp_path / "large")]
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    from_disk, mapped = map(int, answer.stdout.split())  # in kB
    assert from_disk < 100_000
    assert from_disk + mapped > 300_000
