"""LIBSVM files and generated problems."""

import bz2
import gzip
import itertools
import lzma
import math
import re
import tracemalloc

import data_files
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from small_problems import as_text

from rcmd import FileError, L1Ball, LeastSquares, Logistic, Problem, solve
from rcmd.datasets import (
    make_classification,
    make_regression,
    map_labels,
    read_libsvm,
)
from rcmd.datasets.libsvm import MOST_FEATURES

COMPRESSIONS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def write(tmp_path):
    """Put bytes into a file and return its path."""

    def put(content, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return put


def random_problem(rng, n=60, p=40, density=0.2):
    x = sp.random(n, p, density, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    return sp.csr_array(x), rng.standard_normal(n)


def assert_same(left, right):
    assert left[0].shape == right[0].shape
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(left[0], name), getattr(right[0], name))
    assert_array_equal(left[1], right[1])


SMALL = b"""+1 1:0.5 3:-2
# a comment line, with UTF-8: \xc3\xa9 and a colon 1:2

-1 4:1e-3 2:.25   # unsorted
0.5
\t-1.5e2\t1:+7.\t4:0\r
"""


def test_small_file_exactly(write):
    data = read_libsvm(write(SMALL))
    expected = [[0.5, 0, -2, 0], [0, 0.25, 0, 1e-3], [0, 0, 0, 0], [7, 0, 0, 0]]
    assert_array_equal(data.X.toarray(), expected)
    assert_array_equal(data.y, [1, -1, 0.5, -150])
    assert data.X.format == "csr"
    assert data.X.has_canonical_format
    assert data.X.nnz == 6  # the zero that is written out stays stored
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.float64)
    assert (data.X.indices.dtype, data.X.indptr.dtype) == (np.int32, np.int32)


@pytest.mark.parametrize(
    ("text", "shape", "labels"),
    [
        (b"1 1:2\n-1 2:3", (2, 2), [1, -1]),  # no line feed at the end
        (b"1\n-1\n", (2, 0), [1, -1]),
        (b"1 268435456:1\n", (1, MOST_FEATURES), [1]),
    ],
)
def test_shapes(write, text, shape, labels):
    x, y = read_libsvm(write(text))
    assert x.shape == shape
    assert x.indices.dtype == np.int32
    assert_array_equal(y, labels)


@pytest.mark.parametrize("suffix", [".txt", ".bz2", ""])
@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compression_is_told_by_content(write, kind, suffix):
    packed = write(COMPRESSIONS[kind](SMALL), "packed" + suffix)
    assert_same(read_libsvm(packed), read_libsvm(write(SMALL)))


def test_concatenated_streams(write):
    packed = write(gzip.compress(b"1 1:1\n-1 ") + gzip.compress(b"2:1\n"))
    assert_array_equal(read_libsvm(packed).X.toarray(), np.eye(2))


def test_numbers_are_rounded_like_float(write):
    rng = np.random.default_rng(2)
    tokens = ["0", "-0", "1.", ".5", "-.5", "+.5e+1", "00012.500", "1e-320", "123456789012345"]
    tokens += ["9" * 15 + "." + "9" * 15, "0." + "0" * 40 + "7", "9007199254740993", "1E22"]
    for _ in range(5000):
        digits = "".join(map(str, rng.integers(0, 10, rng.integers(1, 20))))
        cut = rng.integers(0, len(digits) + 1)
        dot, sign = rng.choice(["", "."]), rng.choice(["", "-", "+"])
        exponent = f"e{rng.integers(-30, 30)}" if rng.random() < 0.2 else ""
        tokens.append(f"{sign}{digits[:cut]}{dot}{digits[cut:]}{exponent}")
    pairs = " ".join(f"{j}:{token}" for j, token in enumerate(tokens, 1))
    values = read_libsvm(write(f"1 {pairs}\n".encode())).X.data
    expected = np.array([float(token) for token in tokens])
    assert_array_equal(values.view(np.int64), expected.view(np.int64))


@pytest.mark.parametrize(
    ("size", "kind"),
    [(1, "plain"), (7, "gz"), (7, "bz2"), (64, "xz"), (64, "plain"), (1000, "bz2")],
)
def test_blocks_do_not_matter(write, cut, kind, size):
    x, y = random_problem(np.random.default_rng(3))
    text = b"# head\n\n" + as_text(x, y) + b"\n\n# tail"
    packed = write(COMPRESSIONS[kind](text))
    whole = read_libsvm(packed)
    cut(size)
    assert_same(read_libsvm(packed), whole)
    assert_same(read_libsvm(packed, features=40), (x, y))


