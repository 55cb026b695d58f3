"""SIGKILL at random moments: whoever goes on ends where the undisturbed run ends, bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def identical_endings(count: int, seed: int, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(TESTS / "killing.py"), str(count), str(seed), str(folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_runs_end_as_if_nothing_had_happened(count: int, tmp_path: Path) -> None:
    told = identical_endings(count, 0, tmp_path)
    assert told.startswith(f"{count} of {count} endings identical"), told
