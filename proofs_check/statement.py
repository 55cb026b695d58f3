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
    """How a check decides: what its numbers are.

    EXACT is enumeration in fractions or integers, DIGITS in mpmath's 50 digits and FLOAT in
    float64, both without enclosures. SEMIDEFINITE takes the solver's word in float64; CERTIFIED is
    a semidefinite bound whose rational multipliers are checked without rounding.
    """

    SYMBOLIC = "symbolic"
    EXACT = "exact"
    DIGITS = "50 digits"
    FLOAT = "float64"
    SEMIDEFINITE = "semidefinite"
    CERTIFIED = "certified"
    INTERVAL = "interval"
    STATISTICAL = "statistical"


HYPOTHESES = {
    "(A)": "R is proper and convex, its domain is bounded, and its oracle attains the minimum and "
    "breaks ties without a look at the batch; every $l_j$ is convex and $\\gamma_j$-smooth, "
    "$\\gamma = \\max\\gamma_j$; the start is $s^0 = 0$",
    "(W)": "every $l_j$ is strictly convex, so that $w_j$ determines $s_j$",
    "(U)": "given the past, a row is in the batch with probability $b/n = 1/N$",
    "(B)": "given the past, all batches of b rows are equally likely",
    "(3.1)": "steps $\\eta_i = \\frac{2N}{2N+i+1}$ and weights $2N+i$, as in Theorem 3.1",
    "(S)": "$-D$ is coordinate-wise $\\sigma$-smooth relative to $h$, for whatever reason, and in "
    "expectation over batches of b rows where $b > 1$; steps $\\eta = 1/\\sigma$ and weights "
    "$q^i$, $q = \\frac{N\\sigma}{N\\sigma-1}$, as in Theorem 3.2",
    "(M)": "R is $\\mu$-strongly convex with respect to $\\|\\cdot\\|_2$",
    "(P)": "$\\sigma$ is that of Proposition 3.7, $1+\\gamma\\max_j\\|x_j\\|_2^2/(n\\mu)$, "
    "and $\\sigma_b$ of thm:strong-batches for batches",
}
"""What many statements assume, by the letters under which their docstrings name it."""


class Proof(StrEnum):
    """What the statement rests on, when it is true; a check is evidence and no proof of it.

    SYMBOLIC, INTERVAL and EXACT are steps of the proof that checks of that kind carry out.
    """

    NONE = "none"
    HAND = "by hand"
    SYMBOLIC = "symbolic"
    INTERVAL = "interval"
    EXACT = "exact"


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    agrees
        Whether it confirms the recorded verdict.
    detail
        The evidence in one line, with its numbers.
    ratio
        The largest left side over right side of the claim that was found, where one number says it.
    """

    agrees: bool
    detail: str
    ratio: Any = None

    @property
    def slack(self) -> float | None:
        """1 − ratio, the part of the bound that is left over: 0 is tight, below 0 it fails."""
        return None if self.ratio is None else float(1 - self.ratio)


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


FIELDS = (
    "Paper", "Claim", "Hypotheses", "Verdict", "Correction", "Proof", "Check", "Tested",
)  # fmt: skip
"""The fields of a statement's docstring, in this order; only the correction may be left out."""


@dataclass(frozen=True)
class Statement:
    r"""One entry: its docstring read field by field, and its checks.

    The docstring's template::

        The statement in words, one line.

        Paper: Proposition 3.1 (prop:Dmax), Section 3
        Claim: $D_{\max} \le \gamma M^2$.
        Hypotheses: (A); what else it assumes, parts divided by semicolons
        Verdict: LOOSE
        Correction: $D_{\max} \le \gamma M^2/2$, attained by the squared loss with n = 1.
        Proof: by hand, symbolic; where it stands, if not in the correction
        Check: how it is checked, in words.
        Tested: n = 3, p = 2, k ≤ 4; squared losses

    A field goes on over the following lines; TeX stands between dollar signs. The label is the
    parenthesis after the paper's own name, or the module's name where the paper has none. What is
    not the paper's begins with ``Paper: none``. The proof is that of the correction, or of the
    claim where there is none.
    """

    module: str
    title: str
    paper: str
    claim: str
    hypotheses: str
    status: Status
    correction: str
    proof: str
    method: str
    tested: str
    checks: tuple[Check, ...] = field(repr=False)

    @property
    def label(self) -> str:
        """The paper's label, such as ``thm:strong``; else the name of the file."""
        found = re.search(r"\(([\w:. -]+)\)", self.paper)
        return found.group(1) if found else self.module.rpartition(".")[2]

    @property
    def origin(self) -> str:
        """Whether the statement is the paper's, or ours."""
        return "ours" if self.paper.startswith("none") else "paper"

    @property
    def assumed(self) -> list[str]:
        """The hypotheses in full."""
        letters = "|".join(map(re.escape, HYPOTHESES))
        text = re.sub(letters, lambda found: HYPOTHESES[found.group()], self.hypotheses)
        return text.split("; ")

    @property
    def proofs(self) -> list[Proof]:
        """What the statement rests on."""
        return [Proof(word) for word in self.proof.partition(";")[0].split(", ")]


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
        texts["Hypotheses"],
        Status(texts["Verdict"]),
        texts.get("Correction", ""),
        texts["Proof"],
        texts["Check"],
        texts["Tested"],
        checks,
    )
