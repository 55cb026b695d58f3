"""Oracles that write their atoms run without Python between steps, and take the very same steps."""

import copy
import pickle
import warnings
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from engines import agree, both

from rcmd import LeastSquares, LinearMinOracle, Logistic, Problem, oracles, solve
from rcmd.engine.compiled import BlockLoop, OracleLoop
from rcmd.engine.kernels.blocks import run_blocks
from rcmd.lab.bench.plugins import OrderedBox, Permutahedron
from rcmd.oracles.writing import (
    compiled_writer,
    disagreement,
    form_of,
    interpreted_atom,
    written_atom,
)
from rcmd.testing import inspect_oracle

N, P = 30, 20
RNG = np.random.default_rng(0)
ROOT = RNG.standard_normal((P, P))
L1, L2, SPARSE = oracles.L1Ball(2.0), oracles.L2Ball(1.5), oracles.KSparseBall(6, 0.5)
GROUPS = np.arange(P) % 4

WRITTEN: dict[str, LinearMinOracle] = {
    "box of vectors": oracles.Box(-np.linspace(0.5, 1.0, P), 1.0),
    "capped simplex": oracles.CappedSimplex(3.5, 1.0),
    "capped simplex, whole": oracles.CappedSimplex(3.0, 1.0),
    "k-sparse": SPARSE,
    "k-support": oracles.KSupportBall(3, 1.5),
    "sorted l1": oracles.OWLBall(np.linspace(2.0, 0.0, P), 2.0),
    "group ball": oracles.GroupL2Ball(GROUPS, 2.0, [1.0, 2.0, 0.5, 1.0]),
    "group lasso": oracles.GroupLasso(GROUPS, 0.05, 2.0),
    "entropy": oracles.EntropySimplex(0.1, 2.0),
    "lp": oracles.LpBall(1.5, 1.5),
    "ellipsoid, diagonal": oracles.Ellipsoid(np.linspace(0.1, 1.0, P)),
    "ellipsoid": oracles.Ellipsoid(ROOT @ ROOT.T / P + np.eye(P)),
    "hull": oracles.Hull(RNG.standard_normal((7, P))),
    "ordered box": OrderedBox(),
    "permutahedron": Permutahedron(np.linspace(1.0, -1.0, P)),
}
MADE: dict[str, LinearMinOracle] = {
    "moved l1": oracles.Translated(L1, np.linspace(-1.0, 1.0, P)),
    "moved ridge": oracles.Translated(oracles.Ridge(0.5, 2.0), np.linspace(-1.0, 1.0, P)),
    "scaled k-sparse": oracles.Scaled(SPARSE, 3.0),
    "scaled, moved, scaled l2": oracles.Scaled(
        oracles.Translated(oracles.Scaled(L2, 0.5), np.linspace(0.0, 1.0, P)), 2.0
    ),
    "two vertices": oracles.Product((L1, oracles.Simplex(2.0)), (12, P - 12)),
    "sparse and dense": oracles.Product(
        (oracles.Scaled(SPARSE, 2.0), oracles.Scaled(OrderedBox(), 0.5), L1), (7, 9, 4)
    ),
    "a product in a product": oracles.Product(
        (oracles.Translated(oracles.Product((L2, L1), (5, 3)), np.ones(8)), OrderedBox()), (8, 12)
    ),
}


def make(oracle: LinearMinOracle, *, dense: bool = False, p: int = P, **options: Any) -> Problem:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, p)) * (rng.random((N, p)) < 8 / p)
    y = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    return Problem(X if dense else sp.csr_array(X), y, Logistic(), oracle, verify=False, **options)


# ---- the same steps -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*WRITTEN, *MADE])
def test_agree(name: str, monkeypatch: Any) -> None:
    """Without a call of argmin; on sparse and dense rows, one at a time and in batches."""
    for dense, batch in ((False, 1), (True, 3)):
        problem = make({**WRITTEN, **MADE}[name], dense=dense)
        fast, plain = both(problem, batch=batch)
        assert type(fast._loop) is BlockLoop
        plain.advance(60)
        with monkeypatch.context() as patch:
            patch.setattr(type(problem.oracle), "argmin", None)
            fast.advance(60)
        agree(fast, plain, (0,))


@pytest.mark.parametrize("dense", [False, True])
def test_an_intercept_and_the_incremental_search(dense: bool) -> None:
    """The search runs over the block that it is for, wherever that begins, and not beyond."""
    problem = make(L1, dense=dense, p=700, intercept=0.5)
    other = make(
        oracles.Product((oracles.Box(-0.1, 0.1), L1, L1), (3, 650, 47)), p=700, dense=dense
    )
    for made in (problem, other):
        fast, plain = both(made)
        assert (fast._loop._bounds.size > 0) == (not dense)
        agree(fast, plain, (400,))


