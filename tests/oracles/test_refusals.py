"""What oracles refuse, in sentences: fields that are wrong, and data they do not fit."""
# ruff: noqa: F403, F405 (all oracles are meant)

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from oracle_cases import CASES

from rcmd import LeastSquares, LowRank, Problem
from rcmd.oracles import *

F, NAN, BALL = Fraction, math.nan, L1Ball(1.0)
POSITIVE: list[tuple[str, Any]] = [
    ("radius of LInfBall", LInfBall),
    ("radius of LpBall", lambda value: LpBall(value, 3.0)),
    ("total of CappedSimplex", lambda value: CappedSimplex(value, 1.0)),
    ("cap of CappedSimplex", lambda value: CappedSimplex(1.0, value)),
    ("radius of KSparseBall", lambda value: KSparseBall(1, value)),
    ("radius of KSupportBall", lambda value: KSupportBall(1, value)),
    ("radius of GroupL2Ball", lambda value: GroupL2Ball([0], value)),
    ("radius of GroupLasso", lambda value: GroupLasso([0], 1.0, value)),
    ("strength of GroupLasso", lambda value: GroupLasso([0], value)),
    ("radius of OWLBall", lambda value: OWLBall([1.0], value)),
    ("radius of Ellipsoid", lambda value: Ellipsoid([1.0], value)),
    ("radius of ElasticNet", lambda value: ElasticNet(1.0, 1.0, value)),
    ("strength of BoxRidge", lambda value: BoxRidge(0.0, 1.0, value)),
    ("l1_strength of ElasticNet", lambda value: ElasticNet(value, 1.0)),
    ("l2_strength of ElasticNet", lambda value: ElasticNet(1.0, value)),
    ("radius of EntropySimplex", lambda value: EntropySimplex(1.0, value)),
    ("strength of EntropySimplex", EntropySimplex),
]


@pytest.mark.parametrize(("name", "make"), POSITIVE, ids=[name for name, _ in POSITIVE])
def test_numbers_must_be_positive(name: str, make: Any) -> None:
    for value in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=rf"^{name} is .* expected a"):
            make(value)
    for value in (True, "1"):
        with pytest.raises(TypeError, match=rf"^{name} is .*; expected a positive number"):
            make(value)


