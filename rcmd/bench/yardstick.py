"""The plain C loop of ``baseline.c``, built with the system's compiler."""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FLAG_SETS = (["-O3", "-march=native"], ["-O3"])


class NoCompiler(RuntimeError):
    """The C loop cannot be built; the text says why."""


class PlainC:
    """One run of the C loop: l1 ball, logistic loss, CSR rows, batches of ``batch``."""

    def __init__(self, X: Any, y: Array, batch: int, radius: float) -> None:
        self._function = _built()
        self.n, self.p = X.shape
        self.batch, self.radius, self.iteration = batch, radius, 0
        self._rows = (X.indptr.astype(np.int32), X.indices.astype(np.int32), X.data.astype(float))
        self._y = np.ascontiguousarray(y, dtype=float)
        self.s, self.w, self.lag = np.zeros(self.n), -self._y / 2, np.zeros(self.n)
        self.d, self.beta_sum = X.T @ self.w / self.n, np.zeros(self.p)
        self._buffer, self._taken = np.zeros(batch, np.int32), np.zeros(self.n, np.uint8)
        self._state = np.array([1, 2, 3, 4], np.uint64)

    def advance(self, steps: int, batches: Array | None = None) -> None:
        """Take ``steps`` steps, on the rows ``batches`` (steps × batch) if they are given."""
        given = None if batches is None else np.ascontiguousarray(batches, dtype=np.int32)
        if given is not None and given.shape != (steps, self.batch):
            raise ValueError(f"batches has shape {given.shape}; expected {(steps, self.batch)}")
        self._function(
            self.n,
            self.p,
            *map(_address, (*self._rows, self._y)),
            self.batch,
            ctypes.c_int64(self.iteration),
            ctypes.c_int64(steps),
            ctypes.c_double(self.radius),
            None if given is None else _address(given),
            *map(_address, (self.s, self.w, self.lag, self.d, self.beta_sum)),
            *map(_address, (self._buffer, self._taken, self._state)),
        )
        self.iteration += steps

    def averages(self) -> tuple[Array, Array]:
        """β̄ and w̄ of the last step."""
        last = self.iteration - 1
        total = self.iteration * (4 * self.n / self.batch + last) / 2
        return self.beta_sum / total, self.w - self.lag / total


def compiler() -> list[str]:
    """The command of the C compiler: the variable CC, cc, gcc or clang."""
    words = shlex.split(os.environ.get("CC", ""))
    for name in (*words[:1], "cc", "gcc", "clang"):
        if shutil.which(name):
            return words if words[:1] == [name] else [name]
    raise NoCompiler("no C compiler was found (CC, cc, gcc, clang)")


def compiler_version() -> str | None:
    """The first line of what the compiler says of itself, if there is one."""
    try:
        answer = subprocess.run([*compiler(), "--version"], capture_output=True, text=True)
    except (NoCompiler, OSError):
        return None
    return (answer.stdout.splitlines() or [""])[0] or None


@functools.cache
def _built() -> Any:
    """The C function; its library stays loaded after its folder is gone."""
    command, complaint = compiler(), ""
    code = (resources.files("rcmd.bench") / "baseline.c").read_bytes()
    with tempfile.TemporaryDirectory(prefix="rcmd-bench-", ignore_cleanup_errors=True) as folder:
        source, library = Path(folder) / "baseline.c", Path(folder) / "baseline.so"
        source.write_bytes(code)
        for flags in FLAG_SETS:
            words = [*command, *flags, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
            try:
                answer = subprocess.run(words, capture_output=True, text=True)
            except OSError as error:
                raise NoCompiler(f"{command[0]} cannot be run: {error}") from error
            if answer.returncode == 0:
                function = ctypes.CDLL(str(library)).run_steps
                function.restype = None
                return function
            complaint = (answer.stderr.strip().splitlines() or ["no message"])[0]
    raise NoCompiler(f"{command[0]} does not compile baseline.c: {complaint}")


def _address(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
