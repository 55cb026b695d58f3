"""``rcmd fuzz``: random problems for a chosen time, and every finding with its way back."""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from rcmd.fuzzing.cases import Case, random_case
from rcmd.fuzzing.judging import Finding, Verdict, judge
from rcmd.fuzzing.shrinking import shrink


def run_fuzz(options: argparse.Namespace) -> int:
    """Judge cases until the time is over, or the one asked for; 1 if anything was found."""
    _check(options)
    end = time.perf_counter() + options.seconds
    verdicts: list[Verdict] = []
    for number in itertools.count() if options.case is None else [options.case]:
        case = numbered_case(options.seed, number)
        verdicts.append(judge(case))
        if verdicts[-1].findings:
            again = f"rcmd fuzz --seed {options.seed} --case {number}"
            report(case, verdicts[-1].findings[0], again)
        if time.perf_counter() > end:
            break
    found = sum(bool(verdict.findings) for verdict in verdicts)
    print(
        f"{len(verdicts)} problems, {found} with findings; {sum(v.reached for v in verdicts)} "
        f"reached their tolerance, {sum(not v.judged for v in verdicts)} have no optimum by CVXPY"
    )
    return 1 if found else 0


def _check(options: argparse.Namespace) -> None:
    if not options.seconds > 0:
        raise ValueError(f"--seconds is {options.seconds}; expected a positive number")
    for name in ("seed", "case"):
        if (getattr(options, name) or 0) < 0:
            raise ValueError(f"--{name} is {getattr(options, name)}; expected a number ≥ 0")


def numbered_case(seed: int, number: int) -> Case:
    """Case ``number`` of a seed, the same whatever came before it."""
    return random_case(np.random.default_rng([seed, number]))


def report(case: Case, finding: Finding, command: str) -> None:
    """Print a finding, the smallest case that shows it, and the command that repeats it."""

    def still(other: Case) -> bool:
        return any(found.kind == finding.kind for found in judge(other).findings)

    smallest = shrink(case, still)
    print(f"FOUND {finding.text}\nagain: {command}\nsmallest:\n{smallest}\n", flush=True)
