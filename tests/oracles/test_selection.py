"""The k largest entries, by bisection and where that finds no level by selection."""

import numpy as np
import pytest

from rcmd.oracles import vectors


def chosen(c, both_signs, count):
    indices, keys = np.full(len(c), -1), np.full(len(c), np.nan)
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
