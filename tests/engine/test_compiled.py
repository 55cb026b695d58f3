"""The compiled engine takes the very steps of the reference engine."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from covering import covering, name_of
from engines import SCHEDULES, agree, both, engine, iterates
from small_problems import SHIPPED, exact_problem

from rcmd import (
    RCMD,
    Atom,
    Box,
    BoxRidge,
    ConjugateProx,
    Corrected,
    DenseAtom,
    ElasticNet,
    EuclideanProx,
    ExactProx,
    Gamma,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    LInfBall,
    Logistic,
    Problem,
    RankOneAtom,
    Ridge,
    SeparableConjugate,
    Simplex,
    SparseAtom,
    Translated,
    solve,
)
from rcmd.engine.compiled import BlockLoop, CompiledEngine, CoordinateLoop, OracleLoop, VertexLoop
from rcmd.engine.kernels import coordinatewise, vertex
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import Replay
from rcmd.jit.scalars import CannotCompile, method_scalar
from rcmd.model.schedules import LinearSchedule, Resumed
from rcmd.oracles.vectors import first_largest

N = 40

# ---- classes such as a user writes --------------------------------------------------------------


def root(u: Any) -> Any:
    return math.sqrt(1.0 + u * u)


def slope(u: Any, size: Any = 1.0) -> Any:
    return size * u / root(u)


@dataclass(frozen=True)
class Bowl(SeparableConjugate):
    """√(1 + (s−y)²), said in a roundabout way: every kind of field, and helpers of helpers."""

    size: float = 1.5
    parts: int = 3
    signed: bool = True

    @property
    def gamma(self) -> Any:
        return self.size

    def value(self, s: Any, y: Any) -> Any:
        return self.size * root(s - y)

    def derivative(self, s: Any, y: Any) -> Any:
        total = 0.0
        for _ in range(self.parts):
            total += slope(s - y, self.size)
        return total / self.parts if self.signed else abs(total) / self.parts

    def conjugate(self, w: Any, y: Any) -> Any:
        v = w / self.size
        return w * y - self.size * math.sqrt(1.0 - v * v) if abs(v) <= 1.0 else math.inf

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        v = w / self.size
        return y + v / math.sqrt(1.0 - v * v)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-self.size, self.size)


@dataclass(frozen=True)
class Scaled(SeparableConjugate):
    """scale·(s−y)²/2, its methods calling each other through ``self``."""

    scale: float = 0.5
    quadratic = True

    @property
    def gamma(self) -> Any:
        return self.scale

    def residual(self, s: Any, y: Any) -> Any:
        return s - y

    def value(self, s: Any, y: Any) -> Any:
        return self.scale * self.residual(s, y) * self.residual(s, y) / 2

    def derivative(self, s: Any, y: Any, power: Any = 1) -> Any:
        return self.scale * self.residual(s, y) * power

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / (2 * self.scale) + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w / self.scale + y


@dataclass(frozen=True)
class Written(LinearMinOracle):
    """A set written by a user, its argmin in Python."""

    radius: float = 2.0

    def argmin(self, c: Any) -> Atom:
        raise NotImplementedError

    def minimum(self, c: Any) -> Any:
        return c @ self.argmin(c).dense(c)

    def violation(self, beta: Any) -> Any:
        return 0.0


class Corners(Written):
    """The box |β_k| ≤ radius, as dense atoms."""

    def argmin(self, c: Any) -> DenseAtom:
        return DenseAtom(np.where(c > 0, -self.radius, self.radius))


class Halves(Written):
    """An l1 ball for the even coordinates and one for the odd: atoms of two pairs."""

    def argmin(self, c: Any) -> SparseAtom:
        places = (2 * int(abs(c[::2]).argmax()), 2 * int(abs(c[1::2]).argmax()) + 1)
        return SparseAtom(places, tuple(-self.radius * np.sign(c[k]) for k in places))


class Nuclear(Written):
    """The ball of the nuclear norm on matrices with 20 columns, at c and a large rank-one matrix.

    At c alone, singular vectors would magnify its rounding where singular values are close.
    """

    def argmin(self, c: Any) -> RankOneAtom:
        left, _, right = np.linalg.svd(c.reshape(-1, 20) + np.linalg.norm(c))
        return RankOneAtom(-self.radius * left[:, 0], right[0])


# ---- the choices, and a design in which every two of them meet ----------------------------------


def matrix(layout: str, p: int, seed: int = 0) -> Any:
    """N rows, some of them empty, with about 20 entries each; dense or CSR."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, p)) * (rng.random((N, p)) < 20 / p)
    X[[3, N - 1]] = 0.0
    kind, number, index = (*layout.split("-"), "")[:3]
    X = X.astype(number)
    if kind == "dense":
        return X
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    return rows


