"""``--offset`` and ``--field``: numbers of files are those of ``Problem``, whatever reads them."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rcmd import Problem, SeparableConjugate, load_result
from rcmd.cli.main import main
from rcmd.cli.mpi import sharded_task
from rcmd.cli.tasks import TASKS
from rcmd.datasets import read
from rcmd.distributed import rehearse

N = 12
FORMULA = "tau*(s - y)**2"
BETA = np.array([0.25, -0.5])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: Any) -> Path:
    """Samples, offsets as .npy and fields as text, in the working folder."""
    rng = np.random.default_rng(0)
    lines = [f"{j % 3} 1:{a} 2:{b}" for j, (a, b) in enumerate(rng.standard_normal((N, 2)))]
    (tmp_path / "samples").write_text("\n".join(lines))
    np.save(tmp_path / "offset.npy", rng.standard_normal(N))
    np.savetxt(tmp_path / "tau.txt", rng.uniform(0.5, 2.0, N))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def words() -> list[str]:
    """The options of a problem with both."""
    return ["--loss", f"expression:{FORMULA}", "--oracle", "l1:1", "--offset", "offset.npy",
            "--field", "tau=tau.txt"]  # fmt: skip


def by_hand() -> Problem:
    X, y = read("samples")
    loss = SeparableConjugate.from_expression(FORMULA, fields=["tau"])
    own = {"offset": np.load("offset.npy"), "fields": {"tau": np.loadtxt("tau.txt")}}
    return Problem(X, y, loss, "l1:1", **own)


def options(**given: Any) -> Namespace:
    known = {"file": "samples", "label": None, "data": None, "rows": "libsvm", "seed": 0,
             "intercept": None, "held_out": None, "keep": None, "oracle": "l1:1",
             "loss": f"expression:{FORMULA}",
             "offset": "offset.npy", "field": ["tau=tau.txt"]}  # fmt: skip
    return Namespace(**known | given)


@pytest.mark.usefixtures("files")
def test_the_problem_is_that_of_the_arrays_also_on_several_ranks() -> None:
    expected = by_hand().primal(BETA)
    assert TASKS["libsvm"](options()).problem.primal(BETA) == expected
    for primal in rehearse(3, lambda group: sharded_task(group, options()).problem.primal(BETA)):
        assert primal == pytest.approx(expected, rel=1e-15)


def test_solved_resumed_elsewhere_and_verified(
    files: Path, words: list[str], tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    run = ["--tol", "1e-9", "--checkpoint", "run.ckpt", "--save", "found.rcmd", "--json", "a.json"]
    assert main(["solve", "samples", *words, *run]) == 0
    found = json.loads((files / "a.json").read_text())
    assert found["primal"] == by_hand().primal(load_result("found.rcmd").beta)
    assert main(["verify", "found.rcmd", "samples", *words]) == 0
    assert "which holds" in capsys.readouterr().out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)  # the checkpoint says where the files are
    assert main(["resume", str(files / "run.ckpt"), "--tol", "1e-12"]) == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"offset": "short.txt"}, "short.txt holds 5 × 1 numbers; expected 12"),
        ({"offset": "table.txt"}, "table.txt holds 6 × 2 numbers; expected 12"),
        ({"offset": "nan.txt"}, "offset holds nan at position"),
        ({"field": None}, "the name 'tau' at position 1 is unknown"),
        ({"field": ["tau=tau.txt", "tau=tau.txt"]}, "--field is 'tau=tau.txt'; expected NAME=FILE"),
        ({"loss": "least-squares"}, "fields holds tau and LeastSquares() reads none"),
        ({"rows": "entries"}, "--offset has no meaning with --rows entries"),
    ],
)
def test_refused_in_a_sentence(given: dict[str, Any], told: str) -> None:
    for name, table in (("short", np.ones(5)), ("table", np.ones((6, 2))), ("nan", [np.nan] * N)):
        np.savetxt(f"{name}.txt", table)
    words = options(**given)
    with pytest.raises(ValueError, match=told.replace("(", r"\(").replace(")", r"\)")):
        TASKS[words.rows](words)
