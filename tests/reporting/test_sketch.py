"""Points are where their logarithms put them, and what cannot be drawn is left out."""

import math

import pytest

from rcmd.reporting.sketch import HEIGHT, WIDTH, sketch


def canvas(text):
    return [line.partition("│")[2].ljust(WIDTH) for line in text.splitlines()[:HEIGHT]]


def test_points_lie_on_a_grid_of_logarithms():
    x, y = [1.0, 10.0, 1000.0], [1.0, 1e-3, 1e-9]
    drawn = canvas(sketch("passes", x, {"* gap": y}))
    found = {(i, line.index("*")) for i, line in enumerate(drawn) if "*" in line}
    assert found == {(0, 0), (round((HEIGHT - 1) / 3), (WIDTH - 1) // 3), (HEIGHT - 1, WIDTH - 1)}


def test_the_later_curve_shows_and_names_are_below():
    text = sketch("passes", [1, 2], {"- bound": [2.0, 1.0], "* gap": [1.0, 1.0]})
    drawn = canvas(text)
    assert (drawn[0].strip(), drawn[-1].replace(" ", "")) == ("-", "**")
    assert text.splitlines()[-1].split("   ")[-2:] == ["- bound", "* gap"]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_what_has_no_logarithm_is_left_out(bad):
    good = sketch("passes", [1, 3], {"* gap": [1.0, 0.5]})
    assert sketch("passes", [1, 2, 3], {"- none": [bad] * 3, "* gap": [1.0, bad, 0.5]}) == good
    assert sketch("passes", [1, 2], {"* gap": [1.0, bad]}) == ""
    assert sketch("passes", [bad, bad], {"* gap": [1.0, 2.0]}) == ""
