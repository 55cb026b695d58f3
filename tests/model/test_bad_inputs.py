"""Bad input beyond data and radii: options, parameters of every part, files, the command line.

``test_validation`` has the table of data, labels, weights, radii and budgets.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    RCMD,
    CompositeProx,
    EpsilonInsensitive,
    EuclideanProx,
    Huber,
    L1Ball,
    LeastSquares,
    Logistic,
    LowRank,
    LpBall,
    NuclearBall,
    Problem,
    Ridge,
    SmoothedHinge,
    SmoothedQuantile,
    certify,
    path,
    resume,
    solve,
)
from rcmd.cli.main import main
from rcmd.conjugates import Exponential, Poisson
from rcmd.model.schedules import LinearSchedule, Resumed, SublinearSchedule, UnitStepSchedule
from rcmd.oracles import (
    Birkhoff,
    Caching,
    CappedSimplex,
    CvxpyOracle,
    Ellipsoid,
    FlowPolytope,
    GroupL2Ball,
    Hull,
    KSparseBall,
    OWLBall,
    Polytope,
    Product,
    Scaled,
    Spectrahedron,
)
from rcmd.rows import MatrixEntries, OperatorRows

NAN, INF = math.nan, math.inf
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
Y = np.array([1.0, -1.0, 1.0])
OF_ENTRIES = Problem(
    MatrixEntries([0], [1], (2, 2)), [1.0], LeastSquares(), NuclearBall((2, 2), 1.0)
)


class Untouchable(L1Ball):
    """An oracle that may be constructed, but not asked to work."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


class UntouchableRidge(Ridge):
    """Likewise."""

    def argmin(self, c: Any) -> Any:
        raise RuntimeError("work was begun")


def run(**options: Any) -> Any:
    return solve(Problem(X, Y, Logistic(), Untouchable(1.0)), **options)


def with_four(oracle: Any) -> Problem:
    return Problem(np.ones((3, 4)), Y, LeastSquares(), oracle)


def earlier() -> Any:
    return solve(Problem(X, Y, Logistic(), L1Ball(1.0)), max_iterations=2)