def labels(seed: int = 0) -> Any:
    return np.where(np.random.default_rng(seed).random(N) < 0.5, 1.0, -1.0)


LOSSES = {"squares": LeastSquares(), "logistic": Logistic(), "bowl": Bowl(), "scaled": Scaled()}

ORACLES: dict[str, Any] = {
    "l1-ball": lambda p: L1Ball(3.0),
    "l1-penalty": lambda p: L1Penalty(0.05, 3.0),
    "simplex": lambda p: Simplex(2.0),
    "l2-ball": lambda p: L2Ball(1.5),
    "ridge-free": lambda p: Ridge(0.5, 50.0),
    "ridge-cut": lambda p: Ridge(0.1, 0.3),
    "box": lambda p: Box(-0.5, 1.0),
    "box-vectors": lambda p: Box(-np.linspace(0.5, 1.0, p), 1.0),
    "translated": lambda p: Translated(L1Ball(2.0), np.linspace(-0.1, 0.1, p)),
    "python-dense": lambda p: Corners(0.5),
    "python-pairs": lambda p: Halves(),
    "python-rank-one": lambda p: Nuclear(),
}

CHOICES: dict[str, list[Any]] = {
    "loss": list(LOSSES),
    "oracle": list(ORACLES),
    "layout": ["dense-f8", "csr-f8-i4"],
    "p": [40, 200, 600],  # a short scan, a scan, and the incremental search
    "batch": [1, 2, N],
    "prox": [ConjugateProx(), EuclideanProx(), ExactProx(2.0)],
    "weighted": [False, True],
    "schedule": list(SCHEDULES),
}


# What reads narrow numbers is the same in all loops, each of which meets one layout of them.
NARROW: list[dict[str, list[Any]]] = [
    {
        **{name: values[:1] for name, values in CHOICES.items()},
        "oracle": oracles,
        "layout": [layout],
        "p": [40, 600],
        "batch": [1, 2],
    }
    for layout, oracles in (
        ("dense-f4", ["l1-ball", "ridge-cut", "translated", "python-dense"]),
        ("csr-f4-i8", ["simplex", "python-pairs"]),
    )
]

CASES = [case for choices in (CHOICES, *NARROW) for case in covering(choices)]


def make_problem(
    loss: str = "logistic",
    oracle: str = "l1-ball",
    layout: str = "csr-f8-i4",
    p: int = 200,
    weighted: bool = False,
    **_: Any,
) -> Problem:
    weights = np.random.default_rng(1).uniform(0.5, 2.0, N) if weighted else None
    data, regularizer = matrix(layout, p), ORACLES[oracle](p)  # some are no more than an argmin
    return Problem(data, labels(), LOSSES[loss], regularizer, weights=weights, verify=False)


# ---- agreement ----------------------------------------------------------------------------------


