"""Rows spread over ranks that are threads: everything but MPI itself."""

import math
import threading
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from small_problems import LOSSES, ORACLES, data

from rcmd import (
    RCMD,
    Atom,
    DenseAtom,
    EuclideanProx,
    L1Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    RankOneAtom,
    Ridge,
    SeparableConjugate,
    SparseAtom,
    StopReason,
    certify,
    iterate,
    solve,
)
from rcmd.cli.tasks import fitting_labels
from rcmd.distributed import Alone, ShardedProblem, SharedError, read_shard, rehearse, shard
from rcmd.distributed.engine import ShardedEngine, ShardLoop, confirm_lockstep
from rcmd.distributed.exchange import DenseExchange, sum_rows, sum_terms
from rcmd.distributed.problem import AtFirst
from rcmd.distributed.shards import block
from rcmd.engine.accounting import PrimalAverage
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.sampling import UniformSampler
from rcmd.methods import NAMED
from rcmd.model.bounds import Bound
from rcmd.model.schedules import Schedule, SublinearSchedule, default_schedule
from rcmd.rows import as_rows
from rcmd.rows.processes import shared_errors

N, P, BATCH = 23, 4, 5


def parts(loss, oracle, layout, weighted):
    X, y, weights = data(N, P, seed=2)
    X = sp.csr_array(X) if layout == "csr" else X
    y = np.where(y > 0, 1.0, -1.0) if loss == "logistic" else y
    return X, y, LOSSES[loss], ORACLES[oracle], weights if weighted else None


def sharded(group, X, y, loss, oracle, weights=None, **options):
    mine = slice(*block(group, len(y)))
    weights = None if weights is None else weights[mine]
    rows, labels = shard(group, X, y)
    return ShardedProblem(rows, labels, loss, oracle, group=group, weights=weights, **options)


GIVEN = parts("logistic", "l1-ball", "csr", False)


def engine_on(problem, exchange, batch=BATCH):
    sampler = UniformSampler(problem.n, batch, np.random.default_rng(3))
    problem.exchange = exchange
    return ShardedEngine(problem, default_schedule(problem.constants(batch)), sampler)


