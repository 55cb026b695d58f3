"""The recorded bugs still fit the code that they are planted in."""

import pytest
from mutation.__main__ import ROOT, Bug, recorded


def test_every_bug_can_be_planted():
    bugs = recorded([])
    assert len(bugs) >= 150
    assert len({(bug.file, bug.old, bug.new) for bug in bugs}) == len(bugs)
    for bug in bugs:
        bug.planted((ROOT / bug.file).read_text())
        assert all((ROOT / path).exists() for path in bug.covering), bug.name


@pytest.mark.parametrize("old", ["not there", "a", "ab"])
def test_a_text_that_does_not_stand_once_or_does_not_change_is_refused(old):
    with pytest.raises(SystemExit, match="a name: its old text stands"):
        Bug("a name", "a file", old, "ab").planted("ab, and an ac")
