"""Corrections on rows that are spread over ranks: the rounds of one process."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    Box,
    GroupLasso,
    Hull,
    L1Ball,
    L1Penalty,
    L2Ball,
    LinearMinOracle,
    Problem,
    Result,
    Ridge,
    StopReason,
    certify,
    iterate,
    resume,
    solve,
)
from rcmd.distributed import ShardedProblem, SharedError, rehearse
from rcmd.distributed.shards import block
from rcmd.methods.corrections import ball, hull

N, P = 61, 6
HULL = Hull(np.vstack([2 * np.eye(P), -2 * np.eye(P), np.full((1, P), 0.5)]))


@dataclass(frozen=True)
class Own(L1Ball):
    """A user's set: of a subclass, whose atoms are asked for one by one."""

    radius: Any = 2.0
    calls: Counter[str] = field(default_factory=Counter, compare=False)

    def best_atoms(self, c: Any, count: int) -> Any:
        self.calls["best_atoms"] += 1
        return super().best_atoms(c, count)


def data(n: int = N, p: int = P, filled: float = 0.6) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < filled)
    return X, np.where(X[:, :3].sum(axis=1) + rng.standard_normal(n) > 0, 1.0, -1.0)


KINDS: dict[str, tuple[Any, LinearMinOracle, dict[str, Any]]] = {
    "atoms of one entry, from columns": (sp.csr_array, L1Ball(3.0), {}),
    "atoms of one entry, predicted": (np.asarray, L1Ball(3.0), {}),
    "atoms of several entries, sparse": (sp.csr_array, L1Ball(3.0), {"intercept": 2.0}),
    "dense atoms": (sp.csr_array, HULL, {}),
    "groups": (sp.csr_array, GroupLasso([0, 0, 1, 1, 2, 2], 0.05), {}),
    "of one's own": (np.asarray, Own(), {}),
    "coordinates": (np.asarray, L1Penalty(0.05), {"intercept": 2.0}),
    "coordinates in a box": (sp.csr_array, Box(-0.4, 0.5), {}),
    "ball": (np.asarray, L2Ball(0.8), {}),
    "ridge": (sp.csr_array, Ridge(0.02), {"intercept": 0.1}),
    "ridge by products": (sp.csr_array, Ridge(0.02), {}),
}