def iterates(size, exchange, given, steps=60):
    """s and w̄ of all rows, d and β̄ after some steps on so many ranks."""

    def work(group):
        engine = engine_on(sharded(group, *given), exchange)
        engine.advance(steps)
        confirm_lockstep(group, engine)
        beta, w = engine.averages()
        return engine.s.copy(), w, engine.d.copy(), beta

    s, w, d, beta = zip(*rehearse(size, work), strict=True)
    assert all((other == d[0]).all() for other in d)
    return np.concatenate(s), np.concatenate(w), d[0], beta[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "oracle", "layout"),
    [
        ("logistic", "l1-ball", "csr"),
        ("logistic", "l1-penalty", "csr"),
        ("least-squares", "ridge", "csr"),
        ("logistic", "box", "dense"),
        ("least-squares", "moved-l1-ball", "dense"),
    ],
)
def test_iterates_are_those_of_one_process(loss, oracle, layout, weighted):
    X, y, conjugate, regularizer, weights = given = parts(loss, oracle, layout, weighted)
    options = {"batch": BATCH, "tol": 0, "max_iterations": 60, "seed": 3, "method": "rcmd"}
    run = iterate(Problem(X, y, conjugate, regularizer, weights=weights), **options, record_at=[60])
    one = next(run)
    expected = one.s, one.w_average, one.d, one.beta_average
    first = iterates(1, "sparse", given)
    for size in (2, 3) if weighted else (1, 4):
        sparse, dense = iterates(size, "sparse", given), iterates(size, "dense", given)
        for found, also, wanted, bits in zip(sparse, dense, expected, first, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
            np.testing.assert_allclose(also, wanted, rtol=0, atol=1e-12)
            if layout == "csr":
                assert (found == bits).all()  # whatever the number of ranks


@pytest.mark.parametrize("oracle", ["l1-ball", "l1-penalty", "ridge", "moved-ridge"])
def test_constants_and_certificates_are_those_of_one_process(oracle):
    X, y, loss, regularizer, weights = given = parts("logistic", oracle, "csr", True)
    alone = Problem(X, y, loss, regularizer, weights=weights)
    rng = np.random.default_rng(0)
    beta, w = rng.normal(size=P) / 4, -y * weights * rng.uniform(0, 1, N)
    wanted = certify(alone, beta, w)

    def work(group):
        problem = sharded(group, *given)
        pair = certify(problem, beta, w[slice(*block(group, N))])
        constants = asdict(problem.constants(BATCH))  # all of them are found
        return constants, pair, problem.saddle(beta, pair.w), problem.describe()

    for constants, pair, saddle, text in rehearse(3, work):
        for name, value in asdict(alone.constants(BATCH)).items():
            same = value if value is None else pytest.approx(value, rel=1e-12)
            assert constants[name] == same
        for name in ("primal", "dual", "loss_gap", "regularizer_gap"):
            assert getattr(pair, name) == pytest.approx(getattr(wanted, name), rel=1e-12)
        assert saddle == pytest.approx(alone.saddle(beta, wanted.w), rel=1e-12)
        assert text == alone.describe()


def test_an_intercept_is_spread_too():
    alone = Problem(*GIVEN[:4], intercept=1.0)
    found = rehearse(2, lambda group: sharded(group, *GIVEN, intercept=1.0).constants(BATCH))
    assert found[0].prediction_bound == alone.constants(BATCH).prediction_bound


def test_sums_do_not_depend_on_how_terms_are_spread():
    rng = np.random.default_rng(5)
    terms = rng.normal(size=1000) * 10.0 ** rng.integers(-12, 3, 1000)
    exact = float(sum(Fraction(t) for t in terms.tolist()))
    totals = set()
    for size in (1, 2, 3, 7):
        cuts = np.array_split(rng.permutation(terms), size)

        def added(group, cuts=cuts):
            return sum_terms(group, cuts[group.rank], 1000)

        totals |= set(rehearse(size, added))
    assert len(totals) == 1
    assert totals.pop() == pytest.approx(exact, rel=1e-15)
    plain = {float(rng.permutation(terms).sum()) for _ in range(20)}
    assert len(plain) > 1  # what the integers are for


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_sums_of_rows_are_exact_at_every_scale(scale):
    X = np.array([[1.0, 1e-3, 0.0], [scale, -1.0, 0.0], [-1.0, 1e-9, 0.0]])
    rows, coefficients = rows_tuple(as_rows(X)), np.array([1.0, 0.5, 1.0])
    total, bounds = sum_rows(Alone(), rows, abs(X).max(axis=0), coefficients, 3)
    exact = [
        sum(Fraction(c) * Fraction(x) for c, x in zip([1, 0.5, 1], k, strict=True)) for k in X.T
    ]
    np.testing.assert_allclose(total, [float(e) for e in exact], rtol=1e-15, atol=1e-300)
    assert bounds.tolist() == [max(1.0, scale), 1.0, 0.0]


def test_what_is_not_finite_stays_so():
    assert sum_terms(Alone(), np.array([1.0, np.inf]), 2) == np.inf
    assert np.isnan(sum_terms(Alone(), np.array([1.0, np.nan]), 2))
    rows = rows_tuple(as_rows(np.array([[1e308], [1e308]])))
    assert np.isnan(sum_rows(Alone(), rows, np.array([1e308]), np.array([1.0, 10.0]), 2)[0]).all()


def refused(size, work):
    """What every rank says."""
    heard = []

    def listening(group):
        try:
            work(group)
        except SharedError as fault:
            heard.append(str(fault))

    rehearse(size, listening)
    assert len(heard) == size
    assert len(set(heard)) == 1
    return heard[0]


@dataclass(frozen=True)
class Answering(LinearMinOracle):
    """Whatever it is told to answer, on rank 0 only."""

    answer: object

    def argmin(self, c):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def minimum(self, c):
        return float(c.sum())

    def violation(self, beta):
        return 0.0


@dataclass(frozen=True)
class Constant(Atom):
    """An atom of somebody's own."""

    level: object
    gather = predict = add_to = lambda self, *_: None


ATOMS = (
    SparseAtom((), ()),
    SparseAtom((7,), (2.5,)),
    SparseAtom(tuple(range(40)), tuple(map(float, range(40)))),
    DenseAtom(np.arange(60.0)),
    RankOneAtom(np.arange(6.0), np.arange(10.0)),
    Constant(3.0),
)


@pytest.mark.parametrize("atom", ATOMS)
def test_atoms_travel(atom):
    def work(group):
        answer = atom if group.rank == 0 else None  # only rank 0 knows
        return AtFirst(Answering(answer), group).argmin(np.zeros(60))

    for found in rehearse(3, work):
        assert type(found) is type(atom)
        for mine, theirs in zip(vars(atom).values(), vars(found).values(), strict=True):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ZeroDivisionError("no such corner"), "ZeroDivisionError: no such corner"),
        (np.zeros(3), "wrap a vector as rcmd.oracles.DenseAtom"),
        (Constant(lambda: 3.0), "Can't pickle"),
    ],
)
def test_errors_of_the_oracle_travel(answer, words):
    assert words in refused(3, lambda g: AtFirst(Answering(answer), g).argmin(np.zeros(3)))


