"""Tables and JSON: aligned, with verdicts that are true at the limit, and with their settings."""

import json
import math
from argparse import Namespace
from fractions import Fraction

import numpy as np
import pytest

from rcmd.reporting.tables import Section, Target, about_command, as_json, folded, nanoseconds


def test_sections_align_and_wrap():
    section = Section("x", "Title", ("name", "time"), notes=["why " * 40])
    section.add(["a", "1"], a=1)
    section.add(["longer", "12.5"], a=2)
    lines = section.text().splitlines()
    assert lines[2:5] == ["name    time", "a          1", "longer  12.5"]
    assert max(map(len, lines)) <= 80
    assert nanoseconds(999.4) == "999 ns"


@pytest.mark.parametrize("at_least", [False, True])
def test_a_target_is_met_up_to_its_limit_and_not_beyond(at_least):
    target, side = Target(2.0, at_least), "at_least" if at_least else "at_most"
    better, worse = (2.02, 1.98) if at_least else (1.98, 2.02)
    for value, met in ((2.0, True), (better, True), (worse, False), (math.nan, False)):
        assert target.met(value) is met
        assert target.shown(value).endswith("met" if met else "MISSED")
    assert Target(12).shown(12.04) == "≤ 12 MISSED: 12.04"
    assert Target(12, at_least=True).shown(11.9999) == "≥ 12 MISSED: 11.9999"
    assert target.as_dict(better) == {side: 2.0, "value": better, "met": True}


def test_a_report_says_with_which_seed_and_options_it_was_made():
    made = about_command(Namespace(run=print, seed=7, tol=0.5), rows=3)
    assert (made["seed"], made["settings"]) == (7, {"tol": 0.5, "rows": 3})


def test_json_has_plain_numbers_and_null_for_what_is_none():
    kinds = [np.float32(0.5), np.int64(2), np.bool_(True), Fraction(1, 4)]
    data = {"kinds": kinds, "none": np.array([math.nan, math.inf, -math.inf]), 3: ("β", None)}
    read = json.loads(as_json(data), parse_constant=pytest.fail)
    assert read == {"kinds": [0.5, 2, True, 0.25], "none": [None] * 3, "3": ["β", None]}


def test_rows_of_tables_are_not_broken_and_sentences_are() -> None:
    row = "  ".join(["a number"] * 12)
    assert folded(row) == row
    sentence = " ".join(["words"] * 30)
    lines = folded(sentence).splitlines()
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines).split()) == sentence
