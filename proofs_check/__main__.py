"""The command: ``python -m proofs_check`` runs the ledger, ``… hunt`` looks for violations."""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from proofs_check.ledger import ledger
from proofs_check.running import Entry, run
from proofs_check.statement import Kind, Statement
from proofs_check.table import Table, counted
from rcmd import RCMD, Problem
from rcmd.model.bounds import Verdict, all_bounds
from rcmd.model.schedules import LinearSchedule
from rcmd.theory import hunt

EXIT_CONTRADICTED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

HELP = """\
Run the ledger: every statement of the paper with its verdict, and the checks that decide it.

Exits with 0 when every check confirms its verdict, 1 when one contradicts it or raises,
2 on bad input and 130 when interrupted.
"""

HUNT_HELP = """\
Search small problems for the largest E[gap]/bound, each over all index sequences: random restarts
and a local search. Exits with 1 when a bound that is not refuted is violated. The bounds:

"""


def printed_steps(problem: Problem, batch: int) -> RCMD:
    """Remark 3.4: batches with the σ of single rows."""
    sigma = problem.constants(batch).sigma_printed
    return RCMD(batch=batch, schedule=LinearSchedule(problem.n / batch, sigma))


BOUNDS = {bound.name: bound for bound in all_bounds()}
OTHER_STEPS: dict[str, dict[str, Any]] = {
    name: {"method": printed_steps, "last": True}
    for name in ("remark-3.4-first", "remark-3.4-second")
}


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and leave with status 2."""
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except BadInput as fault:
        print(f"proofs_check: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("proofs_check: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has gone: not all was shown, so this is no success.
        sys.stdout = None
        return EXIT_INTERRUPTED
    return status


class BadInput(ValueError):
    """An argument that cannot be used; the message says which, and what was expected."""


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="python -m proofs_check",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=_run_ledger)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_hunt(commands)
    parser.add_argument("--only", metavar="LABEL", action="append", help="this statement alone, "
                        "with its checks; may be given several times")  # fmt: skip
    parser.add_argument("--slow", action="store_true", help="run the slow checks too")
    parser.add_argument("--verbose", action="store_true", help="show every check's evidence")
    parser.add_argument("--jobs", type=_count, default=os.cpu_count() or 1, metavar="N",
                        help="processes (default: one per core)")  # fmt: skip
    parser.add_argument("--json", type=_new_file, metavar="FILE", help="write the ledger as JSON")
    parser.add_argument("--html", type=_new_file, metavar="FILE",
                        help="write it as one page that needs no network")  # fmt: skip
    return parser


def _add_hunt(commands: Any) -> None:
    width = max(map(len, BOUNDS))
    known = (f"  {b.name:{width}}  {b.formula} ({b.verdict.value})" for b in BOUNDS.values())
    parser = commands.add_parser(
        "hunt",
        help="search for the small problem for which a bound is tightest, or fails",
        description=HUNT_HELP + "\n".join(known),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=_run_hunt)
    parser.add_argument("bound", metavar="BOUND", help="a name from the list above")
    parser.add_argument("--seconds", type=_positive, help="search so long (default: 60)")
    parser.add_argument("--evaluations", type=_count, metavar="N", help="or so many problems")
    parser.add_argument("--seed", type=_seed, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--json", type=_new_file, metavar="FILE", help="write the catch as JSON")


def _run_hunt(options: argparse.Namespace) -> int:
    _check_known(options.bound, list(BOUNDS), "hunt", "bound")
    unlimited = 60.0 if options.evaluations is None else math.inf
    catch = hunt(
        options.bound,
        seconds=unlimited if options.seconds is None else options.seconds,
        evaluations=math.inf if options.evaluations is None else options.evaluations,
        seed=options.seed,
        **OTHER_STEPS.get(options.bound, {}),
    )
    again = f"hunt {options.bound} --seed {options.seed} --evaluations {catch.evaluations}"
    print(f"{catch}\n\nagain: python -m proofs_check {again}")
    if options.json is not None:
        told = {
            "bound": catch.bound.name, "formula": catch.bound.formula, "ratio": catch.ratio,
            "violated": catch.violates, "gap": catch.gap, "value": catch.value,
            "seed": options.seed, "evaluations": catch.evaluations, "code": catch.code,
        }  # fmt: skip
        text = json.dumps(told, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    verdict = catch.bound.verdict_for(catch.problem.constants(catch.batch), catch.iterations)
    return int(catch.violates and verdict is not Verdict.REFUTED)


def _count(text: str) -> int:
    if not (text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a whole number from 1 on")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a whole number from 0 on")
    return int(text)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a number above 0")
    return number


def _new_file(text: str) -> Path:
    """A path that can be written, found out before the work starts."""
    path = Path(text)
    if not path.parent.is_dir() or path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} given; expected a file in a folder that exists")
    return path


def _run_ledger(options: argparse.Namespace) -> int:
    statements = _selected(ledger(), options.only)
    if options.html and importlib.util.find_spec("latex2mathml") is None:
        raise BadInput("--html needs latex2mathml; expected it: pip install 'rcmd-opt[demo]'")
    intervals = any(check.kind is Kind.INTERVAL for one in statements for check in one.checks)
    if intervals and importlib.util.find_spec("flint") is None:
        raise BadInput("intervals need python-flint; expected it: pip install 'rcmd-opt[verify]'")
    table = Table(statements, shutil.get_terminal_size((100, 24)).columns, sys.stdout.isatty())
    begun, entries, interrupted = time.perf_counter(), [], False
    print("\n".join(table.head()))
    try:
        for entry in _watched(run(statements, slow=options.slow, jobs=options.jobs), statements):
            entries.append(entry)
            print("\n".join(table.row(entry)))
            if options.verbose or options.only:
                print("\n".join([*table.facts(entry.statement), *table.checks(entry)]))
    except KeyboardInterrupt:
        interrupted = True
    print("\n".join(table.summary(entries, time.perf_counter() - begun)))
    if failures := table.failures(entries):
        print("\n" + "\n".join(failures), file=sys.stderr)
    if interrupted:
        unseen = counted(len(statements) - len(entries), "statement")
        print(f"proofs_check: interrupted; not done: {unseen}", file=sys.stderr)
    _write(entries, options)
    if interrupted:
        return EXIT_INTERRUPTED
    return 0 if all(entry.agrees for entry in entries) else EXIT_CONTRADICTED


def _selected(statements: list[Statement], labels: list[str] | None) -> list[Statement]:
    if labels is None:
        return statements
    known = [statement.label for statement in statements]
    for label in labels:
        _check_known(label, known, "--only", "statement")
    return [statement for statement in statements if statement.label in labels]


def _check_known(label: str, known: list[str], option: str, what: str) -> None:
    if label not in known:
        near = difflib.get_close_matches(label, known, n=5)
        near += [other for other in known if label in other and other not in near]
        hint = f"near it are {', '.join(near)}" if near else f"there are {', '.join(known)}"
        raise BadInput(f"{option} {label}: no {what} has this label; {hint}")


def _watched(entries: Iterator[Entry], statements: Sequence[Statement]) -> Iterator[Entry]:
    """The same entries; meanwhile a terminal's last line says how far the work is."""
    if not sys.stderr.isatty():
        yield from entries
        return
    try:
        for done, statement in enumerate(statements):
            filled = round(30 * done / len(statements))
            bar = "█" * filled + "░" * (30 - filled)
            line = f"{bar} {done}/{len(statements)} {statement.label}"
            print(f"\r\x1b[2K{line}", end="\r", file=sys.stderr, flush=True)
            entry = next(entries)
            print("\x1b[2K", end="", file=sys.stderr, flush=True)
            yield entry
    finally:
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def _write(entries: list[Entry], options: argparse.Namespace) -> None:
    if options.json:
        text = json.dumps([as_json(entry) for entry in entries], indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.html:
        from proofs_check.page import page

        options.html.write_text(page(entries), encoding="utf-8")


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry in plain numbers and strings."""
    statement = entry.statement
    return {
        "label": statement.label,
        "title": statement.title,
        "paper": statement.paper,
        "origin": statement.origin,
        "claim": statement.claim,
        "hypotheses": statement.assumed,
        "status": statement.status.value,
        "correction": statement.correction,
        "proof": statement.proof,
        "method": statement.method,
        "tested": statement.tested,
        "agrees": entry.agrees,
        "left_out": entry.left_out,
        "checks": [
            {
                "name": outcome.name,
                "kind": outcome.kind.value,
                "agrees": outcome.agrees,
                "detail": outcome.detail,
                "slack": _finite(outcome.slack),
                "seconds": round(outcome.seconds, 3),
            }
            for outcome in entry.outcomes
        ],
    }


def _finite(number: float | None) -> float | None:
    """JSON has no infinity."""
    return number if number is not None and math.isfinite(number) else None


if __name__ == "__main__":
    sys.exit(main())
