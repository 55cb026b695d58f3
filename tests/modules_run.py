"""Counts the modules of rcmd whose functions one solve runs: ``python tests/modules_run.py FILE``.

``command`` is ``rcmd solve FILE``, ``plain`` is ``solve(Problem(…), method=RCMD())``, ``default``
is ``solve(Problem(…))``. What runs while a module is imported is not counted.
"""

import sys

from rcmd import RCMD, L1Ball, Logistic, Problem, solve
from rcmd.cli.main import main


def modules_run(job):
    """The names of the modules in which ``job`` calls a function."""
    found = set()

    def note(frame, event, _):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.partition(".")[0] == "rcmd" and name not in found:
            while frame and "importlib" not in frame.f_code.co_filename:
                frame = frame.f_back
            if frame is None:
                found.add(name)

    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
    return sorted(found)


def run(method):
    problem = Problem([[1.0, 0.0], [0.0, 2.0]], [1.0, -1.0], Logistic(), L1Ball(5.0))
    solve(problem, method=method, tol=1e-3)


if __name__ == "__main__":
    jobs = {"command": lambda: main(["solve", sys.argv[1]])}
    jobs |= {"plain": lambda: run(RCMD()), "default": lambda: run(None)}
    for name, job in jobs.items():
        if name != "command":
            job()  # compiles what is not cached, once and for all
        names = modules_run(job)
        print(*names, sep="\n")
        print("modules of", name, names[-1], len(names))
