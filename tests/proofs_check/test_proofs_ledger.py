"""Every check of the ledger confirms its verdict, and every planted bug is caught.

By default the first bug of each check is planted, as bugs take twice as long as the truth; the
slow tests plant all.
"""

import re
from itertools import islice
from pathlib import Path

import pytest

import proofs_check
from proofs_check.ledger import ledger
from proofs_check.page import typeset
from proofs_check.statement import Kind

LEDGER = ledger()


SLOW = [(statement, check) for statement in LEDGER for check in statement.checks if check.slow]


def test_ledger_is_whole_with_unique_labels_and_files_in_order():
    assert len({statement.label for statement in LEDGER}) == len(LEDGER) >= 35
    for statement in LEDGER:
        assert re.fullmatch(r"proofs_check\.statements\.s\d\d_[a-z0-9_]+", statement.module)


def judge(statement, check, bugs=None):
    """Its finding confirms the verdict, and that of none of its first ``bugs`` does."""
    name, finding = f"{statement.label}: {check.name}", check.run()
    assert finding.agrees, f"{name}, recorded as {statement.status}: {finding.detail}"
    assert finding.detail
    for bug, wrong in islice(check.planted.items(), bugs):
        finding = check.function(wrong)
        assert not finding.agrees, f"{name} does not catch {bug}: {finding.detail}"


@pytest.mark.parametrize("statement", LEDGER, ids=lambda statement: statement.label)
def test_checks_confirm_the_verdict_and_catch_planted_bugs(statement):
    for check in statement.checks:
        if not check.slow:
            judge(statement, check, bugs=1)


@pytest.mark.slow
@pytest.mark.parametrize("statement", LEDGER, ids=lambda statement: statement.label)
def test_all_planted_bugs_are_caught(statement):
    for check in statement.checks:
        if not check.slow:
            judge(statement, check)


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "check"), SLOW, ids=[check.name for _, check in SLOW])
def test_slow_checks_do_as_well(statement, check):
    judge(statement, check)


@pytest.mark.parametrize("statement", LEDGER, ids=lambda statement: statement.label)
def test_symbolic_checks_have_two_planted_bugs_and_every_formula_is_typeset(statement):
    for check in statement.checks:
        assert check.kind is not Kind.SYMBOLIC or len(check.planted) >= 2, check.name
    for text in (statement.title, statement.claim, statement.correction, statement.method):
        assert "\\" not in typeset(text), "a TeX command that becomes no MathML"


def test_the_exact_engine_shares_no_code_with_rcmd() -> None:
    folder = Path(proofs_check.__file__).parent
    for part in ("exact", "intervals"):
        for file in (folder / part).glob("*.py"):
            assert "rcmd" not in re.sub(r'""".*?"""', "", file.read_text(), flags=re.DOTALL)
