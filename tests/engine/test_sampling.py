"""Batches: uniform by enumeration, independent of slicing, nothing carried over."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rcmd.engine.kernels.batch import fill_compiled
from rcmd.engine.sampling import Replay, UniformSampler, fill_with_subsets

SIZES = [(1, 1), (2, 1), (3, 2), (4, 2), (4, 4), (5, 3)]


def cells(n: int, batch: int) -> np.ndarray:
    """The midpoints of all n(n−1)…(n−b+1) equally likely cells of the uniforms."""
    sizes = range(n - batch + 1, n + 1)
    return np.array(list(itertools.product(*([(k + 0.5) / m for k in range(m)] for m in sizes))))


def check_uniform(fill: Callable[[Any, Any, Any], None], n: int, batch: int) -> None:
    uniforms = cells(n, batch)
    taken = np.zeros(n, dtype=bool)
    batches = np.empty(uniforms.shape, dtype=np.int64)
    fill(uniforms, taken, batches)
    seen = Counter(frozenset(row) for row in batches.tolist())
    subsets = map(frozenset, itertools.combinations(range(n), batch))
    assert seen == dict.fromkeys(subsets, math.factorial(batch))
    assert not taken.any()


@pytest.mark.parametrize("fill", [fill_with_subsets, fill_compiled])
@pytest.mark.parametrize(("n", "batch"), SIZES)
def test_every_batch_is_equally_likely(fill: Any, n: int, batch: int) -> None:
    check_uniform(fill, n, batch)


def test_compiled_and_plain_batches_are_the_same() -> None:
    plain, compiled = (UniformSampler(97, 9, np.random.default_rng(5)) for _ in range(2))
    compiled.fill = fill_compiled
    np.testing.assert_array_equal(plain.draw(200), compiled.draw(200))


@pytest.mark.parametrize(("n", "batch"), [*SIZES, (100, 7), (100, 100)])
def test_slicing_does_not_matter(n: int, batch: int) -> None:
    whole = UniformSampler(n, batch, np.random.default_rng(7))
    sliced = UniformSampler(n, batch, np.random.default_rng(7))
    parts = [sliced.draw(3), sliced.draw(0), sliced.draw(5)]
    together = whole.draw(8)
    np.testing.assert_array_equal(np.concatenate(parts), together)
    assert together.shape == (8, batch)
    assert together.dtype == np.int64
    assert all(len(set(row)) == batch for row in together.tolist())
    assert together.min() >= 0
    assert together.max() < n
    assert not whole._taken.any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: UniformSampler(9, 4, np.random.default_rng(3)),
        lambda: UniformSampler(9, 1, np.random.default_rng(3)),
        lambda: Replay([[k, k + 1] for k in range(9)]),
    ],
)
def test_a_saved_sampler_goes_on(make: Any) -> None:
    sampler, fresh = make(), make()
    sampler.draw(3)
    fresh.load_state(sampler.state())
    np.testing.assert_array_equal(fresh.draw(5), sampler.draw(5))


def test_other_seed_other_batches() -> None:
    draws = [UniformSampler(50, 5, np.random.default_rng(seed)).draw(4) for seed in (0, 1)]
    assert not np.array_equal(*draws)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 100, 2**17 + 1])
@pytest.mark.parametrize("u", [0.0, math.nextafter(1.0, 0.0)])
def test_extreme_uniforms_stay_in_range(n: int, u: float) -> None:
    batch = min(n, 4)
    batches = np.empty((1, batch), dtype=np.int64)
    fill_with_subsets(np.full((1, batch), u), np.zeros(n, dtype=bool), batches)
    assert len(set(batches[0].tolist())) == batch
    assert batches[0, 0] == (0 if u == 0 else n - batch)
    assert batches.max() < n


def test_replay() -> None:
    replay = Replay([(0, 1), (2, 0), (1, 2)])
    assert replay.batch == 2
    assert replay.draw(1).tolist() == [[0, 1]]
    assert replay.draw(2).tolist() == [[2, 0], [1, 2]]
    with pytest.raises(ValueError, match="has 3 batches, of which 3 are used; expected at least 1"):
        replay.draw(1)


def test_replay_refuses_before_it_moves_on() -> None:
    replay = Replay([[4], [3]])
    with pytest.raises(ValueError, match="expected at least 3 more"):
        replay.draw(3)
    assert replay.draw(2).tolist() == [[4], [3]]


@pytest.mark.parametrize("batches", [[], [[]], [[0, 1], [2]], [[1, 1]]])
def test_replay_refuses_what_is_no_sequence_of_batches(batches: Any) -> None:
    with pytest.raises(ValueError, match="Replay"):
        Replay(batches)


@pytest.mark.parametrize("row", [-1, 0.7, "a"])
def test_replay_refuses_what_is_no_row(row: Any) -> None:
    with pytest.raises(ValueError, match="not a row number"):
        Replay([[row]])
