"""``rcmd bench steps``: gaps, bounds and times of both steps, from runs that reach them."""

import json
import math

import numpy as np
import pytest

from rcmd import Logistic, Problem, replicate
from rcmd.cli.main import main
from rcmd.lab.bench import steps, workloads
from rcmd.lab.bench.timing import Absent


@pytest.fixture
def small(monkeypatch):
    """One small data set, and one that is not there."""
    rng = np.random.default_rng(0)
    data = workloads.Data(rng.standard_normal((20, 3)), np.where(rng.random(20) < 0.5, 1.0, -1.0))

    def load(name, folder):
        if name == "none":
            raise Absent("it is not there")
        return data

    monkeypatch.setattr(steps, "DATA", ("small", "none"))
    monkeypatch.setattr(steps, "REGULARIZERS", ("ridge:0.1",))
    monkeypatch.setattr(steps, "COUNTS", (20, 3))
    monkeypatch.setattr(steps, "OF_COUNTS", ("ridge:1",))
    monkeypatch.setattr(workloads, "load", load)
    return data


def test_the_table_has_the_gaps_and_bounds_of_the_runs(small, capsys, tmp_path):
    path = tmp_path / "steps.json"
    assert main(["bench", "steps", "--seeds", "4", "--passes", "5", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "none is left out: it is not there" in out
    assert "20 rows and 3 columns that are drawn" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    row, counts = json.loads(path.read_text())["sections"][0]["rows"]
    assert (counts["data"], counts["R"]) == ("counts", "ridge:1")
    problem = Problem(small.X, small.y, Logistic(), "ridge:0.1")
    for step, method in steps.METHODS.items():
        fixed = {"tol": 0.0, "max_iterations": 100, "record_at": [100]}
        runs = replicate(problem, range(4), method=method, batch=1, **fixed)
        assert row[step]["mean_gap"] == runs.mean("pair_gap")[-1]
        assert row[step]["bound"] == runs.mean("bound")[-1]
        assert row[step]["holds"] == (row[step]["mean_gap"] <= row[step]["bound"])
    assert all(math.isfinite(seconds) for seconds in row["seconds"].values())
