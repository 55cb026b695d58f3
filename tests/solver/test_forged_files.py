"""Results and checkpoints that are whole, and lie: each is refused, or shown as it is."""

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcmd import RCMD, FileError, Problem, certify, load_result, resume, solve
from rcmd.cli.main import main
from rcmd.datasets import open_rows, read_libsvm
from rcmd.methods import method_named
from rcmd.solver.checkpoint.file import TREE, read_file, write_file
from rcmd.solver.saved_results import FORMAT

LIES = (None, True, -1, 10**30, 0.5, "x", [], {"dict": {}}, {"array": 99}, {"fraction": "1e9"})


def problem() -> Problem:
    random = np.random.default_rng(0)
    X = random.normal(size=(8, 3))
    return Problem(X, X[:, 0] + 0.1 * random.normal(size=8), "least-squares", "l1:5")


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a tree of lists and dictionaries."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    inside = [(*path, key) for key, _ in inner]
    deeper = [
        found
        for key in inside
        if isinstance(tree[key[-1]], dict | list)
        for found in places(tree[key[-1]], key)
    ]
    return inside + deeper


def forged(whole: bytes, share: float = 1.0) -> Any:
    """The file with one value replaced by each lie, and with one array cut, stretched, retyped.

    Only some of these files, a random ``share``.
    """
    rng = random.Random(0)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    kind, version, tree = json.loads(members[TREE])
    for path in places(tree):
        for lie in LIES:
            if rng.random() >= share:
                continue
            copy = json.loads(json.dumps(tree))
            node = copy
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = lie
            yield zipped({**members, TREE: json.dumps([kind, version, copy]).encode()})
    for name in members.keys() - {TREE}:
        array = np.load(io.BytesIO(members[name]))
        for other in (array[:-1], np.append(array, array), np.full(array.shape, 2**40)):
            stream = io.BytesIO()
            np.save(stream, other)
            yield zipped({**members, name: stream.getvalue()})


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(members, key=lambda name: name != TREE):
            archive.writestr(name, members[name])
    return stream.getvalue()


def test_a_forged_result(tmp_path: Path) -> None:
    file = tmp_path / "run.rcmd"
    solve(problem(), tol=1e-3).save(file)
    refused = 0
    for lie in forged(file.read_bytes()):
        file.write_bytes(lie)
        try:
            result = load_result(file)
        except FileError:
            refused += 1
        else:
            assert result.gap >= 0
            assert result.message
            assert result._repr_html_()
    assert refused > 50


@pytest.mark.parametrize("method", ["rcmd", "corrected", "svrf", "away"])
def test_a_forged_checkpoint(tmp_path: Path, method: str) -> None:
    """Refused before a step: state arrays go to compiled code, which looks at nothing."""
    file = tmp_path / "run.ckpt"
    task = problem()
    solve(task, tol=0.0, max_iterations=20, method=method, checkpoint=file)
    refused = 0
    for lie in forged(file.read_bytes(), share=0.02):
        file.write_bytes(lie)
        try:
            result = resume(file, task, max_iterations=25, max_seconds=60)
        except FileError:
            refused += 1
        else:
            assert result.gap >= 0
    assert refused > 15


def test_a_gap_is_not_believed(tmp_path: Path) -> None:
    """A checkpoint says that its tolerance was reached; the pair in it says otherwise."""
    file, task = tmp_path / "run.ckpt", problem()
    solve(task, tol=0.0, max_iterations=5, method="rcmd", checkpoint=file)
    held = read_file(file)
    gap = float(sum(held["run"]["best"]["gaps"]))
    held["run"]["best"]["gaps"] = [0.99 * gap, 0.0]
    held["run"]["history"]["gap"][-1] = 0.99 * gap
    write_file(file, held | {"ended": True})
    again = resume(file, task, tol=0.995 * gap, max_iterations=100_000)
    assert again.gap <= 0.995 * gap
    assert again.gap == pytest.approx(certify(task, again.beta, again.w).gap, rel=1e-9)


@pytest.mark.parametrize("name", ["step", "record_due", "even_steps", "problem"])
def test_a_state_has_no_more_than_the_run_keeps(name: str) -> None:
    run = method_named("svrf").start(problem(), None, np.random.default_rng(0))
    with pytest.raises(ValueError, match=f"^{name} is missing, or is nothing that changes"):
        run.load_state(run.state() | {name: True})


STATES = {
    "another length": lambda array: array[:-1],
    "another shape": lambda array: array[:, None],
    "whole numbers": lambda array: array.astype(int),
    "not finite": lambda array: np.full_like(array, np.nan),
    "none": lambda array: None,
}


@pytest.mark.parametrize("lie", STATES)
def test_arrays_of_a_state_are_what_a_new_run_has_there(lie: str) -> None:
    engine, other = (RCMD().start(problem(), 1, np.random.default_rng(0)) for _ in range(2))
    state = engine.state()
    other.load_state(state)
    state["_loop"]["d"] = STATES[lie](state["_loop"]["d"])
    with pytest.raises(ValueError, match=r"^d "):
        other.load_state(state)


def test_what_a_file_says_does_not_rule_the_terminal(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "run.rcmd"
    solve(problem(), tol=1e-3).save(file)
    held = read_file(file, FORMAT)
    red = "\x1b[31m\x07<script>"
    about = held["about"] | {"loss": red, "constants": (("M", red, 1.0),)}
    for lie in ({"note": red}, {"versions": {red: red}}, {"about": about}, {"options": {red: red}}):
        write_file(file, held | lie, FORMAT)
        assert main(["show", str(file)]) == 0
        told = capsys.readouterr().out
        assert "\\x1b[31m\\x07" in told
        assert not {"\x1b", "\x07"} & set(told)
        assert "<script>" not in load_result(file)._repr_html_()
    for versions in (None, 3, [1, 2]):
        write_file(file, held | {"versions": versions}, FORMAT)
        assert main(["show", str(file)]) == 2
    write_file(file, held | {"beta": np.array(1.0)}, FORMAT)
    assert main(["show", str(file)]) == 2


NAMES = ("a\0b", "x" * 300, "absent/x", "red\x1b[31m")


@pytest.mark.parametrize("name", NAMES, ids=["NUL", "long", "no folder", "control"])
def test_what_is_no_file_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    readers = (load_result, lambda path: resume(path, problem()), open_rows, read_libsvm)
    for read in readers:
        with pytest.raises(FileError) as refused:
            read(file)
        assert not {"\0", "\x1b"} & set(str(refused.value))


def test_a_result_that_cannot_be_written_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*at: object) -> None:
        raise OSError(28, "No space left on device")

    result = solve(problem(), tol=1e-3)
    monkeypatch.setattr("rcmd.solver.saved_results.write_file", full)
    with pytest.raises(OSError, match="cannot be written, No space left on device; expected"):
        result.save(tmp_path / "run.rcmd")
    for name in NAMES[:2]:
        with pytest.raises(ValueError, match=r"is no name of a file \(.*\); expected a short one"):
            result.save(tmp_path / name)
        with pytest.raises(OSError, match=r"cannot be written, .*; expected a name in an existing"):
            solve(problem(), checkpoint=tmp_path / name)
