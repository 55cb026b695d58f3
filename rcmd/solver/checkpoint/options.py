"""The options of a run in its checkpoint, and the options to continue with.

Numbers, lists and methods built from rcmd's own parts are saved. Of any other method only a
fingerprint is, and ``resume`` must be given it again: a file holds no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd import methods
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.methods import NAMED, Method
from rcmd.model import prox, schedules
from rcmd.model.fingerprint import fingerprint
from rcmd.solver.saved_results import from_parts, parts

if TYPE_CHECKING:
    from rcmd.solver.solve import Options

NOT_KEPT = ("problem", "checkpoint", "callbacks")
"""Options that are not in the file: ``resume`` is given them."""

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""NumPy's own, whose states are plain values."""


class OtherRun(ValueError):
    """What ``resume`` is given is not what the run of the checkpoint was given."""


def saved_options(options: Options, method: Method) -> dict[str, Any]:
    """The options in plain values."""
    seed: Any = options.seed
    if not isinstance(seed, Integral):
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
    warm = options.warm_start
    kept = [field.name for field in fields(options) if field.name not in NOT_KEPT]
    return {name: _number(getattr(options, name)) for name in kept} | {
        "seed": seed if isinstance(seed, dict) else int(seed),
        "record_at": record_at,
        "warm_start": warm and parts(warm),
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
    if method is not None and fingerprint(method) != saved["fingerprint"]:
        raise OtherRun(
            f"method is {method!r}, not that of the checkpoint's run; expected the same one, which "
            "cannot change"
        )
    if method is None:
        method = _part(saved["method"]) or _missing("method")
    if saved["record_at"] != "a stream":
        record_at = saved["record_at"]
    elif record_at is None:
        _missing("record_at")
    again = {
        "method": method,
        "seed": seed,
        "record_at": record_at,
        "warm_start": saved["warm_start"] and from_parts(saved["warm_start"]),
    }
    plain = {name: value for name, value in saved.items() if name != "fingerprint"}
    return plain | again


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _missing(name: str) -> Any:
    raise OtherRun(
        f"{name} is missing; expected the one that the checkpoint's run was given: it is not "
        "rcmd's own, and a checkpoint holds no code"
    )


def _own_classes() -> dict[str, type]:
    """The classes that a method of rcmd may be built from."""
    parts = [
        kind for module in (prox, schedules) for kind in vars(module).values() if is_dataclass(kind)
    ]
    named = [getattr(methods, kind) for _, kind in NAMED.values()]
    return {kind.__name__: kind for kind in (*parts, *named) if isinstance(kind, type)}


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
