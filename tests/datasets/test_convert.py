"""LIBSVM text to rows on disk: the same numbers, in constant memory, and whole or not at all."""

import bz2
import errno
import gzip
import json
import lzma
import math
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import data_files
import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import FileError
from rcmd.cli.main import main
from rcmd.datasets import (
    RowsWriter,
    convert_libsvm,
    open_rows,
    read,
    read_libsvm,
)
from rcmd.datasets import folder as folder_module
from rcmd.datasets.folder import META
from rcmd.datasets.libsvm import MOST_FEATURES
from rcmd.rows.disk import ArrayFile


def text(rows=200, features=30, seed=0):
    """Lines of all sorts: empty rows, comments, blank lines, signs, exponents, zeros."""
    rng = np.random.default_rng(seed)
    lines = []
    for j in range(rows):
        columns = np.sort(rng.choice(features, size=rng.integers(0, 8), replace=False)) + 1
        pairs = [f"{k}:{rng.normal():.{rng.integers(1, 18)}g}" for k in columns]
        lines.append(" ".join([rng.choice(["+1", "-1", "2.5e-3"]), *pairs]))
        lines += ["# nothing", ""] if j % 50 == 0 else []
    return ("\n".join([*lines, f"-1 3:0 {features}:1e-300 # the end"]) + "\n").encode()


def same(folder, path, **options):
    """Whether the folder holds what ``read_libsvm`` gives, bit for bit."""
    X, y = read_libsvm(path, **options)
    rows, labels = open_rows(folder)
    mapped = rows.mapped()
    return (
        mapped.shape == X.shape
        and labels.tobytes() == y.tobytes()
        and all(
            getattr(mapped, name).tobytes() == getattr(X, name).tobytes()
            and getattr(mapped, name).dtype == getattr(X, name).dtype
            for name in ("data", "indices", "indptr")
        )
    )


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(text())
    return path


@pytest.fixture
def folder(source):
    """A folder made of the source, beside it."""
    target = source.with_name("some.rows")
    convert_libsvm(source, target)
    return target


def blocks_checked(folder, name):
    """How many blocks of a file ``open_rows`` takes the checksum of."""
    names, read = [], ArrayFile.read

    def watched(file, start, stop):
        names.append(Path(file.path).stem)
        return read(file, start, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArrayFile, "read", watched)
        open_rows(folder)
    return names.count(name)


def only_source(source):
    """Whether nothing is beside the source, under whatever name."""
    return [path.name for path in source.parent.iterdir()] == [source.name]


@pytest.mark.parametrize(
    ("pack", "block"),
    [(bytes, 1), (gzip.compress, 64), (bz2.compress, 1000), (lzma.compress, 64), (bytes, 1 << 20)],
)
def test_the_numbers_of_the_reader_bit_for_bit(source, tmp_path, cut, pack, block):
    source.write_bytes(pack(text()))
    cut(block)
    convert_libsvm(source, tmp_path / "some.rows")
    assert same(tmp_path / "some.rows", source)


@pytest.mark.parametrize("name", data_files.each(*data_files.NAMES, slow=("gisette_scale.t",)))
def test_published_files(tmp_path, name):
    path = data_files.path(name)
    convert_libsvm(path, tmp_path / "published.rows")
    assert same(tmp_path / "published.rows", path)


def test_options(source, tmp_path):
    convert_libsvm(source, tmp_path / "wide.rows", features=50)
    assert same(tmp_path / "wide.rows", source, features=50)
    convert_libsvm(source, tmp_path / "single.rows", dtype=np.float32)
    assert not same(tmp_path / "single.rows", source)  # nor would it be with any other bit
    X, _ = read_libsvm(source)
    mapped = open_rows(tmp_path / "single.rows").X.mapped()
    assert mapped.dtype == np.float32
    assert np.array_equal(mapped.data, X.data.astype(np.float32))
    with pytest.raises(ValueError, match=r"dtype is int64; expected float32 or float64"):
        convert_libsvm(source, tmp_path / "x.rows", dtype=np.int64)


def test_progress(source, tmp_path, cut):
    cut(1000)
    told = []
    convert_libsvm(source, tmp_path / "told.rows", tell=told.append)
    assert told[-1] == ""
    assert told[-2] == "201 rows, 100%"
    assert len(told) > 5


