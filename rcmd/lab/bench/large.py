"""Large problems of ``rcmd bench peers``: matrices, memory, processes, and the command itself.

What starts a fresh process is measured in one: this file, run with a name of ``MEASURED``.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rcmd import LowRank, MatrixEntries, NuclearBall, Problem, solve
from rcmd.applications.completion import complete
from rcmd.distributed import ShardedProblem, world
from rcmd.distributed.shards import block
from rcmd.lab.bench import workloads
from rcmd.lab.bench.mpi import answers, mpirun
from rcmd.lab.bench.others import Duel
from rcmd.lab.bench.timing import Absent, cells
from rcmd.methods.corrections.factors import lowered
from rcmd.methods.corrections.newton import Point
from rcmd.model.certificate import certify
from rcmd.reporting.progress import launched_ranks
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Section, Target, nanoseconds
from rcmd.rows.processes import Alone, Group
from rcmd.rows.validation import Array, FileError

RANK, NOISE = 10, 0.5
"""Of the matrices, and the deviation of the noise in what is seen of them."""

COLUMNS, ROW_ENTRIES, ORACLE = 1000, 20, "l1:20"
"""Of the sparse rows, and the set that they are fitted over."""

FEW, TURNS = 3000, 3
"""Rows of what is solved to compile; turns of what takes minutes."""

GROWTH = 1.05
"""By how much the peer's number of iterations may be more than it needs."""


def seen(shape: tuple[int, int], count: int, seed: int) -> tuple[Any, float]:
    """Noisy entries of a random matrix of rank 10, and its nuclear norm."""
    rng = np.random.default_rng(seed)
    left, right = (rng.standard_normal((side, RANK)) for side in shape)
    i, k = np.divmod(rng.choice(shape[0] * shape[1], count, replace=False), shape[1])
    truth = LowRank.of_factors(left, right)
    return (i, k, truth.at(i, k) + NOISE * rng.standard_normal(count)), truth.nuclear_norm()


def accelerated(entries: Any, shape: tuple[int, int], radius: float) -> Iterator[Array]:
    """FISTA for ½ Σ (β_ik − y)², projected onto the ball by a singular value decomposition."""
    i, k, y = entries
    beta = ahead = np.zeros(shape)
    weight = 1.0
    while True:
        moved = ahead.copy()
        moved[i, k] = y
        left, values, right = np.linalg.svd(moved, full_matrices=False)
        after = (left * lowered(values, 0.0, radius)) @ right
        grown = (1 + np.sqrt(1 + 4 * weight * weight)) / 2
        ahead = after + (weight - 1) / grown * (after - beta)
        beta, weight = after, grown
        yield beta.ravel()


def least_gap(problem: Problem, beta: Any) -> float:
    """P(β) − D(w) for the response w, or the share of it that suits β best."""
    w = Point(problem, beta, problem.rows.matvec(beta)).dual[1]
    return float(certify(problem, beta, w).gap)


def completions(shape: tuple[int, int], count: int, seed: int) -> Iterator[Duel]:
    """rcmd and FISTA, which is told the least number of iterations, to two gaps."""
    entries, radius = seen(shape, count, seed)
    i, k, y = entries
    problem = Problem(MatrixEntries(i, k, shape), y, "least-squares", NuclearBall(shape, radius))
    iterates, done = accelerated(entries, shape, radius), 0
    for tol in (1e-1, 1e-2):
        beta: Any = None
        while beta is None or least_gap(problem, beta) > tol:
            more = max(1, int((GROWTH - 1) * done))
            beta, done = next(islice(iterates, more - 1, None)), done + more

        def own(tol: float = tol) -> Any:
            return complete(entries, shape, radius, tol=tol).matrix

        def fit(_: float, done: int = done) -> Any:
            return next(islice(accelerated(entries, shape, radius), done - 1, None))

        name = f"completion {shape[0]:,} × {shape[1]:,}, {count:,} seen, to {tol:g}"
        yield Duel(name, 1.0, own, "FISTA", fit, partial(least_gap, problem), tol)


