"""Random problems, and what must hold for any problem: ``rcmd fuzz``.

``cases`` draws problems, with a loss and an oracle of any class that has a spec; ``judging``
solves one here and by CVXPY and says what does not agree. ``planted`` has classes with faults, and
``trials`` draws problems with them and says what became of one. Hypothesis
(``pip install 'rcmd-opt[fuzz]'``) looks for a case with a finding and simplifies it.
"""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from random import Random
from typing import Any

from rcmd.rows.validation import pip_install
from rcmd.testing.fuzzing import judging
from rcmd.testing.fuzzing.cases import Case, random_case
from rcmd.testing.fuzzing.judging import Finding, Verdict
from rcmd.testing.fuzzing.trials import Planted, random_planted, tried

__all__ = [
    "Case",
    "Finding",
    "Planted",
    "Verdict",
    "first_finding",
    "judge",
    "random_cases",
    "search",
]

ROUND = 500
"""Cases drawn before Hypothesis is started again, as it remembers all of them."""


def judge(case: Case) -> Verdict:
    """What must hold of ``case`` and does not."""
    return judging.judge(case, tried if isinstance(case, Planted) else judging.solved)


def search(
    seconds: float, seed: int, report: Callable[[Finding, Case], None], planted: bool = False
) -> list[Verdict]:
    """Judge random cases, at least one, until the time is over, and ``report`` each finding."""
    cases, verdicts, rng = random_cases(planted), list[Verdict](), Random(seed)
    end = time.perf_counter() + seconds  # once Hypothesis is there, which takes a while to import
    with suppress(_TimeIsUp):
        while True:
            found = first_finding(rng.getrandbits(64), cases, ROUND, verdicts, end)
            if found is not None:
                report(*found)
    return verdicts


def first_finding(
    seed: int, cases: Any, count: int, verdicts: list[Verdict] | None = None, end: float = math.inf
) -> tuple[Finding, Case] | None:
    """The first finding in ``count`` cases of a strategy, with the simplest case of its kind.

    ``verdicts`` grows by those up to the finding; without one the search stops at the time ``end``.
    """
    hypothesis = _hypothesis()
    found: list[tuple[Finding, Case]] = []

    def has_finding(case: Case) -> bool:
        verdict = judge(case)
        if not found and verdicts is not None:
            verdicts.append(verdict)
            if not verdict.findings and time.perf_counter() > end:
                raise _TimeIsUp
        # Simpler cases with findings of another kind are of no interest.
        kept = [f for f in verdict.findings if not found or f.kind == found[0][0].kind]
        found.extend((finding, case) for finding in kept[:1])
        return bool(kept)

    phases = (hypothesis.Phase.generate, hypothesis.Phase.shrink)  # no explaining, which traces
    settings = hypothesis.settings(max_examples=count, database=None, deadline=None, phases=phases)
    with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
        hypothesis.find(cases, has_finding, settings=settings, random=Random(seed))
    return found[-1] if found else None


def random_cases(planted: bool = False) -> Any:
    """The strategy of all cases with nothing wrong about them, or of those with planted faults."""
    made = random_planted if planted else random_case
    return _hypothesis().strategies.randoms(use_true_random=False).map(made)


class _TimeIsUp(BaseException):
    """Not an ``Exception``, which Hypothesis would take for a finding."""


def _hypothesis() -> Any:
    try:
        return import_module("hypothesis")
    except ImportError:
        raise ImportError(f"random cases need Hypothesis: {pip_install('fuzz')}") from None
