"""``python -m proofs_check hunt THEOREM``: the search from the command line."""

from __future__ import annotations

import json
import math
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from proofs_check.hunting.search import PRINTED_DIGITS, WORKING_DIGITS, Catch, hunt
from proofs_check.hunting.theorems import THEOREMS, Theorem

IMPORTS = """\
    from proofs_check.hunting.instance import Bowl, Instance, Polytope
    from proofs_check.hunting.search import confirmed
    from proofs_check.hunting.theorems import THEOREMS"""

WORDS = {
    ("holds", True): "VIOLATED, although it is recorded as proved: one of the two is wrong",
    ("holds", False): "not violated, as it must be",
    ("false", True): "violated, as recorded",
    ("false", False): "recorded as false, but this search found no violation; give it longer",
    ("open", True): "VIOLATED: this conjecture is false",
    ("open", False): "not violated; it stays open",
}


def run_hunt(
    theorem: Theorem, seed: int, seconds: float, evaluations: float, file: Path | None
) -> int:
    """Search, print what was caught, and return the exit status: 1 for news, else 0."""
    watch = _Progress(seconds, evaluations)
    catch = hunt(
        theorem,
        np.random.default_rng(seed),
        seconds=seconds,
        evaluations=evaluations,
        watch=watch,
    )
    watch.clear()
    print("\n".join(described(catch, seed)))
    if file is not None:
        text = json.dumps(as_json(catch, seed), indent=1, ensure_ascii=False)
        file.write_text(text + "\n", encoding="utf-8")
    return int(catch.violates and theorem.recorded != "false")


def described(catch: Catch, seed: int) -> list[str]:
    """The theorem, the ratio, the instance, and how to get it again."""
    theorem, instance = catch.theorem, catch.instance
    left = "P(β̄^{k−1}) − D(w^k)" if theorem.strong else "P(β̄^k) − D(w̄^k)"
    how_many = f"n = {instance.n}, b = {instance.batch}, {instance.steps} steps"
    call = f"confirmed(THEOREMS[{theorem.label!r}], {instance!r}, 0).ratio"
    return [
        f"{theorem.label}: E[{left}] ≤ {theorem.formula}",
        f"  largest ratio {_shown(catch.ratio)} = {_shown(catch.gap)} / {_shown(catch.bound)}, "
        f"to {WORKING_DIGITS} digits",
        f"  {WORDS[theorem.recorded, catch.violates]}",
        "",
        f"  at {how_many}, {instance.loss} losses (numbers of {PRINTED_DIGITS} digits, exact):",
        IMPORTS,
        *textwrap.wrap(
            call, 96, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
        ),
        f"  after {catch.evaluations} evaluations; again:",
        f"    python -m proofs_check hunt {theorem.label} --seed {seed} "
        f"--evaluations {catch.evaluations}",
    ]


def as_json(catch: Catch, seed: int) -> dict[str, Any]:
    """The catch in plain numbers and strings."""
    return {
        "theorem": catch.theorem.label,
        "bound formula": catch.theorem.formula,
        "recorded": catch.theorem.recorded,
        "violated": catch.violates,
        "ratio": mpmath.nstr(catch.ratio, 20),
        "gap": mpmath.nstr(catch.gap, 20),
        "bound": mpmath.nstr(catch.bound, 20),
        "seed": seed,
        "evaluations": catch.evaluations,
        "instance": catch.instance.as_json(),
    }


def _shown(number: Any) -> str:
    return mpmath.nstr(number, 7)


class _Progress:
    """A terminal's last line, a few times a second."""

    def __init__(self, seconds: float, evaluations: float) -> None:
        self.begun = self.shown = time.perf_counter()
        self.seconds, self.evaluations = seconds, evaluations

    def __call__(self, evaluations: int, ratio: float) -> None:
        now = time.perf_counter()
        if sys.stderr.isatty() and now - self.shown > 0.2:
            self.shown = now
            spent = now - self.begun
            goal = f"/{self.seconds:.0f}" if math.isfinite(self.seconds) else ""
            of = f"/{self.evaluations:.0f}" if math.isfinite(self.evaluations) else ""
            line = f"{spent:.0f}{goal} s, {evaluations}{of} evaluations, ratio {ratio:.6g}"
            print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if sys.stderr.isatty():
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def known_theorems() -> str:
    """The labels with their bounds, a line each."""
    width = max(map(len, THEOREMS))
    lines = (f"  {t.label:{width}}  {t.formula} ({t.recorded})" for t in THEOREMS.values())
    return "\n".join(lines)
