import builtins
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rcmd


def modules_after(statement):
    code = f"{statement}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    heavy = {"numba", "cvxpy", "sympy", "matplotlib", "sklearn", "flint"}
    heavy |= {"scipy.optimize", "scipy.sparse.linalg"}
    assert not (heavy | {"scipy"}) & modules_after("import rcmd")
    assert heavy & modules_after("import scipy.optimize"), "the check must see what it looks for"
    run = "import rcmd; rcmd.solve(rcmd.Problem([[1.0]], [1.0], 'logistic', 'l2:1'), tol=1{})"
    assert not heavy & modules_after(run.format("")), "corrections alone need no compiler"
    assert heavy & modules_after(run.format(", method='rcmd'")) == {"numba"}


def test_every_public_name_is_there():
    for name in rcmd.__all__:
        assert getattr(rcmd, name) is not None


def test_a_star_import_hides_nothing_common():
    names = {}
    exec("from pathlib import Path\nfrom rcmd import *", names)
    assert names["Path"] is Path
    common = {"np", "pd", "plt", "os", "sys", "math", "time", "test", "data", "Any", "Fraction"}
    assert not set(rcmd.__all__) & (common | set(dir(builtins)))


def test_one_solve_runs_few_modules(tmp_path):
    (tmp_path / "rows").write_text("+1 1:1\n-1 2:1\n")
    script = Path(__file__).with_name("modules_run.py")
    command = [sys.executable, script, tmp_path / "rows"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("modules of")]
    for (*_, job, solver, count), most in zip(lines, (60, 34, 44), strict=True):
        assert solver == "rcmd.solver.solve", "the last of the names, in order"
        assert 10 < int(count) <= most, job


PUBLIC = (
    "rcmd", "rcmd.datasets", "rcmd.methods", "rcmd.plotting", "rcmd.testing", "rcmd.theory",
    "rcmd.model.bounds", "rcmd.model.schedules", "rcmd.model.truth", "rcmd.applications.cur",
    "rcmd.applications.completion", "rcmd.applications.nonsmooth",
)  # fmt: skip


@pytest.mark.parametrize("name", PUBLIC)
def test_tab_completion_shows_public_names_alone(name):
    module = import_module(name)
    shown = dir(module)
    assert shown == sorted(module.__all__)
    assert len(shown) >= 2
    assert [word for word in shown if word.startswith("_") or not hasattr(module, word)] == []
    assert not {"Any", "np", "dataclass", "import_module", "annotations"} & set(shown)