def test_every_two_choices_meet() -> None:
    for choices in (CHOICES, *NARROW):
        cases = [case for case in CASES if case["layout"] in choices["layout"]]
        for a, b in itertools.combinations(choices, 2):
            met = {(repr(case[a]), repr(case[b])) for case in cases}
            assert len(met) == len(choices[a]) * len(choices[b])
    assert len(CASES) < 75


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_agree(case: dict[str, Any]) -> None:
    fast, plain = both(make_problem(**case), **case)
    agree(fast, plain)
    kinds = {"l1-ball": VertexLoop, "l1-penalty": VertexLoop, "simplex": VertexLoop}
    kinds |= dict.fromkeys(["box", "l2-ball", "ridge-free", "ridge-cut"], CoordinateLoop)
    kinds |= dict.fromkeys(["box-vectors", "translated"], BlockLoop)
    assert type(fast._loop) is kinds.get(case["oracle"], OracleLoop)


@pytest.mark.parametrize("place", range(len(SHIPPED)), ids=lambda k: type(SHIPPED[k]).__name__)
def test_every_loss_agrees_on_every_oracle(place: int) -> None:
    """With every layout and batch too, in turn."""
    for turn, make_oracle in enumerate(ORACLES.values(), place):
        layout, batch = ("dense-f8", "csr-f8-i4")[turn % 2], (1, 2, N)[turn % 3]
        parts = matrix(layout, 40), labels(), SHIPPED[place], make_oracle(40)
        problem = Problem(*parts, verify=False)  # some oracles have atoms and no more
        agree(*both(problem, batch=batch), pieces=(30,))


TIES: dict[str, tuple[LinearMinOracle, list[float]]] = {
    "equal sizes": (L1Ball(3.0), [1.0, -2.0, 2.0, -2.0]),
    "nothing to gain": (L1Ball(3.0), [0.0, 0.0]),
    "equal entries": (Simplex(2.0), [1.0, 0.5, 0.5]),
    "at the strength": (L1Penalty(0.5, 3.0), [0.25, -0.5]),
    "at both strengths": (ElasticNet(0.5, 0.5, 3.0), [0.5, -0.5, 1.0, 0.0]),
    "between the ends": (Box(-1.0, 2.0), [0.0, 1.0, -1.0]),
    "between the corners": (LInfBall(2.0), [0.0, 1.0, -1.0]),
    "no direction": (L2Ball(1.5), [0.0, 0.0]),
}


@pytest.mark.parametrize("tie", TIES)
def test_ties_are_broken_alike(tie: str) -> None:
    """One row with label −1 makes d that row, and one step makes β the atom."""
    oracle, d = TIES[tie]
    fast, plain = both(Problem([d], [-1.0], LeastSquares(), oracle))
    assert plain.d.tolist() == fast.d.tolist() == d
    atom = oracle.argmin(np.array(d)).dense(np.zeros(len(d)))
    agree(fast, plain, pieces=(1,))
    np.testing.assert_array_equal(fast.averages()[0], atom)


class Other(L1Ball):
    """The ball scaled by two, in words of its own: the rule of its parent describes another."""

    def argmin(self, c: Any) -> Any:
        return L1Ball(2 * self.radius).argmin(c)


class Smaller(Box):
    def argmin(self, c: Any) -> Any:
        return DenseAtom(np.where(c > 0, 0.5, 0.25))


class Both(Other):
    def vertex_rule(self) -> Any:
        return L1Ball(2 * self.radius).vertex_rule()


@pytest.mark.parametrize(
    ("oracle", "loop"),
    [(Other(1.0), OracleLoop), (Smaller(0.0, 1.0), OracleLoop), (Both(1.0), VertexLoop)],
    ids=["vertex", "coordinate", "with its rule"],
)
def test_an_argmin_of_a_subclass_counts(oracle: Any, loop: Any) -> None:
    fast, plain = both(Problem(matrix("csr-f8-i4", 40), labels(), Logistic(), oracle, verify=False))
    assert type(fast._loop) is loop
    agree(fast, plain)


