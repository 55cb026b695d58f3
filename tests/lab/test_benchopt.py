"""The benchopt benchmark, and rcmd's files for benchopt's public ones: a quick run each."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rcmd
from rcmd import L1Ball, Logistic, Problem, solve
from rcmd.datasets import make_classification
from rcmd.lab.bench.ladder import Task, judged

pytest.importorskip(
    "benchopt", reason="benchopt is not installed: pip install 'rcmd-opt[benchopt]'"
)
pandas = pytest.importorskip("pandas")

FOLDER = Path(rcmd.__file__).parent / "lab" / "benchopt"
SOLVERS = {
    "rcmd[method=corrected]": "rcmd",
    "rcmd[method=rcmd]": "rcmd",
    "rcmd[method=fw]": "rcmd",
    "rcmd[method=pairwise]": "rcmd",
    "COPT[variant=FISTA]": "copt",
    "cyanure[solver=qning-svrg]": "cyanure",
    "scikit-learn saga": "sklearn",
    "scikit-learn liblinear": "sklearn",
    "skglm": "skglm",
}
ON_BALL = {"COPT[variant=FISTA]", "rcmd[method=pairwise]"}


def run(folder, out, runs, *options):
    """The table of ``benchopt run``."""
    command = [sys.executable, "-m", "benchopt", "run", str(folder), *options]
    command += ["-n", str(runs), "-r", "1", "--no-cache", "--no-plot", "--output", str(out)]
    root = str(Path(rcmd.__file__).parent.parent)
    answer = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": root}
    )
    assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-2000:]
    assert "Traceback" not in answer.stdout + answer.stderr
    return pandas.read_parquet(out)


def test_gaps_fall_whoever_solves(tmp_path):
    present = [name for name, module in SOLVERS.items() if importlib.util.find_spec(module)]
    chosen = [word for name in present for word in ("-s", name)]
    data = "simulated[n=100,p=8,density=1.0]"
    table = run(FOLDER, tmp_path / "gaps.parquet", 4, "-d", data, *chosen)
    gaps = {
        key: group.objective_value.to_numpy()
        for key, group in table.groupby(["p_obj_penalised", "solver_name"])
    }
    forms = {(form, name) for form in (False, True) for name in present}
    assert set(gaps) == forms - {(True, name) for name in ON_BALL}
    for key, found in gaps.items():
        assert found[-1] < found[0] / 2, key
        assert found.min() > -1e-15, key
    exact = table[table.solver_name.isin(["rcmd[method=corrected]", "rcmd[method=pairwise]"])]
    assert (exact.objective_value <= exact.stop_val).all()
    assert exact.stop_val.min() == pytest.approx(1e-3)


def test_the_judge_finds_the_gap_that_rcmd_certifies():
    X, y = make_classification(100, 8, density=1.0, rng=0)
    result = solve(Problem(X, y, Logistic(), L1Ball(5.0)), tol=1e-3)
    task = Task(X, y, 5.0, 0.01)
    assert task.on_ball(result.beta, result.w) == pytest.approx(result.gap, rel=1e-9)
    result = solve(task.penalised, method="rcmd", tol=1e-2)
    assert judged(task.penalised, result.beta, result.w) == pytest.approx(result.gap, rel=1e-9)


OBJECTIVE = """
import numpy as np
from benchopt import BaseObjective

class Objective(BaseObjective):
    name = "stand-in"
    parameters = {{"fit_intercept": {intercepts}}}

    def set_data(self, X, y):
        self.X, self.y = X, y

    def get_objective(self):
        asked = {{"X": self.X, "y": self.y, "lmbd": 3.0}}
        return asked | ({{"fit_intercept": self.fit_intercept}} if {several} else {{}})

    def evaluate_result(self, beta):
        beta, shift = (beta[:-1], beta[-1]) if self.fit_intercept else (beta, 0.0)
        s, y = self.X @ beta + shift, self.y
        return {{"value": {loss} + 3.0 * {penalty}}}
"""
DATASET = """
from benchopt import BaseDataset
from rcmd.datasets import make_classification

class Dataset(BaseDataset):
    name = "small"

    def get_data(self):
        X, y = make_classification(60, 5, density=1.0, rng=1)
        return {"X": X, "y": y}
"""
SQUARES, LOGISTIC = "((s - y) ** 2).sum() / 2", "np.logaddexp(0, -y * s).sum()"
PUBLIC = {
    "lasso": (SQUARES, "abs(beta).sum()", [False, True]),
    "logreg_l1": (LOGISTIC, "abs(beta).sum()", [False]),
    "logreg_l2": (LOGISTIC, "(beta @ beta) / 2", [False, True]),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_objectives_are_minimized(name, tmp_path):
    """The last value equals that of CVXPY's solution, in the units of the benchmark."""
    import cvxpy as cp

    loss, penalty, intercepts = PUBLIC[name]
    shape = {"intercepts": intercepts, "several": len(intercepts) > 1}
    for folder in ("solvers", "datasets"):
        (tmp_path / folder).mkdir()
    (tmp_path / "objective.py").write_text(OBJECTIVE.format(loss=loss, penalty=penalty, **shape))
    (tmp_path / "datasets" / "small.py").write_text(DATASET)
    shutil.copy(FOLDER / "public" / f"benchmark_{name}" / "rcmd.py", tmp_path / "solvers")
    table = run(tmp_path, tmp_path / "values.parquet", 12)
    X, y = make_classification(60, 5, density=1.0, rng=1)
    for shifted in intercepts:
        beta, shift = cp.Variable(5), cp.Variable()
        s = X @ beta + (shift if shifted else 0.0)
        square = cp.sum_squares(s - y) / 2
        losses = square if loss is SQUARES else cp.sum(cp.logistic(-cp.multiply(y, s)))
        size = cp.sum_squares(beta) / 2 if name == "logreg_l2" else cp.norm1(beta)
        truth = cp.Problem(cp.Minimize(losses + 3.0 * size)).solve()
        values = table[table.p_obj_fit_intercept == shifted].objective_value.to_numpy()
        assert values[-1] == pytest.approx(truth, rel=1e-7)
        at_once = values[0] <= truth * (1 + 1e-6)
        assert at_once == (name == "lasso"), "least squares of a few columns end exactly"
