"""``rcmd bench mpi``: steps on 1, 2, 4, … ranks beside one process.

mpirun starts this file on every rank, where it times steps of generated problems.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd import L1Ball, Logistic, Problem
from rcmd.distributed import Group, ShardedProblem, world
from rcmd.distributed.engine import ShardedEngine
from rcmd.distributed.shards import block
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.lab.bench.timing import cells
from rcmd.model.prox import ConjugateProx
from rcmd.model.schedules import SublinearSchedule
from rcmd.reporting.tables import Report, Section, about
from rcmd.rows.validation import pip_install

ROWS = 2**15
"""Of each problem."""

SLICE_ROWS = 2**12
"""Rows between two readings of the clock: few, so that some slices are undisturbed."""

LEAST_SLICES = 5


class Case(NamedTuple):
    """One way to run: p columns, z entries a row, batches of b, and the exchange."""

    columns: int
    row_entries: int
    batch: int
    exchange: Any


BATCHES = (256, 512, 1024, 2048, 4096, 8192)
CASES = [
    Case(*numbers)
    for numbers in product((10**3, 10**4, 10**5), (10, 100), BATCHES, ("sparse", "dense"))
]


def run(ranks: Sequence[int], seconds: float, seed: int) -> Report:
    """The table, from processes that mpirun starts."""
    measured = {count: _measured(count, seconds, seed) for count in sorted(set(ranks))}
    settings = {"ranks": list(measured), "seconds": seconds, "cores": os.cpu_count() or 1}
    return Report([_table(measured)], about(seed, None, **settings))


def mpirun(ranks: int, arguments: Sequence[str]) -> list[str]:
    """The command line that starts this Python on so many ranks, with these arguments.

    The launcher beside this Python comes first: it belongs to the MPI that pip installed there.
    """
    beside = os.path.dirname(sys.executable)
    launcher = shutil.which("mpirun", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if launcher is None or find_spec("mpi4py") is None:
        raise ImportError(
            f"mpirun or mpi4py is missing; expected both: {pip_install('mpi')}, and an MPI such "
            "as that of pip install mpich"
        )
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    # Open MPI refuses more ranks than cores, and root, unless told; others know no such words.
    words = ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in version else []
    return [launcher, *words, "-n", str(ranks), sys.executable, *arguments]


def _measured(ranks: int, seconds: float, seed: int) -> list[dict[str, Any]]:
    """What ``measure`` says of each case, from processes that mpirun starts."""
    return answers(mpirun(ranks, ["-m", "rcmd.lab.bench.mpi", str(seconds), str(seed)]))


def answers(command: Sequence[str]) -> list[dict[str, Any]]:
    """The lines of JSON that processes print, which have one thread each."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise OSError(
            f"{' '.join(command)} ended with status {done.returncode} ({last[0]}); expected it to "
            "run; for several ranks try mpirun -n 2 python -c 'import mpi4py.MPI'"
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _table(measured: dict[int, list[dict[str, Any]]]) -> Section:
    """µs a step of one process and of every number of ranks.

    The least of several slices counts: other work on the machine only adds to them.
    """
    ranked = [f"{ranks} rank{'s' * (ranks > 1)}" for ranks in measured]
    header = [*cells("p | z | batch | exchange | one process"), *ranked]
    section = Section("one_process", "Beside the engine of one process, µs a step", header)
    for case, *found in zip(CASES, *measured.values(), strict=True):
        samples = {ranks: row["times"] for ranks, row in zip(measured, found, strict=True)}
        times = {ranks: min(own) for ranks, own in samples.items()}
        process = next((min(row["one_process"]) for row in found if "one_process" in row), None)
        line = [f"{case.columns:,}", str(case.row_entries), f"{case.batch:,}", case.exchange]
        line += [
            "" if time is None else f"{1e6 * time:,.0f}" for time in (process, *times.values())
        ]
        row = {"ranks": times, "one_process": process, "samples": samples}
        section.add(line, **case._asdict(), **row)
    return section


def measure(group: Group, case: Case, seconds: float, seed: int) -> dict[str, list[float]]:
    """Seconds for a step on the ranks, and in one process, of several slices of a run each."""
    X, y = generated(case, seed)
    own = slice(*block(group, ROWS))
    options = {"group": group, "exchange": case.exchange}
    problem = ShardedProblem(X[own], y[own], Logistic(), L1Ball(5.0), **options)
    engine = ShardedEngine(problem, *_schedule_and_sampler(case, seed))
    found = {"times": _timed(group, engine, case, seconds)}
    if group.size == 1:  # with several ranks, the others would only wait
        alone = Problem(X, y, Logistic(), L1Ball(5.0))
        single = CompiledEngine(alone, *_schedule_and_sampler(case, seed), ConjugateProx())
        found["one_process"] = _timed(group, single, case, seconds)
    return found


def generated(case: Case, seed: int) -> tuple[Any, Any]:
    """Rows with z standard normal entries in random columns, and random signs."""
    rng, z = np.random.default_rng(seed), case.row_entries
    gap = case.columns // z
    values = rng.standard_normal(ROWS * z)
    columns = (gap * np.arange(z) + rng.integers(0, gap, (ROWS, z))).ravel()
    offsets = np.arange(0, ROWS * z + 1, z)
    X = sp.csr_array((values, columns, offsets), shape=(ROWS, case.columns))
    return X, rng.choice([-1.0, 1.0], ROWS)


def _schedule_and_sampler(case: Case, seed: int) -> tuple[SublinearSchedule, UniformSampler]:
    sampler = UniformSampler(ROWS, case.batch, np.random.default_rng(seed))
    return SublinearSchedule(ROWS / case.batch), sampler


def _timed(group: Group, engine: CompiledEngine, case: Case, seconds: float) -> list[float]:
    steps, spent = max(1, SLICE_ROWS // case.batch), 0.0
    times: list[float] = []
    engine.advance(steps)
    while spent < seconds or len(times) < LEAST_SLICES:
        begun = time.perf_counter()
        engine.advance(steps)
        elapsed = float(group.largest(np.array([time.perf_counter() - begun]))[0])
        times.append(elapsed / steps)
        spent += elapsed
    return times


if __name__ == "__main__":
    group = world()
    for case in CASES:
        found = measure(group, case, float(sys.argv[1]), int(sys.argv[2]))
        if group.rank == 0:
            print(json.dumps(found), flush=True)
