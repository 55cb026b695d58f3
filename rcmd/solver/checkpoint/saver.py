"""What a run's file holds, where and when it is written, and what happens when that fails.

Of the options, numbers, lists and methods built from rcmd's own parts are saved. Of any other
method only a fingerprint is, and ``resume`` must be given it again: a file holds no code.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rcmd
from rcmd import methods
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.methods import NAMED, Method
from rcmd.model import prox, schedules
from rcmd.model.fingerprint import fingerprint
from rcmd.oracles.base import depth
from rcmd.rows.processes import shared_errors
from rcmd.rows.validation import FileError, visible, warn_caller
from rcmd.solver.checkpoint.file import CannotSave, part_of, read_file, write_file
from rcmd.solver.history import StopReason
from rcmd.solver.saved_results import from_parts, parts

if TYPE_CHECKING:
    from rcmd.solver.run import Run
    from rcmd.solver.solve import Options

LONGEST_SHARE = 0.1
"""Writing may take this share of a run's time, except where ``every`` is 0."""

NOT_KEPT = ("problem", "checkpoint", "callbacks", "bounds")
"""Options that are not in the file: ``resume`` is given them."""

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""NumPy's own, whose states are plain values."""


class Saver:
    """Writes a run to ``path`` every so many seconds; on many ranks, rank 0 does.

    Attributes
    ----------
    command
        What the command line needs to make the problem again, in plain values.
    fault
        Why the file is out of date; empty if it is not.
    seconds
        How long the last save took.
    """

    def __init__(self, run: Run, path: str | os.PathLike[str], *, resumed: bool = False) -> None:
        self.path, self.every = whole_path(path), float(run.options.every)
        self.command: Any = None
        self.fault, self.seconds = "", 0.0
        self._writes = run.problem.group.rank == 0
        self._begun, self._last = resumed, 0.0
        with shared_errors(run.problem.group):
            self._ours = _identity(self.path) if resumed and self._writes else None
            if self._writes:
                if not resumed:
                    _refuse_existing(self.path)
                _refuse_folder(self.path)
        self._unchanging = {
            "problem": run.problem.fingerprint(),
            "options": saved_options(run.options, run.method),
        }

    def begin(self, run: Run) -> None:
        """Write the file for the first time; what fails here fails before any work is done."""
        if not self._begun:
            self._write(run)
            self._begun = True

    def due(self, seconds: float, writing: float) -> bool:
        """Whether it is time to write again; ``writing`` is how long it took last."""
        wait = self.every and max(self.every, writing / LONGEST_SHARE)
        return seconds - self._last >= wait

    def save(self, run: Run) -> None:
        """Write the run as it is; a failure is one warning, and the old file stays."""
        try:
            self._write(run)
        except (OSError, CannotSave) as fault:
            told, self.fault = self.fault, f"the checkpoint {self.path} is not up to date: {fault}"
            if not told:
                warn_caller(f"{self.fault}; the run continues")
        else:
            self.fault = ""

    def _write(self, run: Run) -> None:
        begun = time.perf_counter()
        self._last = run.time
        tree = {
            "rcmd": rcmd.__version__,
            **self._unchanging,
            "command": self.command,
            "seconds": run.seconds(),
            "ended": run.stop in (StopReason.TOLERANCE, StopReason.PRECISION, StopReason.STALLED),
            "oracle": oracle_state(run.problem.oracle),
            "run": run.state(),
        }
        if self._writes:
            if _identity(self.path) not in (None, self._ours):
                raise CannotSave(
                    "another program has written a file of that name, which is left alone"
                )
            write_file(self.path, tree)
            self._ours = _identity(self.path)
            self.seconds = time.perf_counter() - begun


def oracle_state(oracle: Any) -> Any:
    """What the oracle remembers of this run; a class with its own reset() needs its own state()."""
    if depth(oracle, "reset") < depth(oracle, "state"):
        raise CannotSave(
            f"{type(oracle).__name__} has a reset() of its own but no state(), so that a "
            "checkpoint could not hold what it remembers; expected both, and load_state(state)"
        )
    return oracle.state()


def whole_path(checkpoint: Any) -> Path:
    """The whole path of a checkpoint, as the working folder may change."""
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint is {checkpoint!r}; expected the name of a file")
    return Path(os.path.abspath(checkpoint))


def refuse_missing(path: Path) -> None:
    """Say that there is no such file."""
    if not os.path.isfile(path):  # False too for what is no name
        raise FileError(f"there is no checkpoint {visible(path)}; expected the name of a file")


def _refuse_existing(path: Path) -> None:
    """Nothing is ever overwritten: say what is there and what to do."""
    if not os.path.lexists(path):
        return
    try:
        refuse_missing(path)  # a folder, a device
        tree = read_file(path)
    except (FileError, OSError):
        raise FileExistsError(
            f"checkpoint {visible(path)} exists and is not a whole checkpoint of rcmd; expected a "
            "new name: it will not be overwritten"
        ) from None
    raise FileExistsError(
        f"checkpoint {visible(path)} exists and holds a run of {tree['seconds']:.3g} s; continue "
        "it by rcmd.resume(file, problem) or `rcmd resume FILE`, or choose a new name: it will not "
        "be overwritten"
    )