INDEX = f"an index from 1 to {MOST_FEATURES} before the colon, or features= for more"
LABEL, VALUE = "a finite number as the label", "a finite number as the value"
SINGLE = {
    LABEL: "one 1,2 nan 1:1 1_0 .",
    INDEX: "-1:1 +1:1 1.0:1 1e1:1 :1 2147483648:1 99999999999999999999:1",
    VALUE: "2: 2::3 2:3:4 2:abc 2:nan 2:-inf 2:1e999 2:0x10 2:1.2.3 2:+-1 2:1-1 2:- 2:. 2:1e 2:e5",
}
"""What is expected, and tokens that are none of it."""
MALFORMED = {
    (b"%b 2:1" if expected == LABEL else b"1 %b") % token.encode(): (token, expected)
    for expected, tokens in SINGLE.items()
    for token in tokens.split()
}
MALFORMED |= {
    b"1 2:1 three": ("three", "index:value"),
    b"1 2 3:1": ("2", "index:value"),
    b"1 2:1 3": ("3", "index:value"),
    b"1 2 3": ("2", "index:value"),
    b"1 qid:3 1:1": ("qid:3", "index:value, as ranking groups are not supported"),
    b"1 0:1 1:1": ("0:1", INDEX),
    b"1 2: 3": ("2:", VALUE),
    b"1 2:1 3:\n4:5": ("3:", VALUE),
    b"1 2 :3": ("2", "index:value"),
    b"1 2:" + b"x" * 99: ("2:" + "x" * 38, VALUE),
    b"1 2:1 3:1 2:5": ("2:5", "every index once per line"),
    b"1 2:1 02:1": ("02:1", "every index once per line"),
    b"1 2:\x001": ("2:\\x001", "text, but this is binary"),
    b"\xef\xbb\xbf1 2:1": ("\\xef\\xbb\\xbf1", "text, but this is binary"),
}


@pytest.mark.parametrize("flawed", MALFORMED)
def test_malformed_line_is_named(write, flawed):
    token, expected = MALFORMED[flawed]
    path = write(b"1 1:1 2:1\n\n# comment\n" + flawed + b"\n1 1:1\nthis is wrong, but later\n")
    with pytest.raises(FileError) as caught:
        read_libsvm(path)
    assert str(caught.value) == f"{path}, line 4: found '{token}'; expected {expected}"


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (2, "line 2: found '3:1'; expected an index from 1 to 2 before the colon"),
        (None, "line 3: found '268435457:1'; expected an index from 1 to 268435456 before the"),
        (-1, "features is -1; expected an integer from 0 to"),
        (2**31, "features is 2147483648; expected an integer from 0 to"),
    ],
)
def test_features_that_do_not_fit(write, features, message):
    with pytest.raises(ValueError, match=message):
        read_libsvm(write(b"1 1:1\n1 3:1\n1 268435457:1\n"), features=features)


def test_as_many_features_as_asked_for(write):
    wide = read_libsvm(write(b"1 2147483647:1\n"), features=2**31 - 1).X
    assert wide.indices.tolist() == [2**31 - 2]