def test_a_pipe_has_no_share(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"printf '1 2:3\\n' > '{pipe}'"])
    told = []
    convert_libsvm(pipe, tmp_path / "piped.rows", tell=told.append)
    writer.wait()
    assert told == ["1 rows", ""]
    assert open_rows(tmp_path / "piped.rows").X.shape == (1, 2)


def test_memory_does_not_grow_with_the_file(tmp_path, cut):
    cut(1 << 14)

    def peak(copies):
        path = tmp_path / f"{copies}.txt"
        path.write_bytes(text() * copies)
        tracemalloc.start()
        try:
            convert_libsvm(path, tmp_path / f"{copies}.rows")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    few, many = peak(10), peak(80)
    assert many < 1.3 * few
    assert os.path.getsize(tmp_path / "80.txt") > 1.5 * many  # else there would be nothing to see


# ---- whole or not at all ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (b"1 4:x\n", r"some.txt, line 203: found '4:x'; expected a finite number as the value"),
        (b"1 0:1\n", r"line 203: found '0:1'; expected an index from 1"),
        (b"1 2:1 2:1\n", r"line 203: found '2:1'; expected every index once per line"),
    ],
)
def test_malformed_text_leaves_nothing(source, cut, wrong, message):
    cut(500)
    lines = text().splitlines(keepends=True)
    source.write_bytes(b"".join([*lines[:202], wrong, *lines[202:]]))
    with pytest.raises(FileError, match=message):
        convert_libsvm(source, source.with_name("some.rows"))
    assert only_source(source)


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        (b"1 1:1\n", "some.txt", "some.txt is there already; remove it first, or choose"),
        (b"1 1:1\n", "nowhere/some.rows", "there is no folder .*nowhere"),
        (b"# nothing\n", "some.rows", "holds no rows; expected lines"),
        (b"1\n-1\n", "some.rows", "some.rows would have no column; expected at least one"),
        (None, "some.rows", "some.txt cannot be read: No such file"),
    ],
)
def test_what_cannot_be_made(tmp_path, content, target, message):
    source = tmp_path / "some.txt"
    if content is not None:
        source.write_bytes(content)
    before = list(tmp_path.iterdir())
    with pytest.raises(FileError, match=message):
        convert_libsvm(source, tmp_path / target)
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("fault", "expected", "message"),
    [
        (OSError(errno.ENOSPC, "full"), FileError, r"some.rows cannot be written: full"),
        (KeyboardInterrupt("now"), KeyboardInterrupt, "now"),
    ],
    ids=["full disk", "Ctrl-C"],
)
def test_interrupted_it_leaves_nothing(source, cut, monkeypatch, fault, expected, message):
    cut(500)
    append, calls = folder_module._Growing.append, []

    def failing(file, array):
        calls.append(file)
        if len(calls) == 20:
            raise fault
        append(file, array)

    monkeypatch.setattr(folder_module._Growing, "append", failing)
    with pytest.raises(expected, match=message):
        convert_libsvm(source, source.with_name("some.rows"))
    assert len(calls) == 20
    assert only_source(source)


def test_killed_it_leaves_no_folder_of_that_name(tmp_path):
    pipe, target = tmp_path / "pipe", tmp_path / "some.rows"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "rcmd", "convert", str(pipe), str(target)]
    process = subprocess.Popen(words)
    with open(pipe, "wb") as feed:
        feed.write(text() * 300)
        feed.flush()
        for _ in range(2000):
            written = list(tmp_path.glob(".some.rows.*.part/data.npy"))
            if written and written[0].stat().st_size:
                break
            time.sleep(0.01)
        assert written
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not target.exists()


