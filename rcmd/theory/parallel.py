"""Independent pieces of work, several processes at a time, on joblib.

Processes are fresh ones: compiled code and threads do not survive a fork unharmed. Classes of a
script or a notebook are sent along, and arrays above a megabyte lie in one file that all
processes map.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import cache
from importlib import import_module
from numbers import Integral
from typing import Any

from rcmd.reporting.progress import duration, one_thread
from rcmd.rows.validation import pip_install


class RunFailed(ValueError):
    """One of several runs failed; the message says which, and why."""


def run_each(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    names: Sequence[str],
    *,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Any]:
    """``work(*task)`` for every task, ``jobs`` at a time, each on one thread.

    Parameters
    ----------
    work
        A function that can be sent to another process, of arguments that can.
    tasks, names
        The arguments of each task, and its name in messages.
    jobs
        Processes; −1 for as many as there are cores. One runs here, without joblib.
    tell
        Called with a line on what is done and what is under way.

    Returns
    -------
    list
        The results in the order of the tasks, the same for any number of processes.

    Examples
    --------
    >>> run_each(divmod, [(7, 2), (9, 4)], ["first", "second"])
    [(3, 1), (2, 1)]
    >>> run_each(divmod, [(7, 0)], ["first"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rcmd.theory.parallel.RunFailed: first failed: ZeroDivisionError: ...
    """
    jobs = min(_checked_jobs(jobs), len(tasks))
    results, begun = dict[int, Any](), time.perf_counter()

    def unfinished() -> list[str]:
        return [name for place, name in enumerate(names) if place not in results]

    def say() -> None:
        ahead, past = unfinished(), len(results)
        pace = (time.perf_counter() - begun) / max(past, 1)
        left = f", about {duration(pace * len(ahead))} left" if past else ""
        now = ", ".join(ahead[:jobs])
        tell(f"{past} of {len(tasks)} done{left}; {now}" if now else "")

    say()
    calls = [(place, work, *call) for place, call in enumerate(zip(tasks, names, strict=True))]
    outcomes = (_here(*call) for call in calls) if jobs <= 1 else _elsewhere(calls, jobs)
    try:
        with closing(outcomes):
            for place, result in outcomes:
                results[place] = result
                say()
    except BrokenProcessPool as fault:
        raise RunFailed(
            "a process was ended from outside, perhaps for want of memory, while it had one of "
            f"these: {', '.join(unfinished()[:jobs])}; try fewer at a time"
        ) from fault
    finally:
        tell("")
    return [results[place] for place in range(len(tasks))]


def _elsewhere(calls: Sequence[tuple[Any, ...]], jobs: int) -> Any:
    """Places and results as they come from other processes."""
    joblib = _joblib(jobs)
    options = {"backend": "loky", "return_as": "generator_unordered", "batch_size": 1}
    pool = joblib.Parallel(jobs, pre_dispatch=jobs, **options)
    return pool(joblib.delayed(_in_worker)(os.getpid(), *call) for call in calls)


@cache
def _end_with_parent(parent: int) -> None:
    """End this process when its parent is gone: it would go on alone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_worker(parent: int, *call: Any) -> tuple[int, Any]:
    _end_with_parent(parent)
    # The terminal sends Ctrl-C to all processes; the first one decides, and ends the others.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _here(*call)


def _here(place: int, work: Callable[..., Any], task: Any, name: str) -> tuple[int, Any]:
    try:
        with one_thread():
            return place, work(*task)
    except Exception as fault:
        raise RunFailed(f"{name} failed: {type(fault).__name__}: {fault}") from fault


def _checked_jobs(jobs: Any) -> int:
    count = int(jobs) if isinstance(jobs, Integral) and not isinstance(jobs, bool) else 0
    if count < 1 and count != -1:
        raise ValueError(
            f"the number of jobs is {jobs!r}; expected a whole number from 1 on, or -1 for as "
            "many as there are cores"
        )
    return int(_joblib(count).cpu_count()) if count == -1 else count


def _joblib(jobs: int) -> Any:
    try:
        return import_module("joblib")
    except ImportError:
        raise ImportError(
            f"{'several' if jobs == -1 else jobs} runs at a time need joblib: "
            f"{pip_install('parallel')}, or run one at a time"
        ) from None
