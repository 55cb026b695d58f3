"""Hypothesis draws cases until one has a finding, and makes that one as simple as it can."""

import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from random import Random
from typing import Any

from rcmd.rows.validation import pip_install
from rcmd.testing.fuzzing.cases import Case, random_case
from rcmd.testing.fuzzing.judging import Finding, Verdict, judge

ROUND = 500
"""Cases drawn before Hypothesis is started again, as it remembers all of them."""


def search(seconds: float, seed: int, report: Callable[[Finding, Case], None]) -> list[Verdict]:
    """Judge random cases, at least one, until the time is over, and ``report`` each finding."""
    _hypothesis()  # which takes a while to import
    end, rng, verdicts = time.perf_counter() + seconds, Random(seed), list[Verdict]()

    def count(verdict: Verdict) -> None:
        verdicts.append(verdict)
        if not verdict.findings and time.perf_counter() > end:
            raise _TimeIsUp

    with suppress(_TimeIsUp):
        while True:
            found = first_finding(rng.getrandbits(64), judged=count)
            if found is not None:
                report(*found)
    return verdicts


def first_finding(
    seed: int,
    cases: Any = None,
    count: int = ROUND,
    judged: Callable[[Verdict], None] = lambda verdict: None,
) -> tuple[Finding, Case] | None:
    """The first finding in ``count`` cases of a strategy, with the simplest case of its kind.

    ``judged`` is called with each verdict up to that of the finding.
    """
    hypothesis = _hypothesis()
    found: list[tuple[Finding, Case]] = []

    def has_finding(case: Case) -> bool:
        verdict = judge(case)
        if not found:
            judged(verdict)
        # Simpler cases with findings of another kind are of no interest.
        kept = [f for f in verdict.findings if not found or f.kind == found[0][0].kind]
        found.extend((finding, case) for finding in kept[:1])
        return bool(kept)

    phases = (hypothesis.Phase.generate, hypothesis.Phase.shrink)  # no explaining, which traces
    settings = hypothesis.settings(max_examples=count, database=None, deadline=None, phases=phases)
    strategy = random_cases() if cases is None else cases
    with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
        hypothesis.find(strategy, has_finding, settings=settings, random=Random(seed))
    return found[-1] if found else None


def random_cases() -> Any:
    """The strategy of all cases."""
    return _hypothesis().strategies.randoms(use_true_random=False).map(random_case)


class _TimeIsUp(BaseException):
    """Not an ``Exception``, which Hypothesis would take for a finding."""


def _hypothesis() -> Any:
    try:
        return import_module("hypothesis")
    except ImportError:
        raise ImportError(f"random cases need Hypothesis: {pip_install('fuzz')}") from None