def _refuse_folder(path: Path) -> None:
    """Refuse a folder that takes no files before any work is done."""
    part = part_of(path)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path)  # refuses what is no name: too long, or with a NUL character
        open(part, "xb").close()
        part.unlink()
    except (OSError, ValueError) as fault:
        raise OSError(
            f"checkpoint {visible(path)} cannot be written, "
            f"{getattr(fault, 'strerror', None) or fault}; expected a name in an existing folder "
            "that you may write to"
        ) from None


def _identity(path: Path) -> tuple[int, ...] | None:
    """What distinguishes a file from another of its name; ``None`` where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class OtherRun(ValueError):
    """What ``resume`` is given is not what the run of the checkpoint was given."""


def saved_options(options: Options, method: Method) -> dict[str, Any]:
    """The options in plain values."""
    seed: Any = options.seed
    if isinstance(seed, np.random.Generator):
        name = type(seed.bit_generator).__name__
        if name not in BIT_GENERATORS:
            raise ValueError(
                f"seed draws from a {name}, whose state no checkpoint holds; expected one of "
                f"NumPy's own: {', '.join(BIT_GENERATORS)}"
            )
        seed = {"generator": name}
    record_at: Any = options.record_at
    if record_at is not None:
        known = isinstance(record_at, Sequence | np.ndarray)
        record_at = [int(iteration) for iteration in record_at] if known else "a stream"
    kept = [field.name for field in fields(options) if field.name not in NOT_KEPT]
    return {name: getattr(options, name) for name in kept} | {
        "seed": seed,
        "record_at": record_at,
        "warm_start": options.warm_start and parts(options.warm_start),
        "method": _saved_part(method),
        "fingerprint": fingerprint(method),
    }


def options_from(saved: dict[str, Any], method: Any, record_at: Any) -> dict[str, Any]:
    """The options of the run, with what ``resume`` is given where they are not in the file."""
    seed = saved["seed"]
    if isinstance(seed, dict):
        if seed["generator"] not in BIT_GENERATORS:
            raise ValueError(f"the seed draws from {seed['generator']!r}, which is not NumPy's")
        seed = np.random.Generator(getattr(np.random, seed["generator"])())
    if method is None:
        method = _part(saved["method"]) or _missing("method")
    elif fingerprint(method) != saved["fingerprint"]:
        raise OtherRun(
            f"method is {method!r}, not that of the checkpoint's run; expected the same one, which "
            "cannot change"
        )
    if saved["record_at"] != "a stream":
        record_at = saved["record_at"]
    elif record_at is None:
        _missing("record_at")
    return {name: value for name, value in saved.items() if name != "fingerprint"} | {
        "method": method,
        "seed": seed,
        "record_at": record_at,
        "warm_start": saved["warm_start"] and from_parts(saved["warm_start"]),
    }


def _missing(name: str) -> Any:
    raise OtherRun(
        f"{name} is missing; expected the one that the checkpoint's run was given: it is not "
        "rcmd's own, and a checkpoint holds no code"
    )


def _own_classes() -> dict[str, type]:
    """The classes that a method of rcmd may be built from."""
    found = [*vars(prox).values(), *vars(schedules).values()]
    found += [getattr(methods, kind) for _, kind in NAMED.values()]
    parts = (Method, prox.BregmanProx, schedules.Schedule)
    own = (kind for kind in found if isinstance(kind, type) and issubclass(kind, parts))
    return {kind.__name__: kind for kind in own if is_dataclass(kind)}


def _saved_part(value: Any) -> Any:
    """A method, or a part of one, by its class and fields; ``None`` where it is not rcmd's own."""
    kind = type(value)
    if kind is Replay:
        return {"replay": value.batches}
    if kind is UniformSampler:
        return {"uniform": [value.n, value.batch]}
    if _own_classes().get(kind.__name__) is not kind:
        return None
    parts = {}
    for field in fields(kind):
        part = getattr(value, field.name)
        if hasattr(part, "__dict__"):
            parts[field.name] = _saved_part(part)
        else:
            listeners = isinstance(part, Sequence) and not isinstance(part, str) and len(part) > 0
            parts[field.name] = None if listeners else {"plain": part}
    return None if None in parts.values() else {"class": kind.__name__, "fields": parts}


def _part(saved: Any) -> Any:
    if saved is None:
        return None
    if "plain" in saved:
        return saved["plain"]
    if "replay" in saved:
        return Replay(saved["replay"])
    if "uniform" in saved:
        n, batch = saved["uniform"]
        return UniformSampler(n, batch, np.random.default_rng())
    kind = _own_classes()[saved["class"]]
    return kind(**{name: _part(part) for name, part in saved["fields"].items()})