@pytest.mark.parametrize(
    ("p", "batch", "layout", "incremental"),
    [
        (600, 1, "csr-f8-i4", True),
        (600, 2, "csr-f4-i8", True),
        (600, N, "csr-f8-i4", False),
        (600, 1, "dense-f8", False),
        (200, 1, "csr-f8-i4", False),
        (40, 1, "csr-f8-i4", False),
    ],
)
def test_which_search_runs(p: int, batch: int, layout: str, incremental: bool) -> None:
    fast = engine(CompiledEngine, make_problem(p=p, layout=layout), batch)
    assert (fast._loop._bounds.size > 0) == incremental


@pytest.mark.parametrize("layout", ["csr-f8-i4", "csr-f4-i8", "csr-f8-i8", "csr-f4-i4"])
def test_number_and_index_types_are_kept(layout: str) -> None:
    """No copy of the data: narrow values and indices stay narrow."""
    problem = make_problem(layout=layout)
    values, columns, offsets = rows_tuple(problem.rows)
    assert values.dtype == layout[4:6]
    assert columns.dtype == layout[7:].replace("i", "u")
    assert offsets.dtype == np.uint64
    assert np.shares_memory(values, problem.rows.matrix.data)  # type: ignore[attr-defined]
    assert np.shares_memory(columns, problem.rows.matrix.indices)  # type: ignore[attr-defined]


def test_penalty_takes_both_kinds_of_atoms() -> None:
    """The threshold of the penalty lies where atoms are sometimes zero."""
    problem = make_problem(oracle="l1-penalty", p=600)
    plain = engine(ReferenceEngine, problem)
    atoms = []
    for _ in range(100):
        atoms.append(problem.oracle.argmin(plain.d))
        plain.step()
    assert 0 < sum(not atom.indices for atom in atoms) < 100


@pytest.mark.parametrize("oracle", ["ridge-free", "ridge-cut"])
def test_ridge_is_where_its_name_says(oracle: str) -> None:
    problem = make_problem(oracle=oracle)
    atom = problem.oracle.argmin(engine(ReferenceEngine, problem).d).vector
    inside = bool(np.linalg.norm(atom) < 0.999 * problem.oracle.radius)
    assert inside == (oracle == "ridge-free")


def test_few_entries_and_long_rows() -> None:
    """Fewer than 16 entries in all, and rows that are halved several times."""
    tiny = np.zeros((5, 100))
    tiny[[1, 2, 4], [0, 99, 5]] = 1.0, -2.0, 3.0
    full = sp.random_array((20, 3000), density=0.2, rng=np.random.default_rng(0), format="csr")
    for X in (sp.csr_array(tiny), full):
        problem = Problem(X, labels()[: X.shape[0]], Logistic(), L1Ball(3.0))
        agree(*both(problem), (7, 53))


# ---- slices -------------------------------------------------------------------------------------


every_loop = pytest.mark.parametrize(
    "oracle", ["l1-ball", "ridge-cut", "translated", "python-pairs"]
)


@pytest.mark.parametrize("schedule", [*SCHEDULES, "forgetful"])
@every_loop
def test_slices_do_not_matter(oracle: str, schedule: Any) -> None:
    """Bit for bit, across refreshes (after 20, 40, 80 steps) and moves of the base."""
    if schedule == "forgetful":  # C_i/C_0 is infinite
        schedule = LinearSchedule(1.0, 1.0)
    problem = make_problem(oracle=oracle, p=600)
    runs = []
    for pieces, chunk in (([200], 2**14), ([200], 7), ([1] * 200, 7), ([3, 150, 47], 2**14)):
        fast = engine(CompiledEngine, problem, 2, schedule)
        fast._chunk = chunk
        for steps in pieces:
            fast.advance(steps)
        assert fast.iteration == 200
        moves = fast._base > 0
        assert moves == (schedule not in ("sublinear", "linear"))
        runs.append(iterates(fast))
    for run in runs[1:]:
        for name, part in run.items():
            assert np.isfinite(part).all()
            np.testing.assert_array_equal(part, runs[0][name], err_msg=name)
    agree(*both(problem, batch=2, schedule=schedule), (200,))


