"""Progress on a terminal's last line; and exit status, ranks and threads of this process."""

import contextlib
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module

from rcmd.solver.history import Record, State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.run import Budgets

EXIT_BUDGET, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")
"""Where launchers say how many processes they started: Open MPI, MPICH and Intel, MVAPICH."""

RECENT = 6
"""Records that an estimate of the time left uses."""


def tell_on_terminal(text: str, stays: bool = False) -> None:
    """Replace the last line by ``text``, which may stay; nothing where stderr is no terminal."""
    if sys.stderr.isatty():
        line = f"{text}\n" if stays else text[: shutil.get_terminal_size().columns - 1]
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


class RunProgress:
    """A callback for ``solve`` that shows gap, gradients, seconds and an estimate of those left."""

    def __init__(self, tol: float, budgets: Budgets, tell: Callable[[str], None]) -> None:
        self._tol, self._budgets, self._tell = tol, budgets, tell
        self._rows: list[Record] = []

    def __call__(self, state: State) -> None:
        row = state.record()
        self._rows = [*self._rows[1 - RECENT :], row]
        left = seconds_left(self._rows, self._tol, self._budgets)
        self._tell(
            f"gap {float(row.gap):.2e} (to reach: {float(self._tol):.0e}), "
            f"{row.gradients:,} gradient{'s'[: row.gradients != 1]}, {duration(row.seconds)}"
            + ("" if left is None else f", about {duration(left)} left")
        )


def seconds_left(rows: Sequence[Record], tol: float, budgets: Budgets) -> float | None:
    """Time to the tolerance, if the gap keeps falling as it did, or to the end of a budget.

    Steps of the algorithm make the gap fall like a power of the gradients, corrections like a
    geometric sequence. ``None`` where nothing can be estimated.
    """
    last = rows[-1]
    if last.gap <= tol:
        return 0.0
    ends = [budgets.seconds - last.seconds]
    earlier = [row for row in rows if row.gradients < last.gradients]
    if earlier:
        first = earlier[0]
        pace = (last.seconds - first.seconds) / (last.gradients - first.gradients)
        if budgets.gradients is not None:
            ends.append((budgets.gradients - last.gradients) * pace)
        ends.append(_gradients_left(rows, tol) * pace)
    left = min(end for end in ends if not math.isnan(end))
    return max(left, 0.0) if math.isfinite(left) else None


def _gradients_left(rows: Sequence[Record], tol: float) -> float:
    alike = [row for row in rows if row.phase == rows[-1].phase and 0 < row.gap < math.inf]
    if len(alike) < 2 or not tol > 0:
        return math.inf
    first, last = alike[0], alike[-1]
    powers = last.phase == "plain"
    start, now = (math.log(row.gradients) if powers else row.gradients for row in (first, last))
    fallen = math.log(first.gap) - math.log(last.gap)
    if not (now > start and fallen > 0):
        return math.inf
    end = now + (now - start) * (math.log(last.gap) - math.log(tol)) / fallen
    if powers:
        end = math.exp(end) if end < 700 else math.inf
    return float(end - last.gradients)


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.42), duration(75), duration(7300), duration(3e6)
    ('0.4 s', '1 min 15 s', '2 h 1 min', '35 days')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    if seconds < 86400:
        return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"
    return f"{seconds / 86400:.0f} days"


def exit_status(result: Result) -> int:
    """0 where the tolerance was reached, 1 where a run ended before, 130 after Ctrl-C."""
    if result.stop is StopReason.INTERRUPTED:
        return EXIT_INTERRUPTED
    return 0 if result.success else EXIT_BUDGET


def launched_ranks(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes a launcher such as ``mpirun`` started; 1 without one.

    Examples
    --------
    >>> launched_ranks({"PMI_SIZE": "4"}), launched_ranks({})
    (4, 1)
    """
    return max(int(environment.get(name, "1")) for name in SIZES)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit the linear algebra of all packages, and numba's loops, to one thread."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            stack.enter_context(import_module("threadpoolctl").threadpool_limits(1))
        try:
            yield
        finally:
            numba.set_num_threads(before)
