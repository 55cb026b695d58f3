"""Solve one problem for many radii (or strengths) of its oracle, each to a
certified gap and from the solution before, and show how the solution grows.

    rcmd path a9a.bz2 --oracle l1 --radii 1:10:5 --tol 1e-6 --plot path.pdf
    rcmd path a9a.bz2 --oracle ridge --strengths 0.001:1:7:log

Values are FIRST:LAST:COUNT in even steps, FIRST:LAST:COUNT:log in even ratios,
or a list with commas. The oracle's own radius or strength may be left out.
--tol and the budgets are for each value.
"""

import argparse
import math
from typing import Literal

import numpy as np

from rcmd.cli.options import (
    add_method_options,
    add_plot_option,
    add_problem_options,
    chosen_batch,
    chosen_method,
)
from rcmd.cli.tasks import samples_problem
from rcmd.model.specs import ORACLES
from rcmd.reporting.progress import RunProgress, exit_status, tell_on_terminal
from rcmd.reporting.tables import about_command, say, write_json
from rcmd.rows.lowrank import LowRank
from rcmd.solver.path import SolutionPath, steps
from rcmd.solver.result import Result
from rcmd.solver.saved_results import as_data
from rcmd.solver.solve import TOL, iterate


def add_options(parser: argparse.ArgumentParser) -> None:
    add_problem_options(parser, oracle="l1", tol=TOL, max_seconds=None, max_gradients=None)
    values = parser.add_mutually_exclusive_group(required=True)
    values.add_argument("--radii", metavar="VALUES", help="1:10:5, 0.1:10:5:log or 1,2,5")
    values.add_argument("--strengths", metavar="VALUES", help="the same for a strength")
    parser.add_argument("--intercept", type=float, metavar="B", help="an intercept within ±B")
    add_method_options(parser, "corrected; rcmd is the other one that starts from a solution")
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    parameter: Literal["radius", "strength"] = "strength" if options.radii is None else "radius"
    values = parse_values(options.strengths if options.radii is None else options.radii)
    oracle = completed(options.oracle, parameter, values[0])
    problem, remarks = samples_problem(options, options.loss, oracle)
    limits = ("tol", "seed", "max_seconds", "max_gradients")
    chosen = {name: vars(options)[name] for name in limits}
    chosen |= {"batch": chosen_batch(options), "method": chosen_method(options, "corrected")}
    checked = iterate(problem, **chosen)  # before any work
    progress = RunProgress(checked.tol, checked.budgets, tell_on_terminal)
    runs = steps(problem, values, parameter=parameter, callbacks=[progress], **chosen)
    header = f"{parameter:>12} {'P(β)':>14} {'certified gap':>14} {'nonzeros':>9} {'gradients':>12}"
    formulas = problem.describe().splitlines()[:3]
    ground = f"ground of the gaps: {problem.ground_text}"
    say("\n".join([*remarks, *formulas, ground, "", header]), options.json)
    results = {}
    for value, result in runs:
        tell_on_terminal("")
        results[value] = result
        say(_row(value, result), options.json)
    results = {value: results[value] for value in values if value in results}
    found = SolutionPath(list(results), list(results.values()), parameter)
    if options.plot is not None:
        found.plot().savefig(options.plot)
    rows = [{parameter: value} | as_data(result) for value, result in results.items()]
    whole = {"ground": problem.ground_text, "path": rows}
    write_json(about_command(options) | whole, options.json)
    return max(map(exit_status, found), default=0)


def _row(value: float, result: Result) -> str:
    beta, last = result.beta, result.history[-1]
    nonzeros = beta.terms if isinstance(beta, LowRank) else int(np.count_nonzero(beta))
    missed = "" if result.success else f"  {result.stop.value}"
    return (
        f"{value:>12.6g} {float(result.primal):>14.8f} {float(result.gap):>14.3e} "
        f"{nonzeros:>9,} {last.gradients:>12,}{missed}"
    )


def completed(text: str, parameter: str, value: float) -> str:
    """The spec of an oracle, with its last word, the radius or strength, if it was left out.

    >>> completed("l1", "radius", 2.0), completed("l1:5", "radius", 2.0)
    ('l1:2.0', 'l1:5')
    >>> completed("ridge", "strength", 0.1)
    'ridge:0.1'
    """
    name, *words = text.split(":")
    names = list(ORACLES[name].parameters) if name in ORACLES else []
    left_out = parameter in names and len(words) == names.index(parameter)
    return f"{text}:{value!r}" if left_out else text


def parse_values(text: str) -> list[float]:
    """Numbers in even steps, in even ratios, or as a list; each once.

    >>> parse_values("1:3:3"), parse_values("1:100:3:log"), parse_values("2,1")
    ([1.0, 2.0, 3.0], [1.0, 10.0, 100.0], [2.0, 1.0])
    """
    fault = ValueError(
        f"values {text!r} cannot be read; expected FIRST:LAST:COUNT, FIRST:LAST:COUNT:log or "
        "positive numbers with commas between them"
    )
    try:
        if ":" not in text:
            values = [float(word) for word in text.split(",")]
        else:
            first, last, count, *log = text.split(":")
            if log not in ([], ["log"]) or not 1 <= int(count) <= 10**6:
                raise fault
            spaced = np.geomspace if log else np.linspace
            if not 0 < float(first) < math.inf or not 0 < float(last) < math.inf:
                raise fault
            values = spaced(float(first), float(last), int(count)).tolist()
    except ValueError:
        raise fault from None
    if not all(0 < value < math.inf for value in values):
        raise fault
    return list(dict.fromkeys(values))
