"""Tables for people; JSON for programs, by one convention for all commands."""

import argparse
import datetime
import json
import math
import os
import platform
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.rows.validation import visible
from rcmd.solver.saved_results import check_folder, versions

WIDTH = 80
"""Columns of a terminal."""

APART = 2
"""Spaces between two columns of a table."""

STANDARD_OUTPUT = "-"


def check_json(target: str | None) -> None:
    """Refuse, before any work, a JSON file that could not be written."""
    if target not in (None, STANDARD_OUTPUT):
        check_folder(str(target))


def say(text: str, json_target: str | None) -> None:
    """Print ``text``, control characters escaped, unless standard output is for JSON.

    Lines are broken at the width of a terminal, and go on a little further in.
    """
    if json_target != STANDARD_OUTPUT:
        print("\n".join(map(folded, visible(text).split("\n"))), flush=True)


def folded(line: str) -> str:
    """A line in lines of at most ``WIDTH``; words, such as names of files, are not cut.

    A row of a table, with wide spaces in two places, stays as it is.

    >>> print(folded("  wrote " + 12 * "paths " + "a-few-words.svg"))
      wrote paths paths paths paths paths paths paths paths paths paths paths paths
        a-few-words.svg
    """
    if len(line) <= WIDTH or len(re.findall(r"\S {2,}(?=\S)", line)) > 1:
        return line
    inward = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, WIDTH, subsequent_indent=inward, break_long_words=False, break_on_hyphens=False
    )


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


@dataclass(frozen=True)
class Target:
    """An upper or a lower limit for a number."""

    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def shown(self, value: float) -> str:
        """The target in words, with the verdict.

        >>> Target(1.3).shown(1.1), Target(12, at_least=True).shown(7.0)
        ('≤ 1.3 met', '≥ 12 MISSED')

        A number that looks like its limit is told with the digits that tell them apart:

        >>> Target(12).shown(12.04)
        '≤ 12 MISSED: 12.04'
        """
        sign = "≥" if self.at_least else "≤"
        if self.met(value):
            return f"{sign} {self.limit:g} met"
        digits = next(d for d in range(3, 18) if float(f"{value:.{d}g}") != self.limit)
        said = f": {value:.{digits}g}" if digits > 3 else ""
        return f"{sign} {self.limit:g} MISSED{said}"

    def as_dict(self, value: float) -> dict[str, Any]:
        side = "at_least" if self.at_least else "at_most"
        return {side: self.limit, "value": value, "met": self.met(value)}


@dataclass
class Section:
    """One table.

    Attributes
    ----------
    name, title
        For programs, and for people.
    header, cells
        The table as text.
    rows
        The same as plain data, with all repeats.
    notes
        Sentences below the table, such as why something was left out.
    """

    name: str
    title: str
    header: Sequence[str]
    cells: list[Sequence[str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, cells: Sequence[str], **row: Any) -> None:
        self.cells.append(cells)
        self.rows.append(row)

    def text(self) -> str:
        """The table, aligned: the first column to the left, the others to the right.

        A table that is wider than a terminal continues below, beside its first column.
        """
        lines = textwrap.wrap(self.title, WIDTH)
        lines.append("-" * max(map(len, lines)))
        if self.cells:
            table = [self.header, *self.cells]
            widths = [max(map(len, column)) for column in zip(*table, strict=True)]
            for place, block in enumerate(_blocks(widths)):
                lines += [""] * (place > 0)
                for row in table:
                    words = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in block)]
                    lines.append((APART * " ").join(words).rstrip())
        for note in self.notes:
            lines += textwrap.wrap(f"({note})", WIDTH)
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "rows": self.rows, "notes": self.notes}


def _blocks(widths: Sequence[int]) -> list[list[int]]:
    """The columns that stand side by side, beside the first one, in tables of ``WIDTH``.

    >>> _blocks([10, 30, 30, 30])
    [[1, 2], [3]]
    """
    blocks: list[list[int]] = [[]]
    for i in range(1, len(widths)):
        if blocks[-1] and sum(widths[j] + APART for j in [*blocks[-1], i]) + widths[0] > WIDTH:
            blocks.append([])
        blocks[-1].append(i)
    return blocks


@dataclass
class Report:
    """All tables of one run, and where and how it was made."""

    sections: list[Section]
    about: dict[str, Any]

    def text(self) -> str:
        """Where it was made in two lines, then the tables."""
        return "\n\n".join([self.head(), *(section.text() for section in self.sections)])

    def head(self) -> str:
        """Where it was made."""
        machine, versions = self.about["machine"], self.about["versions"]
        load = machine["load"] and f", load {machine['load'][0]:.1f}"
        head = [
            f"{machine['cpu']}, {machine['cores']} cores{load or ''}; {machine['system']}",
            ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        ]
        return "\n".join(textwrap.fill(line, WIDTH) for line in head)

    def as_dict(self) -> dict[str, Any]:
        return {**self.about, "sections": [section.as_dict() for section in self.sections]}

    def tell(self, json_target: str | None) -> None:
        """Print the text and write the JSON file, either on standard output."""
        say(self.text(), json_target)
        write_json(self.as_dict(), json_target)


def about(seed: int, compiler: str | None, **settings: Any) -> dict[str, Any]:
    """When, where, with what and how a run was made."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(sys.argv),
        "seed": seed,
        "settings": settings,
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        },
        "versions": {**versions(), "C compiler": compiler},
    }


def about_command(options: argparse.Namespace, **further: Any) -> dict[str, Any]:
    """The same for a command with these options."""
    settings = {name: value for name, value in vars(options).items() if name not in ("run", "seed")}
    return about(options.seed, None, **settings, **further)


def nanoseconds(value: float) -> str:
    """A time with its unit, three digits.

    >>> nanoseconds(82.31), nanoseconds(4567.0), nanoseconds(15.2e6), nanoseconds(3.2e9)
    ('82.3 ns', '4.57 µs', '15.2 ms', '3.2 s')
    """
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} ns"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.partition(":")[2].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