def run_on(group, **options):
    problem = sharded(group, *GIVEN, exchange=options.pop("exchange", "auto"))
    return solve(problem, **{"batch": BATCH, "tol": 0, "seed": 3, **options})


def test_results_and_histories_are_those_of_one_process():
    one = solve(Problem(*GIVEN[:4]), batch=BATCH, tol=1e-2, seed=3, method="rcmd")
    found, *others = rehearse(3, lambda group: run_on(group, tol=1e-2, method="rcmd"))
    assert [len(other.w) for other in others] == [8, 8]  # their own rows
    assert all((other.beta == found.beta).all() for other in others)
    assert found.stop is one.stop is StopReason.TOLERANCE
    assert found.options["ranks"] == 3
    np.testing.assert_allclose(found.beta, one.beta, atol=1e-12)
    np.testing.assert_allclose(found.w, one.w, atol=1e-12)
    values = ("primal", "dual", "gap", "pair_gap", "bound")
    for name in ("iteration", "gradients", "oracle_calls", *values):
        wanted = one.history.column(name)
        np.testing.assert_allclose(found.history.column(name), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("options", "stop"),
    [
        ({"max_iterations": 7}, StopReason.ITERATIONS),
        ({"max_gradients": 31}, StopReason.GRADIENTS),
        ({"max_seconds": 1e-9}, StopReason.SECONDS),
    ],
)
def test_budgets_end_all_ranks(options, stop):
    assert rehearse(2, lambda group: run_on(group, **options))[0].stop is stop


def test_a_callback_of_one_rank_stops_all():
    def work(group):
        return run_on(group, callbacks=[lambda state: group.rank == 1 and state.iteration > 3])

    assert rehearse(3, work)[0].stop is StopReason.CALLBACK


def test_ctrl_c_on_one_rank_stops_all():
    def work(group):
        run = iterate(sharded(group, *GIVEN), batch=BATCH, tol=0)
        next(run)
        run.interrupts.requested = group.rank == 1
        for _ in run:
            pass
        return run.stop, run.progress.iteration

    (stop, iteration), *others = rehearse(3, work)
    assert stop is StopReason.INTERRUPTED
    assert others == [(stop, iteration)] * 2


def test_the_seed_is_that_of_rank_0():
    def work(group):
        return run_on(group, seed=group.rank, max_iterations=20)

    same = rehearse(2, lambda group: run_on(group, seed=0, max_iterations=20))[0]
    assert rehearse(2, work)[0].gap == same.gap


class Stray(UniformSampler):
    """Draws what the others draw, changed, where no comparison of options looks."""

    changing = (*UniformSampler.changing, "_change")

    def __init__(self, change, *arguments):
        super().__init__(*arguments)
        self._change = change

    def draw(self, steps):
        return self._change(super().draw(steps))


