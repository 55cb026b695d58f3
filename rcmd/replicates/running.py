"""Many seeds, and many problems or options, in several processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple, Unpack

import numpy as np

from rcmd.certificate import certify
from rcmd.parallel import run_each
from rcmd.problem import Problem
from rcmd.replicates.replicates import Replicates
from rcmd.result import Result, StopReason
from rcmd.run import Options, iterate
from rcmd.telling import tell_on_terminal

Case = Problem | tuple[Problem, Options]


def replicate(
    problem: Problem,
    seeds: Iterable[int] = range(10),
    *,
    n_jobs: int = 1,
    tell: Callable[[str], None] = tell_on_terminal,
    **options: Unpack[Options],
) -> Replicates:
    """Run a problem once for each seed, ``n_jobs`` at a time.

    Parameters
    ----------
    problem
        What to solve. Processes share its data; rows on disk stay there.
    seeds
        Whole numbers, all different.
    n_jobs
        Processes, −1 for as many as there are cores; more than one need joblib
        (``pip install 'rcmd[parallel]'``). Each run has one thread, so that results do not depend
        on their number.
    tell
        Hears how far it is; by default the terminal's last line does.
    options
        Those of ``rcmd.solve`` but for ``seed``, ``sampler``, ``checkpoint`` and ``every``.

    Returns
    -------
    Replicates
        The results in the order of the seeds, their statistics, and the mean gap beside the
        theorem's bound.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem(np.eye(20), np.ones(20), LeastSquares(), L1Ball(1.0))
    >>> runs = replicate(problem, range(6), tol=0.0, max_iterations=200, checkpoints=[50, 200])
    >>> runs.column("gap").shape, bool((np.diff(runs.mean()) < 0).all())
    ((6, 2), True)
    >>> runs.against_bound().holds
    True
    """
    return sweep({"": problem}, seeds, n_jobs=n_jobs, tell=tell, **options)[""]


def sweep(
    cases: Mapping[str, Case],
    seeds: Iterable[int] = range(10),
    *,
    n_jobs: int = 1,
    tell: Callable[[str], None] = tell_on_terminal,
    **options: Unpack[Options],
) -> dict[str, Replicates]:
    """``replicate`` for several cases, all their runs in one queue.

    ``cases`` are problems by name, or pairs of a problem and options that are its own.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem(np.eye(9), np.ones(9), LeastSquares(), L1Ball(1.0))
    >>> found = sweep({f"batch {b}": (problem, {"batch": b}) for b in (1, 3)}, range(2), tol=0.1)
    >>> [(name, len(runs)) for name, runs in found.items()]
    [('batch 1', 2), ('batch 3', 2)]
    """
    numbers = _checked_seeds(seeds)
    by_name = isinstance(cases, Mapping)
    if not (by_name and cases):
        what = "empty" if by_name else f"of type {type(cases).__name__}"
        raise (ValueError if by_name else TypeError)(
            f"cases is {what}; expected problems by name, such as {{'l1': problem}}"
        )
    every = {name: _checked_case(name, case, options) for name, case in cases.items()}
    tasks = [(*case, seed) for case in every.values() for seed in numbers]
    names = [f"{name} seed {seed}".strip() for name in every for seed in numbers]
    found = iter(run_each(_run, tasks, names, jobs=n_jobs, tell=tell))
    return {name: _gathered(numbers, [next(found) for _ in numbers]) for name in every}


class Outcome(NamedTuple):
    """A run, and the gaps of the theorem's pair at its checkpoints."""

    result: Result
    pair_gaps: tuple[float, ...]


def _gathered(seeds: tuple[int, ...], outcomes: Sequence[Outcome]) -> Replicates:
    results, gaps = zip(*outcomes, strict=True)
    return Replicates(seeds, results, gaps)


def _run(problem: Problem, options: Options, seed: int) -> Outcome:
    """Theorem 3.1 speaks of w̄, Theorem 3.2 of the last w, and both of β̄."""
    own: Options = options | {"seed": seed}
    run = iterate(problem, **own)
    gaps = []
    for state in run:
        if not math.isnan(state.bound):
            w = state.w_average if run.schedule.theorem == "sublinear" else state.w
            gaps.append(float(certify(problem, state.beta_average, w).gap))
    result = run.result()
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    return Outcome(result, tuple(gaps))


def _checked_seeds(seeds: Iterable[Any]) -> tuple[int, ...]:
    if not isinstance(seeds, Iterable):
        raise TypeError(f"seeds is {seeds!r}; expected several whole numbers, such as range(10)")
    numbers = tuple(seeds)
    odd = [s for s in numbers if isinstance(s, bool) or not isinstance(s, Integral) or s < 0]
    if odd or not numbers or len(set(numbers)) < len(numbers):
        what = f"hold {odd[0]!r}" if odd else "repeat each other" if numbers else "are empty"
        raise ValueError(f"seeds {what}; expected different whole numbers from 0 on, at least one")
    return tuple(map(int, numbers))


def _checked_case(name: str, case: Any, options: Options) -> tuple[Problem, Options]:
    """The problem with its constants, and its options, which a first run has checked."""
    problem, own = case if isinstance(case, tuple) else (case, {})
    merged: Options = {**options, **own}
    taken = [word for word in ("seed", "sampler", "checkpoint", "every") if word in merged]
    if taken:
        raise ValueError(
            f"{' and '.join(taken)} given for all runs together; expected none of them, as each "
            "run has a seed of its own out of seeds"
        )
    marks = merged.get("checkpoints")
    if marks is not None and not isinstance(marks, Sequence | np.ndarray):
        raise ValueError(
            f"checkpoints is {marks!r}, which one run would use up; expected a list or a range"
        )
    iterate(problem, **merged)
    return problem, merged
