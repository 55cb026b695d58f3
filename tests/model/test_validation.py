"""Bad input: what is refused, as what, in which words, and before any work is done.

The rows of the guide's table, ``bad_inputs.csv``, are tested to the letter beside it.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    RCMD,
    Box,
    EuclideanProx,
    Huber,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    Logistic,
    LowRank,
    LpBall,
    MatrixEntries,
    NuclearBall,
    OperatorRows,
    Polytope,
    Problem,
    Ridge,
    Simplex,
    Spectrahedron,
    Translated,
    certify,
    solve,
)
from rcmd.model.bounds import Bound, Verdict
from rcmd.model.schedules import LinearSchedule, Resumed, SublinearSchedule
from rcmd.rows.validation import checked_numbers, positive

F = Fraction
NAN, INF = math.nan, math.inf
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
Y = np.array([1.0, -1.0, 1.0])
EXACT_X = np.vectorize(F, otypes=[object])(X)
OF_ENTRIES = Problem(
    MatrixEntries([0], [1], (2, 2)), [1.0], LeastSquares(), NuclearBall((2, 2), 1.0)
)


def changed(array: Any, entry: Any, dtype: Any = float) -> np.ndarray:
    copy = np.array(array, dtype=dtype)
    copy.flat[1] = entry
    return copy


def problem(**parts: Any) -> Problem:
    made = {"X": X, "y": Y, "loss": Logistic(), "oracle": L1Ball(1.0), "verify": False} | parts
    return Problem(made.pop("X"), made.pop("y"), made.pop("loss"), made.pop("oracle"), **made)


class Untouchable(L1Ball):
    """An oracle that may be constructed, but not asked to work."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


def run(**options: Any) -> Any:
    return solve(problem(oracle=Untouchable(1.0)), **options)


Row = tuple[Any, ...]
"""What is called, and words of the sentence that refuses it."""
FINITE, REAL = "expected finite numbers", "expected real numbers"
BOTH = "expected both exact or neither"
DATA: list[Row] = [
    (
        lambda: problem(X=sp.csr_array(([1e308, 1e308], [0, 0], [0, 2]), shape=(1, 2)), y=[1.0]),
        "X with its duplicate entries summed holds inf",
        FINITE,
    ),
    (lambda: problem(X=sp.coo_array(X[0])), "sparse array of 1 dimension", "expected a matrix"),
    (lambda: problem(X=np.ones((3, 0))), "X has shape (3, 0)", "at least one row and one column"),
    (
        lambda: problem(X=changed(EXACT_X, 0.5, object)),
        "X has dtype object and holds 0.5 of type float",
        "fractions.Fraction throughout",
    ),
    (lambda: problem(y=[F(1), F(-1), F(1)]), "y holds fractions while X holds floats", BOTH),
]
PARTS: list[Row] = [
    (lambda: Translated(L1Ball(1.0), [1.0, NAN]), "shift of Translated holds nan", FINITE),
    (
        lambda: Box([0.0, 0.0], [1.0, 2.0, 3.0]),
        "lower of Box has shape (2,) and upper (3,)",
        "vectors of the same length",
    ),
    (lambda: Box(0.0, [1.0, INF]), "upper of Box is infinite", "expected finite numbers"),
]
RUNS: list[Row] = [
    (lambda: run(batch=NAN), "batch is nan", "expected in (0, 1]"),
    (lambda: run(tol=NAN), "tol is nan", "expected a number ≥ 0"),
    *(
        (lambda b=budget, v=value: run(**{b: v}), f"{budget} is {value}", "expected a positive")
        for budget in ("max_iterations", "max_gradients", "max_seconds")
        for value in (0, -5, NAN)
    ),
    (
        lambda: problem(X=EXACT_X, y=[1, 2, 3], loss=LeastSquares(), oracle=L1Ball(0.5)),
        "radius of L1Ball is the float 0.5",
        "expected a fractions.Fraction",
    ),
    (
        lambda: problem(X=EXACT_X, y=[F(1), F(-1), F(1)], loss=Logistic(), oracle=L1Ball(F(1))),
        "Logistic() computes with floats",
        "LeastSquares()",
    ),
]
SEED = "expected a whole number ≥ 0, or a numpy.random.Generator"
OPTIONS: list[Row] = [
    (lambda: run(record_at=[0]), "record_at holds 0 after 0"),
    (lambda: run(record_at=[2, 3, 3]), "record_at holds 3 after 3"),
    (
        lambda: Bound("mine", schedule="fast", value=max),  # type: ignore[arg-type]
        "schedule of the Bound 'mine' is 'fast'",
        "the class of a schedule",
    ),
    (
        lambda: Bound("mine", of="gaps", value=max),  # type: ignore[arg-type]
        "of of the Bound 'mine' is 'gaps'",
        "'every gap'",
    ),
    (lambda: run(bounds=["mine"]), "no bound is named 'mine'", "theorem-3.1-first"),
    (lambda: run(bounds=[Bound("gap", value=max)]), "one named 'gap'", "another name"),
    (lambda: run(bounds=2 * [Bound("a", value=max)]), "a claim named 'a'", "a name of its own"),
    (
        lambda: run(bounds=[Bound("linear-energy", value=max)]),
        "a claim named 'linear-energy'",
        "a name of its own",
    ),
    (
        lambda: run(bounds=[Bound("a", value=max, verdict=Verdict.PROVED)]),
        "no bound is named 'a'",
    ),
    (lambda: run(bounds=["sublinear-dual"]), "which bounds E[D* − D", "bounds of E[P(β̄)"),
    (lambda: run(max_iterations=True), "max_iterations is True", "a positive whole number"),
]
MATRICES: list[Row] = [
    (
        lambda: Problem({"a": 1}, Y, LeastSquares(), L1Ball(1.0)),
        "X has 0 dimensions, as it is of type dict",
        "expected a matrix",
    ),
    (
        lambda: Problem(
            sp.csr_array(np.diag(np.array(["1", "1e4000"], dtype=np.longdouble))),
            Y[:2],
            Logistic(),
            L1Ball(1.0),
        ),
        "X holds 1e+4000 at position (1, 1)",
        "beyond the range of double precision",
    ),
    (
        lambda: Polytope(sp.csr_array([[0.0, INF]]), [1.0]),
        "A of Polytope holds inf at position (0, 1)",
        "leave out the rows",
    ),
    (lambda: certify(OF_ENTRIES, np.zeros((2, 2)), [0.0]), "beta has shape (2, 2); expected (4,)"),
    (lambda: certify(OF_ENTRIES, LowRank((3, 2)), [0.0]), "beta has shape (3, 2); expected (2, 2)"),
    (
        lambda: certify(OF_ENTRIES, LowRank.of_array(np.eye(2)) / NAN, [0.0]),
        "beta holds nan",
        "expected finite numbers",
    ),
]
OTHER_PARTS: list[Row] = [
    (lambda: SublinearSchedule(0), "blocks of SublinearSchedule is 0", "positive finite"),
    (lambda: LinearSchedule(2.0, INF), "sigma of LinearSchedule is inf", "positive finite"),
    (
        lambda: Resumed(SublinearSchedule(2.0), -1),
        "start of Resumed is -1",
        "whole number of iterations ≥ 0",
    ),
    (lambda: LpBall(1.0, INF), "order of LpBall is inf", "LInfBall"),
    (lambda: Spectrahedron(0), "Spectrahedron is (0, 0)"),
]