Row = tuple[str, Callable[[], Any], type[Exception], tuple[str, ...]]
BOUNDED = "expected a bounded set"
SEED = "expected a whole number ≥ 0, or a numpy.random.Generator"
OPTIONS: list[Row] = [
    ("tolerance", lambda: run(tolerance=1e-3), TypeError, ("unexpected", "'tolerance'")),
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
        ("strength of Ridge is -1.0", "expected a positive number"),
    ),
    (
        "resume from a number",
        lambda: resume(5, Problem(X, Y, Logistic(), L1Ball(1.0))),  # type: ignore[arg-type]
        TypeError,
        ("checkpoint is 5", "expected the name of a file"),
    ),
    ("seed -1", lambda: run(seed=-1), ValueError, ("seed is -1", SEED)),
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
    ("tol None", lambda: run(tol=None), ValueError, ("tol is None", "a number ≥ 0")),
    ("tol 1j", lambda: run(tol=1j), ValueError, ("tol is 1j", "a number ≥ 0")),
    ("tol array", lambda: run(tol=np.ones(1)), ValueError, ("tol is array", "a number ≥ 0")),
    ("batch '1%'", lambda: run(batch="1%"), TypeError, ("batch is '1%'", "a fraction of n")),
    ("batch [1]", lambda: run(batch=[1]), TypeError, ("batch is [1]", "a number of rows")),
    ("record_at 5", lambda: run(record_at=5), TypeError, ("record_at is 5", "[10, 100")),
    (
        "record_at falling",
        lambda: run(record_at=[3, 2]),
        ValueError,
        ("record_at holds 2 after 3", "each larger than the one before"),
    ),
    ("record_at 0", lambda: run(record_at=[0]), ValueError, ("record_at holds 0 after 0",)),
    ("record_at 'ab'", lambda: run(record_at="ab"), ValueError, ("record_at holds 'a'",)),
    (
        "warm start a vector",
        lambda: run(warm_start=np.zeros(2)),
        TypeError,
        ("warm_start is of type ndarray", "expected the Result of an earlier run"),
    ),
    (
        "warm start of another size",
        lambda: solve(with_four(L1Ball(1.0)), warm_start=earlier()),
        ValueError,
        ("warm_start holds a β of shape (2,)", "expected (4,)"),
    ),
    (
        "warm start outside",
        lambda: solve(Problem(X, Y, Logistic(), L1Ball(1e-3)), warm_start=earlier()),
        ValueError,
        ("warm_start holds a β outside dom R", "go from smaller sets to larger"),
    ),
    ("method 1", lambda: run(method=1), TypeError, ("method is 1", "RCMD() or FrankWolfe()")),
    ("method unknown", lambda: run(method="fws"), ValueError, ("'fws' is unknown", "mean fw")),
    ("batch twice", lambda: run(batch=1, method=RCMD(2)), ValueError, ("solve and by RCMD",)),
    (
        "accounting compiled",
        lambda: RCMD(engine="compiled", accounting=(print,)),
        ValueError,
        ("tells nobody of its steps", "'reference' or 'auto'"),
    ),
    (
        "warm start of another method",
        lambda: run(method="fw", warm_start=earlier()),
        ValueError,
        ("warm_start is given beside method = FrankWolfe", "starts from scratch"),
    ),
    (
        "prox a class",
        lambda: RCMD(prox=EuclideanProx),
        TypeError,
        ("prox is the class", "EuclideanProx(…)"),
    ),
    ("sampler a word", lambda: RCMD(sampler="all"), TypeError, ("sampler is 'all'", "a Sampler")),
    ("sampler lists", lambda: RCMD(sampler=[[0]]), TypeError, ("sampler is [[0]]", "Replay(")),
    ("callbacks 5", lambda: run(callbacks=5), TypeError, ("callbacks holds 5", "a function of")),
    ("callbacks [5]", lambda: run(callbacks=[5]), TypeError, ("callbacks holds 5", "a function")),
    (
        "max_iterations True",
        lambda: run(max_iterations=True),
        ValueError,
        ("max_iterations is True", "expected a positive whole number"),
    ),
    (
        "max_gradients '5'",
        lambda: run(max_gradients="5"),
        ValueError,
        ("max_gradients is '5'", "expected a positive whole number"),
    ),
    ("engine None", lambda: RCMD(engine=None), ValueError, ("engine is None", "compiled")),
    (
        "history column",
        lambda: earlier().history.column("gaps"),
        ValueError,
        ("history has no column 'gaps'", "expected one of iteration"),
    ),
    (
        "no path",
        lambda: path(Problem(X, Y, Logistic(), L1Ball(1.0)), []),
        ValueError,
        ("values is empty", "expected at least one radius"),
    ),
]
DATA: list[Row] = [
    (
        "X a file's name",
        lambda: Problem("a.csv", Y, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has 0 dimensions, as it is 'a.csv' of type str", "rcmd.datasets reads files"),
    ),
    (
        "X a dictionary",
        lambda: Problem({"a": 1}, Y, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has 0 dimensions, as it is of type dict", "expected a matrix"),
    ),
    (
        "X and y exchanged",
        lambda: Problem(Y, X, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has 1 dimension(s), shape (3,)", "use X.reshape(-1, 1)"),
    ),
    (
        "X words",
        lambda: Problem([["a", "b"]], [1.0], LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has dtype <U1", "expected real numbers", "X.astype(float)"),
    ),
    (
        "X complex",
        lambda: Problem(X * 1j, Y, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("X has dtype complex128", "X.real"),
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
        "y too large for squares",
        lambda: Problem(X, Y * 1e200, LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("y holds 1e+200", "LeastSquares()", "divide y by a power of ten"),
    ),
    (
        "X too large for squares",
        lambda: solve(Problem(X * 1e200, Y, LeastSquares(), L1Ball(1.0))),
        ValueError,
        ("predictions reach 3e+200 on dom R", "divide X by a power of ten"),
    ),
    (
        "loss and oracle exchanged",
        lambda: Problem(X, Y, L1Ball(1.0), LeastSquares()),  # type: ignore[arg-type]
        TypeError,
        ("loss is L1Ball(radius=1.0)", "SeparableConjugate, such as Logistic()"),
    ),
    (
        "intercept 0",
        lambda: Problem(X, Y, Logistic(), L1Ball(1.0), intercept=0),
        ValueError,
        ("intercept of Problem is 0", "expected a positive number"),
    ),
    (
        "intercept without bound",
        lambda: Problem(X, Y, Logistic(), L1Ball(1.0), intercept=INF),
        ValueError,
        ("intercept of Problem is infinite", "bounded domain"),
    ),
    (
        "entries outside",
        lambda: MatrixEntries([0, 3], [0, 1], (2, 2)),
        ValueError,
        ("rows of MatrixEntries runs from 0 to 3", "expected 0 to 1"),
    ),
    (
        "vectors for entries",
        lambda: Problem(MatrixEntries([0], [1], (2, 2)), [1.0], LeastSquares(), L1Ball(1.0)),
        ValueError,
        ("is about vectors", "such as NuclearBall((50, 40), 10.0)"),
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
PARTS: list[Row] = [
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
    ("eta 0", lambda: CompositeProx(0), ValueError, ("eta of CompositeProx is 0", "positive")),
    ("Huber 0", lambda: Huber(0), ValueError, ("width of Huber is 0", "positive finite")),
    ("Huber inf", lambda: Huber(INF), ValueError, ("width of Huber is inf", "positive finite")),
    ("Huber 'a'", lambda: Huber("a"), TypeError, ("width of Huber is 'a'", "positive number")),
    (
        "level 1.5",
        lambda: SmoothedQuantile(1.5),
        ValueError,
        ("level of SmoothedQuantile is 1.5", "strictly between 0 and 1"),
    ),
    (
        "tolerance nan",
        lambda: EpsilonInsensitive(NAN),
        ValueError,
        ("tolerance of EpsilonInsensitive is nan", "positive finite"),
    ),
    ("Poisson", Poisson, ValueError, ("Poisson loss is refused", "not γ-smooth", "use")),
    ("Exponential", Exponential, ValueError, ("refused", "not γ-smooth", "use Logistic()")),
    ("order 0.5", lambda: LpBall(1.0, 0.5), ValueError, ("order of LpBall is 0.5", "above 1")),
    ("order inf", lambda: LpBall(1.0, INF), ValueError, ("order of LpBall is inf", "LInfBall")),
    (
        "groups of fewer variables",
        lambda: with_four(GroupL2Ball([0, 1], 1.0)),
        ValueError,
        ("divide 2 variables", "expected p = 4, one for each variable"),
    ),
    (
        "groups that overlap",
        lambda: GroupL2Ball([[0, 1], [1, 2]], 1.0),
        ValueError,
        ("hold variable 1 more than once", "do not overlap"),
    ),
    ("k 0", lambda: KSparseBall(0, 1.0), ValueError, ("k of KSparseBall is 0", "at least one")),
    ("k 1.5", lambda: KSparseBall(1.5, 1.0), TypeError, ("k of KSparseBall is 1.5", "whole")),  # type: ignore[arg-type]
    (
        "k above p",
        lambda: with_four(KSparseBall(7, 1.0)),
        ValueError,
        ("k of KSparseBall is 7 while X has p = 4", "expected k ≤ p"),
    ),
    (
        "empty capped simplex",
        lambda: with_four(CappedSimplex(10.0, 1.0)),
        ValueError,
        ("total of CappedSimplex is 10.0", "set is empty", "raise cap"),
    ),
    (
        "weights that grow",
        lambda: OWLBall([1.0, 2.0], 1.0),
        ValueError,
        ("weights of OWLBall increase", "sort them"),
    ),
    (
        "ellipsoid indefinite",
        lambda: Ellipsoid([[1.0, 2.0], [2.0, 1.0]]),
        ValueError,
        ("not positive definite", "smallest eigenvalue is -1"),
    ),
    (
        "ellipsoid not symmetric",
        lambda: Ellipsoid([[1.0, 0.5], [0.0, 1.0]]),
        ValueError,
        ("not symmetric", "(A + Aᵀ)/2"),
    ),
    (
        "shape a word",
        lambda: NuclearBall("2x2", 1.0),  # type: ignore[arg-type]
        ValueError,
        ("shape of NuclearBall is '2x2'", "two positive whole numbers"),
    ),
    (
        "shape of another p",
        lambda: with_four(NuclearBall((3, 2), 1.0)),
        ValueError,
        ("shape of NuclearBall is (3, 2), 6 entries", "expected p = 4"),
    ),
    ("spectrahedron 0", lambda: Spectrahedron(0), ValueError, ("Spectrahedron is (0, 0)",)),
    ("Birkhoff of 9", lambda: with_four(Birkhoff(3)), ValueError, ("Birkhoff is 3, 9 entries",)),
    ("hull a vector", lambda: Hull([1.0, 2.0]), ValueError, ("vertices of Hull has shape (2,)",)),
    (
        "polytope unbounded",
        lambda: Polytope([[1.0, 0.0]], [1.0]),
        ValueError,
        ("Polytope is unbounded: β[0]", BOUNDED, "add constraints"),
    ),
    (
        "polytope empty",
        lambda: Polytope([[1.0], [-1.0]], [0.0, -1.0]),
        ValueError,
        ("contradict each other", "expected at least one point"),
    ),
    (
        "flow around a cycle",
        lambda: FlowPolytope([(0, 1), (1, 0)], 0, 1),
        ValueError,
        ("edges of FlowPolytope hold a cycle", "expected a graph without cycles"),
    ),
    (
        "flow without a path",
        lambda: FlowPolytope([(0, 1)], 1, 0),
        ValueError,
        ("no path from source 1 to sink 0",),
    ),
    (
        "product of other sizes",
        lambda: Product((L1Ball(1.0),), (2, 3)),
        ValueError,
        ("sizes of Product is (2, 3)", "expected a positive whole number"),
    ),
    ("factor 0", lambda: Scaled(L1Ball(1.0), 0.0), ValueError, ("factor of Scaled is 0.0",)),
    ("caching 0", lambda: Caching(L1Ball(1.0), 0.0), ValueError, ("tolerance of Caching is 0.0",)),
    (
        "CVXPY without bound",
        lambda: CvxpyOracle(lambda beta: (0, []), 2),
        ValueError,
        ("CvxpyOracle is unbounded", BOUNDED),
    ),
    (
        "CVXPY not convex",
        lambda: CvxpyOracle(lambda beta: (0, [cp.norm2(beta) >= 1]), 2),
        ValueError,
        ("no convex problem by CVXPY's rules", "expected a convex expression"),
    ),
]
TABLE = [*OPTIONS, *DATA, *PARTS]


def check_refusal(act: Callable[[], Any], kind: type[Exception], words: tuple[str, ...]) -> None:
    fault: Exception | None = None
    try:
        act()
    except Exception as raised:
        fault = raised
    assert type(fault) is kind, repr(fault)
    missing = [word for word in words if word not in str(fault)]
    assert not missing, f"{missing} not in {str(fault)!r}"


@pytest.mark.parametrize(
    ("act", "kind", "words"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_bad_input(act: Callable[[], Any], kind: type[Exception], words: tuple[str, ...]) -> None:
    check_refusal(act, kind, words)


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (earlier, ValueError, ()),
        (lambda: run(seed=-1), TypeError, ("seed",)),
        (lambda: run(seed=-1), ValueError, ("tol",)),
        (lambda: run(seed=np.int64(3)), TypeError, ("seed",)),  # runs, and so touches the oracle
    ],
)
def test_refusal_check_fails_on(act: Any, kind: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        check_refusal(act, kind, words)


# ---- the command line --------------------------------------------------------------------------

GOOD = b"+1 1:1 2:2\n-1 1:3 2:-1\n+1 1:0.5\n"
FILES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("holds no rows", "expected lines 'label index:value")),
    "a word for a label": (b"+1 1:1\nhello 1:2\n", ("line 2", "'hello'", "as the label")),
    "an infinite label": (b"inf 1:1\n", ("line 1", "'inf'", "a finite number as the label")),
    "no colon": (b"+1 1\n", ("line 1", "found '1'", "expected index:value")),
    "a word for a value": (b"+1 1:x\n", ("line 1", "'1:x'", "finite number as the value")),
    "NaN": (b"+1 1:nan\n-1 1:1\n", ("line 1", "'1:nan'", "finite number as the value")),
    "index 0": (b"+1 0:1\n", ("line 1", "'0:1'", "an index from 1")),
    "a negative index": (b"+1 -1:1\n", ("line 1", "'-1:1'", "an index from 1")),
    "a huge index": (b"+1 99999999999999999999:1\n", ("line 1", "an index from 1 to 2147483647")),
    "binary": (bytes(range(256)), ("line 1", "expected text, but this is binary")),
    "three classes": (b"1 1:1\n2 1:1\n3 1:2\n", ("3 distinct values (1, 2, 3)", "two classes")),
    "a torn bz2": (b"BZh91AY&SY\x00\x01", ("cannot be read",)),
    "a torn gz": (b"\x1f\x8b\x08\x00\x00", ("cannot be read",)),
}
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no command": ([], ("required: COMMAND",)),
    "unknown command": (["slove"], ("invalid choice: 'slove'", "solve")),
    "no such file": (["solve", "none.svm"], ("none.svm cannot be read", "no such file")),
    "unknown loss": (
        ["solve", "FILE", "--loss", "logistics"],
        ("loss 'logistics' is unknown", "did you mean logistic"),
    ),
    "refused loss": (["solve", "FILE", "--loss", "poisson"], ("Poisson loss is refused",)),
    "unknown oracle": (
        ["solve", "FILE", "--oracle", "l3:5"],
        ("oracle 'l3:5' is unknown", "did you mean", "rcmd list oracles"),
    ),
    "oracle without radius": (
        ["solve", "FILE", "--oracle", "l1"],
        ("oracle 'l1' has 0 parameter(s)", "expected l1:RADIUS"),
    ),
    "oracle with a word": (
        ["solve", "FILE", "--oracle", "l1:abc"],
        ("oracle 'l1:abc' holds 'abc'", "expected a number"),
    ),
    "negative radius": (["solve", "FILE", "--oracle", "l1:-1"], ("radius of L1Ball is -1.0",)),
    "batch a word": (["solve", "FILE", "--batch", "abc"], ("batch 'abc' is neither",)),
    "batch 0": (["solve", "FILE", "--batch", "0"], ("batch is 0", "between 1 and n = 3")),
    "tol a word": (["solve", "FILE", "--tol", "abc"], ("argument --tol", "'abc'")),
    "tol negative": (["solve", "FILE", "--tol", "-1"], ("tol is -1.0", "a number ≥ 0")),
    "seed negative": (["solve", "FILE", "--seed", "-1"], ("seed is -1", SEED)),
    "unknown option": (
        ["solve", "FILE", "--tolerance", "1"],
        ("unrecognized arguments: --tolerance 1; did you mean --tol?; see rcmd solve --help",),
    ),
    "misspelt option": (["solve", "--orcale", "l1:5"], ("--orcale", "did you mean --oracle?")),
    "option of nobody": (["path", "--radii", "1", "--zzz"], ("--zzz; see rcmd path --help",)),
    "no loss": (["solve", "FILE", "--loss", ""], ("argument --loss: nothing is given",)),
    "no batch": (["solve", "FILE", "--batch", ""], ("argument --batch: nothing is given",)),
    "batch 0%": (["solve", "FILE", "--batch", "0%"], ("batch '0%' is no share", "up to 100%")),
    "no gradients": (
        ["path", "--radii", "1", "--max-gradients", "-1"],
        ("argument --max-gradients: -1 allows no step",),
    ),
    "seconds NaN": (["compare", "--max-seconds", "nan"], ("--max-seconds: nan allows no step",)),
    "seconds a word": (["resume", "F", "--max-seconds", "x"], ("invalid float value: 'x'",)),
    "seeds from -1": (["replicate", "--seed", "-1"], ("seed is -1", SEED)),
    "intercept": (["solve", "FILE", "--intercept", "-1"], ("intercept of Problem is -1.0",)),
    "no such module": (["check", "nomodule:X"], ("module 'nomodule' cannot be imported",)),
    "no vertices": (
        ["solve", "FILE", "--oracle", "hull:none.npy"],
        ("VERTICES of oracle", "none.npy cannot be read"),
    ),
}


def refused(arguments: list[str], words: tuple[str, ...], capsys: Any) -> None:
    try:
        status = main(arguments)
    except SystemExit as ending:  # as argparse leaves
        status = ending.code  # type: ignore[assignment]
    told = capsys.readouterr().err
    assert status == 2, told
    assert told.startswith("rcmd: ")
    assert told.count("\n") == 1, told
    missing = [word for word in words if word not in told]
    assert not missing, f"{missing} not in {told!r}"


@pytest.mark.parametrize("name", FILES)
def test_broken_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, words = FILES[name]
    (tmp_path / "data").write_bytes(content)
    refused(["solve", str(tmp_path / "data")], (*words,), capsys)


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_commands(
    name: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_bytes(GOOD)
    refused(*COMMANDS[name], capsys)


def test_the_check_of_commands_fails_on_good_ones(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "data").write_bytes(GOOD)
    with pytest.raises(AssertionError):
        refused(["solve", str(tmp_path / "data")], (), capsys)


def test_the_tables_are_long_and_have_no_repetitions() -> None:
    names = [*(row[0] for row in TABLE), *FILES, *COMMANDS]
    assert len(set(names)) == len(names) >= 100
    assert all(row[3] for row in TABLE)
