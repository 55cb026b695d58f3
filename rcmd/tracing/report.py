"""A proof evaluated along a run: every line at every step, with its slack."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rcmd.tracing.lines import ProofLine, Relation

ROUNDING = 1e-9
"""Relative rounding that a line may be off by; fractions have none."""


@dataclass(frozen=True)
class Entry:
    """A line of the proof at iteration i: left ≤ right, or left = right."""

    line: ProofLine
    i: int
    left: Any
    right: Any

    @property
    def slack(self) -> Any:
        """Right minus left; for an identity the distance of the two, with a minus sign."""
        if self.line.relation is Relation.EQUAL:
            return -abs(self.right - self.left)
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether the two sides compare as they must, but for rounding."""
        size = abs(self.left) + abs(self.right)
        return bool(self.slack >= (-ROUNDING * (1 + size) if isinstance(size, float) else 0))


class Trace(Sequence[Entry]):
    """The entries of a run; printed, one row per line of the proof.

    Left/right near 1 is tight, near 0 loose; a dash stands where the sides are not positive.
    ``trace.line("one step")`` gives the entries of one line, ``trace.broken()`` those that fail.
    """

    def __init__(self, title: str, lines: Sequence[ProofLine], entries: Sequence[Entry]) -> None:
        self.title = title
        self.lines = tuple(lines)
        self._entries = tuple(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def line(self, name: str) -> list[Entry]:
        """The entries of the line with this name, one per step."""
        found = [entry for entry in self if entry.line.name == name]
        if not found:
            names = ", ".join(repr(line.name) for line in self.lines)
            raise ValueError(f"the proof has no line {name!r}; expected one of {names}")
        return found

    def broken(self) -> list[Entry]:
        """The entries that fail although their line is proved for every run."""
        sure = (Relation.AT_MOST, Relation.EQUAL)
        return [entry for entry in self if entry.line.relation in sure and not entry.holds]

    def __str__(self) -> str:
        head = ("line", "statement", "must be", "holds", "left/right, median", "least slack")
        rows = [head, *(self._row(line) for line in self.lines)]
        widths = [max(_width(row[c]) for row in rows) for c in range(len(head))]
        text = ("  ".join(map(_padded, row, widths)).rstrip() for row in rows)
        return "\n".join([self.title, "", *text])

    def _row(self, line: ProofLine) -> tuple[str, ...]:
        entries = self.line(line.name)
        held = sum(entry.holds for entry in entries)
        ratios = sorted(float(e.left / e.right) for e in entries if e.left >= 0 and e.right > 0)
        least = min(float(entry.slack) for entry in entries)
        return (
            line.name,
            line.statement,
            line.relation.value,
            f"{held}/{len(entries)}",
            f"{ratios[len(ratios) // 2]:.3f}" if ratios else "–",
            f"{least:.2e}",
        )


def _width(text: str) -> int:
    """Columns on a terminal, where combining accents take none."""
    return sum(not unicodedata.combining(letter) for letter in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