def stray_run(exchange, change):
    """Rank 1 of 2 draws otherwise."""

    def work(group):
        problem = sharded(group, *GIVEN, exchange=exchange)
        kept = (lambda rows: rows) if group.rank == 0 else change
        sampler = Stray(kept, N, BATCH, np.random.default_rng(0))
        return solve(problem, method=RCMD(sampler=sampler), tol=0, max_iterations=8)

    return rehearse(2, work)


@pytest.mark.parametrize("exchange", ["sparse", "dense"])
def test_a_rank_that_draws_one_row_further_is_caught(exchange):
    assert stray_run(exchange, lambda rows: rows)[0].nit == 8
    with pytest.raises((SharedError, RuntimeError), match=r"not those of the batch|out of step"):
        stray_run(exchange, lambda rows: (rows + 1) % N)


@pytest.mark.parametrize("exchange", ["sparse", "dense"])
def test_a_rank_that_takes_other_rows_of_its_own_is_caught(exchange):
    first, last = 11, 23  # the rows of rank 1
    with pytest.raises(SharedError, match="rank 1 is out of step with rank 0 at iteration"):
        stray_run(exchange, lambda j: np.where(j >= first, first + (j - first + 1) % 12, j))
    assert (first, last) == rehearse(2, lambda group: block(group, N))[1]


@pytest.mark.parametrize("exchange", ["sparse", "dense"])
def test_a_wrong_boundary_is_caught(exchange):
    def work(group):
        engine = engine_on(sharded(group, *GIVEN), exchange)
        engine._loop._ends += np.array([group.rank == 1, 0], np.uint64)  # one row on none
        engine.advance(20)

    with pytest.raises((SharedError, RuntimeError), match="every row to be on exactly one rank"):
        rehearse(2, work)


def test_a_lost_part_is_caught():
    class Forgetful(DenseExchange):
        def add(self, rows, mine, pulls, health, batch, d):
            lost = pulls * 0 if self._group.rank == 1 else pulls
            return super().add(rows, mine, lost, health, batch, d)

    def work(group, kind):
        problem = sharded(group, *GIVEN)
        engine = engine_on(problem, "dense")
        engine._loop = ShardLoop(problem, kind(group, P), engine.d)
        engine.advance(6)  # more than one pass: d is computed anew
        return engine.iteration

    assert rehearse(2, lambda group: work(group, DenseExchange)) == [6, 6]
    with pytest.raises(SharedError, match="a part of some rank was lost or counted twice"):
        rehearse(2, lambda group: work(group, Forgetful))


@pytest.mark.parametrize("share", [0.9e-9, 1.1e-9])
def test_how_far_d_may_drift(share):
    """10⁻⁹ of the largest sum that a column can have, and no further."""

    def work(group):
        engine = engine_on(sharded(group, *GIVEN), "dense")
        engine.advance(3)
        engine.d[1] += share * N * engine.problem.slope_and_peaks(engine.w)[1][1]
        engine._peaks *= 0  # what counts is then the peak of now
        engine._gradient()

    if share < 1e-9:
        rehearse(2, work)
    else:
        with pytest.raises(SharedError, match=r"the running d is .* in column 1 at iteration 3"):
            rehearse(2, work)


@pytest.mark.parametrize("place", ["d", "primal_sum", "batches"])
def test_a_changed_bit_is_caught(place):
    def work(group):
        engine = engine_on(sharded(group, *GIVEN), "dense")
        engine.advance(4)
        confirm_lockstep(group, engine)
        if group.rank == 2 and place == "batches":
            engine._batches_seen ^= 1
        elif group.rank == 2:
            changed = engine.d if place == "d" else engine._loop.primal_sum()
            changed[2] = np.nextafter(changed[2], 1.0)
        confirm_lockstep(group, engine)

    with pytest.raises(SharedError, match="rank 2 is out of step with rank 0 at iteration 4"):
        rehearse(3, work)