class Deaf:
    """Accounting that takes no step."""

    def record(self) -> None:
        pass


WRONG_TYPES: list[Row] = [
    (lambda: run(callbacks=lambda: None), "expected a function of a State"),
    (lambda: RCMD(accounting=[Deaf()]), "expected objects with record(step)"),  # type: ignore[list-item]
    (lambda: Bound("mine", value=lambda c: 1.0), "a function of (constants, k)"),  # type: ignore[arg-type, misc]
    (
        lambda: RCMD(accounting=(print,)),  # type: ignore[arg-type]
        "accounting holds <built-in function print>",
        "objects with record(step)",
    ),
    (
        lambda: RCMD(accounting=print),  # type: ignore[arg-type]
        "accounting is <built-in function print>",
        "a list, such as [mine]",
    ),
    (lambda: Bound("mine"), "value of the Bound 'mine' is None", "a function of (constants, k)"),
    (lambda: Bound(""), "name of a Bound is ''", "a word"),
    (lambda: run(bounds=[max]), "bounds holds <built-in function max>", "a Bound, such as"),
    (lambda: run(batch=True), "batch is True", "number of rows"),
    (lambda: run(seed=True), "seed is True", SEED),
    (lambda: run(seed=np.random.RandomState(0)), "seed is RandomState", SEED),
    (lambda: Resumed(3, 1), "schedule of Resumed is 3", "expected a Schedule"),  # type: ignore[arg-type]
]
TABLE = [
    *((ValueError, *row) for row in [*DATA, *MATRICES, *PARTS, *OTHER_PARTS, *RUNS, *OPTIONS]),
    *((TypeError, *row) for row in WRONG_TYPES),
]
NAMES = [" … ".join(words) for _, _, *words in TABLE]


def check_refusal(act: Callable[[], Any], kind: type[Exception], words: Sequence[str]) -> None:
    fault: Exception | None = None
    try:
        act()
    except Exception as raised:
        fault = raised
    assert type(fault) is kind, repr(fault)
    missing = [word for word in words if word not in str(fault)]
    assert not missing, f"{missing} not in {str(fault)!r}"


@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_bad_input(row: Row) -> None:
    kind, act, *words = row
    check_refusal(act, kind, words)


POSITIVE: list[tuple[Any, dict[str, float], str]] = [
    (L1Ball, {}, "radius"),
    (L2Ball, {}, "radius"),
    (Simplex, {}, "radius"),
    (Ridge, {}, "strength"),
    (L1Penalty, {}, "strength"),
    (Ridge, {"strength": 1.0}, "radius"),
    (L1Penalty, {"strength": 1.0}, "radius"),
]