@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_a_line_without_end_is_not_taken_into_memory(write, kind, monkeypatch):
    """Compressed to nothing, it would fill all of memory."""
    monkeypatch.setattr("rcmd.datasets.libsvm._LONGEST_LINE", 1 << 21)
    packed = write(COMPRESSIONS[kind](b"1 1:1\n1 1:" + b"0" * (40 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"line 2: has more than 2 MB; expected lines 'label"):
            read_libsvm(packed)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


LONG = as_text(*random_problem(np.random.default_rng(4), n=300))
GZIP, BZIP2, XZ = (COMPRESSIONS[kind](LONG) for kind in ("gz", "bz2", "xz"))
ENDED = "cannot be read: Compressed file ended before the end-of-stream marker was reached$"
UNREADABLE = {
    "empty": (b"", "holds no rows; expected lines 'label index:value ...'$"),
    "blank": (b"\n \n# nothing\n", "holds no rows; expected lines"),
    "empty gzip": (gzip.compress(b""), "holds no rows; expected lines"),
    "truncated gzip": (GZIP[: len(GZIP) // 2], ENDED),
    "truncated bzip2": (BZIP2[: len(BZIP2) // 2], ENDED),
    "truncated xz": (XZ[: len(XZ) // 2], ENDED),
    "gzip without its last byte": (GZIP[:-1], ENDED),
    "bzip2 without its last byte": (BZIP2[:-1], ENDED),
    "damaged gzip": (GZIP[:200] + b"\xff" * 50 + GZIP[250:], "cannot be read: "),
    "damaged bzip2": (BZIP2[:200] + b"\xff" * 50 + BZIP2[250:], "cannot be read: Invalid data"),
    "damaged xz": (XZ[:200] + b"\xff" * 50 + XZ[250:], "cannot be read: Corrupt"),
    "gzip header only": (b"\x1f\x8b", "cannot be read: "),
    "binary": (bytes(range(256)) * 9, "line 1: found '.*'; expected text, but this is binary$"),
    "zip archive": (b"PK\x03\x04\x14\x00", "line 1: .*expected text, but this is binary$"),
    "web page": (b"<!DOCTYPE html>\n", "line 1: found '<!DOCTYPE'; expected a finite number"),
}


@pytest.mark.parametrize("case", UNREADABLE)
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_unreadable_content(write, cut, case, size):
    content, message = UNREADABLE[case]
    path = write(content)
    cut(size)
    with pytest.raises(FileError, match=re.escape(str(path)) + ",? " + message) as caught:
        read_libsvm(path)
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path):
    missing = r"none\.txt cannot be read: No such file or directory; expected the path of a LIBSVM"
    with pytest.raises(FileError, match=missing):
        read_libsvm(tmp_path / "none.txt")
    with pytest.raises(FileError, match="cannot be read: "):
        read_libsvm(tmp_path)


def careful(text):
    """Read line by line; the number of the first malformed line instead if there is one."""
    number = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    rows = []
    for line, content in enumerate(text.split("\n"), 1):
        label, *pairs = content.split("#")[0].split() or [None]
        if label is None:
            continue
        matches = [re.fullmatch(rf"([0-9]+):({number})", pair) for pair in pairs]
        if not re.fullmatch(number, label) or None in matches:
            return line
        row = {int(match[1]): float(match[2]) for match in matches}
        finite = all(map(math.isfinite, [float(label), *row.values()]))
        if len(row) < len(pairs) or min(row, default=1) < 1 or not finite:
            return line
        rows.append((float(label), sorted(row.items())))
    return rows


def test_random_edits_against_a_careful_reader(write, cut):
    cut(20)
    rng = np.random.default_rng(5)
    start = "1 1:0.5 3:-2 12:1e3\n-1 2:.5 10:7\n\n+1 # none\n2.5 4:1 1:3 9:-0.25\n"
    outcomes = []
    for _ in range(300):
        text = list(start)
        for _ in range(rng.integers(1, 3)):
            place = rng.integers(len(text))
            text[place] = str(rng.choice(["", text[place], *"0123:: ..-+e#\n\tx"]))
            if rng.random() < 0.2:
                text.insert(place, str(rng.choice([*"019: .-+e\n"])))
        expected = careful("".join(text))
        path = write("".join(text).encode())
        outcomes.append(isinstance(expected, int))
        if isinstance(expected, int):
            with pytest.raises(FileError, match=f", line {expected}: found"):
                read_libsvm(path)
        else:
            x, y = read_libsvm(path)
            assert_array_equal(y, [label for label, _ in expected])
            assert_array_equal(x.indices + 1, [j for _, row in expected for j, _ in row])
            assert_array_equal(x.data, [v for _, row in expected for _, v in row])
            assert_array_equal(np.diff(x.indptr), [len(row) for _, row in expected])
    assert 0.2 < np.mean(outcomes) < 0.8


FACTS = {
    "a9a": ((32561, 123), 451592, {-1: 24720, 1: 7841}),
    "w8a": ((49749, 300), 579586, {-1: 48270, 1: 1479}),
    "mushrooms": ((8124, 112), 170604, {1: 3916, 2: 4208}),
    "gisette_scale.t": ((100, 5000), 497100, {-1: 46, 1: 54}),
}
"""Of gisette_scale.t, about its first 100 lines, which are long ones."""


@pytest.mark.parametrize("name", data_files.each(*FACTS))
def test_published_files(write, name):
    shape, nnz, labels = FACTS[name]
    with bz2.open(data_files.path(name)) as file:
        text = file.readlines() if shape[0] > 100 else list(itertools.islice(file, 100))
    x, y = read_libsvm(write(b"".join(text)))
    assert (x.shape, x.nnz) == (shape, nnz)
    assert x.has_canonical_format
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == labels
    for i in np.random.default_rng(6).integers(0, shape[0], 20).tolist():
        label, *pairs = text[i].decode().split()
        row = slice(x.indptr[i], x.indptr[i + 1])
        found = zip((x.indices[row] + 1).tolist(), x.data[row].tolist(), strict=True)
        assert float(label) == y[i]
        assert list(found) == [(int(j), float(v)) for j, v in (pair.split(":") for pair in pairs)]


@pytest.mark.parametrize(
    ("y", "expected", "labels"),
    [
        ([1, -1, 1], [1, -1, 1], None),
        ([1, 1], [1, 1], None),
        ([-1.0], [-1], None),
        ([1, 2, 1], [-1, 1, -1], "1 and 2"),
        ([1, 0], [1, -1], "0 and 1"),
        ([-1, 0.5], [-1, 1], "-1 and 0.5"),
    ],
)
def test_map_labels(y, expected, labels):
    mapped, said = map_labels(y)
    assert_array_equal(mapped, expected)
    assert mapped.dtype == np.float64
    sentence = f"labels {labels} were mapped to -1 and +1 (the larger to +1)"
    assert said == (sentence if labels else None)


@pytest.mark.parametrize(
    ("y", "values"),
    [
        ([], "0 distinct values (it is empty)"),
        ([3, 3], "1 distinct values (3)"),
        ([1, 2, 3], "3 distinct values (1, 2, 3)"),
        (range(10), "10 distinct values (0, 1, 2, 3, ...)"),
        ([1, math.nan], "2 distinct values (1, nan)"),
        ([1, -math.inf], "2 distinct values (-inf, 1)"),
    ],
)
def test_map_labels_refuses(y, values):
    with pytest.raises(ValueError, match="distinct values") as caught:
        map_labels(y)
    wanted = "expected two finite ones: keep the rows of two classes only"
    assert str(caught.value) == f"y has {values}; {wanted}"


SIZES = [(400, 100, 0.1), (400, 100, 1.0), (60, 20, 0.2), (1000, 50, 0.05)]


@pytest.mark.parametrize(("n", "p", "density"), SIZES)
def test_generated_problems_are_interesting(n, p, density):
    """In the l1 ball of radius 5."""
    x, y = make_classification(n, p, density=density, rng=np.random.default_rng(7))
    assert x.shape == (n, p)
    assert sp.issparse(x) == (density < 1)
    assert set(y.tolist()) == {-1.0, 1.0}
    found = solve(Problem(x, y, Logistic(), L1Ball(5.0)), tol=1e-6)
    assert 0.3 < found.primal < 0.6
    assert abs(found.beta).sum() == pytest.approx(5)
    x, y = make_regression(n, p, density=density, rng=np.random.default_rng(8))
    found = solve(Problem(x, y, LeastSquares(), L1Ball(5.0)), tol=1e-6)
    assert 0.04 < found.primal < 0.2 < np.mean(y**2) / 2
    assert abs(found.beta).sum() > 3


@pytest.mark.parametrize("make", [make_classification, make_regression])
def test_draws_come_from_the_generator(make):
    def total(data):
        return [np.asarray(abs(part).sum()).item() for part in data]

    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    rng = np.random.default_rng(9)
    one, two = make(rng=rng), make(rng=rng)
    assert total(one) == total(make(rng=9))
    assert total(one) != total(two)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert one[0].shape == (400, 100)
    assert one[0].nnz == 4000
    assert one[0].indices.dtype == np.int32
    assert one[0].has_canonical_format


@pytest.mark.parametrize("make", [make_classification, make_regression])
def test_tiny_and_impossible_sizes(make):
    for density in (1e-9, 0.5, 1):
        x, y = make(1, 1, density=density, rng=0)
        assert x.shape == (1, 1)
        assert np.all(np.isfinite(y))
    for n, p, density in ((0, 1, 0.5), (1, 0, 0.5), (1, 1, 0.0), (1, 1, 1.5), (1, 1, math.nan)):
        message = re.escape(f"n={n}, p={p}, density={density}; expected n, p >= 1")
        with pytest.raises(ValueError, match=message):
            make(n, p, density=density, rng=0)
