"""Check the contract of a loss, an oracle, a prox, a schedule, rows or a
sampler, identity by identity: one of your own, in a module or a file, or one
that `rcmd list` shows.

    rcmd check 'my_losses.py:Tilted(0.3)' --labels=-1,1
    rcmd check my_losses:Tilted
    rcmd check logistic
    rcmd check 'expression:log(1 + exp(-y*s))'
    rcmd check 'expression:softplus(s - y) - tau*(s - y)' --field tau=0.3
    rcmd check l1:5 --p 8
"""

import argparse
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from rcmd.cli.options import given, limit
from rcmd.conjugates.base import NumericConjugateWarning, SeparableConjugate
from rcmd.engine.sampling import Sampler
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule
from rcmd.model.specs import LOSSES, ORACLES, Waiting, parse_loss, parse_oracle
from rcmd.model.user_code import load
from rcmd.oracles.base import LinearMinOracle
from rcmd.reporting.tables import say, write_json
from rcmd.rows import Rows
from rcmd.testing.losses import inspect_conjugate
from rcmd.testing.oracles import inspect_oracle
from rcmd.testing.proxes import inspect_prox
from rcmd.testing.report import Report
from rcmd.testing.rows import inspect_rows
from rcmd.testing.samplers import inspect_sampler
from rcmd.testing.schedules import inspect_schedule

CHECKS: dict[Any, tuple[Callable[..., Report], tuple[str, ...]]] = {
    SeparableConjugate: (inspect_conjugate, ("labels", "fields")),
    LinearMinOracle | Waiting: (inspect_oracle, ("p",)),
    BregmanProx: (inspect_prox, ("labels",)),
    Schedule: (inspect_schedule, ()),
    Rows: (inspect_rows, ()),
    Sampler: (inspect_sampler, ()),
}
"""How each kind is checked, and which options that takes."""

KINDS = {"p": "an oracle", "labels": "a loss or a prox", "fields": "a loss"}
"""What each option is for."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="MODULE:CLASS|NAME", help="what to check")
    parser.add_argument(
        "--p", type=limit(int), help="variables (default: those the oracle is made for, or 5)"
    )
    parser.add_argument(
        "--labels", type=numbers, metavar="Y,Y,…", help="labels (default: some that the loss takes)"
    )
    parser.add_argument(
        "--field", type=field, action="append", metavar="NAME=NUMBER", dest="fields",
        help="a number for what the loss reads; again",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    chosen = given(options, KINDS)
    if options.fields:
        chosen["fields"] = dict(options.fields)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericConjugateWarning)  # as the report says it
        part = named(options.target, chosen.get("fields", ())) or load(options.target)
    inspect, takes = next(
        (check for kind, check in CHECKS.items() if isinstance(part, kind)), (None, ())
    )
    if inspect is None:
        raise ValueError(
            f"{part!r} is of type {type(part).__name__}; expected a SeparableConjugate, a "
            "LinearMinOracle, a BregmanProx, a Schedule, Rows or a Sampler"
        )
    if left := [name for name in chosen if name not in takes]:
        option = "field" if left[0] == "fields" else left[0]
        raise ValueError(
            f"--{option} is given for {part!r}; expected it for {KINDS[left[0]]} alone"
        )
    report = inspect(part, **chosen)
    say("\n".join([report.subject, *report.lines(), report.verdict]), options.json)
    write_json(report.as_dict(), options.json)
    return 0 if report.ok else 1


def named(target: str, fields: Iterable[str] = ()) -> Any:
    """The loss or oracle that ``rcmd list`` names ``target``; ``None`` if there is none."""
    name = target.partition(":")[0]
    if name in LOSSES or name == "expression":
        return parse_loss(target, fields)
    return parse_oracle(target) if name in ORACLES else None


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} are no labels; expected numbers between commas, such as --labels=-1,1"
        ) from None


def field(text: str) -> tuple[str, float]:
    """A name and its number."""
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no field; expected NAME=NUMBER, such as tau=0.3"
        ) from None