@pytest.mark.parametrize(("make", "others", "field"), POSITIVE)
@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (0, ValueError, ("is 0", "expected a positive number")),
        (-1.0, ValueError, ("is -1.0", "expected a positive number")),
        (NAN, ValueError, ("is nan", "expected a positive number")),
        (INF, ValueError, ("is infinite", "bounded domain")),
        (F(-1, 2), ValueError, ("is Fraction(-1, 2)", "positive")),
        ("a", TypeError, ("is 'a'", "expected a positive number")),
        (True, TypeError, ("is True", "expected a positive number")),
        (None, TypeError, ("is None", "expected a positive number")),
        (1j, TypeError, ("is 1j", "expected a positive number")),
    ],
)
def test_not_positive(
    make: Any, others: Any, field: str, value: Any, kind: type[Exception], words: Any
) -> None:
    if value is None and others:
        assert make(**others, **{field: None}) == make(**others)
        return
    told = f"{field} of {make.__name__} {words[0]}", words[1]
    check_refusal(lambda: make(**others, **{field: value}), kind, told)


@pytest.mark.parametrize(
    "act",
    [
        lambda: run(tolerance=1e-3),
        lambda: run(batch="10%"),
        lambda: run(record_at=5),
        lambda: run(warm_start=np.zeros(2)),
        lambda: run(method=5),
        lambda: run(callbacks=5),
        lambda: RCMD(prox=3),  # type: ignore[arg-type]
        lambda: RCMD(prox=EuclideanProx),
        lambda: RCMD(schedule=3),  # type: ignore[arg-type]
        lambda: RCMD(sampler=[[0]]),  # type: ignore[arg-type]
        lambda: problem(loss=Logistic),
        lambda: problem(loss=L1Ball(1.0)),
        lambda: problem(oracle=L1Ball),
        lambda: problem(oracle=5.0),
        lambda: solve(X),  # type: ignore[arg-type]
        lambda: OperatorRows(X),
        lambda: Huber("a"),
    ],
)
def test_rows_of_the_guide_that_are_about_types(act: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        act()


# ---- what is not bad input ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        {"X": X.tolist(), "y": Y.tolist()},
        {"X": X > 0, "loss": LeastSquares(), "y": [True, False, True]},
        {"X": (X * 2).astype(np.int8), "y": Y.astype(np.int64)},
        {"X": X.astype(np.float16)},
        {"X": sp.csr_array(X > 0)},
        {"weights": [1, 2, 3]},
        {"oracle": L1Ball(np.float64(2.0))},
        {"oracle": L1Ball(np.int64(2))},
        {"oracle": Box(0, [1, 2])},
        {"oracle": Box(1.0, 1.0)},
        {"oracle": Translated(Translated(L1Ball(1), [1, 2]), [0.5, 0])},
    ],
)
def test_good_input(parts: dict[str, Any]) -> None:
    made = problem(**parts)
    beta = made.oracle.argmin(made.gradient(made.response(np.zeros(2)))).dense(np.zeros(2))
    assert math.isfinite(made.primal(beta))
    assert made.prediction_bounds.dtype == float


def test_functions_that_do_not_say_what_they_take_are_taken() -> None:
    assert Bound("mine", value=max).value is max


def test_labels_follow_exact_data() -> None:
    made = problem(
        X=EXACT_X, y=[0.5, 1, 2], loss=LeastSquares(), weights=[1, 0.25, 2], oracle=L1Ball(F(1))
    )
    assert made.exact
    assert list(made.losses.y) == [F(1, 2), F(1), F(2)]
    assert all(type(v) is Fraction for v in [*made.losses.y, *made.losses.weights])


def test_whole_numbers_among_objects_become_fractions() -> None:
    # 1/2 of two Python integers is a float, which would end exactness without a word.
    made = problem(X=np.array([[1, 2], [3, 4]], dtype=object), y=np.array([1, 2], dtype=object),
                   loss=LeastSquares(), oracle=L1Ball(F(1)))  # fmt: skip
    slope = made.gradient(made.losses.derivative(0 * made.losses.y))
    assert list(slope) == [F(-7, 2), F(-5)]
    assert all(type(v) is Fraction for v in slope)


def test_exact_numbers() -> None:
    mixed = np.array([[1, F(1, 3)], [np.int64(2), True]], dtype=object)
    found = checked_numbers("X", mixed)
    assert found.tolist() == [[1, F(1, 3)], [2, 1]]
    assert all(type(v) is Fraction for v in found.flat)
    assert all(type(v.numerator) is int for v in found.flat)
    assert type(mixed[0, 0]) is int
    kept = np.array([F(1), F(2)])
    assert checked_numbers("y", kept) is kept


@pytest.mark.parametrize("value", [1, 0.5, F(1, 3), np.float32(2), np.int64(3), 5e-324])
def test_positive_numbers_pass(value: Any) -> None:
    positive("radius", value, "L1Ball")
