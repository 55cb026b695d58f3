"""Running the checks of the ledger, in several processes, in the ledger's order."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from proofs_check.statement import Check, Kind, Statement, read_statement


@dataclass(frozen=True)
class Outcome:
    """What became of one check.

    Attributes
    ----------
    name, kind
        The check in words, and how it decides.
    agrees, detail, slack
        Its finding; a check that raised does not agree, and its detail is the exception.
    seconds
        How long it took.
    failure
        The traceback of a check that raised, else ''.
    """

    name: str
    kind: Kind
    agrees: bool
    detail: str
    slack: float | None
    seconds: float
    failure: str = ""


@dataclass(frozen=True)
class Entry:
    """A statement with the outcomes of those of its checks that ran."""

    statement: Statement
    outcomes: tuple[Outcome, ...]

    @property
    def agrees(self) -> bool:
        """Whether no check contradicts the recorded verdict."""
        return all(outcome.agrees for outcome in self.outcomes)

    @property
    def left_out(self) -> int:
        """Slow checks that did not run."""
        return len(self.statement.checks) - len(self.outcomes)

    @property
    def slack(self) -> float | None:
        """The smallest slack that a check found."""
        return min((o.slack for o in self.outcomes if o.slack is not None), default=None)

    @property
    def seconds(self) -> float:
        """Of all its checks together."""
        return sum(outcome.seconds for outcome in self.outcomes)


def outcome_of(check: Check) -> Outcome:
    """Run a check; an exception is an outcome too, that contradicts any verdict."""
    begun = time.perf_counter()
    try:
        finding = check.run()
    except Exception as error:
        seconds = time.perf_counter() - begun
        detail = f"raised {type(error).__name__}: {error}"
        return Outcome(check.name, check.kind, False, detail, None, seconds, traceback.format_exc())
    seconds = time.perf_counter() - begun
    agrees = bool(finding.agrees)
    return Outcome(check.name, check.kind, agrees, finding.detail, finding.slack, seconds)


def chosen_places(statement: Statement, slow: bool) -> list[int]:
    """Places of the checks to run."""
    return [place for place, check in enumerate(statement.checks) if slow or not check.slow]


def run(statements: Sequence[Statement], *, slow: bool = False, jobs: int = 1) -> Iterator[Entry]:
    """Run the statements' checks; yield the entries in order, each as soon as it is done."""
    if jobs == 1:
        for statement in statements:
            checks = [statement.checks[place] for place in chosen_places(statement, slow)]
            yield Entry(statement, tuple(outcome_of(check) for check in checks))
    else:
        yield from _run_in_processes(statements, slow, jobs)


def _run_in_processes(statements: Sequence[Statement], slow: bool, jobs: int) -> Iterator[Entry]:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts_to_parent)
    try:
        futures = [
            [pool.submit(_outcome_in_worker, one.module, place) for place in places]
            for one, places in ((one, chosen_places(one, slow)) for one in statements)
        ]
        for statement, pending in zip(statements, futures, strict=True):
            yield Entry(statement, tuple(future.result() for future in pending))
    except BaseException:
        # A check may run for minutes; whoever interrupts does not wait for it.
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _outcome_in_worker(module: str, place: int) -> Outcome:
    """Checks hold functions that cannot be sent: a worker imports the module itself."""
    return outcome_of(read_statement(importlib.import_module(module)).checks[place])