@pytest.mark.parametrize("schedule", ["sublinear", "steep"])
@every_loop
def test_a_start_counts_and_a_saved_run_goes_on(oracle: str, schedule: str) -> None:
    """A fresh engine with a saved state goes on bit for bit, before and after the base moves."""
    problem = make_problem(oracle=oracle, p=600, weighted=True)
    start = np.linspace(-0.01, 0.01, 600)
    options: Any = {"schedule": Resumed(SCHEDULES[schedule](20.0), 3), "start": start, "batch": 2}
    fast, plain = both(problem, **options)
    for one in (fast, plain):
        np.testing.assert_array_equal(one.averages()[0], start)
    for steps in (17, 123):
        agree(fast, plain, (steps,))
        while steps == 123 and schedule == "steep" and fast._base == 0:
            agree(fast, plain, (1,))
        for one in (fast, plain):
            fresh = engine(type(one), problem, **options)
            fresh.load_state(one.state())
            for running in (one, fresh):
                running.advance(2)
            assert fresh.iteration == one.iteration
            for name, part in iterates(one).items():
                np.testing.assert_array_equal(iterates(fresh)[name], part, err_msg=name)


# ---- parameters ---------------------------------------------------------------------------------


def test_parameters_neither_recompile_nor_leak() -> None:
    """Ten parameter values interleaved in one process: one kernel, ten right answers."""

    def engines(value: float) -> list[Any]:
        return both(Problem(matrix("dense-f8", 40), labels(), Bowl(value), Ridge(value, 0.5)))

    pairs = [engines(value) for value in np.linspace(0.5, 1.5, 10)]
    kernels = {fast._loop._kernel for fast, _ in pairs}
    addresses = {fast._functions[0] for fast, _ in pairs}
    assert len(kernels) == len(addresses) == 1
    for fast, plain in pairs:
        agree(fast, plain, (50,))
    signatures = len(next(iter(kernels)).signatures)
    before = len(vertex.run_vertex.signatures)
    agree(*engines(0.77), (50,))
    assert len(next(iter(kernels)).signatures) == signatures
    for radius in (1.0, 2.0):
        problem = Problem(matrix("dense-f8", 40), labels(), Bowl(radius), L1Ball(radius))
        agree(*both(problem), (50,))
    assert len(vertex.run_vertex.signatures) <= before + 1


@every_loop
def test_single_steps_compile_nothing_anew(oracle: str, monkeypatch: Any) -> None:
    """Constant step sizes and a sampler's locked arrays: the types that the engine was made for."""
    problem = make_problem(oracle=oracle, p=600)
    for sampler in (None, lambda: Fixed(np.array([1, 4]))):
        fast, kinds = engine(CompiledEngine, problem, 2, "linear", sampler=sampler), []
        run = fast._loop.run

        def seen(rows, batches, numbers, *rest, run=run, kinds=kinds):
            kinds += [(part.dtype, part.flags.writeable) for part in (batches, *numbers)]
            return run(rows, batches, numbers, *rest)

        monkeypatch.setattr(fast._loop, "run", seen)
        fast.advance(1)
        fast.advance(2)
        assert set(kinds) == {(np.dtype(np.uint64), True), (np.dtype(float), True)}


def test_fields_of_every_kind_are_read() -> None:
    for loss in (Bowl(), Bowl(2.0, 5), Bowl(1.0, 1, False), Bowl(2, np.int64(4), np.bool_(False))):
        derivative = method_scalar(loss, "derivative")
        for s in (-2.0, 0.5, 3.0):
            assert derivative(s, 0.25)[0] == pytest.approx(loss.derivative(s, 0.25), rel=1e-15)


def test_arguments_with_defaults_keep_them() -> None:
    assert method_scalar(Scaled(), "derivative")(3.0, 1.0)[0] == Scaled().derivative(3.0, 1.0)


