r"""The reported counts of gradients and oracle calls agree with the batch sizes.

Paper: Table 3 (tab:comparison), Section 4
Claim: numbers of sample gradients and of oracle calls to an accuracy of $10^{-5}$, for full
    gradients (Frank-Wolfe) and batches of 0.01 n (GSFW and SCGM).
Hypotheses: batches of $\lfloor 0.01n\rfloor$ rows
Verdict: HOLDS
Correction: digits are cut, not rounded: 448 passes over a9a's 32561 rows are 14.587 million
    gradients, printed as 14.5.
Proof: exact
Check: calls times batch against the gradients, as intervals of what the printed digits allow,
    for all eleven entries and batches of $\lfloor 0.01n\rfloor$ rows. It checks the arithmetic of
    the table, not the experiments.
Tested: no instance: eleven printed counts
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.statement import Finding, Kind, check

ROWS = {"a9a": 32561, "w8a": 49749, "mushrooms": 8124, "gisette": 6000}
STOCHASTIC = [
    ("a9a", "10.3", "31,900"),
    ("w8a", "4.21", "8,470"),
    ("mushrooms", "1.27", "15,700"),
    ("gisette", "6.56", "109,000"),
    ("a9a", "65.3", "201,000"),
    ("w8a", "6.92", "13,900"),
    ("mushrooms", "7.4", "91,400"),
]
FULL = [
    ("a9a", "14.5", 448),
    ("w8a", "9.65", 194),
    ("mushrooms", "6.44", 793),
    ("gisette", "6.27", 1045),
]


def _cut(text: str) -> tuple[Fraction, Fraction]:
    """All numbers whose leading digits are printed, with zeros at the end left open."""
    digits = text.replace(",", "")
    if "." in digits:
        unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
    else:
        unit = Fraction(10 ** (len(digits) - len(digits.rstrip("0"))))
    return Fraction(digits), Fraction(digits) + unit


def hundredth(n: int) -> int:
    """⌊0.01 n⌋."""
    return n // 100


@check(
    Kind.EXACT,
    hundredth,
    {
        "two hundredths": lambda n: n // 50,
        "one row fewer": lambda n: n // 100 - 1,
        "one row": lambda n: 1,
    },
)
def gradients_are_calls_times_the_batch(batch: Any) -> Finding:
    """Overlapping intervals for seven stochastic and four full counts."""
    consistent = 0
    for name, gradients, calls in STOCHASTIC:
        low, high = _cut(gradients)
        least, most = (count * batch(ROWS[name]) for count in _cut(calls))
        consistent += least < high * 10**6 and low * 10**6 < most
    for name, gradients, passes in FULL:
        low, high = _cut(gradients)
        consistent += low * 10**6 <= passes * ROWS[name] < high * 10**6
    return Finding(consistent == 11, f"{consistent} of 11 entries are consistent")