# The guide's ``bad_inputs.csv`` has more.
REFUSED: list[tuple[str, Any]] = [
    ("order of Birkhoff is 0; expected a positive whole number", lambda: Birkhoff(0)),
    ("order of Birkhoff is True; expected", lambda: Birkhoff(True)),
    (r"vertices of Hull holds nan at position \(0, 1\)", lambda: Hull([[1.0, NAN]])),
    (r"A of Polytope has shape \(1,\); expected", lambda: Polytope([1.0], [1.0])),
    ("A of Polytope holds nan", lambda: Polytope([[NAN]], [1.0])),
    ("A of Polytope holds nan", lambda: Polytope(sp.csr_array([[NAN]]), [1.0])),
    (
        "A_equal of Polytope has 2 columns and A has 1",
        lambda: Polytope([[1.0]], [1.0], [[1.0, 2.0]], [0.0]),
    ),
    (r"lower of Polytope is \[0, 0\]", lambda: Polytope([[1.0]], [1.0], lower=[0, 0])),
    ("upper of Polytope is -inf; exp", lambda: Polytope([[1.0]], [1.0], upper=-np.inf)),
    ("lower of Polytope exceeds", lambda: Polytope([[1.0]], [1.0], lower=2, upper=1)),
    ("contradict each other, so that dom R", lambda: Polytope([[1.0]], [1.0], lower=2)),
    ("edges of FlowPolytope has shape", lambda: FlowPolytope([], 0, 1)),
    ("expected at least one pair", lambda: FlowPolytope([(0, -1)], 0, 1)),
    ("no path from source 0 to sink 3", lambda: FlowPolytope([(0, 1), (2, 3)], 0, 3)),
    ("no path from source 0 to sink 0", lambda: FlowPolytope([(0, 1)], 0, 0)),
    ("sink of FlowPolytope is 2; expected one", lambda: FlowPolytope([(0, 1)], 0, 2)),
    ("flow of FlowPolytope is -1; expected", lambda: FlowPolytope([(0, 1)], 0, 1, -1)),
    (r"shape of CurSet is \(2, 0\); expected 2", lambda: CurSet((2, 0), 1.0)),
    (r"radius of CurSet is 0\.0; expected a positive", lambda: CurSet((2, 2), 0.0)),
    ("p of CvxpyOracle is 0; exp", lambda: CvxpyOracle(lambda b: (0, [b >= 0]), 0)),
    ("contradict each other", lambda: CvxpyOracle(lambda b: (0, [b >= 1, b <= 0]), 1)),
    (
        "no convex problem by CVXPY's rules.*; expected a convex expression",
        lambda: CvxpyOracle(lambda b: (0, [cp.norm2(b) >= 1]), 1),
    ),
    (
        "is unbounded: β\\[0\\] can be above every number",
        lambda: CvxpyOracle(lambda b: (0, [b <= cp.Variable(), b >= 0]), 1),
    ),
    (r"factor of Scaled is 0\.0; expected a positive number", lambda: Scaled(BALL, 0.0)),
    ("size of Caching is 0; expected a positive whole", lambda: Caching(BALL, 1.0, 0)),
    (r"sizes of Product is \(1, 1\); expected a pos", lambda: Product((BALL,), (1, 1))),
    (r"sizes of Product is \(0,\); expected a positive", lambda: Product((BALL,), (0,))),
    (r"sizes of Product is \(1\.5,\); expected a pos", lambda: Product((BALL,), (1.5,))),
    (r"order of LpBall is 1, which has a class of its own: use L1Ball,", lambda: LpBall(1.0, 1)),
    (r"order of LpBall is nan; expected a positive number", lambda: LpBall(1.0, math.nan)),
    (r"groups of GroupL2Ball is \[\]; expected one list of var", lambda: GroupL2Ball([], 1.0)),
    (r"groups of GroupL2Ball is \[\[0\], 1\]; expected", lambda: GroupL2Ball([[0], 1], 1.0)),
    (r"groups of GroupL2Ball is \[\[\[0\]\]\]; exp", lambda: GroupL2Ball([[[0]]], 1.0)),
    (r"groups of GroupL2Ball is 3; expected one list", lambda: GroupL2Ball(3, 1.0)),
    (r"group 1 of GroupL2Ball is empty; expected", lambda: GroupL2Ball([[0], []], 1.0)),
    (r"group 0 of GroupLasso is \[0.5\]; expected indices", lambda: GroupLasso([[0.5]], 1.0)),
    (r"group 1 of GroupLasso is \[-1\]; expected indices", lambda: GroupLasso([[0], [-1]], 1.0)),
    (r"groups of GroupL2Ball holds nan at position", lambda: GroupL2Ball([0, math.nan], 1.0)),
    (r"groups of GroupL2Ball has dtype object and hol", lambda: GroupL2Ball([0, None], 1.0)),
    (
        r"weights of GroupLasso holds 0.0; expected positive numbers",
        lambda: GroupLasso([0, 1], 1.0, 1.0, [1.0, 0.0]),
    ),
    (r"weights of OWLBall has shape \(\); expected a vector", lambda: OWLBall(1.0, 1.0)),
    (r"weights of OWLBall has shape \(0,\); expected a vector", lambda: OWLBall([], 1.0)),
    (r"weights of OWLBall run from 0.0 to 0.0; expected the f", lambda: OWLBall([0.0, 0.0], 1.0)),
    (r"weights of OWLBall run from 1.0 to -1.0; expected the", lambda: OWLBall([1.0, -1.0], 1.0)),
    (r"weights of OWLBall holds nan at position", lambda: OWLBall([1.0, math.nan], 1.0)),
    (
        r"matrix of Ellipsoid has shape \(2, 3\); expected \(p, p\)",
        lambda: Ellipsoid(np.ones((2, 3))),
    ),
    (r"matrix of Ellipsoid is the diagonal \[1. 0.\]; expected", lambda: Ellipsoid([1.0, 0.0])),
    (r"matrix of Ellipsoid holds inf at position", lambda: Ellipsoid([1.0, math.inf])),
    ("radius of NuclearBall is 0.0; expected a positive", lambda: NuclearBall((2, 3), 0.0)),
    ("radius of NuclearBall is infinite", lambda: NuclearBall((2, 3), math.inf)),
    (r"shape of NuclearBall is \(2, 0\)", lambda: NuclearBall((2, 0), 1.0)),
    ("shape of NuclearBall is 6; expected 2 positive whole numbers", lambda: NuclearBall(6, 1.0)),
    ("strength of NuclearPenalty is -1.0", lambda: NuclearPenalty(-1.0, (2, 3))),
    ("radius of NuclearPenalty is -1.0", lambda: NuclearPenalty(1.0, (2, 3), -1.0)),
    (r"shape of Spectrahedron is \(2.5, 2.5\)", lambda: Spectrahedron(2.5)),
    (
        r"c has shape \(3, 2\); expected \(2, 3\)",
        lambda: NuclearBall((2, 3), 1.0).minimum(sp.csr_array((3, 2))),
    ),
    (
        r"β has shape \(3, 2\); expected \(2, 3\)",
        lambda: NuclearBall((2, 3), 1.0).violation(LowRank((3, 2))),
    ),
    (
        "NuclearBall needs irrational numbers while X holds fractions",
        lambda: Problem(
            np.array([[Fraction(1)] * 6]), [Fraction(1)], LeastSquares(), NuclearBall((2, 3), 1)
        ),
    ),
    (
        r"matrix of Ellipsoid is not symmetric; expected A = Aᵀ",
        lambda: Ellipsoid([[2.0, 1.0], [1.0 + 1e-10, 2.0]]),
    ),
    (r"k of KSupportBall is 2.0; expected a positive whole", lambda: KSupportBall(2.0, 1.0)),
    (r"k of KSparseBall is True; expected a positive whole", lambda: KSparseBall(True, 1.0)),
    (r"k of KSparseBall is Fraction\(1, 2\); expected a pos", lambda: KSparseBall(F(1, 2), 1.0)),
]
MISTYPED: list[tuple[str, Any]] = [
    ("form of CvxpyOracle is 3; expected a function", lambda: CvxpyOracle(3, 2)),
    ("form of CvxpyOracle returned 0; expected", lambda: CvxpyOracle(lambda b: 0, 2)),
    ("oracle of Scaled is 3; expected a LinearMinOracle", lambda: Scaled(3, 2.0)),
    ("oracle of Counting is 'l1'; expected a LinearMinOracle", lambda: Counting("l1")),
    ("oracle of Caching is None; expected", lambda: Caching(None, 1.0)),
    (r"oracles of Product is \(\); expected a sequence", lambda: Product((), ())),
    ("expected a sequence of LinearMinOracles", lambda: Product((BALL, 2), (1, 1))),
    (r"order of LpBall is '3'; expected a positive number", lambda: LpBall(1.0, "3")),
]


