"""JSON for programs: one convention for all commands, and numbers that every reader accepts."""

import json
import math
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.solver.saved_results import check_folder

STANDARD_OUTPUT = "-"


def check_json(target: str | None) -> None:
    """Refuse, before any work, a JSON file that could not be written."""
    if target not in (None, STANDARD_OUTPUT):
        check_folder(str(target))


def say(text: str, json_target: str | None) -> None:
    """Print ``text``, unless standard output is for JSON."""
    if json_target != STANDARD_OUTPUT:
        print(text, flush=True)


def write_json(data: Any, target: str | os.PathLike[str] | None) -> None:
    """Write ``data`` to the file ``target``, or print it for ``"-"``; nothing for ``None``."""
    if target is None:
        return
    if target == STANDARD_OUTPUT:
        sys.stdout.write(as_json(data))
    else:
        Path(target).write_text(as_json(data), encoding="utf-8")


def as_json(data: Any) -> str:
    """``data`` as strict JSON; what is not a finite number is null.

    >>> print(as_json({"gap": float("inf"), "β": np.float64(0.5)}), end="")
    {
     "gap": null,
     "β": 0.5
    }
    """
    return json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(name): _plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple | np.ndarray):
        return [_plain(value) for value in data]
    if isinstance(data, np.bool_ | np.integer):
        return data.item()
    if isinstance(data, float | np.floating | Fraction):
        number = float(data)
        return number if math.isfinite(number) else None
    return data