def test_a_saved_engine_goes_on_with_other_ranks():
    """Bit for bit in s, w̄, d and β̄, beyond the refreshes after 1, 2, 4 and 8 passes."""

    def work(group, saved, steps):
        engine = engine_on(sharded(group, *GIVEN), "sparse")
        if saved is not None:
            engine.load_state(saved)
        engine.advance(steps)
        beta, w = engine.averages()
        rows = engine.problem.gathered(np.stack([engine.s, w], axis=1))
        return engine.state(), (rows, engine.d, beta)

    whole = rehearse(1, lambda group: work(group, None, 60))[0][1]
    saved = rehearse(3, lambda group: work(group, None, 13))[0][0]
    found = rehearse(2, lambda group: work(group, saved, 47))[0][1]
    for one, other in zip(found, whole, strict=True):
        assert (one == other).all()


def test_numbers_that_are_none_end_all_ranks():
    @dataclass(frozen=True)
    class Broken(LeastSquares):
        def derivative(self, s, y):
            return np.nan if y > 2.0 and s != 0.0 else s - y

    given = np.ones((6, 1)), np.array([0.0, 1.0, 0.0, 1.0, 0.0, 3.0]), Broken(), L1Ball(1.0)
    said = refused(3, lambda group: solve(sharded(group, *given, verify=False), batch=6, tol=0))
    assert "the dual variable became NaN or infinite" in said


def test_bad_input_is_refused_on_every_rank():
    X, y, loss, oracle, weights = parts("logistic", "l1-ball", "csr", True)
    assert "there are 2 rows for 3 ranks" in refused(3, lambda group: shard(group, X[:2], y[:2]))

    def unlike(group):
        ShardedProblem(np.ones((3, 1 + group.rank)), np.ones(3), loss, oracle, group=group)

    assert "rows of 1, 2 columns; expected the same" in refused(2, unlike)

    def bad_shard(group):
        rows, labels = shard(group, X, y)
        labels = np.where(group.rank == 2, np.nan, labels)
        ShardedProblem(rows, labels, loss, oracle, group=group)

    assert refused(3, bad_shard).startswith("rank 2: y holds nan at position (0,)")

    def half_weighted(group):
        own = weights[slice(*block(group, N))] if group.rank else None
        ShardedProblem(*shard(group, X, y), loss, oracle, group=group, weights=own)

    assert "some ranks have weights and some have none" in refused(2, half_weighted)
    exact = np.array([[Fraction(1)]], dtype=object)

    def fractions(group):
        ShardedProblem(exact, [Fraction(1)], LeastSquares(), L1Ball(Fraction(1)), group=group)

    assert "expected a dense or a sparse matrix of floats" in refused(2, fractions)

    def wide(group):
        sharded(group, X, y, loss, ORACLES["moved-l1-ball"].__class__(L1Ball(1.0), np.ones(9)))

    assert "shift of Translated has shape (9,)" in refused(2, wide)


def test_options_are_checked():
    for options, words in (
        ({"exchange": "pigeon"}, "exchange is 'pigeon'; expected one of auto, sparse, dense"),
        ({"batch": N + 1}, "batch is 24; expected between 1 and n = 23"),
        ({"tol": -1}, "tol is -1; expected a number ≥ 0"),
    ):
        with pytest.raises(ValueError, match=words.replace("(", r"\(")):
            run_on(Alone(), **options)


@dataclass(frozen=True)
class Slow(Schedule):
    def step(self, i):
        return 1 / (i + 2)

    def mixing(self, i):
        return 1 / (i + 1)

    def growth(self, i, base):
        return (i + 1) / (base + 1)


def test_columns_and_claims_are_those_of_one_process():
    claim = Bound("own", schedule=Slow, value=lambda c, k: 9.0 / k)
    options = {"max_iterations": 30, "bounds": [claim], "method": RCMD(schedule=Slow())}
    options["callbacks"] = lambda state: {"support": (state.beta_average != 0).sum()}
    one = solve(Problem(*GIVEN[:4]), batch=BATCH, tol=0, seed=3, **options)
    for found in rehearse(2, lambda group: run_on(group, **options)):
        assert found.history.own == ("own", "support")
        for name in ("own", "support", "pair_gap"):
            wanted = one.history.column(name)
            np.testing.assert_allclose(found.history.column(name), wanted, rtol=1e-12)


