"""The ledger as a table for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from proofs_check.running import Entry, Outcome
from proofs_check.statement import Statement, Status

COLOURS = {
    Status.HOLDS: "32",
    Status.TIGHT: "32",
    Status.LOOSE: "36",
    Status.TYPO: "36",
    Status.PROOF_GAP: "33",
    Status.FALSE: "31",
    Status.REPAIRED: "35",
    Status.OPEN: "34",
}
"""SGR codes: green is right as printed, red is not, and the rest lies between."""

STATUS_WIDTH, KINDS_WIDTH, SLACK_WIDTH, SECONDS_WIDTH = 9, 14, 7, 5


class Table:
    """Lines of a table ``width`` columns wide, row by row; ``colour`` allows ANSI codes.

    Long statements go on over several lines: nothing is cut off.
    """

    def __init__(self, statements: Sequence[Statement], width: int, colour: bool) -> None:
        labels = max((len(statement.label) for statement in statements), default=0)
        label = min(labels, width // 5)
        fixed = 2 + label + STATUS_WIDTH + KINDS_WIDTH + SLACK_WIDTH + SECONDS_WIDTH + 5 * 2
        title = max(width - fixed, 16)
        self.widths = (2 + label, title, STATUS_WIDTH, KINDS_WIDTH, SLACK_WIDTH, SECONDS_WIDTH)
        self.width = fixed + title
        self.colour = colour

    def head(self) -> list[str]:
        """The names of the columns over a rule."""
        cells = ("  label", "statement", "status", "checks", "slack", "s")
        (line,) = self._row([[cell] for cell in cells], [])
        return [self._paint(line, "1"), self._paint("─" * self.width, "2")]

    def row(self, entry: Entry) -> list[str]:
        """A statement: its mark, label, words, status, kinds of check, slack and seconds."""
        statement = entry.statement
        mark = ("✓" if entry.agrees else "✗") if entry.outcomes else "–"
        label = _folded(statement.label, self.widths[0] - 2)
        cells = [
            [f"{mark} {label[0]}", *(f"  {part}" for part in label[1:])],
            textwrap.wrap(plain(statement.title), self.widths[1]),
            [str(statement.status)],
            kinds(entry),
            [number(entry.slack)],
            [f"{entry.seconds:.1f}" if entry.outcomes else ""],
        ]
        colours = ["" if entry.agrees else "1;31", "", COLOURS[statement.status], "2", "", "2"]
        return self._row(cells, colours)

    def facts(self, statement: Statement) -> list[str]:
        """Whose a statement is, what it assumes and rests on, and on what it was tested."""
        texts = {
            "origin": statement.origin,
            "assumed": "; ".join(statement.assumed),
            "proof": statement.proof,
            "tested": statement.tested,
        }
        indent = " " * 13
        return [
            self._paint(line, "2")
            for name, text in texts.items()
            for line in textwrap.wrap(
                f"    {name + ':':8} {plain(text)}", self.width, subsequent_indent=indent
            )
        ]

    def checks(self, entry: Entry) -> list[str]:
        """The checks of a statement, each with its evidence."""
        return [line for outcome in entry.outcomes for line in self._check(outcome)]

    def _check(self, outcome: Outcome) -> list[str]:
        mark = "✓" if outcome.agrees else "✗"
        slack = "" if outcome.slack is None else f", slack {number(outcome.slack)}"
        head = f"    {mark} {outcome.name} ({outcome.kind}{slack}, {outcome.seconds:.1f} s)"
        detail = textwrap.wrap(plain(outcome.detail), self.width - 6)
        painted = self._paint(head, "" if outcome.agrees else "1;31")
        return [painted, *(self._paint(f"      {line}", "2") for line in detail)]

    def failures(self, entries: Iterable[Entry]) -> list[str]:
        """What contradicts the ledger, at length; tracebacks as they came."""
        lines = []
        for entry in entries:
            for outcome in entry.outcomes:
                if not outcome.agrees:
                    recorded = f"{entry.statement.label} is recorded as {entry.statement.status}"
                    lines += [self._paint(f"{recorded}, which a check contradicts:", "1;31")]
                    lines += [*self._check(outcome), *outcome.failure.splitlines(), ""]
        return lines

    def summary(self, entries: Sequence[Entry], seconds: float) -> list[str]:
        """How many statements of each status, and what the checks said."""
        found = Counter(entry.statement.status for entry in entries)
        counts = [f"{self._paint(status, COLOURS[status])} {found[status]}"
                  for status in Status if found[status]]  # fmt: skip
        ran = [outcome for entry in entries for outcome in entry.outcomes]
        against = sum(not outcome.agrees for outcome in ran)
        left_out = sum(entry.left_out for entry in entries)
        ours = sum(entry.statement.origin == "ours" for entry in entries)
        words = [
            f"{counted(len(entries), 'statement')} ({ours} ours)",
            counted(len(ran), "check"),
            f"{against} against the ledger" if against else "all agree with the ledger",
            *([f"{counted(left_out, 'slow check')} left out (--slow)"] if left_out else []),
            f"{seconds:.1f} s",
        ]
        closing = self._paint(", ".join(words), "1;31" if against else "1")
        return [self._paint("─" * self.width, "2"), "  ".join(counts), closing]

    def _row(self, cells: list[list[str]], colours: list[str]) -> list[str]:
        lines = []
        for parts in zip_longest(*cells, fillvalue=""):
            padded = [
                part.rjust(width) if place >= 4 else part.ljust(width)
                for place, (part, width) in enumerate(zip(parts, self.widths, strict=True))
            ]
            pairs = zip_longest(padded, colours, fillvalue="")
            lines.append("  ".join(self._paint(part, code) for part, code in pairs).rstrip())
        return lines

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text.strip() else text


def kinds(entry: Entry) -> list[str]:
    """Kinds of check with how many of each; the slow ones left out are counted apart."""
    found = Counter(str(outcome.kind) for outcome in entry.outcomes)
    lines = [f"{kind} ×{count}" if count > 1 else kind for kind, count in found.items()]
    return [*lines, *([f"({entry.left_out} slow)"] if entry.left_out else [])]


def counted(count: int, noun: str) -> str:
    """A count with its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(slack: float | None) -> str:
    """Three digits; nothing for no slack."""
    if slack is None:
        return ""
    return "0" if slack == 0 else f"{slack:.3g}".replace("-", "−")