# ---- folders that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "labels"])
def test_a_damaged_folder_is_refused(folder, name, monkeypatch):
    """Whichever of the blocks is damaged that checksums are taken of."""
    monkeypatch.setattr("rcmd.datasets.folder.CHECK_BYTES", 512)
    path = folder / f"{name}.npy"
    whole = path.read_bytes()
    blocks = math.ceil((len(whole) - 128) / 512)
    assert blocks > 3
    assert blocks_checked(folder, name) == (1 if name in ("indptr", "labels") else blocks)
    for place in (len(whole) - 1, len(whole) // 2, 130):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(FileError, match=rf"{name}.npy does not have its checksum: it is damag"):
            open_rows(folder)
    for damaged in (whole[:-8], whole[:50], b"", whole + b"12345678"):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=rf"{name}.npy has [\d,]+ bytes; expected [\d,]+: it"):
            open_rows(folder)
    path.write_bytes(b"no array" + whole[8:])
    with pytest.raises(FileError, match="it is damaged; make it again with rcmd convert"):
        open_rows(folder)
    path.unlink()
    with pytest.raises(FileError, match=rf"{name}.npy is missing; make it again with rcmd convert"):
        open_rows(folder)
    path.write_bytes(whole)
    open_rows(folder)


def newer(text):
    """meta.json of another version, with the checksum that belongs to it."""
    body = json.loads(text) | {"version": 2}
    del body["crc32"]
    return json.dumps(body | {"crc32": zlib.crc32(json.dumps(body, sort_keys=True).encode())})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"features": 30', '"features": 31'), "was changed since it was"),
        (lambda text: text[:100], "meta.json is damaged, or not about rows"),
        (lambda text: "[]", "meta.json is damaged, or not about rows"),
        (lambda text: '{"format": "another"}', "meta.json is damaged, or not about rows"),
        (newer, "version 2 of its format, while this rcmd reads version 1"),
    ],
)
def test_changed_descriptions_are_refused(folder, change, message):
    (folder / META).write_text(change((folder / META).read_text()))
    with pytest.raises(FileError, match=message):
        open_rows(folder)


def forged(folder, name=None, array=None, **changes):
    """Put an array into the folder, or change its description; all checksums are right."""
    body = json.loads((folder / META).read_text())
    del body["crc32"]
    if name is not None:
        np.save(folder / f"{name}.npy", array)
        crc32 = zlib.crc32(np.ascontiguousarray(array).data)
        body["files"][name] = {"bytes": (folder / f"{name}.npy").stat().st_size, "crc32": crc32}
    body |= changes
    crc32 = zlib.crc32(json.dumps(body, sort_keys=True).encode())
    (folder / META).write_text(json.dumps(body | {"crc32": crc32}))


@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        ("indices", -1, 30),  # beyond the last column
        ("indices", -1, 2**31 - 1),
        ("indices", 0, -1),
        ("indptr", 0, 1),
        ("indptr", 5, 10**6),
        ("indptr", -1, 1),
        ("data", 3, np.nan),
        ("labels", 3, np.inf),
    ],
)
def test_a_folder_that_lies_is_refused_before_a_kernel_sees_it(folder, name, place, number):
    array = np.load(folder / f"{name}.npy")
    array[place] = number
    forged(folder, name, array)
    with pytest.raises(FileError, match=rf"{name}.npy holds what is no {name} of rows"):
        open_rows(folder)


def test_a_folder_has_no_more_features_than_it_needs(folder, tmp_path):
    """Or than a LIBSVM file may have: vectors of as many fill the memory."""
    forged(folder, features=MOST_FEATURES)
    assert open_rows(folder).X.p == MOST_FEATURES
    forged(folder, features=MOST_FEATURES + 1)
    with pytest.raises(FileError, match="268435457 features, while its entries need 30"):
        open_rows(folder)
    with (
        pytest.raises(FileError, match="268435457 features, while its entries need 2"),
        RowsWriter(tmp_path / "wide.rows", features=MOST_FEATURES + 1) as writer,
    ):
        writer.append(sp.csr_array([[0.0, 1.0]]), [1.0])


@pytest.mark.parametrize("block", [64, 2**20])
def test_columns_increase_in_every_row(folder, monkeypatch, block):
    """Also from one block to the next."""
    monkeypatch.setattr("rcmd.datasets.folder.CHECK_BYTES", block)
    indptr, indices = np.load(folder / "indptr.npy"), np.load(folder / "indices.npy")
    assert blocks_checked(folder, "indices") == math.ceil(indices.nbytes / block)
    for entry in range(1, 40):
        if entry not in indptr:
            twice = indices.copy()
            twice[entry] = twice[entry - 1]
            forged(folder, "indices", twice)
            with pytest.raises(FileError, match="holds what is no indices of rows"):
                open_rows(folder)
    forged(folder, "indices", indices)
    open_rows(folder)


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "labels"])
def test_arrays_of_another_kind_are_refused(folder, name):
    array = np.load(folder / f"{name}.npy")
    other = array.astype(np.int64 if name in ("data", "labels") else float)
    for lie in (array[:-1], other, array[None], array.astype(array.dtype.newbyteorder())):
        forged(folder, name, lie)
        with pytest.raises(FileError, match=rf"{name}.npy holds \S+ of shape .*: it is damaged"):
            open_rows(folder)


