import subprocess
import sys

import rcmd


def modules_after(statement):
    code = f"{statement}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    heavy = {"numba", "cvxpy", "sympy", "matplotlib", "sklearn"}
    heavy |= {"scipy.optimize", "scipy.sparse.linalg"}
    assert not heavy & modules_after("import rcmd")
    assert heavy & modules_after("import rcmd, cvxpy"), "the check must see what it looks for"


def test_every_public_name_is_there():
    for name in rcmd.__all__:
        assert getattr(rcmd, name) is not None
