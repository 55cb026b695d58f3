"""The guide's tables of faults and of bad inputs: tests that exist, messages to the letter."""

import ast
import csv
import re
import shlex
from doctest import DocTestParser
from functools import cache
from pathlib import Path

import pytest

import rcmd
from rcmd.cli.main import main

GUIDE = Path(rcmd.__file__).parent / "docs" / "guide"
PAGE = (GUIDE / "faults.rst").read_text(encoding="utf-8")


def table(name):
    """The rows of a table that the page shows."""
    assert f"\n   :file: {name}\n" in PAGE
    return list(csv.reader((GUIDE / name).read_text(encoding="utf-8").splitlines(), strict=True))


def literal(cell):
    """What stands between the double backquotes, which keep it from being set as prose."""
    whole = re.fullmatch("``(.+)``", cell)
    assert whole, cell
    return whole[1]


FAULTS = table("faults.csv")
BAD_INPUTS = [(literal(call), literal(told)) for call, told in table("bad_inputs.csv")]


@cache
def functions(file):
    """The functions of a file of tests, which is read and not imported."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def places(rows):
    """The file and the function that each row names in its last cell."""
    return [tuple(map(literal, row[2].split())) for row in rows]


def missing(rows):
    """Tests that the rows name and nobody wrote."""
    found = {file.name: file for file in Path(__file__).parents[1].glob("*/test_*.py")}
    return [
        (file, name)
        for file, name in places(rows)
        if file not in found or name not in functions(found[file])
    ]


def test_every_fault_has_its_test():
    assert len(FAULTS) >= 18
    assert missing(FAULTS) == []
    for row in FAULTS:
        assert len(row) == 3
        assert row[1].endswith(".")


def test_tests_that_do_not_exist_are_missed():
    mine = Path(__file__).name
    planted = [(mine, "missing"), (mine, "test_none"), ("test_none.py", "missing")]
    rows = [["", "", f"``{file}`` ``{name}``"] for file, name in planted]
    assert missing(rows) == planted[1:]


def test_rows_do_not_repeat_each_other():
    assert len(BAD_INPUTS) >= 70
    for cells in ([call for call, _ in BAD_INPUTS], places(FAULTS)):
        assert len(set(cells)) == len(cells)


@pytest.fixture(scope="module")
def names():
    """The names of the page's code."""
    given = {}
    for example in DocTestParser().get_examples(PAGE):
        if example.want:
            break
        exec(example.source, given)
    return given


@pytest.mark.parametrize(("call", "told"), BAD_INPUTS, ids=[call for call, _ in BAD_INPUTS])
def test_bad_input_is_told_to_the_letter(call, told, names, capsys, tmp_path, monkeypatch):
    """A command is also refused with status 2."""
    monkeypatch.chdir(tmp_path)
    if call.startswith("rcmd "):
        try:
            status = main(shlex.split(call)[1:])
        except SystemExit as ending:  # as argparse leaves
            status = ending.code
        assert status == 2
        assert capsys.readouterr() == ("", f"{told}\n")
        return
    fault = "it is not refused"
    try:
        eval(call, names)
    except (TypeError, ValueError) as raised:
        fault = str(raised)
    assert fault == told
