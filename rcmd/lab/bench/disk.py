"""``rcmd bench disk``: data on disk larger than the memory it is solved in.

The run is a process of its own, whose largest resident memory the system counts, Python, compiled
code and mapped files included.
"""

import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd import L1Ball, Logistic, Problem
from rcmd.datasets import RowsWriter, open_rows
from rcmd.lab.bench.timing import cells, run_module
from rcmd.lab.bench.workloads import zipf_columns
from rcmd.lab.racing import CORRECTED
from rcmd.model.specs import parse_batch
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Report, Section, Target, about, as_json

FEATURES, NONZEROS, BLOCK_ROWS = 20_000, 416, 2_000
SUPPORT, COMMONEST, RAREST = 20, 100, 1000
"""Columns of the truth, and the ranks by frequency between which they are."""

RADIUS = 0.6 * SUPPORT
"""Of the l1 ball: 0.6 of the l1 norm of the truth, so that the optimum is sparse."""


def run(
    gigabytes: float,
    limit: float,
    tol: float,
    batch: str,
    float32: bool,
    folder: str | None,
    seed: int,
    json: str | None,
) -> int:
    """The command: generate, solve in another process, print, delete; returns the exit status."""
    for name, value in (("gigabytes", gigabytes), ("limit", limit)):
        if not 0 < value < np.inf:
            raise ValueError(f"--{name} is {value}; expected a number above 0")
    share = parse_batch(batch)
    dtype = np.float32 if float32 else np.float64
    rows = int(np.ceil(gigabytes * 1e9 / row_bytes(dtype)))
    with tempfile.TemporaryDirectory(prefix="rcmd-disk-", dir=folder) as place:
        path = Path(place, "generated.rows")
        begun = time.perf_counter()
        generate(path, rows, np.random.default_rng(seed), dtype)
        generation = time.perf_counter() - begun
        size = sum(file.stat().st_size for file in path.iterdir())
        tell("solving")
        found = run_module("rcmd.lab.bench.disk", path, tol, share, seed, what="solving from disk")
        tell("")
    title = f"logistic regression, ‖β‖₁ ≤ {RADIUS:g}, to a gap of {tol:g}"
    header = cells(" | rows | on disk | memory | target | P(β) | gap | passes | seconds")
    section = Section("disk", title, header)
    memory, target = found["memory"] / 1e9, Target(limit)
    line = cells(
        f"{dtype.__name__} | {rows:,} | {size / 1e9:.2f} GB | {memory:.2f} GB | "
        f"{target.shown(memory)} | {found['primal']:.6f} | {found['gap']:.2e} | "
        f"{found['passes']:.3g} | {found['seconds']:.3g}"
    )
    row = {"rows": rows, "bytes": size, "generation_seconds": generation, **found}
    section.add(line, **row, target=target.as_dict(memory))
    section.notes += [
        f"memory: the process's largest resident set; before it opened the data it had "
        f"{found['memory_before'] / 1e9:.2f} GB",
        f"opening, which compares checksums, took {found['opening']:.3g} s, the constants "
        f"{found['constants']:.3g} s; seconds and passes are those of the run, certificates in the "
        "seconds only",
        found["message"],
    ]
    settings = {"gigabytes": gigabytes, "limit": limit, "tol": tol, "batch": share}
    Report([section], about(seed, None, **settings, float32=float32)).tell(json)
    return 0 if found["success"] and memory <= limit else 1


def row_bytes(dtype: Any) -> int:
    """Of a row on disk: its values and columns."""
    return NONZEROS * (np.dtype(dtype).itemsize + 4)


def generate(path: Path, rows: int, rng: np.random.Generator, dtype: Any = np.float64) -> None:
    """Write ``rows`` sparse rows with labels ±1 of a logistic model, as text data look.

    Each has ``NONZEROS`` different columns, the k-th commonest with a frequency ∝ 1/k, and
    values uniform in [−√3, √3]. The truth is ±1 on some columns neither common nor rare.
    """
    shuffled = rng.permutation(FEATURES).astype(np.int32)
    truth = np.zeros(FEATURES)
    chosen = shuffled[rng.choice(np.arange(COMMONEST, RAREST), size=SUPPORT, replace=False)]
    truth[chosen] = rng.choice([-1.0, 1.0], size=SUPPORT)
    with RowsWriter(path, features=FEATURES, dtype=dtype) as writer:
        for start in range(0, rows, BLOCK_ROWS):
            height = min(BLOCK_ROWS, rows - start)
            columns = zipf_columns(height, shuffled, rng, NONZEROS)
            values = rng.uniform(-math.sqrt(3), math.sqrt(3), columns.size)
            offsets = np.arange(0, columns.size + 1, NONZEROS, dtype=np.int32)
            X = sp.csr_array((values, columns.ravel(), offsets), shape=(height, FEATURES))
            writer.append(X, np.where(rng.logistic(size=height) < X @ truth, 1.0, -1.0))
            tell(f"generating: {start / rows:.0%}")


def solve_and_measure(path: str, tol: float, batch: float, seed: int) -> dict[str, Any]:
    """Solve the rows of a folder in this process; its memory is that of all of it."""
    memory_before, begun = largest_memory(), time.perf_counter()
    X, y = open_rows(path)
    opened = time.perf_counter()
    problem = Problem(X, y, Logistic(), L1Ball(RADIUS))
    problem.constants(batch)
    ready = time.perf_counter()
    result = CORRECTED.solve(problem, batch, seed, tol=tol)
    numbers = ("success", "message", "primal", "dual", "gap", "passes")
    return {
        **{name: getattr(result, name) for name in numbers},
        "certificates": len(result.history),
        "seconds": result.history[-1].seconds,
        "opening": opened - begun,
        "constants": ready - opened,
        "memory": largest_memory(),
        "memory_before": memory_before,
    }


def largest_memory() -> int:
    """The most bytes this process ever had resident, pages of files included."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says includes the parent, before this was a program
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    folder, tol, batch, seed = sys.argv[1:]
    print(as_json(solve_and_measure(folder, float(tol), float(batch), int(seed))))
