"""Bad input: what is refused, as what, in which words, and before any work is done."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import rcmd
from rcmd import (
    Box,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Translated,
)
from rcmd.rows.validation import checked_numbers, positive

F = Fraction
NAN, INF = math.nan, math.inf
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
Y = np.array([1.0, -1.0, 1.0])
EXACT_X = np.vectorize(F, otypes=[object])(X)


def changed(array: Any, entry: Any, dtype: Any = float) -> np.ndarray:
    copy = np.array(array, dtype=dtype)
    copy.flat[1] = entry
    return copy


def problem(**parts: Any) -> Problem:
    made = {"X": X, "y": Y, "loss": Logistic(), "oracle": L1Ball(1.0)} | parts
    return Problem(made.pop("X"), made.pop("y"), made.pop("loss"), made.pop("oracle"), **made)


class Untouchable(L1Ball):
    """An oracle that may be constructed, but not asked to work."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


def run(**options: Any) -> Any:
    return rcmd.solve(problem(oracle=Untouchable(1.0)), **options)


Row = tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]
FINITE = "expected finite numbers"
DATA: list[Row] = [
    ("X nan", lambda: problem(X=changed(X, NAN)), ValueError, ("X holds nan", "(0, 1)", FINITE)),
    ("X inf", lambda: problem(X=changed(X, -INF)), ValueError, ("X holds -inf", FINITE)),
    ("X single nan", lambda: problem(X=changed(X, NAN, np.float32)), ValueError, ("X", FINITE)),
    ("X csr nan", lambda: problem(X=sp.csr_array(changed(X, NAN))), ValueError, ("X", FINITE)),
    ("X csc inf", lambda: problem(X=sp.csc_array(changed(X, INF))), ValueError, ("X", FINITE)),
    (
        "X csr overflows when duplicates are summed",
        lambda: problem(X=sp.csr_array(([1e308, 1e308], [0, 0], [0, 2]), shape=(1, 2)), y=[1.0]),
        ValueError,
        ("X with its duplicate entries summed holds inf", FINITE),
    ),
    ("X number", lambda: problem(X=1.0), ValueError, ("X has 0 dimension", "expected a matrix")),
    ("X none", lambda: problem(X=None), ValueError, ("X has 0 dimension", "expected a matrix")),
    ("X 1-D", lambda: problem(X=X[0]), ValueError, ("X has 1 dimension", "X.reshape(-1, 1)")),
    ("X 3-D", lambda: problem(X=X[None]), ValueError, ("X has 3 dimension", "expected a matrix")),
    (
        "X sparse 1-D",
        lambda: problem(X=sp.coo_array(X[0])),
        ValueError,
        ("X is a sparse array of 1 dimension", "expected a matrix"),
    ),
    (
        "n = 0",
        lambda: problem(X=np.ones((0, 2)), y=[]),
        ValueError,
        ("X has shape (0, 2)", "at least one row and one column"),
    ),
    (
        "p = 0",
        lambda: problem(X=np.ones((3, 0))),
        ValueError,
        ("X has shape (3, 0)", "at least one row and one column"),
    ),
    (
        "sparse n = 0",
        lambda: problem(X=sp.csr_array((0, 2)), y=[]),
        ValueError,
        ("X has shape (0, 2)", "at least one row"),
    ),
    (
        "X object with a string",
        lambda: problem(X=changed(X, "a", object)),
        ValueError,
        ("X has dtype object and holds", "expected real numbers"),
    ),
    (
        "X object with None",
        lambda: problem(X=changed(EXACT_X, None, object)),
        ValueError,
        ("X has dtype object and holds None of type NoneType", "expected real numbers"),
    ),
    (
        "X fractions and floats",
        lambda: problem(X=changed(EXACT_X, 0.5, object)),
        ValueError,
        ("X has dtype object and holds 0.5 of type float", "fractions.Fraction throughout"),
    ),
    (
        "X floats in objects",
        lambda: problem(X=X.astype(object)),
        ValueError,
        ("X has dtype object and holds 1.0 of type float", "X.astype(float)"),
    ),
    ("X strings", lambda: problem(X=X.astype(str)), ValueError, ("X has dtype", "real numbers")),
    ("X complex", lambda: problem(X=X * 1j), ValueError, ("X has dtype complex128", "real")),
    (
        "X sparse complex",
        lambda: problem(X=sp.csr_array(X * 1j)),
        ValueError,
        ("X has dtype complex128", "expected real numbers"),
    ),
    (
        "X dates",
        lambda: problem(X=np.zeros((3, 2), dtype="datetime64[s]")),
        ValueError,
        ("X has dtype datetime64", "expected real numbers"),
    ),
    ("y nan", lambda: problem(y=changed(Y, NAN)), ValueError, ("y holds nan", "(1,)", FINITE)),
    ("y inf", lambda: problem(y=changed(Y, INF)), ValueError, ("y holds inf", FINITE)),
    ("y short", lambda: problem(y=Y[:2]), ValueError, ("y has shape (2,)", "expected (3,)")),
    (
        "y column",
        lambda: problem(y=Y[:, None]),
        ValueError,
        ("y has shape (3, 1)", "expected (3,)"),
    ),
    ("y none", lambda: problem(y=None), ValueError, ("y has shape ()", "expected (3,)")),
    ("y strings", lambda: problem(y=["a", "b", "c"]), ValueError, ("y has dtype", "real numbers")),
    ("y complex", lambda: problem(y=Y * 1j), ValueError, ("y has dtype complex128", "real")),
    (
        "y object with None",
        lambda: problem(y=np.array([1.0, None, 1.0], dtype=object)),
        ValueError,
        ("y has dtype object and holds", "expected real numbers"),
    ),
    (
        "y labels 0 and 1",
        lambda: problem(y=[0.0, 1.0, 1.0]),
        ValueError,
        ("y holds the labels 0, 1", "expects -1 and +1", "numpy.where"),
    ),
    (
        "y fractions, X floats",
        lambda: problem(y=np.array([F(1), F(-1), F(1)])),
        ValueError,
        ("y holds fractions while X holds floats", "expected both exact or neither"),
    ),
    (
        "weights fractions, X floats",
        lambda: problem(weights=[F(1), F(2), F(1)]),
        ValueError,
        ("weights holds fractions while X holds floats", "expected both exact or neither"),
    ),
    ("weights nan", lambda: problem(weights=[1.0, NAN, 1.0]), ValueError, ("weights holds nan",)),
    ("weights inf", lambda: problem(weights=[1.0, INF, 1.0]), ValueError, ("weights holds inf",)),
    (
        "weights 0",
        lambda: problem(weights=[1.0, 0.0, 1.0]),
        ValueError,
        ("weights holds 0.0", "expected positive numbers"),
    ),
    (
        "weights -1",
        lambda: problem(weights=[1, -1, 1]),
        ValueError,
        ("weights holds -1", "expected positive numbers"),
    ),
    (
        "weights one number",
        lambda: problem(weights=2.0),
        ValueError,
        ("weights has shape ()", "expected (3,)"),
    ),
]
PARTS: list[Row] = [
    (
        "loss a class",
        lambda: problem(loss=Logistic),
        TypeError,
        ("loss is the class Logistic", "expected an object: Logistic(…)"),
    ),
    (
        "loss a name",
        lambda: problem(loss="logistic"),
        TypeError,
        ("loss is 'logistic' of type str", "SeparableConjugate"),
    ),
    (
        "loss an oracle",
        lambda: problem(loss=L1Ball(1.0)),
        TypeError,
        ("loss is L1Ball", "SeparableConjugate"),
    ),
    (
        "oracle a number",
        lambda: problem(oracle=5.0),
        TypeError,
        ("oracle is 5.0 of type float", "LinearMinOracle, such as L1Ball(5.0)"),
    ),
    (
        "oracle a class",
        lambda: problem(oracle=L1Ball),
        TypeError,
        ("oracle is the class L1Ball", "expected an object: L1Ball(…)"),
    ),
    (
        "Translated a number",
        lambda: Translated(5.0, [1.0, 2.0]),  # type: ignore[arg-type]
        TypeError,
        ("oracle of Translated is 5.0", "expected a LinearMinOracle"),
    ),
    (
        "shift too long",
        lambda: problem(oracle=Translated(L1Ball(1.0), [1.0, 2.0, 3.0])),
        ValueError,
        ("shift of Translated has shape (3,)", "length p = 2"),
    ),
    (
        "shift a number",
        lambda: problem(oracle=Translated(L1Ball(1.0), 1.0)),
        ValueError,
        ("shift of Translated has shape ()", "length p = 2"),
    ),
    (
        "shift nan",
        lambda: Translated(L1Ball(1.0), [1.0, NAN]),
        ValueError,
        ("shift of Translated holds nan", FINITE),
    ),
    (
        "box too long",
        lambda: problem(oracle=Box(0.0, [1.0, 2.0, 3.0])),
        ValueError,
        ("upper of Box has shape (3,)", "length p = 2"),
    ),
    (
        "box of two lengths",
        lambda: Box([0.0, 0.0], [1.0, 2.0, 3.0]),
        ValueError,
        ("lower of Box has shape (2,) and upper (3,)", "vectors of the same length"),
    ),
    (
        "box upside down",
        lambda: Box(1.0, [2.0, 0.5]),
        ValueError,
        ("lower of Box exceeds upper", "expected lower ≤ upper"),
    ),
    (
        "box without end",
        lambda: Box(-INF, 0.0),
        ValueError,
        ("lower of Box is infinite", "expected finite numbers", "bounded domain"),
    ),
    (
        "box without end in one place",
        lambda: Box(0.0, [1.0, INF]),
        ValueError,
        ("upper of Box is infinite", "expected finite numbers"),
    ),
    ("box nan", lambda: Box(NAN, 0.0), ValueError, ("lower of Box is nan", "a finite number")),
    ("box string", lambda: Box(0.0, "a"), ValueError, ("upper of Box is 'a'", "a finite number")),
    ("box None", lambda: Box(None, 1.0), ValueError, ("lower of Box is None", "a finite number")),
]
RADII: list[Row] = [
    (f"{make.__name__} {field} {value!r}", lambda m=make, f=field, v=value: m(**{f: v}), kind, text)
    for make, field in [
        (L1Ball, "radius"), (L2Ball, "radius"), (Simplex, "radius"),
        (Ridge, "strength"), (L1Penalty, "strength"),
    ]
    for value, kind, text in [
        (0, ValueError, (f"{field} of {make.__name__} is 0", "expected a positive number")),
        (-1.0, ValueError, (f"{field} of {make.__name__} is -1.0", "expected a positive number")),
        (NAN, ValueError, (f"{field} of {make.__name__} is nan", "expected a positive number")),
        (INF, ValueError, (f"{field} of {make.__name__} is infinite", "bounded domain")),
        ("a", TypeError, (f"{field} of {make.__name__} is 'a'", "expected a positive number")),
        (True, TypeError, (f"{field} of {make.__name__} is True", "expected a positive number")),
        (None, TypeError, (f"{field} of {make.__name__} is None", "expected a positive number")),
        (1j, TypeError, (f"{field} of {make.__name__} is 1j", "expected a positive number")),
        (F(-1, 2), ValueError, (f"{field} of {make.__name__} is Fraction(-1, 2)", "positive")),
    ]
] + [
    (f"{make.__name__} radius {value!r}", lambda m=make, v=value: m(1.0, v), kind, words)
    for make in (Ridge, L1Penalty)
    for value, kind, words in [
        (0, ValueError, (f"radius of {make.__name__} is 0", "expected a positive number")),
        (INF, ValueError, (f"radius of {make.__name__} is infinite", "bounded domain")),
        ("a", TypeError, (f"radius of {make.__name__} is 'a'", "expected a positive number")),
    ]
]  # fmt: skip
ROWS_OR_SHARE = "expected between 1 and n = 3 rows, or a fraction of n"
RUNS: list[Row] = [
    ("batch 0", lambda: run(batch=0), ValueError, ("batch is 0", ROWS_OR_SHARE)),
    ("batch -1", lambda: run(batch=-1), ValueError, ("batch is -1", ROWS_OR_SHARE)),
    ("batch > n", lambda: run(batch=4), ValueError, ("batch is 4", ROWS_OR_SHARE)),
    ("batch 0.0", lambda: run(batch=0.0), ValueError, ("batch is 0.0", "expected in (0, 1]")),
    ("batch 1.5", lambda: run(batch=1.5), ValueError, ("batch is 1.5", "use a whole number")),
    ("batch nan", lambda: run(batch=NAN), ValueError, ("batch is nan", "expected in (0, 1]")),
    ("batch True", lambda: run(batch=True), TypeError, ("batch is True", "number of rows")),
    ("batch 'a'", lambda: run(batch="a"), TypeError, ("batch is 'a'", "number of rows")),
    ("tol nan", lambda: run(tol=NAN), ValueError, ("tol is nan", "expected a number ≥ 0")),
    ("tol -1", lambda: run(tol=-1e-9), ValueError, ("tol is -1e-09", "expected a number ≥ 0")),
    *(
        (
            f"{budget} {value}",
            lambda b=budget, v=value: run(**{b: v}),
            ValueError,
            (f"{budget} is {value}", "expected a positive"),
        )
        for budget in ("max_iterations", "max_gradients", "max_seconds")
        for value in (0, -5, NAN)
    ),
    (
        "max_gradients below a batch",
        lambda: run(batch=2, max_gradients=1),
        ValueError,
        ("max_gradients is 1", "expected at least one batch, 2 rows"),
    ),
    (
        "prox a word",
        lambda: rcmd.RCMD(prox="euclidean"),
        TypeError,
        ("prox is 'euc", "BregmanProx"),
    ),
    (
        "schedule a word",
        lambda: rcmd.RCMD(schedule="fast"),
        TypeError,
        ("schedule is 'f", "Schedule"),
    ),
    (
        "engine a word",
        lambda: rcmd.RCMD(engine="fast"),
        ValueError,
        ("engine is 'fast'", "compiled"),
    ),
    ("tol 'a'", lambda: run(tol="a"), ValueError, ("tol is 'a'", "expected a number ≥ 0")),
    (
        "max_iterations 2.5",
        lambda: run(max_iterations=2.5),
        ValueError,
        ("max_iterations is 2.5", "expected a positive whole number"),
    ),
    ("X ragged", lambda: problem(X=[[1.0], [1.0, 2.0]]), ValueError, ("X cannot be read", "equal")),
    (
        "X masked",
        lambda: problem(X=np.ma.masked_equal(X, X.flat[0])),
        ValueError,
        ("X is a masked array", "drop or impute"),
    ),
    (
        "float radius beside fractions",
        lambda: problem(X=EXACT_X, y=[1, 2, 3], loss=LeastSquares(), oracle=L1Ball(0.5)),
        ValueError,
        ("radius of L1Ball is the float 0.5", "expected a fractions.Fraction"),
    ),
    (
        "logistic loss of fractions",
        lambda: problem(X=EXACT_X, y=[F(1), F(-1), F(1)], loss=Logistic(), oracle=L1Ball(F(1))),
        ValueError,
        ("Logistic() computes with floats", "LeastSquares()"),
    ),
    (
        "problem a matrix",
        lambda: rcmd.solve(X),  # type: ignore[arg-type]
        TypeError,
        ("problem is of type ndarray", "expected a Problem(X, y, loss, oracle)"),
    ),
    (
        "composite without strong convexity",
        lambda: run(method=rcmd.RCMD(prox=rcmd.CompositeProx())),
        ValueError,
        ("prox CompositeProx got a regularizer with μ = 0", "strongly convex"),
    ),
    (
        "composite with a negative step",
        lambda: rcmd.RCMD(prox=rcmd.CompositeProx(eta=-1.0)),
        ValueError,
        ("eta of CompositeProx is -1.0", "expected a positive number"),
    ),
]
TABLE = [*DATA, *PARTS, *RADII, *RUNS]


