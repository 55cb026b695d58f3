"""The options of a run in its checkpoint, and the options to go on with.

Numbers, lists and rcmd's own objects are saved. Of objects of other classes only a fingerprint
is, and whoever goes on gives them again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np

from rcmd.certificate import Certificate
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.result import Checkpoint, History, Result, StopReason
from rcmd.saving.fingerprints import fingerprint

PLACES = {"schedule": "rcmd.schedules", "prox": "rcmd.prox", "method": "rcmd.methods"}
"""Options that are objects, and where rcmd's own kinds of them are, each a dataclass."""

CHANGEABLE = ("tol", "max_iterations", "max_gradients", "max_seconds")
"""What a resumed run may have otherwise."""


def saved_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options in plain values."""
    plain = dict(options)
    # The state of its generator is the run's; a number is kept to be told again.
    plain["seed"] = int(options["seed"]) if isinstance(options["seed"], Integral) else None
    for name in PLACES:
        plain[name] = _saved_object(name, options[name])
    plain["sampler"] = _saved_sampler(options["sampler"])
    plain["warm_start"] = _saved_result(options["warm_start"])
    marks = options["checkpoints"]
    if marks is not None:
        known = isinstance(marks, Sequence | np.ndarray)
        plain["checkpoints"] = [int(mark) for mark in marks] if known else {"again": ""}
    return plain


def options_from(saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the run that goes on, with what is ``given`` for it."""
    options = dict(saved)
    if saved["seed"] is None:
        options["seed"] = np.random.default_rng(0)
    for name in PLACES:
        options[name] = _object(name, saved[name], given.get(name))
    options["sampler"] = _sampler(saved["sampler"], given.get("sampler"))
    options["warm_start"] = _result(saved["warm_start"])
    if isinstance(saved["checkpoints"], dict):
        options["checkpoints"] = _again("checkpoints", given.get("checkpoints"))
    return {**options, **{name: given[name] for name in CHANGEABLE if name in given}}


def _saved_object(name: str, value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    kind = type(value)
    if getattr(import_module(PLACES[name]), kind.__name__, None) is not kind:
        return {"again": fingerprint(value)}
    parts = {field.name: getattr(value, field.name) for field in fields(kind)}
    # A schedule may stand around another one.
    parts = {k: _saved_object(name, v) if is_dataclass(v) else v for k, v in parts.items()}
    return {"class": kind.__name__, "fields": parts, "hash": fingerprint(value)}


def _object(name: str, saved: Any, given: Any) -> Any:
    if saved is None or "again" not in saved:
        if given is not None and (saved is None or fingerprint(given) != saved["hash"]):
            raise ValueError(_another(name, given))
        return None if saved is None else _made(name, saved)
    if fingerprint(_again(name, given)) != saved["again"]:
        raise ValueError(_another(name, given))
    return given


def _made(name: str, saved: Any) -> Any:
    """One of rcmd's own objects, made of its fields."""
    kind = getattr(import_module(PLACES[name]), saved["class"])
    parts = {k: _made(name, v) if isinstance(v, dict) else v for k, v in saved["fields"].items()}
    return kind(**parts)


def _saved_sampler(sampler: Any) -> Any:
    if sampler is None:
        return None
    if type(sampler) is Replay:
        return {"replay": sampler.batches}
    if type(sampler) is UniformSampler:
        return {"uniform": [sampler.n, sampler.batch]}
    return {"again": ""}


def _sampler(saved: Any, given: Any) -> Any:
    if saved is not None and "again" in saved:
        return _again("sampler", given)
    if given is not None:
        raise ValueError(_another("sampler", given))
    if saved is None:
        return None
    if "replay" in saved:
        return Replay(saved["replay"])
    n, batch = saved["uniform"]
    return UniformSampler(n, batch, np.random.default_rng())


def _saved_result(result: Result | None) -> Any:
    """What a warm start takes from a result: the pair, and the gradients that led to it."""
    return result and [result.beta, result.w, result.history[-1].gradients]


def _result(saved: Any) -> Result | None:
    if saved is None:
        return None
    beta, w, gradients = saved
    numbers = dict.fromkeys(("primal", "dual"), math.nan)
    pair = Certificate(beta=beta, w=w, loss_gap=math.nan, regularizer_gap=math.nan, **numbers)
    last = Checkpoint(
        iteration=0, gradients=gradients, oracle_calls=0, seconds=0.0, gap=math.nan, bound=math.nan,
        phase="plain", **numbers,
    )  # fmt: skip
    return Result(pair, History([last]), StopReason.CALLBACK, "")


def _again(name: str, given: Any) -> Any:
    if given is None:
        raise ValueError(
            f"{name} is missing; expected the one that the checkpoint's run was given: it is not "
            "rcmd's own, and a checkpoint holds no code"
        )
    return given


def _another(name: str, given: Any) -> str:
    return (
        f"{name} is {given!r}, not that of the checkpoint's run; expected the same one, or none: "
        "a run goes on as it began"
    )