def completion(shape: tuple[int, int], count: int, tol: float, seed: int) -> dict[str, Any]:
    """Seconds and peak memory of one completion, from the import on."""
    entries, radius = seen(shape, count, seed)
    begun = time.perf_counter()
    done = complete(entries, shape, radius, tol=tol)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "peak": memory("VmHWM"), "gap": float(done.result.gap)}


def spread(
    data: str | int, folder: str | None, tol: float, repeats: int, seed: int
) -> dict[str, Any]:
    """Logistic regression on so many rows, or a file's, on this process or these ranks.

    The memory is what the first of the runs took at most beyond what was there.
    """
    group = everybody()

    def made(X: Any, y: Array) -> Problem:
        if group.size == 1:
            return Problem(X, y, "logistic", ORACLE)
        return ShardedProblem(X, y, "logistic", ORACLE, group=group)

    solve(made(*generated(FEW, seed)), tol=tol)
    X, y = generated(data, seed) if isinstance(data, int) else workloads.load(data, folder)
    if group.size > 1:
        own = slice(*block(group, len(y)))
        X, y = X[own], y[own]
    before, peak, times = memory("VmRSS"), 0.0, []
    for _ in range(repeats):
        group.sum(np.zeros(1))  # all begin together
        begun = time.perf_counter()
        result = solve(made(X, y), tol=tol)
        times.append(time.perf_counter() - begun)
        peak = peak or memory("VmHWM") - before
    size = sum(part.nbytes for part in (X.data, X.indices, X.indptr))
    found = {"gap": float(result.gap), "gradients": result.history[-1].gradients}
    return {"times": times, "peak": peak, "data": size, **found}


def everybody() -> Group:
    """This process, or the ranks that mpirun started."""
    return world() if launched_ranks() > 1 else Alone()


def generated(n: int, seed: int) -> workloads.Data:
    """Sparse rows with labels that depend on a tenth of the columns."""
    rng = np.random.default_rng(seed)
    X = workloads.zipf(n, COLUMNS, ROW_ENTRIES, rng).X
    signal = np.where(rng.random(COLUMNS) < 0.1, 10 * rng.standard_normal(COLUMNS), 0.0)
    return workloads.Data(X, np.where(rng.random(n) < 1 / (1 + np.exp(-(X @ signal))), 1.0, -1.0))


def memory(name: str) -> float:
    """Bytes that this process has in memory (``VmRSS``), or had at most (``VmHWM``)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return np.nan
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return 1024 * float(lines[name].split()[0])


def first_words() -> tuple[float, float]:
    """Seconds from the start of ``rcmd solve`` to its certificate, and to CVXPY's answer."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "rcmd", "solve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = {line: time.perf_counter() - begun for line in process.stdout}
    ends = [
        next(seconds for line, seconds in said.items() if words in line)
        for words in ("certified gap reached the tolerance", "CVXPY: P*")
    ]
    return ends[0], ends[1]


MEASURED: dict[str, Callable[..., dict[str, Any]]] = {"completion": completion, "spread": spread}


def measured(name: str, ranks: int = 1, **options: Any) -> dict[str, Any]:
    """What a function of ``MEASURED`` returns in a fresh process, or in several."""
    tell(f"{name}, {options}")
    arguments = ["-m", "rcmd.lab.bench.large", name, json.dumps(options)]
    found: dict[str, Any] = answers(
        mpirun(ranks, arguments) if ranks > 1 else [sys.executable, *arguments]
    )[0]
    return found