def check_refusal(act: Callable[[], Any], kind: type[Exception], words: tuple[str, ...]) -> None:
    fault: Exception | None = None
    try:
        act()
    except Exception as raised:
        fault = raised
    assert type(fault) is kind, repr(fault)
    missing = [word for word in words if word not in str(fault)]
    assert not missing, f"{missing} not in {str(fault)!r}"


@pytest.mark.parametrize(("act", "kind", "words"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_bad_input(act: Callable[[], Any], kind: type[Exception], words: tuple[str, ...]) -> None:
    check_refusal(act, kind, words)


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (problem, ValueError, ()),
        (lambda: problem(y=Y[:2]), TypeError, ("y",)),
        (lambda: problem(y=Y[:2]), ValueError, ("weights",)),
        (lambda: run(tol=0.0), ValueError, ("tol",)),  # runs, and so touches the oracle
    ],
)
def test_refusal_check_fails_on(act: Any, kind: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        check_refusal(act, kind, words)


def test_every_row_has_its_own_name_and_words() -> None:
    names = [row[0] for row in TABLE]
    assert len(set(names)) == len(names)
    assert all(row[3] for row in TABLE)


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


def check_exact_numbers(convert: Callable[[str, Any], Any]) -> None:
    mixed = np.array([[1, F(1, 3)], [np.int64(2), True]], dtype=object)
    found = convert("X", mixed)
    assert found.tolist() == [[1, F(1, 3)], [2, 1]]
    assert all(type(v) is Fraction for v in found.flat)
    assert all(type(v.numerator) is int for v in found.flat)
    assert type(mixed[0, 0]) is int
    kept = np.array([F(1), F(2)])
    assert convert("y", kept) is kept


def test_exact_numbers() -> None:
    check_exact_numbers(checked_numbers)
    with pytest.raises(AssertionError):
        check_exact_numbers(lambda name, array: array)
    with pytest.raises(AssertionError):
        check_exact_numbers(lambda name, array: np.vectorize(F, otypes=[object])(array))


@pytest.mark.parametrize("value", [1, 0.5, F(1, 3), np.float32(2), np.int64(3), 5e-324])
def test_positive_numbers_pass(value: Any) -> None:
    positive("radius", value, "L1Ball")
