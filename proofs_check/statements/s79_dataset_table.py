r"""The table of data sets has no values of δ.

Paper: Table 1 (tab:stats), Section 4
Claim: "Dimensions and value of $\delta$ for four LIBSVM data instances".
Hypotheses: none
Verdict: TYPO
Correction: the table gives n and p alone; no value of $\delta$ is printed anywhere, so that the
    experiments cannot be repeated with theirs.
Proof: exact
Check: the caption's words against the columns, and the batch of $0.01n$ rows against n.
Tested: no instance: four data sets, n and p as printed
"""

from __future__ import annotations

from typing import Any

from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s80_reported_counts import ROWS

TABLE = {
    "a9a": {"n": 32561, "p": 123},
    "w8a": {"n": 49749, "p": 300},
    "mushrooms": {"n": 8124, "p": 112},
    "gisette": {"n": 6000, "p": 5000},
}


@check(
    Kind.EXACT,
    TABLE,
    {
        "a column for δ": {name: {**row, "δ": 1} for name, row in TABLE.items()},
        "another n": TABLE | {"gisette": {"n": 7000, "p": 5000}},
    },
)
def the_caption_promises_more_than_the_columns(table: Any) -> Finding:
    """Missing from every row is δ alone; the sizes are those of the counts in Table 3."""
    missing = [{"n", "p", "δ"} - set(row) for row in table.values()]
    same = {name: row["n"] for name, row in table.items()} == ROWS
    return Finding(
        same and all(one == {"δ"} for one in missing), f"missing: {missing[0] or 'none'}"
    )