@pytest.mark.parametrize("lie", [None, -1, 0.5, "x", [], {}, {"data": {"bytes": 5}}])
def test_descriptions_that_lie_are_refused(folder, lie):
    text = (folder / META).read_text()
    for word in ("layout", "rows", "features", "entries", "files"):
        forged(folder, **{word: lie})
        with pytest.raises(FileError, match=r"meta.json does not say what the files hold"):
            open_rows(folder)
        (folder / META).write_text(text)


def test_other_folders_are_refused(folder, tmp_path):
    (folder / META).unlink()
    with pytest.raises(FileError, match=r"some.rows has no meta.json; expected a folder made by"):
        read(folder)
    for name in ("nowhere", "some.txt"):
        with pytest.raises(FileError, match=f"{name} is not there, or is no folder"):
            open_rows(tmp_path / name)


# ---- blocks that cannot be written --------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((2, 3)), [1.0], r"y has shape \(1,\); expected \(2,\), one label for each row"),
        (np.ones((2, 3)), [1.0, np.nan], r"y holds nan at position"),
        (np.full((2, 3), np.inf), [1, 1], r"X holds inf at position"),
        (np.full((2, 3), 1e300), [1, 1], r"X holds 1e\+300, too large for float32"),
        (sp.csr_array(np.eye(2)), [1, 1], r"X is sparse after dense blocks; expected all of one"),
        (np.ones((2, 4)), [1, 1], r"X has 4 columns; expected 3"),
    ],
)
def test_bad_blocks(tmp_path, X, y, message):
    def write():
        with RowsWriter(tmp_path / "some.rows", dtype=np.float32) as writer:
            writer.append(np.ones((1, 3)), [1.0])
            writer.append(X, y)

    with pytest.raises(ValueError, match=message):
        write()
    assert not list(tmp_path.iterdir())


def test_columns_beyond_those_asked_for(tmp_path):
    with (
        pytest.raises(ValueError, match="X has an entry in column 4; expected columns below 3"),
        RowsWriter(tmp_path / "some.rows", features=3) as writer,
    ):
        writer.append(sp.csr_array(np.ones((1, 5))), [1.0])
    with (
        pytest.raises(FileError, match=r"no rows were written into .*some.rows; expected at least"),
        RowsWriter(tmp_path / "some.rows") as writer,
    ):
        writer.append(np.zeros((0, 3)), [])


def test_duplicates_and_unsorted_columns_are_put_in_order(tmp_path):
    X = sp.csr_array(
        (np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    with RowsWriter(tmp_path / "some.rows") as writer:
        writer.append(X, [1])
    assert np.array_equal(open_rows(tmp_path / "some.rows").X.row(0), [2.0, 0.0, 5.0])


# ---- the command line ---------------------------------------------------------------------------


def test_command(source, tmp_path, capsys):
    lines = [line for line in text().splitlines() if line[:2] in (b"+1", b"-1")]
    source.write_bytes(b"\n".join(lines))
    target = tmp_path / "some.rows"
    assert main(["convert", str(source), str(target), "--float32", "--features", "40"]) == 0
    assert f"{len(lines)} rows, 40 features" in " ".join(capsys.readouterr().out.split())
    assert main(["solve", str(target), "--tol", "0.1", "--batch", "10%"]) == 0
    assert "the certified gap reached the tolerance" in capsys.readouterr().out
    assert main(["convert", str(source), str(target)]) == 2
    assert "some.rows is there already" in capsys.readouterr().err
    source.write_bytes(b"+1 1:0.5 3:2\n-1 2:1\n")
    assert main(["convert", str(source), f"{tmp_path}/two.rows", "--json", "-"]) == 0
    sizes = json.loads(capsys.readouterr().out)
    assert (sizes["rows"], sizes["features"], sizes["entries"]) == (2, 3, 3)
