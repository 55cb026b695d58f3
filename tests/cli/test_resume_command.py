"""``rcmd solve --checkpoint`` and ``rcmd resume``."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guards import some
from small_problems import as_text

from rcmd import L1Ball, LeastSquares, Problem, solve
from rcmd.cli.main import main
from rcmd.datasets import make_classification
from rcmd.solver.checkpoint.file import read_file, write_file


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    X, y = make_classification(n=80, p=6, rng=np.random.default_rng(0))
    path = tmp_path / "samples.txt"
    path.write_bytes(as_text(X, y))
    return path


def told(tmp_path: Path, *words: Any) -> tuple[int, dict[str, Any]]:
    """The exit status, and what the command writes as JSON, without what differs in every run."""
    file = tmp_path / "told.json"
    status = main([*map(str, words), "--json", str(file)])
    return status, json.loads(file.read_text())


def check_refused(capsys: Any, told: str, *words: Any) -> None:
    assert main(list(map(str, words))) == 2
    assert told in capsys.readouterr().err


def gaps(report: dict[str, Any]) -> list[Any]:
    return [{k: str(v) for k, v in row.items() if k != "seconds"} for row in report["history"]]


@pytest.mark.parametrize("words", [["--oracle", "l1:3"], ["--oracle", "ridge:0.01"], []])
def test_resumed_is_as_in_one_go(samples: Path, tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "run.ckpt"
    file = [str(samples)] if words else ["--method", "corrected"]
    _, whole = told(tmp_path, "solve", *file, *words, "--tol", "1e-9")
    short = ["--max-seconds", "1e-9", "--checkpoint", path]
    status, first = told(tmp_path, "solve", *file, *words, "--tol", "1e-9", *short)
    assert status == 1
    again = [path, "--max-seconds", 1e9]
    status, step = told(tmp_path, "resume", *again, "--max-iterations", "1")
    assert (status, step["iterations"]) == (1, 1)
    status, more = told(tmp_path, "resume", *again, "--max-iterations", "1000000")
    assert status == 0
    assert gaps(more) == gaps(whole) != gaps(first)


def test_resumed_as_it_was(samples: Path, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.ckpt"
    words = ["solve", str(samples), "--tol", "1e-3", "--checkpoint", str(path)]
    assert main(words) == 0
    first = capsys.readouterr().out.splitlines()
    assert main(["resume", str(path)]) == 0
    again = capsys.readouterr().out.splitlines()
    assert again[-3:] == first[-3:]
    check_refused(capsys, "rcmd resume FILE", *words)


def test_matrices_are_resumed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    entries = tmp_path / "entries.txt"
    lines = [
        f"{i} {j} {rng.normal():.3f}" for i in range(8) for j in range(6) if rng.random() < 0.7
    ]
    entries.write_text("\n".join(lines) + "\n")
    words = ["solve", entries, "--rows", "entries", "--oracle", "nuclear:auto:5"]
    words += ["--held-out", "0.2", "--tol", "1e-5"]
    path = tmp_path / "run.ckpt"
    _, whole = told(tmp_path, *words, "--max-gradients", 20000)
    told(tmp_path, *words, "--checkpoint", path, "--max-gradients", 700)
    _, more = told(tmp_path, "resume", path, "--max-gradients", 20000)
    assert gaps(more) == gaps(whole)
    assert more["said"] == whole["said"]


def test_changed_and_missing_data(samples: Path, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.ckpt"
    main(["solve", str(samples), "--checkpoint", str(path)])
    kept = samples.read_text()
    samples.write_text(kept.replace("\n1.0 ", "\n-1.0 ", 1))
    before = path.read_bytes()
    check_refused(capsys, "run.ckpt: y differs; expected the same data", "resume", path)
    samples.unlink()
    check_refused(capsys, "samples.txt, the data of", "resume", path)
    assert path.read_bytes() == before
    samples.write_text(kept)
    assert main(["resume", str(path)]) == 0


def test_files_that_are_no_checkpoint_of_the_command(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.ckpt"
    path.write_text("something else")
    check_refused(capsys, "is not a checkpoint of rcmd", "resume", path)
    path.unlink()
    solve(Problem([[1.0]], [1.0], LeastSquares(), L1Ball(1.0)), checkpoint=path)
    check_refused(capsys, "was not written by `rcmd solve`", "resume", path)
    nowhere = ["solve", "--checkpoint", tmp_path / "no" / "run.ckpt"]
    check_refused(capsys, "expected a name in an existing folder", *nowhere)


def test_a_signal_ends_the_command_with_its_report_and_a_checkpoint(
    samples: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.ckpt"
    command = ["solve", str(samples), "--batch", "1", "--tol", "0", "--checkpoint", str(path)]
    with subprocess.Popen(
        [sys.executable, "-m", "rcmd", *command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.split()[:1] == ["passes"]:
                break
        assert process.stdout.readline()  # the run has begun
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 130
    assert "interrupted by Ctrl-C or a signal: certified gap" in rest
    assert main(["resume", str(path), "--tol", "0.1"]) == 0


# ---- forged checkpoints -------------------------------------------------------------------------

CODE = """
from pathlib import Path

