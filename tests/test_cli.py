import bz2
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from rcmd.cli import main
from rcmd.specs import parse_batch, parse_oracle

LINES = ["+1 1:0.5 3:1", "-1 2:1", "+1 1:1 2:-1", "-1 3:2", "+1 1:0.25"]


@pytest.fixture
def libsvm(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def run(capsys, *words):
    status = main(["solve", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_file_is_solved_and_certified(capsys, libsvm):
    status, out, err = run(capsys, libsvm, "--oracle", "l1:2", "--batch", "2", "--tol", "1e-2")
    assert (status, err) == (0, "")
    assert "indicator of ‖β‖₁ ≤ 2" in out
    assert "gradients           P(β)           D(w)  certified gap  bound on E gap" in out
    assert "the certified gap reached the tolerance" in out
    assert "CVXPY" not in out


def test_truth_is_compared_when_asked_for(capsys, libsvm):
    _, out, _ = run(capsys, libsvm, "--oracle", "ridge:0.1", "--tol", "1e-6", "--truth")
    assert "within the certified gap" in out


def test_built_in_problem_compares_with_cvxpy(capsys):
    status, out, _ = run(capsys, "--tol", "0.3")
    assert status == 0
    assert "n = 400" in out
    assert "CVXPY: P* =" in out


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_files(capsys, libsvm, suffix, compress):
    packed = libsvm.with_suffix(suffix)
    packed.write_bytes(compress(libsvm.read_bytes()))
    plain, packed_out = run(capsys, libsvm, "--tol", "0.1"), run(capsys, packed, "--tol", "0.1")
    first, second = (out.splitlines()[:-4] for _, out, _ in (plain, packed_out))
    assert first == second


def test_other_label_pairs_are_mapped_and_said(capsys, tmp_path):
    path = tmp_path / "mushrooms"
    path.write_text("1 1:1\n2 1:2\n2 2:1\n")
    status, out, _ = run(capsys, path, "--tol", "0.1")
    assert status == 0
    assert out.startswith("labels 1 and 2 were mapped to -1 and +1 (the larger to +1)\n")


def test_regression_labels_are_left_alone(capsys, tmp_path):
    path = tmp_path / "regression"
    path.write_text("1 1:1\n2 1:2\n2 2:1\n")
    _, out, _ = run(capsys, path, "--loss", "least-squares", "--tol", "0.1")
    assert "mapped" not in out


def test_budget_that_ends_first_is_status_1(capsys, libsvm):
    status, out, _ = run(capsys, libsvm, "--tol", "0", "--max-gradients", "10")
    assert status == 1
    assert "the gradient budget is used up" in out


FAULTS = {
    "missing file": (["absent.txt"], "absent.txt cannot be read"),
    "oracle name": (["--oracle", "l7:1"], "oracle 'l7:1' is unknown; expected one of l1:RADIUS"),
    "oracle number": (["--oracle", "l1:x"], "oracle 'l1:x' holds 'x'; expected a number"),
    "oracle count": (["--oracle", "box:1"], "oracle 'box:1' has 1 parameter(s); expected box:LOW"),
    "oracle radius": (["--oracle", "l1:-1"], "radius of L1Ball is -1.0; expected a positive"),
    "loss name": (["--loss", "hinge"], "loss 'hinge' is unknown; expected one of logistic"),
    "batch word": (["--batch", "many"], "batch 'many' is neither a whole number of rows nor"),
    "batch zero": (["--batch", "0"], "batch is 0; expected between 1 and n = 400"),
    "batch large": (["--batch", "401"], "batch is 401; expected between 1 and n = 400"),
    "batch share": (["--batch", "200%"], "batch is 2.0; as a float it is a fraction of n"),
    "tolerance": (["--tol", "-1"], "tol is -1.0; expected a number ≥ 0"),
    "time budget": (["--max-seconds", "0"], "max_seconds is 0.0; expected a positive number"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_one_line_and_status_2(capsys, fault):
    words, message = FAULTS[fault]
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"rcmd: {message}")
    assert err.count("\n") == 1


def test_three_classes_are_refused(capsys, tmp_path):
    path = tmp_path / "classes"
    path.write_text("1 1:1\n2 1:2\n3 2:1\n")
    status, _, err = run(capsys, path)
    assert status == 2
    assert "3 distinct values" in err


MODULE = """
from dataclasses import dataclass
from rcmd import LeastSquares

@dataclass(frozen=True)
class Right(LeastSquares):
    pass

@dataclass(frozen=True)
class Wrong(LeastSquares):
    def derivative(self, s, y):
        return y - s
"""


@pytest.mark.parametrize(("name", "status"), [("Right", 0), ("Wrong", 1), ("Absent", 2)])
def test_check_says_whether_a_contract_holds(capsys, tmp_path, name, status):
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    assert main(["check", f"{path}:{name}"]) == status
    captured = capsys.readouterr()
    assert ("FAIL" in captured.out) == (status == 1)
    assert captured.err.count("\n") == (status == 2)


@pytest.mark.parametrize("loss", ["huber:1", "smoothed-hinge:1", "fair:0.5"])
def test_built_in_data_fit_the_loss(capsys, loss):
    status, out, err = run(capsys, "--loss", loss, "--tol", "0.5")
    assert (status, err) == (0, "")
    assert "within the certified gap" in out


@pytest.mark.parametrize("words", [["--tol", "x"], ["--nonsense"], ["a", "b"]])
def test_malformed_options_are_one_line_and_status_2(capsys, words):
    with pytest.raises(SystemExit) as stop:
        main(["solve", *words])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_python_dash_m_runs_the_same_command():
    command = [sys.executable, "-m", "rcmd", "solve", "--batch", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("rcmd: batch is 0")


def test_words_become_objects():
    assert parse_batch("1%") == 0.01
    box = parse_oracle("box:-1:2")
    assert np.array_equal((box.lower, box.upper), (-1.0, 2.0))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return self.missing", "AttributeError"),
        ("raise ZeroDivisionError('by hand')", "ZeroDivisionError: by hand"),
    ],
)
def test_check_reports_what_a_users_code_raises(capsys, tmp_path, body, told):
    path = tmp_path / "raising.py"
    path.write_text(MODULE.replace("return y - s", body))
    assert main(["check", f"{path}:Wrong"]) == 1
    assert told in capsys.readouterr().out


def test_check_finds_the_files_beside_its_file(capsys, tmp_path):
    (tmp_path / "helper_beside.py").write_text("HALF = 0.5\n")
    path = tmp_path / "importing.py"
    path.write_text("from helper_beside import HALF\n" + MODULE)
    assert main(["check", f"{path}:Right"]) == 0


def test_check_of_a_broken_file_is_one_line(capsys, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def f(:\n")
    assert main(["check", f"{path}:Right"]) == 2
    assert "cannot be imported: SyntaxError" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m rcmd solve --tol 0.3 | head -2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_the_letters_still_solves():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "rcmd", "solve", "--tol", "0.3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_before_the_run_is_one_line(capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("rcmd.datasets.make_classification", interrupt)
    assert main(["solve"]) == 130
    assert capsys.readouterr().err == "rcmd: interrupted\n"


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("rcmd ")
