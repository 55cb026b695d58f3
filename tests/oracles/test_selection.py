"""The k largest entries, by bisection and where that finds no level by selection."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from rcmd.oracles import vectors


def chosen(c, both_signs, count, earlier=()):
    indices, keys = np.full(len(c), -1), np.full(len(c), np.nan)
    indices[: len(earlier)] = earlier
    found = vectors.write_largest(c, both_signs, count, indices, keys)
    return indices[:found].tolist()


@pytest.mark.parametrize("both_signs", [True, False])
@pytest.mark.parametrize("spread", [0, 1, 40, 600])
def test_places_are_those_of_numpy_s_selection(both_signs, spread):
    rng = np.random.default_rng(spread)
    for p in (1, 2, 7, 30):
        c = rng.standard_normal(p) * 2.0 ** rng.integers(-spread, spread + 1, p)
        ties = np.round(2 * rng.standard_normal(p))
        for vector in (c, ties, 0 * c, c.mean() + 1e-15 * c):
            keys = abs(vector) if both_signs else -vector
            for count in range(1, p + 2):
                expected = vectors.largest(keys, count).tolist()
                assert chosen(vector, both_signs, count) == expected


def test_a_selection_is_asked_only_where_keys_are_close(monkeypatch):
    asked = []
    monkeypatch.setattr(vectors, "put_last", lambda keys, count: asked.append(count) or keys.sort())
    c = np.random.default_rng(0).standard_normal(200)
    assert chosen(c, True, 10) == vectors.largest(abs(c), 10).tolist()
    assert asked == []
    assert chosen(np.ones(5), True, 2) == [0, 1]
    assert asked == [2]


@pytest.mark.parametrize("both_signs", [True, False])
def test_whatever_the_indices_held_before_the_places_are_the_same(both_signs):
    costs = ([3.0, -1.0, 2.0, -2.0], [1.0, 1.0, -1.0, 0.0], [0.0] * 4)
    for c in map(np.array, costs):
        keys = abs(c) if both_signs else -c
        for count in range(1, 5):
            for earlier in combinations_with_replacement((-(2**63), 0, 1, 2, 3, 4, 2**62), count):
                for order in (earlier, earlier[::-1]):
                    found = chosen(c, both_signs, count, order)
                    assert found == vectors.largest(keys, count).tolist()


def test_only_what_reaches_the_places_of_before_is_searched(monkeypatch):
    searched = []
    monkeypatch.setattr(vectors, "BISECTIONS", 0)
    monkeypatch.setattr(
        vectors, "put_last", lambda keys, count: searched.append(len(keys)) or keys.sort()
    )
    c = np.random.default_rng(0).standard_normal(200)
    best = vectors.largest(abs(c), 12)
    order = best[np.argsort(-abs(c[best]))]
    assert chosen(c, True, 10, np.sort(order[:10])) == np.sort(order[:10]).tolist()
    assert searched == []
    assert chosen(c, True, 10, np.sort(order[2:])) == np.sort(order[:10]).tolist()
    assert searched == [12]
