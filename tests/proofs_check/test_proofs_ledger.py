"""Every check of the ledger confirms its verdict, and every planted bug is caught."""

import re
from pathlib import Path

import pytest

import proofs_check
from proofs_check.ledger import ledger
from proofs_check.page import typeset
from proofs_check.statement import Kind

LEDGER = ledger()


def parameters(statement, check, *bug):
    marks = [pytest.mark.slow] if check.slow else []
    name = ": ".join([statement.label, check.name, *bug])
    return pytest.param(statement, check, *bug, id=name, marks=marks)


PAIRS = [(statement, check) for statement in LEDGER for check in statement.checks]
PLANTED = [parameters(*pair, bug) for pair in PAIRS for bug in pair[1].planted]


def test_ledger_is_whole_with_unique_labels_and_files_in_order():
    assert len({statement.label for statement in LEDGER}) == len(LEDGER) >= 35
    for statement in LEDGER:
        assert re.fullmatch(r"proofs_check\.statements\.s\d\d_[a-z0-9_]+", statement.module)


@pytest.mark.parametrize(("statement", "check"), [parameters(*pair) for pair in PAIRS])
def test_check_confirms_the_verdict(statement, check):
    finding = check.run()
    assert finding.agrees, f"{statement.label} is recorded as {statement.status}: {finding.detail}"
    assert finding.detail


@pytest.mark.parametrize(("statement", "check", "bug"), PLANTED)
def test_planted_bug_is_caught(statement, check, bug):
    finding = check.function(check.planted[bug])
    assert not finding.agrees, f"not caught: {finding.detail}"


@pytest.mark.parametrize("statement", LEDGER, ids=lambda statement: statement.label)
def test_symbolic_checks_have_two_planted_bugs_and_every_formula_is_typeset(statement):
    for check in statement.checks:
        assert check.kind is not Kind.SYMBOLIC or len(check.planted) >= 2, check.name
    for text in (statement.title, statement.claim, statement.correction, statement.method):
        assert "\\" not in typeset(text), "a TeX command that becomes no MathML"


def test_the_exact_engine_shares_no_code_with_rcmd() -> None:
    folder = Path(proofs_check.__file__).parent
    for part in ("exact", "semidefinite", "intervals"):
        for file in (folder / part).glob("*.py"):
            assert "rcmd" not in re.sub(r'""".*?"""', "", file.read_text(), flags=re.DOTALL)
