"""Prove the gap of a saved result: recompute it from the data in ball arithmetic
(python-flint), with formulas of its own, and say what is proved. The problem is
given by the options of `rcmd solve`, as it was there:

    rcmd solve a9a --oracle l1:5 --tol 1e-6 --save a9a.rcmd
    rcmd verify a9a.rcmd a9a --oracle l1:5

The status is 1 where the gap that the result states is below the proved one, or
nothing is proved.
"""

import argparse
from dataclasses import asdict

from rcmd.cli.options import add_run_options
from rcmd.cli.solve import add_task_options
from rcmd.cli.tasks import TASKS
from rcmd.reporting.tables import say, write_json
from rcmd.solver.saved_results import load_result
from rcmd.testing.enclosure import verify


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", metavar="RESULT", help="the saved result")
    add_task_options(parser)
    add_run_options(parser, {"seed": 0})
    parser.set_defaults(keep=None)  # which is about solutions


def run(options: argparse.Namespace) -> int:
    result = load_result(options.result)
    found = verify(result, TASKS[options.rows](options).problem)
    say(str(found), options.json)
    write_json(asdict(found) | {"holds": found.holds}, options.json)
    return 0 if found.holds else 1