def large(seed: int, repeats: int, folder: str | None = None, *, small: bool = False) -> Section:
    """The table."""
    header = cells("problem | rcmd | gap | beside | its time | certifies | ratio | goal")
    section = Section("large", "Matrices, memory, processes", header)
    section.notes.append("completions: CPU time; all others: wall time, a fresh process each")
    side, n = (3, 10**5) if small else (1, 10**6)
    if small:
        section.notes.append("a tenth of the rows, for which the goals were not set")
    for duel in completions((1000 // side, 800 // side), 76_000 // side**2, seed):
        duel.measure(section, min(repeats, TURNS))
    _complete_large(section, (5000 // side, 4000 // side), seed)
    _compare_ranks(section, n, folder, repeats, seed)
    ends = [first_words() for _ in range(repeats)]
    certificate, truth = min(one for one, _ in ends), min(other for _, other in ends)
    shown = [nanoseconds(1e9 * certificate), "", "CVXPY's truth", nanoseconds(1e9 * truth)]
    _add(section, "rcmd solve, to the certificate, in s", *shown, certificate, 1.0, seconds=ends)
    return section


def _complete_large(section: Section, shape: tuple[int, int], seed: int) -> None:
    for tol in (1e-1, 1e-2):
        count = shape[0] * shape[1] // 50
        found = measured("completion", shape=shape, count=count, tol=tol, seed=seed)
        name = f"completion {shape[0]:,} × {shape[1]:,}, 2 % seen, to {tol:g}"
        gap, reached = f"{found['gap']:.0e}", found["gap"] <= tol
        seconds = found["seconds"] if reached else np.nan
        shown = nanoseconds(1e9 * found["seconds"])
        _add(section, f"{name}, in s", shown, gap, "", "", seconds, 60.0, **found)
        peak = found["peak"] / 1e9
        _add(section, f"{name}, in GB", f"{peak:.2g} GB", gap, "", "", peak, 1.0)


def _compare_ranks(section: Section, n: int, folder: str | None, repeats: int, seed: int) -> None:
    """One process and two ranks: gradients, seconds; and the memory of one process."""
    cases: Any = ("w8a", 1e-2), (n, 1e-6)
    for data, tol in cases:
        options = {"data": data, "folder": folder, "tol": tol, "repeats": repeats, "seed": seed}
        name = f"{data:,} rows" if data == n else str(data)
        try:
            if data != n:
                workloads.load(data, folder)
            one = measured("spread", **options)
            if data == n:
                _weigh(section, name, n, one)
            two = measured("spread", ranks=2, **options)
        except (Absent, FileError, ImportError, OSError) as reason:
            section.notes.append(f"{name} is left out: {reason}")
            continue
        gap, passes = f"{two['gap']:.0e}", [found["gradients"] / 1e3 for found in (two, one)]
        shown = [f"{passes[0]:,.0f}", gap, "one process", f"{passes[1]:,.0f}"]
        ratio = passes[0] / passes[1]
        _add(section, f"{name}, 2 ranks, thousand gradients", *shown, ratio, 1.0)
        if data == n:
            best = [min(found["times"]) for found in (two, one)]
            shown[0], shown[3] = (nanoseconds(1e9 * seconds) for seconds in best)
            ratio, found = best[0] / best[1], {"two": two, "one": one}
            _add(section, f"{name}, 2 ranks, to {tol:g}", *shown, ratio, 0.667, **found)


def _weigh(section: Section, name: str, n: int, found: dict[str, Any]) -> None:
    """The peak beside half of the data and 12 vectors."""
    allowed = found["data"] / 2 + 12 * 8 * n
    shown = f"{found['peak'] / 1e6:.0f} MB", "", "½ data + 12 n", f"{allowed / 1e6:.0f} MB"
    _add(section, f"{name}, memory beyond data", *shown, found["peak"] / allowed, 1.0)


def _add(section: Section, name: str, *figures: Any, **row: Any) -> None:
    """A line: what is shown of rcmd, gap, the other and its own, then the ratio and its goal."""
    *shown, ratio, goal = figures
    verdict = "–" if np.isnan(ratio) else Target(goal).shown(ratio)
    line = [name, *shown, "", f"{ratio:.2f}", verdict]
    section.add(line, problem=name, ratio=ratio, goal=goal, **row)


if __name__ == "__main__":
    found = MEASURED[sys.argv[1]](**json.loads(sys.argv[2]))
    if everybody().rank == 0:
        print(json.dumps(found), flush=True)