def test_a_state_is_continued_to_the_bit() -> None:
    problem = make(MADE["sparse and dense"])
    one, other = both(problem)[0], both(problem)[0]
    one.advance(30)
    other.load_state(copy.deepcopy(one.state()))
    for engine in (one, other):
        engine.advance(40)
    for ours, theirs in zip((one.s, *one.averages()), (other.s, *other.averages()), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_one_kernel_serves_all_oracles_and_one_writer_all_parameters() -> None:
    both(make(WRITTEN["lp"]))
    kernels = len(run_blocks.signatures)
    both(make(WRITTEN["hull"]))
    assert len(run_blocks.signatures) == kernels
    boxes = oracles.Box(0.0, 1.0), oracles.Box(np.zeros(3), np.ones(3))
    assert len({compiled_writer(box).address for box in boxes}) == 1
    assert len({compiled_writer(box).theta for box in boxes}) == 2


# ---- one definition -----------------------------------------------------------------------------


def costs() -> list[Any]:
    rng = np.random.default_rng(3)
    drawn = [size * rng.standard_normal(P) for size in (1e-160, 1e-3, 1.0, 1e3, 1e160)]
    return [*drawn, *rng.integers(-2, 3, (6, P)).astype(float), np.zeros(P)]


@pytest.mark.parametrize("name", WRITTEN)
def test_machine_code_is_the_python_code_to_the_bit(name: str) -> None:
    for c in costs():
        ours = written_atom(WRITTEN[name], c).dense(c)
        np.testing.assert_array_equal(ours, interpreted_atom(WRITTEN[name], c, np.nan).dense(c))
        theirs = WRITTEN[name].argmin(c).dense(c)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)


EXACT = [
    oracles.Box(np.arange(-P, 0), 1),
    oracles.CappedSimplex(Fraction(7, 2), 1),
    oracles.KSparseBall(6, Fraction(1, 2)),
    oracles.OWLBall(np.arange(P, 0, -1), 2),
    OrderedBox(),
    Permutahedron(np.arange(P, 0, -1)),
]


@pytest.mark.parametrize("oracle", EXACT, ids=lambda oracle: type(oracle).__name__)
def test_fractions_run_the_same_code(oracle: Any) -> None:
    for c in costs()[5:]:
        exact = np.array([Fraction(int(entry)) for entry in c], dtype=object)
        atom = interpreted_atom(oracle, exact).dense(exact)
        np.testing.assert_array_equal(atom, oracle.argmin(exact).dense(exact))
        np.testing.assert_array_equal(atom.astype(float), written_atom(oracle, c).dense(c))


def test_a_compiled_writer_stays_with_its_oracle() -> None:
    box = OrderedBox()
    box.argmin(np.ones(3))
    for other in (pickle.loads(pickle.dumps(box)), copy.deepcopy(box)):
        assert not vars(other)
        assert other.argmin(-np.ones(3)).vector.tolist() == [1.0, 1.0, 1.0]


# ---- what users do wrong ------------------------------------------------------------------------


class Beyond(OrderedBox):
    def write_atom(self, c: Any, out: Any) -> None:
        for k in range(len(c) + 1):
            out[k] = 0.0


class Unwritten(OrderedBox):
    def write_atom(self, c: Any, out: Any) -> None:
        out[0] = 0.0


class TwoAnswers(OrderedBox):
    def argmin(self, c: Any) -> Any:
        return oracles.DenseAtom(0.99 * super().argmin(c).vector)

    def write_atom(self, c: Any, out: Any) -> None:
        for k in range(len(c)):
            out[k] = 1.0 if c[k] < 0 else 0.0


@dataclass(frozen=True)
class Entries(LinearMinOracle):
    """The origin, by entries at a place of choice."""

    place: int = 0
    count: int = 1

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        indices[0], values[0] = self.place, 0.0
        return self.count

    def minimum(self, c: Any) -> Any:
        return 0.0

    def violation(self, beta: Any) -> Any:
        return abs(beta).max()


