"""Bad input: what is refused, as what, in which words, and before any work is done.

The rows of the guide's table, ``bad_inputs.csv``, are tested to the letter beside it.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
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
    NuclearBall,
    Problem,
    Ridge,
    Simplex,
    SmoothedHinge,
    Translated,
    certify,
    path,
    resume,
    solve,
)
from rcmd.model.schedules import LinearSchedule, Resumed, SublinearSchedule, UnitStepSchedule
from rcmd.oracles import (
    Birkhoff,
    CvxpyOracle,
    GroupL2Ball,
    KSparseBall,
    Polytope,
    Product,
    Scaled,
    Spectrahedron,
)
from rcmd.rows import MatrixEntries, OperatorRows
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
    made = {"X": X, "y": Y, "loss": Logistic(), "oracle": L1Ball(1.0)} | parts
    return Problem(made.pop("X"), made.pop("y"), made.pop("loss"), made.pop("oracle"), **made)


class Untouchable(L1Ball):
    """An oracle that may be constructed, but not asked to work."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


class UntouchableRidge(Ridge):
    """Likewise."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


def run(**options: Any) -> Any:
    return solve(problem(oracle=Untouchable(1.0)), **options)


def with_four(oracle: Any) -> Problem:
    return Problem(np.ones((3, 4)), Y, LeastSquares(), oracle)


Row = tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]
FINITE = "expected finite numbers"
DATA: list[Row] = [
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
    (
        "X sparse 1-D",
        lambda: problem(X=sp.coo_array(X[0])),
        ValueError,
        ("X is a sparse array of 1 dimension", "expected a matrix"),
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
        lambda: problem(loss="logistik"),
        ValueError,
        ("loss 'logistik' is unknown", "logistic"),
    ),
    ("loss 0.5", lambda: problem(loss=0.5), TypeError, ("loss is 0.5 of type float", "Separable")),
    ("hubber", lambda: problem(loss="hubber:1"), ValueError, ("'hubber:1' is unknown", "huber")),
    ("words l1", lambda: problem(oracle="l1"), ValueError, ("oracle 'l1' has 0", "l1:RADIUS")),
    (
        "no matrix",
        lambda: problem(oracle="nuclear:auto:3"),
        ValueError,
        ("SHAPE is auto, but the data are 2 features", "a shape such as 50x40"),
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
        "Translated a number",
        lambda: Translated(5.0, [1.0, 2.0]),  # type: ignore[arg-type]
        TypeError,
        ("oracle of Translated is 5.0", "expected a LinearMinOracle"),
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
        "box of two lengths",
        lambda: Box([0.0, 0.0], [1.0, 2.0, 3.0]),
        ValueError,
        ("lower of Box has shape (2,) and upper (3,)", "vectors of the same length"),
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
    ("batch -1", lambda: run(batch=-1), ValueError, ("batch is -1", ROWS_OR_SHARE)),
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
    ("tol 'a'", lambda: run(tol="a"), ValueError, ("tol is 'a'", "expected a number ≥ 0")),
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
        lambda: solve(X),  # type: ignore[arg-type]
        TypeError,
        ("problem is of type ndarray", "expected a Problem(X, y, loss, oracle)"),
    ),
]
SEED = "expected a whole number ≥ 0, or a numpy.random.Generator"
OPTIONS: list[Row] = [
    (
        "class as schedule",
        lambda: RCMD(schedule=SublinearSchedule),
        TypeError,
        ("schedule is the class SublinearSchedule", "expected an object: SublinearSchedule(…)"),
    ),
    (
        "strength after strengths",
        lambda: path(
            Problem(X, Y, Logistic(), UntouchableRidge(1.0)), [1.0, -1.0], parameter="strength"
        ),
        ValueError,
        ("strength of UntouchableRidge is -1.0", "expected a positive number"),
    ),
    (
        "resume from a number",
        lambda: resume(5, Problem(X, Y, Logistic(), L1Ball(1.0))),  # type: ignore[arg-type]
        TypeError,
        ("checkpoint is 5", "expected the name of a file"),
    ),
    ("seed 'a'", lambda: run(seed="a"), TypeError, ("seed is 'a'", SEED)),
    ("seed 1.5", lambda: run(seed=1.5), TypeError, ("seed is 1.5", SEED)),
    ("seed True", lambda: run(seed=True), TypeError, ("seed is True", SEED)),
    ("seed None", lambda: run(seed=None), TypeError, ("seed is None", SEED)),
    (
        "seed RandomState",
        lambda: run(seed=np.random.RandomState(0)),
        TypeError,
        ("seed is RandomState", SEED),
    ),
    ("tol 1j", lambda: run(tol=1j), ValueError, ("tol is 1j", "a number ≥ 0")),
    ("tol array", lambda: run(tol=np.ones(1)), ValueError, ("tol is array", "a number ≥ 0")),
    ("batch [1]", lambda: run(batch=[1]), TypeError, ("batch is [1]", "a number of rows")),
    ("record_at 0", lambda: run(record_at=[0]), ValueError, ("record_at holds 0 after 0",)),
    ("record_at 'ab'", lambda: run(record_at="ab"), ValueError, ("record_at holds 'a'",)),
    ("method unknown", lambda: run(method="fws"), ValueError, ("'fws' is unknown", "mean fw")),
    (
        "accounting compiled",
        lambda: RCMD(engine="compiled", accounting=(print,)),
        ValueError,
        ("which reports no steps", "'reference' or 'auto'"),
    ),
    ("sampler a word", lambda: RCMD(sampler="all"), TypeError, ("sampler is 'all'", "a Sampler")),
    ("callbacks [5]", lambda: run(callbacks=[5]), TypeError, ("callbacks holds 5", "a function")),
    (
        "max_iterations True",
        lambda: run(max_iterations=True),
        ValueError,
        ("max_iterations is True", "expected a positive whole number"),
    ),
    ("engine None", lambda: RCMD(engine=None), ValueError, ("engine is None", "compiled")),
]
MATRICES: list[Row] = [
    (
        "X a dictionary",
        lambda: Problem({"a": 1}, Y, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has 0 dimensions, as it is of type dict", "expected a matrix"),
    ),
    (
        "y masked",
        lambda: Problem(X, np.ma.masked_equal(Y, -1.0), LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("y is a masked array with missing entries", "drop or impute"),
    ),
    (
        "y 0 and 2",
        lambda: Problem(X, [0, 2, 2], SmoothedHinge(), L1Ball(1.0)),
        ValueError,
        ("y holds the labels 0, 2", "smoothed hinge", "numpy.where"),
    ),
    (
        "operator with a wrong transpose",
        lambda: OperatorRows(
            sp.linalg.LinearOperator((3, 2), matvec=lambda b: X @ b, rmatvec=lambda w: -X.T @ w)
        ),
        ValueError,
        ("matvec and rmatvec do not belong together",),
    ),
    (
        "operator a number",
        lambda: OperatorRows(3),
        TypeError,
        ("operator of OperatorRows is of type int", "shape, matvec and rmatvec"),
    ),
    (
        "X sparse with NaN",
        lambda: Problem(sp.csr_array([[1.0, 0.0], [0.0, NAN]]), Y[:2], Logistic(), L1Ball(1.0)),
        ValueError,
        ("X holds nan at position (1, 1)", "expected finite numbers"),
    ),
    (
        "X sparse, too long for doubles",
        lambda: Problem(
            sp.csr_array(np.diag(np.array(["1", "1e4000"], dtype=np.longdouble))),
            Y[:2],
            Logistic(),
            L1Ball(1.0),
        ),
        ValueError,
        ("X holds 1e+4000 at position (1, 1)", "beyond the range of double precision"),
    ),
    (
        "A sparse with an infinity",
        lambda: Polytope(sp.csr_array([[0.0, INF]]), [1.0]),
        ValueError,
        ("A of Polytope holds inf at position (0, 1)", "leave out the rows"),
    ),
    (
        "certificate of an array for entries",
        lambda: certify(OF_ENTRIES, np.zeros((2, 2)), [0.0]),
        ValueError,
        ("beta has shape (2, 2); expected (4,)",),
    ),
    (
        "certificate of a larger matrix",
        lambda: certify(OF_ENTRIES, LowRank((3, 2)), [0.0]),
        ValueError,
        ("beta has shape (3, 2); expected (2, 2)",),
    ),
    (
        "certificate of a matrix with NaN",
        lambda: certify(OF_ENTRIES, LowRank.of_array(np.eye(2)) / NAN, [0.0]),
        ValueError,
        ("beta holds nan", "expected finite numbers"),
    ),
]
OTHER_PARTS: list[Row] = [
    (
        "blocks 0",
        lambda: SublinearSchedule(0),
        ValueError,
        ("blocks of SublinearSchedule is 0", "positive finite"),
    ),
    (
        "blocks 'a'",
        lambda: SublinearSchedule("a"),
        TypeError,
        ("blocks of SublinearSchedule is 'a'", "positive number"),
    ),
    (
        "sigma inf",
        lambda: LinearSchedule(2.0, INF),
        ValueError,
        ("sigma of LinearSchedule is inf", "positive finite"),
    ),
    (
        "unit steps with sigma -1",
        lambda: UnitStepSchedule(2.0, -1),
        ValueError,
        ("sigma of UnitStepSchedule is -1", "positive finite"),
    ),
    (
        "resumed class",
        lambda: Resumed(SublinearSchedule, 1),  # type: ignore[arg-type]
        TypeError,
        ("schedule of Resumed is the class SublinearSchedule", "SublinearSchedule(…)"),
    ),
    (
        "resumed number",
        lambda: Resumed(3, 1),  # type: ignore[arg-type]
        TypeError,
        ("schedule of Resumed is 3", "expected a Schedule"),
    ),
    (
        "resumed from -1",
        lambda: Resumed(SublinearSchedule(2.0), -1),
        ValueError,
        ("start of Resumed is -1", "whole number of iterations ≥ 0"),
    ),
    ("order inf", lambda: LpBall(1.0, INF), ValueError, ("order of LpBall is inf", "LInfBall")),
    (
        "groups of fewer variables",
        lambda: with_four(GroupL2Ball([0, 1], 1.0)),
        ValueError,
        ("divide 2 variables", "expected p = 4, one for each variable"),
    ),
    ("k 1.5", lambda: KSparseBall(1.5, 1.0), TypeError, ("k of KSparseBall is 1.5", "whole")),  # type: ignore[arg-type]
    ("spectrahedron 0", lambda: Spectrahedron(0), ValueError, ("Spectrahedron is (0, 0)",)),
    ("Birkhoff of 9", lambda: with_four(Birkhoff(3)), ValueError, ("Birkhoff is 3, 9 entries",)),
    (
        "product of other sizes",
        lambda: Product((L1Ball(1.0),), (2, 3)),
        ValueError,
        ("sizes of Product is (2, 3)", "expected a positive whole number"),
    ),
    ("factor 0", lambda: Scaled(L1Ball(1.0), 0.0), ValueError, ("factor of Scaled is 0.0",)),
    (
        "CVXPY not convex",
        lambda: CvxpyOracle(lambda beta: (0, [cp.norm2(beta) >= 1]), 2),
        ValueError,
        ("no convex problem by CVXPY's rules", "expected a convex expression"),
    ),
]
TABLE = [*DATA, *MATRICES, *PARTS, *RADII, *OTHER_PARTS, *RUNS, *OPTIONS]


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


@pytest.mark.parametrize(
    "act",
    [
        lambda: run(tolerance=1e-3),
        lambda: run(batch="10%"),
        lambda: run(record_at=5),
        lambda: run(warm_start=np.zeros(2)),
        lambda: run(method=5),
        lambda: run(callbacks=5),
        lambda: RCMD(prox="euclidean"),
        lambda: RCMD(prox=EuclideanProx),
        lambda: RCMD(schedule="constant"),
        lambda: RCMD(sampler=[[0]]),  # type: ignore[arg-type]
        lambda: problem(oracle=L1Ball),
        lambda: Huber("a"),
    ],
)
def test_rows_of_the_guide_that_are_about_types(act: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        act()


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
