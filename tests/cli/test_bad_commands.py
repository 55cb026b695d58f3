"""Bad files and bad command lines: one sentence on stderr, and status 2.

``test_validation`` has bad arguments, ``test_datasets`` more bad lines of files, and the guide's
``bad_inputs.csv`` more commands.
"""

from pathlib import Path
from typing import Any

import pytest

from rcmd.cli.main import main

SEED = "expected a whole number ≥ 0, or a numpy.random.Generator"
GOOD = b"+1 1:1 2:2\n-1 1:3 2:-1\n+1 1:0.5\n"
FILES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("holds no rows", "expected lines 'label index:value")),
    "a word for a label": (b"+1 1:1\nhello 1:2\n", ("line 2", "'hello'", "as the label")),
    "an infinite label": (b"inf 1:1\n", ("line 1", "'inf'", "a finite number as the label")),
    "binary": (bytes(range(256)), ("line 1", "expected text, but this is binary")),
    "three classes": (b"1 1:1\n2 1:1\n3 1:2\n", ("3 distinct values (1, 2, 3)", "two classes")),
    "a torn bz2": (b"BZh91AY&SY\x00\x01", ("cannot be read",)),
    "a torn gz": (b"\x1f\x8b\x08\x00\x00", ("cannot be read",)),
}
COMMANDS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no command": ([], ("required: COMMAND",)),
    "unknown command": (["slove"], ("invalid choice: 'slove'", "solve")),
    "two files": (["solve", "a", "b"], ("unrecognized arguments: b; see rcmd solve --help",)),
    "no such file": (["solve", "none.svm"], ("none.svm cannot be read", "no such file")),
    "refused loss": (["solve", "FILE", "--loss", "poisson"], ("Poisson loss is refused",)),
    "unknown option": (
        ["solve", "FILE", "--tolerance", "1"],
        ("unrecognized arguments: --tolerance 1; did you mean --tol?; see rcmd solve --help",),
    ),
    "misspelt option": (["solve", "--orcale", "l1:5"], ("--orcale", "did you mean --oracle?")),
    "option of nobody": (["path", "--radii", "1", "--zzz"], ("--zzz; see rcmd path --help",)),
    "no loss": (["solve", "FILE", "--loss", ""], ("argument --loss: it is empty",)),
    "no batch": (["solve", "FILE", "--batch", ""], ("argument --batch: it is empty",)),
    "batch 0%": (["solve", "FILE", "--batch", "0%"], ("batch '0%' is not a share", "100%")),
    "no gradients": (
        ["path", "--radii", "1", "--max-gradients", "-1"],
        ("argument --max-gradients: -1 allows no step",),
    ),
    "seconds NaN": (["compare", "--max-seconds", "nan"], ("--max-seconds: nan allows no step",)),
    "seconds a word": (["resume", "F", "--max-seconds", "x"], ("invalid float value: 'x'",)),
    "seeds from -1": (["replicate", "--seed", "-1"], ("seed is -1", SEED)),
    "no vertices": (
        ["solve", "FILE", "--oracle", "hull:none.npy"],
        ("VERTICES of oracle", "none.npy cannot be read"),
    ),
}


def refused(arguments: list[str], words: tuple[str, ...], capsys: Any) -> None:
    try:
        status = main(arguments)
    except SystemExit as ending:  # as argparse leaves
        status = ending.code  # type: ignore[assignment]
    told = capsys.readouterr().err
    assert status == 2, told
    assert told.startswith("rcmd: ")
    assert told.count("\n") == 1, told
    missing = [word for word in words if word not in told]
    assert not missing, f"{missing} not in {told!r}"


@pytest.mark.parametrize("name", FILES)
def test_broken_files(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, words = FILES[name]
    (tmp_path / "data").write_bytes(content)
    refused(["solve", str(tmp_path / "data")], (*words,), capsys)


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_commands(
    name: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_bytes(GOOD)
    refused(*COMMANDS[name], capsys)


def test_the_check_of_commands_fails_on_good_ones(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "data").write_bytes(GOOD)
    with pytest.raises(AssertionError):
        refused(["solve", str(tmp_path / "data")], (), capsys)