def _folded(label: str, width: int) -> list[str]:
    """A long label, broken after a hyphen, colon or space."""
    broken = re.findall(r"[^:\s-]*[:\s-]|[^:\s-]+", label)
    lines = [""]
    for part in broken:
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return lines


SYMBOLS = {
    r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\infty": "∞", r"\cdot": "·", r"\times": "×",
    r"\sum": "Σ", r"\to": "→", r"\in": "∈", r"\nabla": "∇", r"\alpha": "α", r"\beta": "β",
    r"\gamma": "γ", r"\delta": "δ", r"\eta": "η", r"\theta": "θ", r"\lambda": "λ", r"\mu": "μ",
    r"\nu": "ν", r"\sigma": "σ", r"\phi": "φ", r"\varphi": "φ", r"\rho": "ρ", r"\Delta": "Δ",
    r"\Gamma": "Γ", r"\ldots": "…", r"\dots": "…", r"\ell": "l", r"\|": "‖",
}  # fmt: skip


def plain(text: str) -> str:
    r"""Words with their TeX in letters a terminal has.

    Examples
    --------
    >>> plain(r"the bound $D_{\max} \le \gamma M^2/2$")
    'the bound D_max ≤ γ M²/2'
    """
    return re.sub(r"\$(.*?)\$", lambda found: _letters(found.group(1)), text)


def _letters(tex: str) -> str:
    tex = re.sub(r"\\t?frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", tex)
    tex = re.sub(r"\\(?:bar|tilde|hat|mathbb|mathrm|text|operatorname)\s*\{?(\w+)\}?", r"\1", tex)
    tex = re.sub(r"\\(?:left|right|[,;!])", "", tex)
    tex = re.sub(r"\\(?:[a-zA-Z]+|\|)", lambda f: SYMBOLS.get(f.group(), f.group()[1:]), tex)
    tex = tex.replace("^2", "²").replace("^*", "*").replace(r"^{-1}", "⁻¹")
    return re.sub(r"\s+", " ", re.sub(r"([_^])\{(\w+)\}", r"\1\2", tex))