def test_what_runs_on_one_process_only_is_refused():
    for method in (
        RCMD(prox=EuclideanProx()),
        RCMD(accounting=(PrimalAverage(Slow(), np.zeros(1)),)),
    ):
        with pytest.raises(SharedError, match="given for rows on several ranks; expected none"):
            rehearse(2, lambda group, method=method: run_on(group, method=method))
    for name in NAMED.keys() - {"rcmd", "corrected"}:
        with pytest.raises(SharedError, match="which runs on one process"):
            rehearse(2, lambda group, name=name: run_on(group, method=name))


def test_the_exchange_with_fewer_bytes_is_chosen():
    problem = sharded(Alone(), *parts("logistic", "l1-ball", "dense", False))
    # 12 b p against 16 p bytes for dense rows.
    assert engine_on(problem, "auto", batch=1).exchange.name == "sparse"
    assert engine_on(problem, "auto", batch=2).exchange.name == "dense"


def test_an_error_of_one_thread_ends_the_rehearsal():
    def work(group):
        if group.rank == 1:
            raise KeyError("mine alone")
        group.sum(np.ones(1))

    with pytest.raises(KeyError, match="mine alone"):
        rehearse(3, work)
    assert threading.active_count() == 1


def test_the_lowest_rank_with_a_fault_speaks():
    def work(group):
        with shared_errors(group):
            if group.rank:
                raise ValueError(f"fault {group.rank}")

    assert refused(3, work) == "rank 1: fault 1"


@pytest.fixture
def files(tmp_path):
    """The same samples as text and as a folder; labels 1 and 2, sorted, so that shards have one."""
    from rcmd.datasets import convert_libsvm

    X, y, *_ = GIVEN
    y = np.sort(np.where(y > 0, 2, 1))
    lines = [
        f"{y[j]} " + " ".join(f"{k + 1}:{float(X[j, k])!r}" for k in X[[j]].indices)
        for j in range(N)
    ]
    text = tmp_path / "samples.txt"
    text.write_text("\n\n".join(lines) + "\n# the end\n")
    convert_libsvm(text, tmp_path / "samples.rows")
    return X, y, text, tmp_path / "samples.rows"


def test_every_rank_reads_its_own_rows(files):
    X, y, *paths = files
    for path in paths:
        for size in (1, 3):
            rows, labels = zip(*rehearse(size, lambda g, p=path: read_shard(g, p)), strict=True)
            assert (sp.vstack(rows) != X).nnz == 0
            assert np.concatenate(labels).tolist() == y.tolist()


def test_labels_are_mapped_alike(files):
    text = files[2]

    def work(group):
        return fitting_labels(Logistic(), read_shard(group, text)[1], group)

    (first, remarks), *_, (last, _) = rehearse(3, work)
    assert set(first) == {-1.0}
    assert set(last) == {1.0}
    assert remarks == ["labels 1 and 2 were mapped to -1 and +1 (the larger to +1)"]
    assert "has 3 distinct values" in refused(
        3, lambda group: fitting_labels(Logistic(), np.array([float(group.rank)]), group)
    )


