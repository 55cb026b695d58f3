"""Data frames, whose columns name the coefficients, and classes of labels given in words."""

from typing import Any

import numpy as np
import pytest

from rcmd import CrossEntropy, L1Ball, LeastSquares, Logistic, Problem, load_result, path, solve
from rcmd.datasets import make_classification

NAMES = ("age", "bmi", "dose")


def frames(kind: str, columns: Any) -> Any:
    """A data frame of pandas, polars or Arrow."""
    package = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    return package.table(columns) if kind == "arrow" else package.DataFrame(columns)


def frame(kind: str = "pandas") -> tuple[Any, Any]:
    X, y = make_classification(n=60, p=3, density=1, rng=0)
    return frames(kind, dict(zip(NAMES, np.array(X.T), strict=True))), y


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_columns_of_a_frame_name_the_coefficients(kind: str, tmp_path: Any) -> None:
    X, y = frame(kind)
    problem = Problem(X, y, Logistic(), L1Ball(2.0), intercept=3.0)
    assert problem.names == ("age", "bmi", "dose", "intercept")
    result = solve(problem, tol=1e-6)
    assert result.names == problem.names
    result.save(tmp_path / "kept.rcmd")
    assert load_result(tmp_path / "kept.rcmd").names == problem.names
    plain = solve(Problem(np.asarray(X), y, Logistic(), L1Ball(2.0), intercept=3.0), tol=1e-6)
    assert (plain.beta == result.beta).all()
    assert plain.names == ("β1", "β2", "β3", "intercept")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_classes_in_a_column_of_words(kind: str) -> None:
    X, y = frame(kind)
    words = np.where(y > 0, "ill", "well").tolist()
    if kind == "arrow":
        column = pytest.importorskip("pyarrow").chunked_array([words[:20], words[20:]])
    else:
        column = frames(kind, {"outcome": words})["outcome"]
    problem = Problem(X, column, Logistic(), L1Ball(2.0), labels=("well", "ill"))
    assert problem.y.tolist() == y.tolist()
    with pytest.raises(ValueError, match=r"y holds the labels 'ill', 'well'; expected numbers"):
        Problem(X, column, Logistic(), L1Ball(2.0))


def test_a_lazy_frame_is_to_be_collected_first() -> None:
    lazy = frame("polars")[0].lazy()
    with pytest.raises(
        ValueError, match=r"X is a LazyFrame, whose numbers are not there yet; .*collect"
    ):
        Problem(lazy, np.ones(60), LeastSquares(), L1Ball(1.0))


def test_paths_are_drawn_with_the_names() -> None:
    pytest.importorskip("matplotlib")
    X, y = frame()
    found = path(Problem(X, y, Logistic(), L1Ball(1.0), intercept=3.0), [0.5, 2.0], tol=1e-6)
    drawn = {text.get_text() for text in found.plot().legends[0].get_texts()}
    assert drawn <= {"age", "bmi", "dose", "intercept"}
    assert "intercept" in drawn
    without = path(Problem(np.asarray(X), y, Logistic(), L1Ball(1.0)), [0.5, 2.0], tol=1e-6)
    drawn = {text.get_text() for text in without.plot().legends[0].get_texts()}
    assert drawn <= {r"$\beta_{1}$", r"$\beta_{2}$", r"$\beta_{3}$"}
    assert drawn


def test_text_in_a_column_is_told_by_its_name() -> None:
    held = {"age": [1.0, 2.0], "city": ["Rome", "Oslo"]}
    with pytest.raises(ValueError, match=r"X holds 'Rome' in its column 'city'; .*encode it"):
        Problem(frames("pandas", held), [1.0, 2.0], LeastSquares(), L1Ball(1.0))
    gaps = {"age": np.array([1.0, None], dtype=object)}
    with pytest.raises(ValueError, match=r"X holds None in its column 'age'"):
        Problem(frames("pandas", gaps), [1.0, 2.0], LeastSquares(), L1Ball(1.0))
    mixed = frames("pandas", {"age": [1, 2], "sex": [True, False]})
    problem = Problem(mixed, [1.0, 2.0], LeastSquares(), L1Ball(1.0))
    assert problem.X.tolist() == [[1.0, 1.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    ("loss", "ends"), [(Logistic(), (-1, 1)), (CrossEntropy(), (0, 1)), (LeastSquares(), (-1, 1))]
)
@pytest.mark.parametrize("words", [("ham", "spam"), (0, 1), (True, False)])
def test_labels_say_which_class_is_which(loss: Any, ends: Any, words: Any) -> None:
    X, y = make_classification(n=20, p=2, density=1, rng=0)
    named = np.where(y > 0, *np.array(words[::-1], dtype=object)).tolist()
    problem = Problem(X, named, loss, L1Ball(1.0), labels=words)
    assert problem.y.tolist() == [ends[int(value > 0)] for value in y]
    turned = Problem(X, named, loss, L1Ball(1.0), labels=words[::-1])
    assert turned.y.tolist() == [ends[int(value < 0)] for value in y]
