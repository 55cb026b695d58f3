"""Data frames, whose columns name the coefficients, and classes of labels given in words."""

from typing import Any

import numpy as np
import pytest

from rcmd import CrossEntropy, L1Ball, LeastSquares, Logistic, Problem, load_result, path, solve
from rcmd.datasets import make_classification


class Frame:
    """What pandas, polars and Arrow have in common: names, and an array when asked for one."""

    def __init__(self, columns: dict[str, Any], word: str = "columns") -> None:
        self._held = columns
        setattr(self, word, list(columns))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.stack([np.asarray(column) for column in self._held.values()], axis=1)


def frame(word: str = "columns") -> tuple[Frame, Any]:
    X, y = make_classification(n=60, p=3, density=1, rng=0)
    return Frame(dict(zip(("age", "bmi", "dose"), X.T, strict=True)), word), y


@pytest.mark.parametrize("word", ["columns", "column_names"])
def test_columns_of_a_frame_name_the_coefficients(word: str, tmp_path: Any) -> None:
    X, y = frame(word)
    problem = Problem(X, y, Logistic(), L1Ball(2.0), intercept=3.0)
    assert problem.names == ("age", "bmi", "dose", "intercept")
    result = solve(problem, tol=1e-6)
    assert result.names == problem.names
    result.save(tmp_path / "kept.rcmd")
    assert load_result(tmp_path / "kept.rcmd").names == problem.names
    plain = solve(Problem(np.asarray(X), y, Logistic(), L1Ball(2.0), intercept=3.0), tol=1e-6)
    assert (plain.beta == result.beta).all()
    assert plain.names == ("β1", "β2", "β3", "intercept")


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
    held = {"age": [1.0, 2.0], "city": np.array(["Rome", "Oslo"], dtype=object)}
    with pytest.raises(ValueError, match=r"X holds 'Rome' in its column 'city'; .*encode it"):
        Problem(Frame(held), [1.0, 2.0], LeastSquares(), L1Ball(1.0))
    gaps = {"age": np.array([1.0, None], dtype=object)}
    with pytest.raises(ValueError, match=r"X holds None in its column 'age'"):
        Problem(Frame(gaps), [1.0, 2.0], LeastSquares(), L1Ball(1.0))
    mixed = {"age": np.array([1, 2], dtype=object), "sex": np.array([True, False], dtype=object)}
    assert Problem(Frame(mixed), [1.0, 2.0], LeastSquares(), L1Ball(1.0)).X.tolist() == [
        [1.0, 1.0],
        [2.0, 0.0],
    ]


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
