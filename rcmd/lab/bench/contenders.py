"""How much ``rcmd bench engine`` measures, and who is timed beside the engine."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np

from rcmd import L1Ball, LinearMinOracle, Logistic, Problem, Ridge
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.lab.bench import packages, workloads
from rcmd.lab.bench.timing import Absent, Contender, race
from rcmd.model.prox import ConjugateProx
from rcmd.model.schedules import default_schedule
from rcmd.rows.validation import Array

RADIUS = 5.0
REGULARIZERS = {"l1 ball": L1Ball(RADIUS), "ridge": Ridge(1e-3)}
NONZEROS = 50


@dataclass(frozen=True)
class Settings:
    """How much to measure."""

    data: str | None = None  # a folder with a9a, w8a and mushrooms
    seed: int = 0  # of generated data and of batches
    repeats: int = 25  # turns of each contender
    seconds: float = 0.05  # that a turn lasts
    # Sizes of the generated sparse problems; p grows at the first n, n at the first p.
    zipf_p: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6)
    zipf_n: tuple[int, ...] = (10**4, 10**5, 10**6)
    dense: tuple[int, int] = (2000, 5000)  # rows and columns of the dense problem

    def quick(self) -> Settings:
        """Less of everything: under a minute."""
        return replace(
            self,
            repeats=6,
            seconds=0.02,
            zipf_n=(10**4, 10**5),
            dense=(500, 5000),
        )

    def timed(self, contenders: list[Contender], turns: int = 0) -> dict[str, list[float]]:
        """The contenders timed by turns; a slow one sits out."""
        turns, seconds = turns or self.repeats, self.seconds
        return race(contenders, repeats=turns, seconds=seconds, budget=3 * turns * seconds)

    def engine(self, data: workloads.Data, oracle: LinearMinOracle, batch: int) -> CompiledEngine:
        """The compiled engine on the logistic loss."""
        return engine_of(Problem(data.X, data.y, Logistic(), oracle), batch, self.seed)


def engine_of(problem: Problem, batch: int, seed: int) -> CompiledEngine:
    """The compiled engine with the theorem's schedule."""
    schedule = default_schedule(problem.constants(batch))
    sampler = UniformSampler(problem.n, batch, np.random.default_rng(seed))
    return CompiledEngine(problem, schedule, sampler, ConjugateProx())


def stepping(name: str, engine: CompiledEngine | PlainC, batch: int) -> Contender:
    """A contender that takes steps."""

    def work(steps: int) -> int:
        engine.advance(steps)
        return steps * batch

    return Contender(name, work)


def other_contenders(data: workloads.Data, batch: int, part: bool = False) -> list[Contender]:
    """The plain C loop and COPT, those that are there; see ``packages.copt_lf`` for ``part``."""
    contenders = []
    with contextlib.suppress(Absent):
        contenders.append(stepping("C", PlainC(data.X, data.y, batch), batch))
    with contextlib.suppress(Absent):
        work, limit = packages.copt_lf(data.X, data.y, batch, RADIUS, part=part)
        contenders.append(Contender("COPT", work, limit))
    return contenders


def absent_contenders() -> list[str]:
    """Why a column is empty."""
    reasons = []
    for name, look in (("plain C", _built), ("COPT", packages.copt)):
        try:
            look()
        except Absent as reason:
            reasons.append(f"no {name}: {reason}")
    return reasons


class PlainC:
    """One run of the C loop: l1 ball, logistic loss, CSR rows, batches of ``batch``."""

    def __init__(self, X: Any, y: Array, batch: int) -> None:
        self._function = _built()
        self.n, self.p = X.shape
        self.batch, self.iteration = batch, 0
        self._rows = (X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data.astype(float))
        self._y = np.ascontiguousarray(y, dtype=float)
        self.s, self.w, self.lag = np.zeros(self.n), -self._y / 2, np.zeros(self.n)
        self.d, self.beta_sum = X.T @ self.w / self.n, np.zeros(self.p)
        self._buffer, self._taken = np.zeros(batch, np.int32), np.zeros(self.n, np.uint8)
        self._state = np.array([1, 2, 3, 4], np.uint64)

    def advance(self, steps: int, batches: Array | None = None) -> None:
        """Take ``steps`` steps, on the rows ``batches`` (steps × batch) if they are given."""
        given = None if batches is None else np.ascontiguousarray(batches, dtype=np.int32)
        self._function(
            self.n,
            self.p,
            *(array.ctypes for array in (*self._rows, self._y)),
            self.batch,
            ctypes.c_int64(self.iteration),
            ctypes.c_int64(steps),
            ctypes.c_double(RADIUS),
            None if given is None else given.ctypes,
            *(array.ctypes for array in (self.s, self.w, self.lag, self.d, self.beta_sum)),
            *(array.ctypes for array in (self._buffer, self._taken, self._state)),
        )
        self.iteration += steps


def compiler() -> list[str]:
    """The command of the C compiler: the variable CC, cc, gcc or clang."""
    for words in (shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]):
        if words and shutil.which(words[0]):
            return words
    raise Absent("no C compiler was found (CC, cc, gcc, clang)")


def compiler_version() -> str | None:
    """The first line of what the compiler says of itself, if there is one."""
    try:
        answer = subprocess.run([*compiler(), "--version"], capture_output=True, text=True)
    except (Absent, OSError):
        return None
    return (answer.stdout.splitlines() or [""])[0] or None


@functools.cache
def _built() -> Any:
    """The C function; its library stays loaded after its folder is gone."""
    source = resources.files("rcmd.lab.bench") / "baseline.c"
    with (
        tempfile.TemporaryDirectory(prefix="rcmd-bench-", ignore_cleanup_errors=True) as folder,
        resources.as_file(source) as path,
    ):
        library = os.path.join(folder, "baseline.so")
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        words = [*compiler(), *flags, "-o", library, str(path), "-lm"]
        answer = subprocess.run(words, capture_output=True, text=True)
        if answer.returncode:
            complaint = (answer.stderr.strip().splitlines() or ["no message"])[0]
            raise Absent(f"{words[0]} does not compile baseline.c: {complaint}")
        function = ctypes.CDLL(library).run_steps
        function.restype = None
        return function
