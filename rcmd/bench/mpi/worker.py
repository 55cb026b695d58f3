"""On every rank: time steps of generated problems. Run by ``rcmd bench mpi`` through mpirun."""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd import L1Ball, Logistic, Problem
from rcmd.bench.mpi.model import Case
from rcmd.distributed import Group, ShardedProblem, world
from rcmd.distributed.engine import ShardedEngine
from rcmd.distributed.shards import block
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.prox import ConjugateProx
from rcmd.schedules import SublinearSchedule

ROWS, MADE_ROWS = 2**15, 2**10
"""Rows of each problem, and how many are made from one seed."""

SLICE_ROWS = 2**12
"""Rows of the steps between two looks at the clock: few, so that some slices are undisturbed."""

LEAST_SLICES = 5
COMPARED_STEPS = 64
"""Steps after which iterates are compared."""


def measure(group: Group, case: Case, seconds: float, seed: int) -> dict[str, Any]:
    """Seconds for a step on the ranks, and in one process, of several slices of a run each."""
    problem = ShardedProblem(
        *generated(case, seed, *block(group, ROWS)), Logistic(), L1Ball(5.0), group=group
    )
    exchange: Any = case.exchange
    engine = ShardedEngine(problem, *_schedule_and_sampler(case, seed), exchange)
    engine.advance(COMPARED_STEPS)
    parts = group.collect(engine.s.copy())
    found: dict[str, Any] = {"times": _timed(group, engine, case, seconds)}
    alone = Problem(*generated(case, seed, 0, ROWS), Logistic(), L1Ball(5.0)) if parts else None
    if parts and alone:
        single = CompiledEngine(alone, *_schedule_and_sampler(case, seed), ConjugateProx())
        single.advance(COMPARED_STEPS)
        found["difference"] = float(abs(np.concatenate(parts) - single.s).max())
        if group.size == 1:  # the others would only wait
            found["one_process"] = _timed(group, single, case, seconds)
    return found


def generated(case: Case, seed: int, first: int, last: int) -> tuple[Any, Any]:
    """Rows ``first`` to ``last`` − 1: z standard normal entries in random columns, random signs."""
    z, p = case.row_entries, case.columns
    gap = p // z
    values, columns, labels = [], [], []
    made = range(first // MADE_ROWS, -(-last // MADE_ROWS))
    for start, stop in pairwise([*(k * MADE_ROWS for k in made), (made[-1] + 1) * MADE_ROWS]):
        rng = np.random.default_rng([seed, start])
        kept = slice(max(first, start) - start, min(last, stop) - start)
        values.append(rng.standard_normal((MADE_ROWS, z))[kept])
        columns.append((gap * np.arange(z) + rng.integers(0, gap, (MADE_ROWS, z)))[kept])
        labels.append(rng.choice([-1.0, 1.0], MADE_ROWS)[kept])
    offsets = np.arange(0, (last - first) * z + 1, z)
    entries = np.concatenate(values).ravel(), np.concatenate(columns).ravel(), offsets
    return sp.csr_array(entries, shape=(last - first, p)), np.concatenate(labels)


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


def main(text: str) -> None:
    """Measure the cases of a JSON list; rank 0 prints a line of JSON for each."""
    group, asked = world(), json.loads(text)
    for words in asked["cases"]:
        found = measure(group, Case(**words), asked["seconds"], asked["seed"])
        if group.rank == 0:
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