# ---- the search for the largest entry -----------------------------------------------------------


def keys(d: Any, signs: Any) -> Any:
    """What counts of |d| or −d, its leading 44 bits with the implicit one, by arithmetic."""
    fraction, exponent = np.frexp(abs(d) if signs == vertex.BOTH_SIGNS else -d)
    return np.ldexp(np.trunc(np.ldexp(fraction, 44)), exponent - 44)


def climb(p: int, signs: Any, seed: int) -> None:
    """Entries that move up and down, with many ties, against ``argmax``."""
    rng = np.random.default_rng(seed)
    d = np.round(rng.standard_normal(p), 1)
    offsets = vertex.level_offsets(p)
    bounds = np.zeros(int(offsets[-1]))
    vertex.tighten_all(d, *signs, bounds, offsets)
    for turn in range(120):
        for k in rng.integers(p, size=8):
            d[k] = round(rng.standard_normal() * rng.choice([0.1, 1.0, 1.5]), 1)
            d[k] *= 1 + rng.choice([0.0, 1e-15, 1e-12])  # equal, as good as equal, different
            vertex.raise_bounds(bounds, offsets, np.uint64(k), keys(d, signs)[k])
        if turn % 30 == 29:
            d[keys(d, signs) == keys(d, signs).max()] = 0.0  # every largest key falls
        expected = (keys(d, signs).argmax(), keys(d, signs).max())
        assert vertex.find_largest(d, *signs, bounds, offsets) == expected
        assert vertex.scan(d, *signs) == expected
        assert vertex.scan_short(d, *signs) == expected
        assert first_largest(abs(d) if signs == vertex.BOTH_SIGNS else -d) == expected[0]
        if signs == vertex.BOTH_SIGNS and p <= vertex.LOW_BITS:
            assert vertex.scan_coded(d, signs[0]) == expected


@pytest.mark.parametrize("signs", [vertex.BOTH_SIGNS, vertex.POSITIVE], ids=["both", "positive"])
@pytest.mark.parametrize("p", [64, 65, 127, 128, 511, 512, 513, 4097, 20000])
def test_the_largest_key_is_found_first(p: int, signs: Any) -> None:
    climb(p, signs, seed=p)


def test_a_tournament_of_many_levels() -> None:
    p = 64**3 + 1
    d = np.zeros(p)
    offsets = vertex.level_offsets(p)
    bounds = np.zeros(int(offsets[-1]))
    vertex.tighten_all(d, *vertex.BOTH_SIGNS, bounds, offsets)
    for k in (p - 1, 70000, 69999, 0):
        d[k] = -1.0
        vertex.raise_bounds(bounds, offsets, np.uint64(k), 1.0)
        assert vertex.find_largest(d, *vertex.BOTH_SIGNS, bounds, offsets) == (k, 1.0)


# ---- numbers that are none ----------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(LeastSquares):
    """Its derivative turns bad once predictions leave the neighbourhood of zero."""

    bad: float = math.nan

    def derivative(self, s: Any, y: Any) -> Any:
        return self.bad if abs(s) > 0.5 else s - y


class Strict(Corners):
    """An oracle that refuses what is no number, as solvers do."""

    def argmin(self, c: Any) -> DenseAtom:
        if not np.isfinite(c).all():
            raise ValueError("no number")
        return super().argmin(c)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("p", [40, 200, 600])
@pytest.mark.parametrize("layout", ["csr-f8-i4", "dense-f8"])
def test_nan_is_told_and_hangs_nothing(layout: str, p: int, bad: float) -> None:
    oracles = [L1Ball(3.0), Simplex(3.0), Ridge(0.1, 3.0), Box(-1.0, 1.0), Strict(1.0)]
    for oracle in oracles:
        problem = Problem(matrix(layout, p), labels(), Broken(bad), oracle, verify=False)
        fast = engine(CompiledEngine, problem)
        for steps in (1000, 1):  # and it stays so
            with pytest.raises(
                FloatingPointError, match=r"NaN or infinite before .*derivative of Broken\("
            ):
                fast.advance(steps)


