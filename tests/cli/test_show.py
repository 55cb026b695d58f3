"""Results in files: what is read is what was saved, to the bit, or a sentence says why not."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from small_problems import as_text, exact_problem, problem

from rcmd import (
    L1Ball,
    LeastSquares,
    LowRank,
    MatrixEntries,
    NuclearBall,
    Problem,
    load_result,
    solve,
)
from rcmd.cli.main import main
from rcmd.cli.solve import HEADER
from rcmd.datasets import make_classification
from rcmd.solver.checkpoint.file import CHECKPOINT, write_file
from rcmd.solver.saved_results import FORMAT, load_with_versions


def same(one, other):
    """Bit for bit, NaN included."""
    if isinstance(one, LowRank):
        return same(one.to_array(), other.to_array())
    return type(one) is type(other) and np.array_equal(one, other) and one.dtype == other.dtype


def check_same(result, again):
    assert same(result.beta, again.beta)
    assert same(result.w, again.w)
    for name in ("primal", "dual", "loss_gap", "regularizer_gap"):
        one, other = getattr(result.certificate, name), getattr(again.certificate, name)
        assert one == other
        assert type(one) is type(other)
    assert repr(list(again.history)) == repr(list(result.history))
    assert (again.stop, again.note, again.about) == (result.stop, result.note, result.about)
    assert dict(again.options) == dict(result.options)
    assert again.message == result.message


def sparse():
    rng = np.random.default_rng(0)
    return Problem(rng.normal(size=(30, 50)), rng.normal(size=30), LeastSquares(), L1Ball(0.5))


def completion():
    rng = np.random.default_rng(0)
    i, k = np.divmod(rng.permutation(48)[:40], 6)
    y = np.outer(rng.normal(size=8), rng.normal(size=6))[i, k]
    return Problem(MatrixEntries(i, k, (8, 6)), y, LeastSquares(), NuclearBall((8, 6), 1.0))


TASKS = {
    "dense": (lambda: problem("logistic", "ridge", n=20), {"tol": 1e-3}),
    "sparse": (sparse, {"tol": 1e-6, "batch": 3}),
    "matrix": (completion, {"tol": 1e-2, "batch": 40}),
    "exact": (lambda: exact_problem("box"), {"tol": 0, "max_iterations": 5}),
}


@pytest.mark.parametrize("name", TASKS)
def test_what_is_read_is_what_was_saved(tmp_path, name):
    make, options = TASKS[name]
    result = solve(make(), **options)
    assert name != "sparse" or any(math.isnan(row.bound) for row in result.history)
    path = tmp_path / "result.rcmd"
    result.save(path)
    again = load_result(path)
    check_same(result, again)
    if name != "matrix":
        with pytest.raises(ValueError, match="read-only"):
            again.beta[0] = 1.0
    assert load_with_versions(path)[1]["numpy"] == np.__version__
    again.save(tmp_path / "twice.rcmd")
    check_same(result, load_result(tmp_path / "twice.rcmd"))


def test_a_sparse_solution_takes_the_room_of_its_nonzeros(tmp_path):
    rng = np.random.default_rng(0)
    wide = Problem(rng.normal(size=(5, 20_000)), rng.normal(size=5), LeastSquares(), L1Ball(0.1))
    solve(wide, tol=1e-2).save(tmp_path / "wide.rcmd")
    assert (tmp_path / "wide.rcmd").stat().st_size < 20_000


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "small.rcmd"
    solve(problem("logistic", "l1-ball", n=8), batch=4, tol=1e-2).save(path)
    return path


def test_other_files_are_refused_in_a_sentence(saved, capsys):
    for kind, words in (
        (replace(FORMAT, version=3), "of format 3, of another version of rcmd; expected format 2"),
        (CHECKPOINT, "is not a result of rcmd; expected the name of a file that result"),
        (FORMAT, "lacks parts of a result"),
    ):
        write_file(saved, {}, kind)
        assert main(["show", str(saved)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err
        assert err.count("\n") == 1


def test_a_result_is_not_saved_where_it_cannot_be(tmp_path, saved):
    result = load_result(saved)
    with pytest.raises(ValueError, match="is in a folder that does not exist"):
        result.save(tmp_path / "no" / "a.rcmd")
    with pytest.raises(ValueError, match="is a folder; expected the name of a file"):
        result.save(tmp_path)
    result.save(tmp_path / ("a" * 255))
    assert load_result(tmp_path / ("a" * 255)).gap == result.gap


# ---- the command -------------------------------------------------------------------------------


def test_show_says_what_solve_said(capsys, tmp_path):
    kept, figure = tmp_path / "kept.rcmd", tmp_path / "kept.svg"
    X, y = make_classification(n=80, p=6, rng=0)
    (tmp_path / "rows").write_bytes(as_text(X, y))
    words = ["solve", str(tmp_path / "rows"), "--tol", "0.1", "--save", kept, "--plot", figure]
    assert main(list(map(str, words))) == 0
    told = capsys.readouterr().out.splitlines()
    assert main(["show", str(kept), "--plot", str(tmp_path / "again.svg")]) == 0
    shown = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(told) if line == HEADER)
    assert set(told[start:]) <= set(shown)
    assert shown[:4] == told[:4]
    assert figure.read_text() == (tmp_path / "again.svg").read_text()


def test_show_has_the_status_of_the_run_and_its_json(capsys, tmp_path):
    kept, stored = tmp_path / "kept.rcmd", tmp_path / "kept.json"
    words = ["solve", "--tol", "0", "--max-gradients", "200", "--save", str(kept)]
    assert main([*words, "--json", str(stored)]) == 1
    capsys.readouterr()
    assert main(["show", str(kept), "--json", "-"]) == 1
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    solved = json.loads(stored.read_text(), parse_constant=pytest.fail)
    for name in ("problem", "options", "stop", "gap", "beta", "history", "message"):
        assert shown[name] == solved[name]
    assert shown["stop"] == "GRADIENTS"
    assert shown["problem"]["n"] == 400
    assert shown["versions"]["rcmd"]
    assert sum(map(abs, shown["beta"]["values"])) <= 5 * (1 + 1e-9)