def sharded(group: Any, X: Any, y: Any, oracle: Any, **own: Any) -> ShardedProblem:
    """The ranks' shares are of different sizes."""
    cuts = [0, *np.cumsum(np.arange(1, group.size + 1)) * len(y) // sum(range(group.size + 1))]
    mine = slice(cuts[group.rank], cuts[group.rank + 1])
    return ShardedProblem(X[mine], y[mine], "logistic", oracle, group=group, **own)


def compared(given: tuple[Any, ...], sizes: tuple[int, ...], digits: float, **options: Any) -> Any:
    """The result of one process, which is that of so many ranks."""
    X, y, oracle, own = given
    problem = Problem(X, y, "logistic", oracle, **own)
    one = solve(problem, batch=5, seed=3, **options)
    assert one.success
    assert one.history[-1].phase == "corrective"

    def work(group: Any) -> tuple[Result, Any]:
        found = solve(sharded(group, X, y, oracle, **own), batch=5, seed=3, **options)
        return found, [found.beta.tolist(), *(row.gap for row in found.history)]

    for size in sizes:
        ranks = rehearse(size, work)
        assert all(said == ranks[0][1] for _, said in ranks)
        found = ranks[0][0]
        assert certify(problem, found.beta, found.w).gap <= (1 + 1e-9) * options["tol"]
        for name in ("iteration", "gradients", "oracle_calls"):
            assert found.history.column(name).tolist() == one.history.column(name).tolist()
        np.testing.assert_allclose(found.beta, one.beta, rtol=0, atol=digits)
        primal = one.history.column("primal")
        np.testing.assert_allclose(found.history.column("primal"), primal, rtol=1e-10)
    return one


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_are_those_of_one_process(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, oracle, own = KINDS[kind]
    if "products" in kind:
        monkeypatch.setattr(ball, "_small_matrix", lambda problem: None)
    X, y = data()
    compared((layout(X), y, oracle, own), (2, 3), 1e-7, tol=1e-5)


def test_columns_are_shared_where_they_are_smaller_than_their_gram_matrix() -> None:
    X, y = data(40, 120, filled=0.05)
    compared((sp.csr_array(X), y, L1Penalty(0.01), {}), (2,), 1e-7, tol=1e-9)
    compared((X, y, L1Penalty(0.01), {}), (2,), 1e-7, tol=1e-9)


@pytest.mark.parametrize("oracle", [L1Ball(3.0), L1Penalty(0.02), Ridge(0.05)], ids=repr)
def test_the_same_eighth_of_the_samples_is_solved_first(
    oracle: LinearMinOracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data(200)
    own = {"weights": np.linspace(0.5, 2.0, 200), "offset": np.linspace(-0.1, 0.1, 200)}
    asked = []
    wanted = Problem.thinned
    monkeypatch.setattr(Problem, "thinned", lambda *of: asked.append(of) or wanted(*of))
    monkeypatch.setattr(hull, "FEWEST_SAMPLES", 10)
    problem = Problem(X, y, "logistic", oracle, **own)
    one = solve(problem, batch=5, seed=3, tol=1e-9)
    assert asked

    def work(group: Any) -> Result:
        mine = slice(*block(group, 200))
        shares = {name: part[mine] for name, part in own.items()}
        given = ShardedProblem(X[mine], y[mine], "logistic", oracle, group=group, **shares)
        return solve(given, batch=5, seed=3, tol=1e-9)

    for size in (2, 7):  # the eighths begin at other rows of every rank
        found = rehearse(size, work)[0]
        for name in ("gradients", "oracle_calls"):
            assert getattr(found.history[-1], name) == getattr(one.history[-1], name)
        np.testing.assert_allclose(found.beta, one.beta, rtol=0, atol=1e-8)


def test_a_rank_without_a_row_of_the_eighth() -> None:
    X, y = data(30)
    cuts = [0, 2, 7, 30]  # rows 2 to 6 hold none of 0, 8, 16, 24

    def thinned(group: Any) -> Any:
        mine = slice(cuts[group.rank], cuts[group.rank + 1])
        problem = ShardedProblem(X[mine], y[mine], "logistic", L1Ball(1.0), group=group)
        fewer, found = problem.thinned(8), problem.thinned(3)
        labels = [] if found is None else found.y.tolist()
        return fewer, labels, found and found.mean(found.losses.y), found and found.n

    ranks = rehearse(3, thinned)
    assert [fewer for fewer, *_ in ranks] == [None] * 3
    assert [label for _, labels, *_ in ranks for label in labels] == y[::3].tolist()
    assert ranks[0][2:] == (y[::3].mean(), 10)


def test_only_rank_0_is_asked_for_atoms() -> None:
    X, y = data()

    def work(group: Any) -> tuple[str, int]:
        oracle = Own()
        found = solve(sharded(group, X, y, oracle), batch=5, tol=1e-9)
        return found.history[-1].phase, oracle.calls["best_atoms"]

    (phase, calls), other = rehearse(2, work)
    assert phase == other[0] == "corrective"
    assert calls > 0 == other[1]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("oracle", [L1Ball(9.0), Ridge(1e-3)], ids=repr)
def test_a_run_goes_on_bit_for_bit(layout: Any, oracle: LinearMinOracle, tmp_path: Any) -> None:
    X, y = data(300, 40)
    X, own = layout(X), {"intercept": 1.0}
    options = {"batch": 5, "seed": 3, "tol": 1e-12}

    def run(group: Any, file: Any = None, **budget: Any) -> Result:
        task = sharded(group, X, y, oracle, **own)
        return solve(task, **options, **budget, checkpoint=file, every=0)

    whole = rehearse(2, run)[0]
    rounds = [row for row in whole.history if row.phase == "corrective"]
    assert len(rounds) > 1
    limit = rounds[0].iteration
    file = tmp_path / "run"
    first = rehearse(2, lambda group: run(group, file, max_iterations=limit))[0]
    assert first.stop is StopReason.ITERATIONS
    assert first.history[-1].phase == "corrective"
    for size in (2, 3):
        copy = tmp_path / f"on {size}"
        copy.write_bytes(file.read_bytes())

        def go_on(group: Any, copy: Any = copy) -> Result:
            task = sharded(group, X, y, oracle, **own)
            return resume(copy, task, max_iterations=None)

        more = rehearse(size, go_on)[0]
        assert more.history[-1].gradients == whole.history[-1].gradients
        np.testing.assert_allclose(more.beta, whole.beta, rtol=0, atol=1e-9)
        if size == 2:
            assert (more.beta == whole.beta).all()
            assert (more.w == whole.w).all()


def test_ranks_may_end_within_a_round() -> None:
    """No rank asks the clock, together with the others, while it works alone."""
    X, y = data()

    def work(group: Any) -> Any:
        run = iterate(sharded(group, X, y, L1Ball(3.0)), batch=5, tol=1e-12)
        while not run.progress.under_way:
            next(run)
        before, run.interrupts.requested = run.progress.iteration, group.rank == 1
        last = next(run)
        return run.stop, last.iteration - before, last.certificate.gap

    ranks = rehearse(2, work)
    assert ranks[0] == ranks[1]
    assert ranks[0][:2] == (StopReason.INTERRUPTED, 0)


def test_a_rank_that_goes_elsewhere_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    inner, strays = ball.BallCorrection._direction, []

    def direction(self: Any, products: int) -> Any:
        step, multiplier = inner(self, products)
        return step * (1 + 1e-12 * (self.problem.group.rank in strays)), multiplier

    monkeypatch.setattr(ball.BallCorrection, "_direction", direction)

    def work(group: Any) -> float:
        return float(solve(sharded(group, X, y, Ridge(0.1)), batch=5, tol=1e-9).gap)

    assert max(rehearse(2, work)) <= 1e-9
    strays.append(1)
    with pytest.raises(SharedError, match="β of the round of corrections is not the same on all"):
        rehearse(2, work)


def test_layouts_do_not_mix() -> None:
    X, y = data()

    def work(group: Any) -> Any:
        return sharded(group, X if group.rank else sp.csr_array(X), y, L1Ball(3.0))

    with pytest.raises(SharedError, match=r"layout of X of the problem is not the same on all"):
        rehearse(2, work)
