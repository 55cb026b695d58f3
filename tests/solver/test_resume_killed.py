"""Runs killed by SIGKILL at random moments end, taken up again, where undisturbed ones end.

Every child is a process of its own, killed while it works; another process goes on from its file.
``python test_resume_killed.py COUNT SEED FOLDER`` prints how many ended alike, bit for bit.
"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # small_problems, where this is no test

from test_checkpoint_identity import CASES, Case, continued, told

from rcmd import iterate, solve
from rcmd.solver import run as running
from rcmd.solver.checkpoint.file import read_file

KILLED = (
    "l1", "ridge-reference", "hull", "ball", "polytope", "caching", "SVRF", "Pairwise", "Apcg",
    "warm", "hull-dense", "box",
)  # fmt: skip
BEGUN, ENDED = b"b", b"e"


def child(case: Case, path: Path, pipe: int) -> None:
    """Run the case with a file after every step, and say when it begins and ends."""
    running.SLICE_SECONDS = 0.0
    os.write(pipe, BEGUN)
    solve(case.make(), **case.first(), checkpoint=path, every=0.0)
    os.write(pipe, ENDED)


def killed_after(case: Case, path: Path, seconds: float) -> bool:
    """Start a child and kill it so long after it began; whether it was at work until then."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            child(case, path, writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    os.read(reading, 1)
    ended, _, _ = select.select([reading], [], [], seconds)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(reading)
    if ended and not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("the child failed by itself")
    return not ended and os.WIFSIGNALED(status)


def main(count: int, seed: int, folder: Path) -> None:
    rng = np.random.default_rng(seed)
    cases = {name: CASES[name] for name in KILLED[:count]}
    whole = {name: iterate(case.make(), **case.first()) for name, case in cases.items()}
    states = {name: [told(state) for state in run] for name, run in whole.items()}
    duration = {}
    for name, case in cases.items():
        begun = time.perf_counter()
        killed_after(case, folder / f"{name}.whole", 1e6)
        duration[name] = time.perf_counter() - begun
    same = partial = attempts = 0
    for kill in range(count):
        name = KILLED[kill % len(KILLED)]
        path = folder / f"{kill}.ckpt"
        while True:  # until it hits a run at work, with a file to go on from
            attempts += 1
            path.unlink(missing_ok=True)
            at_work = killed_after(cases[name], path, rng.uniform(0.0, duration[name]))
            if at_work and path.exists():
                break
        partial += any(path.parent.glob(f"{path.name}.*.part"))
        before, rest, result = continued(cases[name], read_file(path), folder / "copy")
        ending = whole[name].result()
        alike = rest == states[name][before:] and ending.w.tobytes() == result.w.tobytes()
        same += alike and ending.history.column("gap").tobytes() == (
            result.history.column("gap").tobytes()
        )
    print(f"{same} of {count} endings identical; {partial} killed while writing; {attempts} starts")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_runs_end_as_if_nothing_had_happened(count: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, __file__, str(count), "0", str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{count} of {count} endings identical"), done.stdout


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