KINDS = [*((ValueError, *row) for row in REFUSED), *((TypeError, *row) for row in MISTYPED)]


@pytest.mark.parametrize(("kind", "words", "make"), KINDS, ids=[row[1][:50] for row in KINDS])
def test_refusals(kind: type[Exception], words: str, make: Any) -> None:
    with pytest.raises(kind, match=words):
        make()


# What does not fit X with two columns.
MISFITS: list[tuple[str, Any]] = [
    (r"k of KSupportBall is 3 while X has p = 2 columns", KSupportBall(3, 1.0)),
    (r"groups of GroupLasso is for 1 variables; expected", GroupLasso([0], 1.0)),
    (r"weights of OWLBall is for 3 variables; expected p = 2, the", OWLBall(np.ones(3), 1.0)),
    ("matrix of Ellipsoid is for 3 variables; expected p = 2, the", Ellipsoid(np.ones(3))),
    ("order of Birkhoff is for 9 variables; expected p = 2", CASES["birkhoff"][0]),
    ("vertices of Hull is for 4 variables; expected p = 2", CASES["hull"][0]),
    ("A of Polytope is for 3 variables; expected p = 2", CASES["polytope"][0]),
    ("edges of FlowPolytope is for 10 variables; expected p = 2", CASES["flow"][0]),
    ("shape of CurSet is for 6 variables; expected p = 2", CASES["cur"][0]),
    ("p of CvxpyOracle is for 3 variables; expected p = 2", CASES["cvxpy slice"][0]),
    (
        r"upper of Box has shape \(3,\); expected a number or",
        Product((BALL, Box(0.0, np.ones(3))), (1, 1)),
    ),
]


@pytest.mark.parametrize(("words", "oracle"), MISFITS, ids=[words[:30] for words, _ in MISFITS])
def test_sizes_must_fit_the_data(words: str, oracle: LinearMinOracle) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        Problem(np.ones((3, 2)), np.ones(3), LeastSquares(), oracle)


# Oracles of three variables that cannot stay exact.
INEXACT: list[LinearMinOracle] = [
    LpBall(F(1), F(3)),
    KSupportBall(2, F(1)),
    GroupL2Ball([0, 0, 1], F(1)),
    GroupLasso([0, 0, 1], F(1), F(1), np.array([F(1), F(2)])),
    EntropySimplex(F(1), F(1)),
    Ellipsoid(np.array([F(1), F(2), F(3)]), F(1)),
    Ellipsoid(np.diag([1, 2, 3]), 1),
    Polytope([[1.0, 1.0, 1.0]], [1.0], lower=0),
    CurSet((1, 3), F(1)),
    CvxpyOracle(lambda b: (0, [b >= 0, b <= 1]), 3),
]


@pytest.mark.parametrize("oracle", INEXACT, ids=lambda o: type(o).__name__)
def test_fractions_are_refused_where_they_cannot_last(oracle: LinearMinOracle) -> None:
    X = np.array([[F(1), F(2), F(3)]], dtype=object)
    why = "(needs irrational numbers|computes with floats) while X holds fractions; expected"
    with pytest.raises(ValueError, match=f"{type(oracle).__name__} {why}"):
        Problem(X, [F(1)], LeastSquares(), oracle)
    Problem(X.astype(float), [1.0], LeastSquares(), oracle)
