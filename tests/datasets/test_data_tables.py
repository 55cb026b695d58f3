"""Tables of features and a label, in every kind of file, to the problem of the same arrays."""

import sys
from typing import Any

import numpy as np
import pytest

from rcmd import FileError, Problem, solve
from rcmd.cli.main import main
from rcmd.datasets import make_classification, read_table

NAMES = ["age", "bmi", "dose"]


@pytest.fixture
def table() -> Any:
    X, y = make_classification(n=30, p=3, density=1, rng=0)
    return X, y


def write(path: Any, table: Any) -> None:
    X, y = table
    columns = dict(zip(NAMES, X.T, strict=True)) | {"y": y}
    if path.suffix == ".npy":
        np.save(path, np.stack(list(columns.values()), axis=1))
        return
    between = "\t" if path.suffix == ".tsv" else ","
    lines = [between.join(columns)]
    lines += [
        between.join(map(repr, map(float, row))) for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy"])
def test_a_table_is_its_arrays(ending: str, table: Any, tmp_path: Any) -> None:
    path = tmp_path / f"people{ending}"
    write(path, table)
    X, y, remark = read_table(path)
    assert np.asarray(X).tolist() == table[0].tolist()
    assert y.tolist() == table[1].tolist()
    assert X.columns == (("x1", "x2", "x3") if ending == ".npy" else tuple(NAMES))
    assert "the last column (--label NAME takes another)" in remark
    assert Problem(X, y, "logistic", "l1:1").names == X.columns
    other = read_table(path, label="2")
    assert other.y.tolist() == table[0][:, 1].tolist()
    assert other.X.columns[-1] == ("x4" if ending == ".npy" else "y")


def test_parquet_is_read_by_pyarrow(table: Any, tmp_path: Any, monkeypatch: Any) -> None:
    X, y = table
    arrow = pytest.importorskip("pyarrow")
    held = dict(zip([*NAMES, "y"], [*np.array(X.T), y], strict=True))
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(held), tmp_path / "people.parquet")
    found = read_table(tmp_path / "people.parquet", label="age")
    assert found.y.tolist() == X[:, 0].tolist()
    assert np.asarray(found.X).tolist() == np.c_[X[:, 1:], y].tolist()
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(FileError, match=r"pip install 'rcmd-opt\[parquet\]', or save the table"):
        read_table(tmp_path / "people.parquet")


def test_a_column_without_a_name_is_called_by_its_place(tmp_path: Any) -> None:
    """As pandas writes its index."""
    (tmp_path / "people.csv").write_text(",age,y\n0,20,1\n1,30,-1\n")
    assert read_table(tmp_path / "people.csv").X.columns == ("x1", "age")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b,y\n1,2,3\n4,,6\n", r"row 2 holds '' in its column 'b'; expected numbers: drop"),
        ("a,b,y\n1,2,3\n4,nan,6\n", r"row 2 holds 'nan' in its column 'b'"),
        ("a,b,y\n1,2,3\n4,5\n", r"row 2 has 2 entries; expected 3"),
        ("a,b,y\n", r"has 3 column\(s\) and 0 row\(s\)"),
        ("", r"has 0 column\(s\) and 0 row\(s\)"),
        ("1\n2\n", r"has 1 column\(s\) and 2 row\(s\)"),
    ],
)
def test_what_is_no_table_is_told_by_row_and_column(text: str, told: str, tmp_path: Any) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=told):
        read_table(path)


def test_on_the_command_line_with_names_and_classes_in_words(
    table: Any, tmp_path: Any, capsys: Any
) -> None:
    X, y = table
    path = tmp_path / "people.csv"
    words = np.where(y > 0, "well", "ill")
    rows = [f"{word},{a!r},{b!r},{c!r}" for word, (a, b, c) in zip(words, X.tolist(), strict=True)]
    path.write_text("\n".join(["state,age,bmi,dose", *rows]) + "\n")
    assert main(["solve", str(path), "--label", "state", "--oracle", "l1:2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the label is 'state', as --label says" in out
    assert "labels 'ill' and 'well' were mapped to -1 and +1" in out
    beta = solve(Problem(X, y, "logistic", "l1:2")).beta
    largest = int(abs(beta).argmax())
    assert f"coefficients: {NAMES[largest]} {beta[largest]:.4g}" in out
    assert main(["solve", str(path)]) == 2
    assert "holds 'ill' in its column 'state'" in capsys.readouterr().err


def test_names_with_control_characters_rule_no_terminal(tmp_path):
    file = tmp_path / "red.csv"
    file.write_text("a\x1b[31m,b\n1,2\n3,4\n")
    X, y, _ = read_table(file, label=2)
    assert repr(X) == r"Table(2 rows, columns a\x1b[31m)"
    assert y.tolist() == [2, 4]