def test_nan_ends_a_run_with_the_sentence() -> None:
    problem = Problem(matrix("csr-f8-i4", 600), labels(), Broken(), L1Ball(3.0), verify=False)
    with pytest.raises(FloatingPointError, match="expected finite numbers"):
        solve(problem, method=Corrected(RCMD(engine="compiled")), max_iterations=1000, tol=0)


def test_a_violation_that_is_no_number_is_refused() -> None:
    class Unsure(Corners):
        def violation(self, beta: Any) -> Any:
            return math.nan

    problem = Problem(matrix("csr-f8-i4", 40), labels(), Logistic(), Unsure(), verify=False)
    with pytest.raises(ValueError, match="misses dom R by nan of its size"):
        solve(problem, max_iterations=3)


# ---- arrays as they come ------------------------------------------------------------------------


def agree_as(X: Any, tidy: Any, oracle: LinearMinOracle, y: Any = None) -> None:
    """The compiled engine on X, the reference engine on the same numbers as one writes them."""
    fast = Problem(X, labels() if y is None else y, Logistic(), oracle)
    plain = Problem(tidy, labels(), Logistic(), oracle)
    agree(engine(CompiledEngine, fast), engine(ReferenceEngine, plain))


def test_unsorted_and_duplicate_entries() -> None:
    rng = np.random.default_rng(3)
    tidy = matrix("csr-f8-i4", 600)
    values, columns, offsets = [], [], [0]
    for j in range(N):
        here = slice(tidy.indptr[j], tidy.indptr[j + 1])
        # Every entry in two parts, in any order.
        order = rng.permutation(2 * (here.stop - here.start))
        share = rng.random(here.stop - here.start)
        x = tidy.data[here]
        values.append(np.concatenate([share * x, x - share * x])[order])
        columns.append(np.tile(tidy.indices[here], 2)[order])
        offsets.append(offsets[-1] + len(order))
    parts = np.concatenate(values), np.concatenate(columns), np.array(offsets, np.int32)
    untidy = sp.csr_array(parts, shape=tidy.shape)
    assert not untidy.has_canonical_format
    agree_as(untidy, tidy, L1Ball(3.0))
    agree_as(untidy, tidy, Ridge(0.1, 0.3))


def test_entries_that_are_not_contiguous() -> None:
    tidy = matrix("csr-f8-i4", 600)
    spread = sp.csr_array(
        (np.repeat(tidy.data, 2)[::2], np.repeat(tidy.indices, 2)[::2], tidy.indptr),
        shape=tidy.shape,
    )
    assert not spread.indices.flags.c_contiguous
    agree_as(spread, tidy, L1Ball(3.0))
    agree_as(np.asfortranarray(tidy.toarray()), tidy, L1Ball(3.0))


def test_read_only_arrays_and_memory_maps(tmp_path: Path) -> None:
    dense, rows = matrix("dense-f8", 200), matrix("csr-f8-i4", 200)
    np.save(tmp_path / "X.npy", dense)
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(rows, name))
    mapped = [np.load(tmp_path / f"{name}.npy", "r") for name in ("data", "indices", "indptr")]
    y = labels()
    y.setflags(write=False)
    frozen = rows.copy()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.setflags(write=False)
    locked = dense.copy()
    locked.setflags(write=False)
    kinds = [
        np.load(tmp_path / "X.npy", "r"),
        locked,
        sp.csr_array(tuple(mapped), shape=rows.shape),
        frozen,
    ]
    for X in kinds:
        agree_as(X, dense, L1Ball(3.0), y)


# ---- batches from elsewhere ---------------------------------------------------------------------


