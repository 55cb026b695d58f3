"""What an entry of the ledger is: a statement, its verdict, and checks that may contradict it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import ModuleType
from typing import Any


class Status(StrEnum):
    """What became of a statement of the paper."""

    HOLDS = "HOLDS"
    TIGHT = "TIGHT"
    LOOSE = "LOOSE"
    TYPO = "TYPO"
    PROOF_GAP = "PROOF GAP"
    FALSE = "FALSE"
    REPAIRED = "REPAIRED"
    OPEN = "OPEN"


class Kind(StrEnum):
    """How a check decides."""

    SYMBOLIC = "symbolic"
    EXACT = "exact"
    SEMIDEFINITE = "semidefinite"
    INTERVAL = "interval"
    STATISTICAL = "statistical"


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    agrees
        Whether it confirms the recorded verdict.
    detail
        The evidence in one line, with its numbers.
    slack
        How far the claim is from failing (or, of a false claim, by how much it fails), where
        one number says it: 0 is tight.
    """

    agrees: bool
    detail: str
    slack: float | None = None


@dataclass(frozen=True)
class Check:
    """A question with a yes or no, and planted bugs at which it must say no.

    ``function`` is given ``subject``, the formula or algorithm under test, and once for each
    planted bug a wrong one in its place.
    """

    function: Callable[[Any], Finding]
    kind: Kind
    subject: Any
    planted: Mapping[str, Any]
    slow: bool = False

    @property
    def name(self) -> str:
        """The check in words."""
        return self.function.__name__.replace("_", " ")

    def run(self) -> Finding:
        """The finding for the true subject."""
        return self.function(self.subject)


def check(
    kind: Kind, subject: Any, planted: Mapping[str, Any], *, slow: bool = False
) -> Callable[[Callable[[Any], Finding]], Check]:
    """Make a function of ``subject`` a check; ``planted`` names the bugs it must catch."""
    if not planted:
        raise ValueError("planted is empty; expected at least one bug that the check must catch")

    return lambda function: Check(function, kind, subject, dict(planted), slow)


FIELDS = ("Paper", "Claim", "Verdict", "Correction", "Check")
"""The fields of a statement's docstring, in this order; only the correction may be left out."""


@dataclass(frozen=True)
class Statement:
    r"""One entry: its docstring read field by field, and its checks.

    The docstring's template::

        The statement in words, one line.

        Paper: Proposition 3.1 (prop:Dmax), Section 3
        Claim: $D_{\max} \le \gamma M^2$.
        Verdict: LOOSE
        Correction: $D_{\max} \le \gamma M^2/2$, attained by the squared loss with n = 1.
        Check: how it is checked, in words.

    A field goes on over the following lines; TeX stands between dollar signs. The label is the
    parenthesis after the paper's own name, or the module's name where the paper has none.
    """

    module: str
    title: str
    paper: str
    claim: str
    status: Status
    correction: str
    method: str
    checks: tuple[Check, ...] = field(repr=False)

    @property
    def label(self) -> str:
        """The paper's label, such as ``thm:strong``; else the name of the file."""
        found = re.search(r"\(([\w:. -]+)\)", self.paper)
        return found.group(1) if found else self.module.rpartition(".")[2]


def read_statement(module: ModuleType) -> Statement:
    """The entry that a module is, or a ``ValueError`` that says what its docstring lacks."""
    title, _, body = inspect.cleandoc(module.__doc__ or "").partition("\n\n")
    pattern = rf"^({'|'.join(FIELDS)}):\s*(.*?)(?=^(?:{'|'.join(FIELDS)}):|\Z)"
    found = re.findall(pattern, body, flags=re.MULTILINE | re.DOTALL)
    texts = {name: " ".join(text.split()) for name, text in found}
    missing = [name for name in FIELDS if name != "Correction" and not texts.get(name)]
    if missing or [name for name, _ in found] != [name for name in FIELDS if name in texts]:
        raise ValueError(
            f"the docstring of {module.__name__} lacks or disorders {missing or 'its fields'}; "
            f"expected the fields {', '.join(FIELDS)} in this order"
        )
    checks = tuple(value for value in vars(module).values() if isinstance(value, Check))
    if not checks:
        raise ValueError(f"{module.__name__} has no check; expected at least one @check")
    return Statement(
        module.__name__,
        title,
        texts["Paper"],
        texts["Claim"],
        Status(texts["Verdict"]),
        texts.get("Correction", ""),
        texts["Check"],
        checks,
    )
