"""Losses and oracles as parameters: by name or as objects, their fields reached by ``__``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rcmd.specs import Waiting, made, parse_loss, parse_oracle

READERS: dict[str, Callable[[str], Any]] = {"loss": parse_loss, "oracle": parse_oracle}


def as_part(name: str, given: Any, p: int) -> Any:
    """The loss or oracle that the parameter ``name`` stands for, for p features."""
    return made(READERS[name](given), p) if isinstance(given, str) else given


def part_fields(name: str, given: Any) -> dict[str, Any]:
    """The fields of a loss or oracle; none for what waits for the data or is refused in fit."""
    if isinstance(given, str):
        try:
            given = READERS[name](given)
        except ValueError:
            return {}
    if not is_dataclass(given) or isinstance(given, type | Waiting):
        return {}
    return {field.name: getattr(given, field.name) for field in fields(given)}


class PartParameters(BaseEstimator):
    """An estimator whose ``loss`` and ``oracle`` have parameters of their own.

    ``oracle__radius`` is the field ``radius`` of the oracle, as grid searches write it. Losses
    and oracles never change: setting a field puts another object in place.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and if ``deep`` the fields of the loss and the oracle."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep:
            for name in READERS:
                for field, value in part_fields(name, params[name]).items():
                    params[f"{name}__{field}"] = value
        return params

    def set_params(self, **params: Any) -> PartParameters:
        """Set parameters, those of the loss and the oracle included."""
        inner = {key: params.pop(key) for key in list(params) if _owner(key) in READERS}
        super().set_params(**params)
        for name in READERS:
            changes = {key[len(name) + 2 :]: v for key, v in inner.items() if _owner(key) == name}
            if changes:
                setattr(self, name, _changed(name, getattr(self, name), changes))
        return self


def _owner(key: str) -> str:
    owner, separator, _ = key.partition("__")
    return owner if separator else ""


def _changed(name: str, given: Any, changes: dict[str, Any]) -> Any:
    """``given`` with other fields; itself, were it a name, where nothing changes."""
    known = part_fields(name, given)
    for field in changes:
        if field not in known:
            there = ", ".join(f"{name}__{field}" for field in known) or f"only {name} itself"
            raise ValueError(
                f"{name}__{field} is no parameter while {name} is {given!r}; expected {there}"
            )
    if all(np.array_equal(known[field], value) for field, value in changes.items()):
        return given
    part: Any = READERS[name](given) if isinstance(given, str) else given
    return replace(part, **changes)
