"""``rcmd check module:Class``: the contract checks from the command line."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from rcmd.conjugates.base import SeparableConjugate
from rcmd.json_output import check_json, say, write_json
from rcmd.oracles.base import LinearMinOracle
from rcmd.prox import BregmanProx
from rcmd.testing.losses import inspect_conjugate
from rcmd.testing.oracles import inspect_oracle
from rcmd.testing.proxes import inspect_prox
from rcmd.testing.report import Report

NAMED_VARIABLES = 5
"""Variables for oracles that are given by name."""


def run_check(target: str, json_target: str | None = None) -> int:
    """Check ``module:Class``, ``module:Class(0.5)``, ``file.py:name`` or a name of ``rcmd list``.

    Prints a report, or writes it as JSON. Returns 0 if the contract is kept and 1 if not; a
    target that cannot be used is a ``ValueError`` of one sentence.

    Examples
    --------
    >>> status = run_check("least-squares", json_target=os.devnull)  # doctest: +ELLIPSIS
    LeastSquares()
    ...
    the contract is kept
    >>> status
    0
    """
    check_json(json_target)
    part = named(target) or load(target)
    if isinstance(part, type) or not _is_part(part):
        raise ValueError(
            f"{part!r} is of type {type(part).__name__}; expected a SeparableConjugate, a "
            "LinearMinOracle or a BregmanProx"
        )
    try:
        report = inspect_any(part)
    except Exception as fault:  # whatever the user's own code raises is a finding
        where = traceback.extract_tb(fault.__traceback__)[-1]
        told = f"{type(fault).__name__}: {fault} ({where.filename}:{where.lineno})"
        say(f"{part!r}\nFAIL  {told}", json_target)
        write_json({"subject": repr(part), "ok": False, "raised": told}, json_target)
        return 1
    count = len(report.failures)
    verdict = "the contract is kept" if report.ok else f"{count} failure{'s' if count > 1 else ''}"
    say("\n".join([report.subject, *report.lines(), verdict]), json_target)
    write_json(report.as_dict(), json_target)
    return 0 if report.ok else 1


def named(target: str) -> Any:
    """The loss or oracle that ``rcmd list`` writes as ``target``; ``None`` if it has no such."""
    from rcmd.specs import LOSSES, ORACLES, REFUSED, made, parse_loss, parse_oracle

    name = target.partition(":")[0]
    if name in LOSSES or name in REFUSED or name == "expression":
        return parse_loss(target)
    return made(parse_oracle(target), NAMED_VARIABLES) if name in ORACLES else None


def inspect_any(part: Any) -> Report:
    """The report of the check that fits ``part``."""
    if isinstance(part, SeparableConjugate):
        return inspect_conjugate(part)
    if isinstance(part, LinearMinOracle):
        return inspect_oracle(part)
    return inspect_prox(part)


def load(target: str) -> Any:
    """The object that ``target`` names; only numbers may stand in its parentheses."""
    place, colon, words = target.partition(":")
    if place.endswith(".py") or not colon:
        place, colon, words = target.rpartition(":")
    if not (place and words):
        if target.endswith(".py"):
            raise ValueError(f"{target} has {_parts_of(_module(target))}; name one, {target}:NAME")
        raise ValueError(
            f"target {target!r} is not of the form module:Class, module:Class(0.5) or "
            "file.py:Class, and `rcmd list` has no such name"
        )
    name, arguments, named = _parsed(target, words)
    module = _module(place)
    if not hasattr(module, name):
        raise ValueError(f"{place} has no {name}; it has {_parts_of(module)}")
    part = getattr(module, name)
    if not isinstance(part, type):
        return part
    try:
        return part(*arguments, **named)
    except TypeError as fault:
        raise ValueError(f"{name} cannot be made: {fault}; write {place}:{name}(…)") from None


def _parsed(target: str, words: str) -> tuple[str, list[Any], dict[str, Any]]:
    try:
        tree = ast.parse(words, mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, [], {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            arguments = [ast.literal_eval(argument) for argument in tree.args]
            named = {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords}
            return tree.func.id, arguments, named
    except (SyntaxError, ValueError, RecursionError):
        pass
    raise ValueError(
        f"target {target!r} has {words!r} after its colon; expected a name, or a name with "
        "numbers in parentheses, such as Huber(0.5)"
    )


def _module(place: str) -> Any:
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise ValueError(f"{place} cannot be read; expected a Python file")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{place} cannot be read as a Python module")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        _look_in(str(path.parent.resolve()))
        try:
            spec.loader.exec_module(module)
        except Exception as fault:  # the file is the user's, and so is the fault
            raise ValueError(
                f"{place} cannot be imported: {type(fault).__name__}: {fault}"
            ) from None
        return module
    _look_in(os.getcwd())
    try:
        return importlib.import_module(place)
    except ImportError as fault:
        raise ValueError(
            f"module {place!r} cannot be imported: {fault}; expected one that is installed or in "
            "this folder: a file is given as FILE.py:CLASS"
        ) from None


def _parts_of(module: Any) -> str:
    """The losses, oracles and proxes of a module, its own ones if it has any."""
    found = {word: part for word, part in vars(module).items() if _is_part(part)}
    own = [word for word, part in found.items() if _home(part) == module.__name__]
    return ", ".join(own or found) or "no loss, oracle or prox"


def _home(part: Any) -> str:
    kind = part if isinstance(part, type) else type(part)
    return kind.__module__


def _look_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _is_part(part: Any) -> bool:
    kinds = (SeparableConjugate, LinearMinOracle, BregmanProx)
    return isinstance(part, kinds) or (isinstance(part, type) and issubclass(part, kinds))
