"""Files of numbers and of matrix entries."""

import numpy as np
import pytest

from rcmd import FileError
from rcmd.rows.matrix_files import read_entries, read_numbers


def written(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "matrix"),
    [
        ("1 2\n3 4\n", [[1, 2], [3, 4]]),
        ("# two rows\n\n1, 2\n3,4 # the last", [[1, 2], [3, 4]]),
        ("1\n2\n", [[1], [2]]),
        ("1 2", [[1, 2]]),
    ],
)
def test_text_is_read_row_by_row(tmp_path, text, matrix):
    assert read_numbers(written(tmp_path, text)).tolist() == matrix


def test_npy_files(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]]))
    np.save(tmp_path / "b.npy", np.array([1.5, 2.0]))
    assert read_numbers(tmp_path / "a.npy").tolist() == [[1, 2], [3, 4]]
    assert read_numbers(tmp_path / "b.npy").tolist() == [[1.5], [2.0]]


def test_npy_files_that_are_none(tmp_path):
    (tmp_path / "a.npy").write_text("1 2")
    np.save(tmp_path / "b.npy", np.zeros((2, 2, 2)))
    with pytest.raises(FileError, match="cannot be read as numbers"):
        read_numbers(tmp_path / "a.npy")
    with pytest.raises(FileError, match=r"shape \(2, 2, 2\) and dtype float64; expected a matrix"):
        read_numbers(tmp_path / "b.npy")
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_numbers(tmp_path / "c.npy")


@pytest.mark.parametrize("shape", ["(10000000000000,)", "((((("])
def test_npy_files_whose_headers_lie(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    file = tmp_path / "a.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    with pytest.raises(FileError, match="cannot be read as numbers"):
        read_numbers(file)


def test_entries_are_counted_from_0_or_from_1(tmp_path):
    zero = read_entries(written(tmp_path, "0 3 1.5\n2 1 -1\n"))
    assert (zero.rows.tolist(), zero.columns.tolist()) == ([0, 2], [3, 1])
    assert (zero.values.tolist(), zero.shape, zero.remark) == ([1.5, -1.0], (3, 4), None)
    one = read_entries(written(tmp_path, "1,4,1.5\n3,2,-1\n"))
    assert (one.rows.tolist(), one.columns.tolist(), one.shape) == ([0, 2], [3, 1], (3, 4))
    assert "are counted from 1, as no 0 occurs" in one.remark


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no numbers"),
        ("# nothing\n", "holds no numbers"),
        ("a,b\n1,2\n", "cannot be read as numbers (could not convert string 'a'"),
        ("1,,2\n", "cannot be read as numbers (could not convert string ''"),
        ("1 2\n3\n", "cannot be read as numbers (the number of columns changed"),
        (b"\xff\xfe\x00", "cannot be read as numbers"),
        ("0 1\n", "has 2 column(s); expected three: row, column, value"),
        ("0 1 2\n0.5 1 2\n", "entry 2: row 0.5, column 1; expected whole numbers"),
        ("0 -1 2\n", "entry 1: row 0, column -1; expected whole numbers"),
        ("0 nan 2\n", "entry 1: row 0, column nan; expected whole numbers"),
    ],
)
def test_wrong_files_are_told(tmp_path, text, told):
    with pytest.raises(FileError) as fault:
        read_entries(written(tmp_path, text))
    assert told in str(fault.value)
    assert "\n" not in str(fault.value)
