"""``rcmd bench disk``: data on disk larger than the memory it is solved in.

The run is a process of its own, whose largest resident memory the system counts, Python, compiled
code and mapped files included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.bench.disk_data import SUPPORT, generate, row_bytes
from rcmd.bench.report import Report, Section, Target, about
from rcmd.datasets import open_rows
from rcmd.json_output import check_json
from rcmd.telling import tell_on_terminal

RADIUS = 0.6 * SUPPORT
"""Of the l1 ball: 0.6 of the l1 norm of the truth, so that the optimum is sparse."""

HEADER = ("", "rows", "on disk", "memory", "target", "P(β)", "gap", "passes", "seconds")


def run_disk(
    gigabytes: float,
    limit: float,
    tol: float,
    batch: float,
    float32: bool,
    folder: str | None,
    seed: int,
    json_path: str | None,
) -> int:
    """The command: generate, solve, print, delete; returns the exit status."""
    check_json(json_path)
    report, found = bench_disk(gigabytes, limit, tol, batch, float32, folder, seed)
    report.tell(json_path)
    return 0 if found["success"] and found["memory"] <= limit * 1e9 else 1


def bench_disk(
    gigabytes: float,
    limit: float,
    tol: float,
    batch: float,
    float32: bool = False,
    folder: str | None = None,
    seed: int = 0,
) -> tuple[Report, dict[str, Any]]:
    """Generate rows, solve them in another process, and measure it."""
    for name, value in (("gigabytes", gigabytes), ("limit", limit)):
        if not 0 < value < np.inf:
            raise ValueError(f"--{name} is {value}; expected a number above 0")
    dtype = np.float32 if float32 else np.float64
    rows = int(np.ceil(gigabytes * 1e9 / row_bytes(dtype)))
    with tempfile.TemporaryDirectory(prefix="rcmd-disk-", dir=folder) as place:
        path = Path(place, "generated.rows")
        begun = time.perf_counter()
        generate(path, rows, np.random.default_rng(seed), dtype, tell_on_terminal)
        generation = time.perf_counter() - begun
        size = sum(file.stat().st_size for file in path.iterdir())
        tell_on_terminal("solving")
        found = _measured(path, tol, batch, seed)
        tell_on_terminal("")
    section = Section(
        "disk", f"logistic regression, ‖β‖₁ ≤ {RADIUS:g}, to a gap of {tol:g}", HEADER
    )
    target = Target(limit)
    section.add(
        (
            dtype.__name__,
            f"{rows:,}",
            f"{size / 1e9:.2f} GB",
            f"{found['memory'] / 1e9:.2f} GB",
            target.shown(found["memory"] / 1e9),
            f"{found['primal']:.6f}",
            f"{found['gap']:.2e}",
            f"{found['passes']:.3g}",
            f"{found['seconds']:.3g}",
        ),
        rows=rows,
        bytes=size,
        generation_seconds=generation,
        **found,
        target=target.as_dict(found["memory"] / 1e9),
    )
    section.notes += [
        f"memory: the process's largest resident set; before it opened the data it had "
        f"{found['memory_before'] / 1e9:.2f} GB",
        f"opening, which compares checksums, took {found['opening']:.3g} s, the constants "
        f"{found['constants']:.3g} s; seconds and passes are those of the run, certificates in the "
        "seconds only",
        found["message"],
    ]
    settings = {"gigabytes": gigabytes, "limit": limit, "tol": tol, "batch": batch}
    return Report([section], about(seed, None, **settings, float32=float32)), found


def _measured(path: Path, tol: float, batch: float, seed: int) -> dict[str, Any]:
    words = [sys.executable, "-m", "rcmd.bench.disk", str(path), str(tol), str(batch), str(seed)]
    answer = subprocess.run(words, capture_output=True, text=True)
    if answer.returncode != 0:
        raise RuntimeError(f"solving from disk failed: {answer.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def solve_and_measure(path: str, tol: float, batch: float, seed: int) -> dict[str, Any]:
    """Solve the rows of a folder in this process; its memory is that of all of it."""
    from rcmd import L1Ball, Logistic, Problem, solve

    memory_before, begun = largest_memory(), time.perf_counter()
    X, y = open_rows(path)
    opened = time.perf_counter()
    problem = Problem(X, y, Logistic(), L1Ball(RADIUS))
    problem.constants(batch)
    ready = time.perf_counter()
    result = solve(problem, batch=batch, tol=tol, seed=seed)
    return {
        "success": result.success,
        "message": result.message,
        "primal": float(result.primal),
        "dual": float(result.dual),
        "gap": float(result.gap),
        "passes": result.passes,
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
    print(json.dumps(solve_and_measure(folder, float(tol), float(batch), int(seed))))
