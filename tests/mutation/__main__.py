"""Plant recorded bugs one at a time, and see whether the tests that cover them fail.

    python -m tests.mutation                        all bugs, with the score at the end
    python -m tests.mutation model solver           those of tests/mutation/model.toml, solver.toml
    python -m tests.mutation model -k oracle        those whose name holds "oracle"

A bug is a text that stands once in a file, a text that replaces it, and the tests that must then
fail: test files, by default the folder of the room it is in. One that no test can catch, because
it changes nothing that anyone could see, says why under ``survives``.

Bugs are planted in copies of the working tree, one for each process, so files can be edited
meanwhile. Before any is planted, the same tests have to pass.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("RCMD_DATA", ROOT.parent / "shared" / "data")).absolute()
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "*.egg-info", ".*_cache", "_build")
HANGS = 600
"""Seconds after which tests are stopped, and the bug counts as caught."""


@dataclass(frozen=True)
class Bug:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    survives: str = ""

    @property
    def covering(self) -> tuple[str, ...]:
        package, room, *_ = Path(self.file).parts
        return self.tests or (f"tests/{room if package == 'rcmd' else package}",)

    def planted(self, text: str) -> str:
        if text.count(self.old) != 1 or self.old == self.new:
            sys.exit(
                f"{self.name}: its old text stands {text.count(self.old)} times in {self.file}, "
                "and must stand there once and differ from the new one: bring the record up to date"
            )
        return text.replace(self.old, self.new)


def recorded(rooms: list[str]) -> list[Bug]:
    """The bugs of the files ``rooms``, or of all."""
    folder = Path(__file__).parent
    files = [folder / f"{room}.toml" for room in rooms] or sorted(folder.glob("*.toml"))
    bugs = []
    for file in files:
        for entry in tomllib.loads(file.read_text())["bug"]:
            bugs.append(Bug(**{**entry, "tests": tuple(entry.get("tests", ()))}))
    return bugs


class Copies:
    """Copies of the working tree that are lent out one at a time."""

    def __init__(self, folder: Path, count: int) -> None:
        self.free: queue.Queue[Path] = queue.Queue()
        for number in range(count):
            copy = folder / str(number)
            shutil.copytree(ROOT, copy, ignore=LEFT_OUT)  # with what numba has cached
            self.free.put(copy)

    @contextlib.contextmanager
    def lent(self) -> Iterator[Path]:
        copy = self.free.get()
        try:
            yield copy
        finally:
            self.free.put(copy)

    def judge(self, bug: Bug) -> tuple[bool, str]:
        """Whether all tests pass with the bug in place, and the last line that pytest says."""
        with self.lent() as copy:
            file, aside = copy / bug.file, copy / "unharmed"
            shutil.copy2(file, aside)  # with its times, or numba would compile it anew
            try:
                file.write_text(bug.planted(file.read_text()))
                return passing(copy, bug.covering)
            finally:
                aside.replace(file)

    def pass_unharmed(self, tests: tuple[str, ...]) -> None:
        with self.lent() as copy:
            passed, told = passing(copy, tests)
        if not passed:
            sys.exit(f"without a bug, {' '.join(tests)} must pass; pytest says: {told}")


def passing(copy: Path, tests: tuple[str, ...]) -> tuple[bool, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "RCMD_DATA": str(DATA)}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=HANGS
        )
    except subprocess.TimeoutExpired:
        return False, f"no end within {HANGS} s"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode not in (0, 1, 2):  # 1: a test failed; 2: a test file could not be imported
        sys.exit("\n".join([f"pytest could not run {' '.join(tests)}", *lines[-5:], done.stderr]))
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 0, (failed or lines or [""])[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("rooms", nargs="*", help="files of bugs, without .toml")
    parser.add_argument("-k", default="", metavar="WORDS", help="only bugs with this in their name")
    parser.add_argument("-n", type=int, default=os.cpu_count(), help="processes")
    given = parser.parse_args()
    bugs = [bug for bug in recorded(given.rooms) if given.k in bug.name]
    if not bugs:
        parser.error(f"no recorded bug has {given.k!r} in its name")
    for bug in bugs:
        bug.planted((ROOT / bug.file).read_text())
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(given.n) as pool,
    ):
        copies = Copies(Path(folder), given.n)
        list(pool.map(copies.pass_unharmed, sorted({bug.covering for bug in bugs})))
        survivors, unexplained = 0, 0
        for bug, (survived, told) in zip(bugs, pool.map(copies.judge, bugs), strict=True):
            survivors += survived
            unexplained += survived and not bug.survives
            if not survived:
                print(f"caught    {bug.name}  ({told})", flush=True)
            else:
                print(f"SURVIVED  {bug.name}  {bug.survives or '(not explained)'}", flush=True)
    caught = len(bugs) - survivors
    print(f"{caught} of {len(bugs)} bugs were caught, {100 * caught / len(bugs):.1f} %;", end=" ")
    print(f"{unexplained} of the {survivors} survivors are not explained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
