"""Check the contract of a loss, an oracle or a prox, identity by identity: one of
your own, in a module or a file, or one that `rcmd list` shows.

    rcmd check 'my_losses.py:Tilted(0.3)'
    rcmd check my_losses:Tilted
    rcmd check logistic
    rcmd check l1:5
"""

import argparse
import traceback
from collections.abc import Callable
from typing import Any

from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.prox import BregmanProx
from rcmd.model.specs import LOSSES, ORACLES, REFUSED, for_columns, parse_loss, parse_oracle
from rcmd.model.user_code import load
from rcmd.oracles.base import LinearMinOracle
from rcmd.reporting.tables import say, write_json
from rcmd.testing.losses import inspect_conjugate
from rcmd.testing.oracles import inspect_oracle
from rcmd.testing.proxes import inspect_prox
from rcmd.testing.report import Report

CHECKS: dict[type, Callable[[Any], Report]] = {
    SeparableConjugate: inspect_conjugate,
    LinearMinOracle: inspect_oracle,
    BregmanProx: inspect_prox,
}

NAMED_VARIABLES = 5
"""Variables for oracles that are given by name."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``rcmd check``."""
    parser.add_argument("target", metavar="MODULE:CLASS|NAME", help="what to check")


def run(options: argparse.Namespace) -> int:
    """Run ``rcmd check``: 0 if the contract is kept and 1 if not."""
    part = named(options.target) or load(options.target)
    inspect = next((check for kind, check in CHECKS.items() if isinstance(part, kind)), None)
    if inspect is None:
        raise ValueError(
            f"{part!r} is of type {type(part).__name__}; expected a SeparableConjugate, a "
            "LinearMinOracle or a BregmanProx"
        )
    try:
        report = inspect(part)
    except Exception as fault:  # whatever the user's own code raises is a finding
        where = traceback.extract_tb(fault.__traceback__)[-1]
        told = f"{type(fault).__name__}: {fault} ({where.filename}:{where.lineno})"
        say(f"{part!r}\nFAIL  {told}", options.json)
        write_json({"subject": repr(part), "ok": False, "raised": told}, options.json)
        return 1
    count = len(report.failures)
    verdict = "the contract is kept" if report.ok else f"{count} failure{'s' if count > 1 else ''}"
    say("\n".join([report.subject, *report.lines(), verdict]), options.json)
    write_json(report.as_dict(), options.json)
    return 0 if report.ok else 1


def named(target: str) -> Any:
    """The loss or oracle that ``rcmd list`` names ``target``; ``None`` if there is none."""
    name = target.partition(":")[0]
    if name in LOSSES or name in REFUSED or name == "expression":
        return parse_loss(target)
    return for_columns(parse_oracle(target), NAMED_VARIABLES) if name in ORACLES else None
