"""``rcmd path``: a line for each radius or strength, the figure and the JSON file."""

from __future__ import annotations

import argparse
import math
from typing import Any, Literal

import numpy as np

from rcmd.bench.report import about_command
from rcmd.budgets import Budgets
from rcmd.exit_status import EXIT_BUDGET, EXIT_INTERRUPTED
from rcmd.json_output import check_json, say, write_json
from rcmd.lowrank import LowRank
from rcmd.paths import Path, steps
from rcmd.plotting import check_plot
from rcmd.problem import Problem
from rcmd.result import Result, StopReason
from rcmd.run import Options, iterate
from rcmd.solving.report import as_data
from rcmd.solving.samples import read_samples
from rcmd.specs import ORACLES, made, parse_batch, parse_loss, parse_oracle
from rcmd.telling import RunProgress, tell_on_terminal
from rcmd.validation import batch_size


def run_path(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    check_json(options.json)
    if options.plot is not None:
        check_plot(options.plot)
    parameter: Literal["radius", "strength"] = "strength" if options.radii is None else "radius"
    values = parse_values(options.radii or options.strengths)
    loss = parse_loss(options.loss)
    oracle = parse_oracle(completed(options.oracle, parameter, values[0]))
    X, y, remarks = read_samples(options.file, options.data, loss, options.seed)
    problem = Problem(X, y, loss, made(oracle, X.shape[1]), intercept=options.intercept)
    results = _run(problem, values, parameter, remarks, options)
    found = Path(list(results), list(results.values()), parameter)
    if options.plot is not None:
        found.plot().savefig(options.plot)
    rows = [{parameter: value} | as_data(result) for value, result in results.items()]
    write_json(about_command(options) | {"path": rows}, options.json)
    if any(result.stop is StopReason.INTERRUPTED for result in found):
        return EXIT_INTERRUPTED
    return 0 if all(result.success for result in found) else EXIT_BUDGET


def _run(
    problem: Problem,
    values: list[float],
    parameter: Literal["radius", "strength"],
    remarks: list[str],
    options: argparse.Namespace,
) -> dict[float, Result]:
    """The results in the order of the values, told as they come."""
    size = batch_size(parse_batch(options.batch), problem.n)
    budgets = Budgets(None, options.max_gradients, options.max_seconds, n=problem.n, batch=size)
    progress = RunProgress(options.tol, budgets, tell_on_terminal)
    chosen: Options = {
        "batch": size,
        "tol": options.tol,
        "seed": options.seed,
        "max_seconds": options.max_seconds,
        "max_gradients": options.max_gradients,
    }
    iterate(problem, **chosen)  # its checks come before any work
    runs = steps(problem, values, parameter=parameter, callbacks=[progress], **chosen)
    header = f"{parameter:>12} {'P(β)':>14} {'certified gap':>14} {'nonzeros':>9} {'gradients':>12}"
    say("\n".join([*remarks, *_formulas(problem, size), "", header]), options.json)
    results = {}
    for value, result in runs:
        tell_on_terminal("")
        results[value] = result
        say(_row(value, result), options.json)
    return {value: results[value] for value in values if value in results}


def _formulas(problem: Problem, batch: int) -> list[str]:
    return problem.describe(batch).splitlines()[:3]


def _row(value: float, result: Result) -> str:
    last = result.history[-1]
    missed = "" if result.success else f"  {result.stop.value}"
    return (
        f"{value:>12.6g} {float(result.primal):>14.8f} {float(result.gap):>14.3e} "
        f"{_nonzeros(result.beta):>9,} {last.gradients:>12,}{missed}"
    )


def _nonzeros(beta: Any) -> int:
    return beta.terms if isinstance(beta, LowRank) else int(np.count_nonzero(beta))


def completed(text: str, parameter: str, value: float) -> str:
    """The words of an oracle whose last one, the radius or strength, was left out.

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
