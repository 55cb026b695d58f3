"""``rcmd fuzz``: random problems for a chosen time, and every finding with its way back."""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from rcmd.fuzzing.cases import Case, random_case
from rcmd.fuzzing.judging import Finding, Verdict, judge
from rcmd.fuzzing.shrinking import shrink
from rcmd.json_output import check_json, say, write_json


def run_fuzz(options: argparse.Namespace) -> int:
    """Judge cases until the time is over, or the one asked for; 1 if anything was found."""
    _check(options)
    found: list[dict[str, str]] = []
    end = time.perf_counter() + options.seconds
    verdicts: list[Verdict] = []
    for number in itertools.count() if options.case is None else [options.case]:
        case = numbered_case(options.seed, number)
        verdicts.append(judge(case))
        if verdicts[-1].findings:
            again = f"rcmd fuzz --seed {options.seed} --case {number}"
            finding, smallest = shrunk(case, verdicts[-1].findings[0])
            found.append({"finding": finding, "again": again, "smallest": smallest})
            say(f"FOUND {finding}\nagain: {again}\nsmallest:\n{smallest}\n", options.json)
        if time.perf_counter() > end:
            break
    counts = {
        "problems": len(verdicts),
        "with findings": len(found),
        "reached their tolerance": sum(verdict.reached for verdict in verdicts),
        "without an optimum by CVXPY": sum(not verdict.judged for verdict in verdicts),
    }
    say(", ".join(f"{count} {what}" for what, count in counts.items()), options.json)
    write_json({"seed": options.seed, **counts, "findings": found}, options.json)
    return 1 if found else 0


def _check(options: argparse.Namespace) -> None:
    check_json(options.json)
    if not options.seconds > 0:
        raise ValueError(f"--seconds is {options.seconds}; expected a positive number")
    for name in ("seed", "case"):
        if (getattr(options, name) or 0) < 0:
            raise ValueError(f"--{name} is {getattr(options, name)}; expected a number ≥ 0")


def numbered_case(seed: int, number: int) -> Case:
    """Case ``number`` of a seed, the same whatever came before it."""
    return random_case(np.random.default_rng([seed, number]))


def shrunk(case: Case, finding: Finding) -> tuple[str, str]:
    """What was found, and the smallest case that shows it."""

    def still(other: Case) -> bool:
        return any(found.kind == finding.kind for found in judge(other).findings)

    return finding.text, str(shrink(case, still))