@pytest.mark.parametrize(
    ("oracle", "words"),
    [
        (Beyond(), "an error in Python, IndexError"),
        (Unwritten(), "a vector whose entry 1 is unwritten or NaN"),
        (TwoAnswers(), "away in Python from argmin"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_what_machine_code_hides_is_refused(oracle: Any, words: str) -> None:
    assert words in disagreement(oracle, -np.ones(3))
    assert not inspect_oracle(oracle).ok
    with pytest.raises(ValueError, match=f"write_atom of {type(oracle).__name__} at .*{words}"):
        Problem(np.eye(4), np.ones(4), LeastSquares(), oracle)
    assert disagreement(OrderedBox(), -np.ones(3)) == ""


@pytest.mark.parametrize("oracle", [Entries(15), Entries(-1), Entries(0, 16), Entries(0, -3)])
def test_entries_of_no_vector_are_refused_before_they_are_used(oracle: Any) -> None:
    problem = make(oracles.Product((L1, oracle), (5, P - 5)))
    fast = both(problem)[0]
    with pytest.raises(
        ValueError, match=r"write_entries of Entries wrote a place outside 0, …, 14"
    ):
        fast.advance(1)
    with pytest.raises(ValueError, match=r"expected how many entries it wrote"):
        oracle.argmin(np.ones(15))


class Twice(Entries):
    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        indices[0], indices[1], values[0], values[1] = 0, 0, 0.0, 0.0
        return 2


def test_a_place_that_is_written_twice_is_refused() -> None:
    assert "the place 0 more than once" in disagreement(Twice(), np.ones(3))
    with pytest.raises(ValueError, match="at different places"):
        Problem(np.eye(3), np.ones(3), LeastSquares(), Twice())


class Unstable(OrderedBox):
    """Two answers, as of an order that is not stable."""

    def argmin(self, c: Any) -> oracles.DenseAtom:
        return oracles.DenseAtom(1.0 - super().argmin(c).dense(c))


def test_ties_are_named_where_there_are_any() -> None:
    assert "kind='stable'" in disagreement(Unstable(), np.ones(3))
    assert "kind" not in disagreement(Unstable(), np.array([1.0, -2.0, 3.0]))


class Mine(OrderedBox):
    """Not rcmd's own, so that it is checked."""


def test_fractions_are_checked_and_run() -> None:
    X = np.array([[Fraction(1), Fraction(2)], [Fraction(-1), Fraction(3)]], dtype=object)
    problem = Problem(X, [Fraction(1), Fraction(2)], LeastSquares(), Mine())
    result = solve(problem, max_iterations=4, tol=0, method="rcmd")
    assert all(isinstance(entry, Rational) for entry in result.beta)


@dataclass(frozen=True)
class InWords(OrderedBox):
    words: str = "0.0"

    def write_atom(self, c: Any, out: Any) -> None:
        out[:] = float(self.words)


def test_what_does_not_compile_runs_in_python_and_says_so() -> None:
    with pytest.warns(
        RuntimeWarning, match="from Python, because words of InWords is '0.0', and compiled"
    ):
        fast, plain = both(make(InWords()))
    assert type(fast._loop) is OracleLoop
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one sentence, not one a step
        agree(fast, plain)


class Higher(oracles.Box):
    """Another box in the words of its own method: ``shape`` of its parent does not describe it."""

    def write_atom(self, c: Any, out: Any) -> None:
        for k in range(len(c)):
            out[k] = 0.5 if c[k] > 0 else 0.75


class Elsewhere(oracles.Translated):
    def argmin(self, c: Any) -> Any:
        return self.oracle.argmin(c)


class Mirrored(oracles.Translated):
    def outer(self, atom: Any, like: Any) -> Any:
        return oracles.DenseAtom(-atom.dense(like))


@pytest.mark.parametrize(
    ("oracle", "loop"),
    [
        (Higher(0.0, 1.0), BlockLoop),
        (Elsewhere(L1, np.ones(P)), OracleLoop),
        (Mirrored(L1, np.ones(P)), OracleLoop),
    ],
    ids=["written", "argmin", "outer"],
)
def test_the_most_derived_method_counts(oracle: Any, loop: Any) -> None:
    fast, plain = both(make(oracle))
    assert type(fast._loop) is loop
    agree(fast, plain)


def test_a_vector_of_one_number_is_no_number() -> None:
    ends = np.array([-1.0]), np.array([0.5])
    task = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), oracles.Box(*ends))
    fast, plain = both(task)
    assert type(fast._loop) is BlockLoop
    agree(fast, plain)


def test_a_class_without_an_answer_is_told_what_to_define() -> None:
    @dataclass(frozen=True)
    class Nothing(LinearMinOracle):
        def minimum(self, c: Any) -> Any:
            return 0.0

        def violation(self, beta: Any) -> Any:
            return 0.0

    assert form_of(Nothing()) == ""
    with pytest.raises(NotImplementedError, match=r"expected a method argmin\(c\)"):
        Nothing().argmin(np.ones(2))


def test_a_permutahedron_is_solved() -> None:
    problem = make(Permutahedron(np.linspace(1.0, -1.0, P)))
    assert solve(problem, tol=1e-6).success


@pytest.mark.parametrize("name", ["group ball", "group lasso"])
def test_the_steepest_group_is_that_of_the_norms(name: str) -> None:
    """Which compares squares, with weights and near the threshold of a penalty."""
    rng = np.random.default_rng(5)
    for c in np.repeat([0.02, 0.05, 0.1], 40)[:, None] * rng.standard_normal((120, P)):
        theirs = WRITTEN[name].argmin(c).dense(c)
        np.testing.assert_allclose(written_atom(WRITTEN[name], c).dense(c), theirs, rtol=1e-12)
