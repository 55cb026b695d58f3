"""Solve random small problems, every named loss with every named regularizer, and
compare with CVXPY: certificates must hold, tolerances must be kept, both
engines must agree, nothing may be NaN, warn or hang. The status is 1 if
anything is found; each finding is the smallest problem that shows it, as code
that repeats it.

    rcmd fuzz --seconds 60 --seed 0
    rcmd fuzz --planted
"""

import argparse
from collections import Counter

from rcmd.cli.options import limit
from rcmd.reporting.tables import say, write_json
from rcmd.rows.validation import check_seed
from rcmd.testing.fuzzing import Case, Finding, search


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=limit(float), default=60.0, help="(default: %(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    text = "problems with faults in user classes: each must be refused or labelled"
    parser.add_argument("--planted", action="store_true", help=text)


def run(options: argparse.Namespace) -> int:
    check_seed(options.seed)
    found: list[dict[str, str]] = []

    def tell(finding: Finding, case: Case) -> None:
        found.append({"finding": finding.text, "code": case.code()})
        say(f"FOUND {finding.text}\n\n{case.code()}\n", options.json)

    verdicts = search(options.seconds, options.seed, tell, options.planted)
    missed = [verdict.code for verdict in verdicts if verdict.code]
    for code in missed:
        say(
            f"NOT SEEN by the sampled check of a class; its certificate is wrong:\n\n{code}\n",
            options.json,
        )
    counts = {
        "problems": len(verdicts),
        "with findings": len(found),
        "reached their tolerance": sum(verdict.reached for verdict in verdicts),
        "without an optimum": sum(not verdict.judged for verdict in verdicts),
    } | Counter(verdict.outcome for verdict in verdicts if verdict.outcome)
    say(", ".join(f"{count} {what}" for what, count in counts.items()), options.json)
    write_json({"seed": options.seed, **counts, "findings": found, "missed": missed}, options.json)
    return 1 if found else 0