from rcmd import LeastSquares

Path(__file__).with_suffix(".ran").touch()

class Mine(LeastSquares):
    pass

def disc(beta):
    return 0, []
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of the user's, which leaves a trace when it is run."""
    path = tmp_path / "own.py"
    path.write_text(CODE)
    return path


def has_run(own: Path) -> bool:
    trace = own.with_suffix(".ran")
    ran = trace.exists()
    trace.unlink(missing_ok=True)
    return ran


def test_code_is_run_only_with_trust_and_only_as_it_was(
    samples: Path, own: Path, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "run.ckpt"
    short = ["--tol", "0", "--max-iterations"]
    main(["solve", str(samples), "--loss", f"{own}:Mine", *short, "2", "--checkpoint", str(path)])
    assert has_run(own)
    check_refused(capsys, "own.py would be run", "resume", path, *short, 4)
    assert not has_run(own)
    assert main(["resume", str(path), *short, "4", "--trust-user-code"]) == 1
    assert has_run(own)
    own.write_text(CODE + "# changed")
    told = "own.py is not what it was when the run began"
    check_refused(capsys, told, "resume", path, "--trust-user-code")
    assert not has_run(own)


PARTS = """
from dataclasses import dataclass

from rcmd import RCMD, EuclideanProx, L1Ball
from rcmd.methods import FrankWolfe


@dataclass(frozen=True)
class Cross(L1Ball):
    pass


@dataclass(frozen=True, repr=False)
class Textbook(FrankWolfe):
    pass


steps = RCMD(prox=EuclideanProx())
"""


@pytest.mark.parametrize("method", ["Textbook", "steps"])
def test_sets_and_methods_of_a_file(
    samples: Path, tmp_path: Path, capsys: Any, method: str
) -> None:
    own, path = tmp_path / "parts.py", tmp_path / "run.ckpt"
    own.write_text(PARTS)
    words = ["solve", samples, "--oracle", f"{own}:Cross(5.0)", "--method", f"{own}:{method}"]
    words += ["--tol", "0"]
    _, whole = told(tmp_path, *words, "--max-iterations", 30)
    told(tmp_path, *words, "--checkpoint", path, "--max-iterations", 12)
    again = ["resume", path, "--max-iterations", 30]
    check_refused(capsys, "parts.py would be run", *again)
    _, more = told(tmp_path, *again, "--trust-user-code")
    assert gaps(more)[-1] == gaps(whole)[-1]
    assert whole["options"]["method"][:8] == {"Textbook": "Textbook", "steps": "RCMD(pro"}[method]
    check_refused(capsys, "expected a Method", "solve", "--method", f"{own}:Cross(5.0)")
    check_refused(capsys, "expected a LinearMinOracle", "solve", "--oracle", f"{own}:Textbook")


def test_a_forged_command_runs_nothing(
    samples: Path, own: Path, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "run.ckpt"
    main(["solve", str(samples), "--tol", "1", "--checkpoint", str(path)])
    whole = read_file(path)
    for word, forged in (
        ("loss", f"{own}:Mine"),
        ("oracle", f"{own}:Mine"),
        ("method", f"{own}:Mine"),
        ("oracle", f"cvxpy:{own}:disc"),
        ("oracle", f"scaled:2:cvxpy:{own}:disc"),
        ("oracle", f"product:6:cvxpy:{own}:disc"),
    ):
        write_file(path, whole | {"command": whole["command"] | {word: forged}})
        check_refused(capsys, "own.py would be run", "resume", path)
        trusted = ["resume", path, "--trust-user-code"]  # of which the file knows nothing
        check_refused(capsys, "own.py would be run", *trusted)
        assert not has_run(own)


def test_a_command_that_is_none_is_refused(samples: Path, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.ckpt"
    main(["solve", str(samples), "--tol", "1", "--checkpoint", str(path)])
    whole = read_file(path)
    for word in some(whole["command"]):
        for lie in (True, -1, [], {}, "\x1b[31m", ()):
            write_file(path, whole | {"command": whole["command"] | {word: lie}})
            if main(["resume", str(path)]) == 2:  # some are no lie: 2 is a number of a seed
                told = capsys.readouterr().err
                assert told.count("\n") == 1
                assert "\x1b" not in told
    for command in (1, [], {}, "x"):
        write_file(path, whole | {"command": command})
        check_refused(capsys, "does not hold the options of a command", "resume", path)
