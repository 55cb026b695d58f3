"""What commands refuse: one sentence on stderr, status 2, before any work and without a file.

``test_validation`` has bad arguments, ``test_datasets`` more bad lines of files, and the guide's
``bad_inputs.csv`` more commands.
"""

import shlex

import numpy as np
import pytest

from rcmd.cli import demo, replicate
from rcmd.cli.main import main
from rcmd.lab import racing
from rcmd.lab.bench import oracles, peers
from rcmd.solver.run import Run

NO_FOLDER = "is in a folder that does not exist"
ENTRIES, CUR = "solve ratings --rows entries --oracle", "solve ratings --rows cur --oracle"
REFUSED = {
    "": "required: COMMAND",
    "slove": "invalid choice: 'slove'",
    "solve a b": "unrecognized arguments: b; see rcmd solve --help",
    "solve --\x1bx": r"unrecognized arguments: --\x1bx",
    "solve none.svm": "none.svm cannot be read: there is no such file",
    "solve a9b": "a9b cannot be read: there is no such file here, and a9b (plain, .bz2",
    "compare --max-seconds nan": "--max-seconds: it is nan; expected a number above 0",
    "solve FILE --oracle hull:none.npy": "VERTICES of oracle 'hull:none.npy': none.npy cannot be r",
    "solve ratings --rows cur": "--rows cur is given without --oracle; expected cur:SH",
    f"{ENTRIES} l1:5": "oracle L1Ball(radius=5.0) is for",
    f"{ENTRIES} nuclear:auto:5 --held-out 1.5": "--held-out is 1.5; expected a share between 0 and "
    "1 that leaves some of the 80 entries",
    f"{ENTRIES} nuclear:5x9:1": "rows of MatrixEntries runs from 0 to 8; expected 0 to 4",
    "solve --keep 2x2": "--keep has no meaning with --rows libsvm",
    f"{CUR} cur:auto:1 --keep 4x1": "--keep is '4x1'; expected 1x1 to 3x80",
    f"{CUR} cur:auto:1 --keep two": "--keep is 'two'; expected columns x rows, such as 3x2",
    f"{CUR} cur:80x3:1": "oracle 'cur:80x3:1' does not fit --rows cur and a matrix of 80 × 3; "
    "expected cur:3x80:R",
    f"{CUR} nuclear:auto:1": "oracle 'nuclear:auto:1' does not fit --rows cur",
    "solve --json no/a.json": f"'no/a.json' {NO_FOLDER}; create",
    "solve --json .": "'.' is a folder; expected the name of a file to write",
    "solve --plot no/a.png": f"'no/a.png' {NO_FOLDER}",
    "compare --plot a.jpeg2": "figure 'a.jpeg2' has no known ending; expected .png, .pdf, .svg",
    "solve --save no/a.rcmd": f"'no/a.rcmd' {NO_FOLDER}",
    "path --radii 0:2:3": "positive numbers",
    "path --radii 1,x": "values '1,x' cannot be read",
    "path --radii 1:2:0": "cannot be read",
    "path --radii 1 --oracle lp:1.5": "has 1 parameter(s); expected lp:RADIUS:ORDER",
    "path --radii 1 --oracle box:-1:1": "parameter is 'radius', which Box(",
    "compare --passes 0": "--passes: it is 0; expected a number above 0",
    "compare --passes inf": "passes is inf; expected a number above 0",
    "compare --seeds 0": "--seeds: it is 0; expected a number above 0",
    "reproduce --only mushroom": "--only: invalid choice: 'mushroom' (choose from",
    "reproduce --jobs -1": "--jobs: it is -1; expected a number above 0",
    "bench oracles --p 99": "p is 99; expected at least 100 variables",
    "bench oracles --calls 24": "calls is 24; expected at least 25, one for each turn",
    "bench peers --problem a9a iris": "rcmd: problem is 'iris'; expected some of a9a:5, ",
    "fuzz --seconds 0": "--seconds: it is 0; expected a number above 0",
    "fuzz --seconds nan": "--seconds: it is nan; expected a number above 0",
    "fuzz --seed -1": "seed is -1; expected a whole number ≥ 0",
    "demo equivalance": "NAME: invalid choice: 'equivalance' (choose from",
    "demo mini-batch --out none/a.html": f"{NO_FOLDER}; create",
    "demo --out a.html": "--out is 'a.html' while no page is named; expected rcmd demo NAME",
}
FILES = {
    b"": "holds no rows; expected lines 'label index:value",
    b"+1 1:1\nhello 1:2\n": "line 2: found 'hello'; expected a finite number as the label",
    b"1 1:1\n2 1:1\n3 1:2\n": "3 distinct values (1, 2, 3)",
    b"\x1f\x8b\x08\x00\x00": "cannot be read",
}
GOOD = "+1 1:1 2:2\n-1 1:3 2:-1\n+1 1:0.5\n"


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Whether a command line is refused in these words, in a folder with some files."""
    (tmp_path / "FILE").write_text(GOOD)
    np.savetxt(tmp_path / "ratings", np.c_[*np.divmod(np.arange(80), 9), np.ones(80)], fmt="%d")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RCMD_DATA", str(tmp_path))

    def work(*arguments, **options):
        raise AssertionError("work was done")

    for owner, name in (
        (Run, "finish"), (racing.Entrant, "solve"), (oracles, "race"), (peers, "compete"),
        (demo, "write_page"), (demo.webbrowser, "open"), (replicate, "sweep"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, work)

    def refused(line, words):
        there = sorted(tmp_path.iterdir())
        try:
            status = main(shlex.split(line))
        except SystemExit as ending:  # as argparse leaves
            status = ending.code
        out, told = capsys.readouterr()
        assert (status, out, told.count("\n")) == (2, "", 1), told
        assert told.startswith("rcmd: ")
        assert words in told
        assert sorted(tmp_path.iterdir()) == there

    return refused


@pytest.mark.parametrize("line", REFUSED)
def test_bad_commands(line, check):
    check(line, REFUSED[line])


@pytest.mark.parametrize("content", FILES, ids=FILES.values())
def test_broken_files(content, check, tmp_path):
    (tmp_path / "data").write_bytes(content)
    check("solve data", FILES[content])


@pytest.mark.parametrize("line", ["solve FILE", "path FILE --radii 1", "demo mini-batch", "list"])
def test_good_commands_are_not_refused(line, check):
    with pytest.raises(AssertionError):
        check(line, "")