def test_a_fault_in_one_shard_is_told_by_all(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("1 1:1\n-1 1:2\n1 1:x\n")
    assert "line 3: found '1:x'" in refused(2, lambda group: read_shard(group, path))


def test_ridge_reaches_its_tolerance():
    given = (*GIVEN[:3], Ridge(0.2))
    result = rehearse(2, lambda group: solve(sharded(group, *given), batch=BATCH, tol=1e-8))[0]
    assert result.success
    assert certify(Problem(*given), result.beta, result.w).gap <= 1.001e-8


def test_schedules_of_ones_own_are_taken():
    def work(group):
        return run_on(group, method=RCMD(schedule=SublinearSchedule(2.0 * N)), max_iterations=9)

    result = rehearse(2, work)[0]
    assert np.isnan(result.history[-1].bound)


# ---- what is not the same on all ranks -----------------------------------------------------------


class Squares(SeparableConjugate):
    """A class of one's own, without a ``repr``."""

    gamma = 1.0

    def __init__(self, fails=None, gamma=1.0):
        self.fails, self.gamma = fails, gamma

    def label_fault(self, y):
        if self.fails and y.max() > 50:
            raise self.fails("fifty")

    def value(self, s, y):
        return (s - y) ** 2 / 2

    def derivative(self, s, y):
        return math.nan if y > 70 else s - y

    def conjugate(self, w, y):
        return w * w / 2 + w * y

    def conjugate_derivative(self, w, y):
        return w + y

    def conjugate_domain(self, y):
        return (-math.inf, math.inf)


class OwnBall(L1Ball):
    def bind(self, rows, losses):
        if losses.y.max() > 60:
            raise KeyError("sixty")
        return self


class OnlyMine(L1Ball):
    pass


def on_two(loss=None, oracle=None, last=0.0, problem=None, run=None):
    """The certificates of two ranks; ``last`` is the last label, which rank 1 has."""
    X, y, _ = data(N, P, seed=2)
    y = np.append(y[:-1], last)

    def work(group):
        own = problem(group.rank) if problem else {}
        parts = (own.pop("loss", loss or Squares()), own.pop("oracle", oracle or OwnBall(2.0)))
        task = sharded(group, X, y, *parts, **own)
        options = {"max_iterations": 20, "method": "rcmd"} | (run(group.rank) if run else {})
        return solve(task, **options).certificate.ground_text

    return rehearse(2, work)


def test_certificates_of_all_ranks_say_the_same() -> None:
    one, other = on_two()
    assert one == other
    assert one.startswith("sampled: Squares at")


@pytest.mark.parametrize("error", [KeyError, ZeroDivisionError, SystemExit])
def test_whatever_one_rank_raises_is_said_on_all(error) -> None:
    with pytest.raises(SharedError, match=rf"^rank 1: {error.__name__}: '?fifty'?$"):
        on_two(Squares(error), last=55.0)


def test_the_loss_is_blamed_for_its_own_slopes() -> None:
    with pytest.raises(SharedError, match=r"^rank 1: derivative of Squares at .* is nan"):
        on_two(last=80.0, oracle=L1Ball(2.0))
    X, y, _ = data(N, P, seed=2)
    with pytest.raises(ValueError, match=r"^derivative of Squares at .* is nan"):
        Problem(X, np.append(y[:-1], 80.0), Squares(), OnlyMine(2.0))


def test_an_oracle_that_fails_on_one_rank_ends_all() -> None:
    with pytest.raises(KeyError, match="sixty"):
        on_two(last=65.0)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("loss", lambda rank: {"loss": Squares(gamma=1.0 + rank)}),
        ("oracle", lambda rank: {"oracle": OwnBall(2.0 + rank)}),
        ("intercept", lambda rank: {"intercept": 1.0 + rank}),
        ("verify", lambda rank: {"verify": rank == 0}),
    ],
)
def test_problems_are_the_same_on_all_ranks(name, own) -> None:
    with pytest.raises(SharedError, match=f"^{name} of the problem is not the same on all ranks"):
        on_two(problem=own)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("every", lambda rank: {"every": 30.0 + rank}),
        ("max_seconds", lambda rank: {"max_seconds": 300.0 + rank}),
        ("method", lambda rank: {"method": RCMD(schedule=SublinearSchedule(23.0 + rank))}),
        ("record_at", lambda rank: {"record_at": [20, 21 + rank]}),
    ],
)
def test_options_are_the_same_on_all_ranks(name, own) -> None:
    """One rank would stop and leave the others waiting."""
    with pytest.raises(SharedError, match=f"^{name} of the run is not the same on all ranks"):
        on_two(run=own)