class Fixed:
    """A sampler written by a user, who thinks little of number types."""

    batch = 2

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def draw(self, steps: int) -> Any:
        return np.broadcast_to(self.rows, (steps, 2))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_batches_of_any_integers(dtype: Any) -> None:
    agree(*both(make_problem(p=40), batch=2, sampler=lambda: Fixed(np.array([1, 4], dtype))))


@pytest.mark.parametrize("row", [N, 10**9])
def test_rows_that_are_none_are_refused(row: int) -> None:
    """Machine code would read beyond the array."""
    fast = engine(CompiledEngine, make_problem(p=40), sampler=lambda: Replay([[0], [row]]))
    with pytest.raises(IndexError, match="of Replay returned rows from 0 to"):
        fast.advance(2)


# ---- layouts without kernels --------------------------------------------------------------------


def test_fractions_do_not_compile() -> None:
    problem = exact_problem("l1-ball")
    with pytest.raises(CannotCompile, match="no compiled layout"):
        solve(problem, method=Corrected(RCMD(engine="compiled")), max_iterations=1)
    assert solve(problem, max_iterations=3, tol=0).nit == 3


def test_oracles_share_kernels_by_kind() -> None:
    """Compilations grow with losses plus kinds of oracles, not with their product."""
    kinds = {
        coordinatewise._compiled(coordinatewise.record_of(oracle)[0])
        for oracle in (Ridge(0.1, 1.0), Ridge(2.0, 3.0), L2Ball(1.0), L2Ball(2), Box(0.0, 1.0))
    }
    assert len(kinds) == 3


def test_every_block_may_fall_in_one_step() -> None:
    """More blocks than one level holds, all lowered by one dense row."""
    x = np.zeros(8192)
    x[::64] = 1 + np.arange(128) * 1e-6
    X = sp.csr_array(np.tile(x, (4, 1)))
    problem = Problem(X, np.ones(4), LeastSquares(), L1Ball(0.5))
    fast, plain = both(problem, sampler=lambda: Replay([[0], [1], [2], [3]]))
    fast._loop = VertexLoop(L1Ball(0.5).vertex_rule(), problem.p, touched=1.0, dense=False)
    fast._loop.refresh(fast._gradient())
    agree(fast, plain, pieces=(1, 1, 1, 1))


@pytest.mark.parametrize("e", np.geomspace(2e-9, 6e-8, 12))
def test_a_vanishing_gradient_keeps_its_norm(e: float) -> None:
    problem = Problem([[1.0], [1.0]], [0.4 + e, 0.4 + e], LeastSquares(), L2Ball(1.0))
    agree(*both(problem, sampler=lambda: Replay([[0], [1]])), pieces=(1, 1))


@pytest.mark.parametrize(("size", "loop"), [(1e-160, OracleLoop), (1e-100, CoordinateLoop)])
def test_slopes_whose_squares_underflow_go_another_way(size: float, loop: Any) -> None:
    """The first slopes are of that size, later ones are not."""
    problem = Problem([[1.0], [2.0]], [size, -size], LeastSquares(), L2Ball(1.0))
    fast, plain = both(problem)
    assert type(fast._loop) is loop
    agree(fast, plain)


@pytest.mark.parametrize("prox", [EuclideanProx(), ExactProx(0.5)], ids=repr)
def test_a_sample_whose_smoothness_alone_is_its_own_is_found_by_its_number(prox: Any) -> None:
    """Each γ_j differs; a label, taken for the number of a sample, finds another one's label."""
    X, y = np.array([[1.0, -0.5], [0.3, 0.8], [-0.6, 0.2]]), np.array([2.0, 0.1, 1.0])
    problem = Problem(X, y, Gamma(), BoxRidge(-1.0, 1.0, 0.5))
    runs = [
        solve(problem, method=RCMD(prox=prox, engine=engine), max_iterations=40, tol=0.0)
        for engine in ("compiled", "reference")
    ]
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-9)
    assert runs[0].gap == pytest.approx(runs[1].gap, rel=1e-9, abs=1e-9)
