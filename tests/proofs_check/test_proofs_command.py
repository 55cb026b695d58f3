"""The command fails when a check contradicts its verdict, and says which."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from headless_chromium import Chromium, found

from proofs_check import __main__ as command
from proofs_check.ledger import ledger
from proofs_check.page import page, typeset
from proofs_check.running import Entry, Outcome, run
from proofs_check.statement import Check, Finding, Kind, Statement, Status
from proofs_check.table import Table, plain

ROOT = Path(__file__).parents[2]


def agreeing(subject):
    return Finding(True, "1 = 1", 0.75)


def contradicting(subject):
    return Finding(False, "2 > 1 at n = 1")


def raising(subject):
    raise ArithmeticError("the bound is not a number")


def entry(name, *functions, slow=(), status=Status.HOLDS):
    checks = tuple(Check(f, Kind.EXACT, None, {"bug": None}, f in slow) for f in functions)
    return Statement(
        f"proofs_check.statements.s00_{name}",
        f"The {name} bound $\\gamma M^2$ holds.",
        f"Theorem 0 (thm:{name})",
        r"$x \le 1$ & more.",
        "(U); $x \\ge 0$",
        status,
        r"$x < \frac{1}{2}$.",
        "by hand, exact; as before",
        "in fractions.",
        "n = 1, p = 1, k = 1; squared losses",
        checks,
    )


@pytest.fixture
def given(monkeypatch):
    def use(*statements):
        monkeypatch.setattr(command, "ledger", lambda: list(statements))

    return use


def test_agreement_is_success(given, capsys):
    given(entry("first", agreeing), entry("second", agreeing, agreeing, status=Status.FALSE))
    assert command.main(["--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "✓ thm:first" in out
    assert "exact ×2" in out
    assert "2 statements (0 ours), 3 checks, all agree with the ledger" in out
    assert err == ""
    assert "\x1b" not in out


def test_one_contradiction_among_agreeing_checks_is_failure(given, capsys):
    given(entry("first", agreeing), entry("second", agreeing, contradicting, agreeing))
    assert command.main(["--jobs", "1"]) == command.EXIT_CONTRADICTED == 1
    out, err = capsys.readouterr()
    assert "✗ thm:second" in out
    assert "1 against the ledger" in out
    assert "thm:second is recorded as HOLDS, which a check contradicts" in err
    assert "2 > 1 at n = 1" in err


def test_exception_is_failure(given, capsys):
    given(entry("first", raising), entry("second", agreeing))
    assert command.main(["--jobs", "1"]) == 1
    out, err = capsys.readouterr()
    assert "raised ArithmeticError: the bound is not a number" in err
    assert "Traceback" in err
    assert "✓ thm:second" in out


def test_slow_checks_run_when_asked_for(given, capsys):
    given(entry("first", contradicting, slow=(contradicting,)))
    assert command.main(["--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "– thm:first" in out
    assert "1 slow check left out (--slow)" in out
    assert command.main(["--jobs", "1", "--slow"]) == 1


def test_only_selects_and_shows_evidence(given, capsys):
    given(entry("first", contradicting), entry("second", agreeing))
    assert command.main(["--jobs", "1", "--only", "thm:second"]) == 0
    out = capsys.readouterr().out
    assert "thm:first" not in out
    unwrapped = " ".join(out.split())
    assumed = "assumed: given the past, a row is in the batch with probability b/n = 1/N; x ≥ 0"
    assert assumed in unwrapped
    for words in ("origin:  paper", "proof:   by hand, exact; as before", "tested:  n = 1, p = 1"):
        assert words in out
    assert re.search(r"✓ agreeing \(exact, slack 0.25, \d\.\d s\)\n +1 = 1", out)


def test_unknown_label_names_its_neighbours(given, capsys):
    given(entry("first", agreeing), entry("second", agreeing))
    assert command.main(["--only", "thm:frist"]) == command.EXIT_BAD_INPUT == 2
    assert capsys.readouterr().err == (
        "proofs_check: --only thm:frist: no statement has this label; near it are thm:first\n"
    )
    assert command.main(["--only", "zzz"]) == 2
    assert "there are thm:first, thm:second" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jobs", "0"], "argument --jobs: '0' given; expected a whole number from 1 on"),
        (["--json", "/no/such/folder/x"], "expected a file in a folder that exists"),
        (["--html", "/"], "expected a file in a folder that exists"),
        (["hunt", "exact-start", "--seconds", "-1"], "'-1' given; expected a number above 0"),
        (["hunt", "exact-start", "--seed", "-1"], "expected a whole number from 0 on"),
        (["hunt", "exact-start", "--evaluations", "many"], "expected a whole number from 1 on"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_json_holds_verdicts_and_evidence(given, tmp_path):
    given(entry("first", agreeing, raising, slow=(agreeing,)))
    assert command.main(["--jobs", "1", "--json", str(tmp_path / "ledger.json")]) == 1
    (found,) = json.loads((tmp_path / "ledger.json").read_text(encoding="utf-8"))
    (outcome,) = found.pop("checks")
    statement = entry("first")
    shown = ("label", "title", "paper", "origin", "claim", "status", "correction", "proof")
    said = {name: getattr(statement, name) for name in (*shown, "method", "tested")}
    assumed = ["given the past, a row is in the batch with probability $b/n = 1/N$", r"$x \ge 0$"]
    assert found == {**said, "hypotheses": assumed, "agrees": False, "left_out": 1}
    assert (found["label"], found["status"]) == ("thm:first", "HOLDS")
    assert outcome.pop("seconds") >= 0
    assert outcome == {
        "name": "raising",
        "kind": "exact",
        "agrees": False,
        "detail": "raised ArithmeticError: the bound is not a number",
        "slack": None,
    }


def test_json_has_no_infinity():
    statement = entry("first", agreeing)
    found = command.as_json(Entry(statement, (outcome(slack=math.inf),)))
    assert found["checks"][0]["slack"] is None


def test_page_without_its_converter_is_refused_before_work(given, capsys, monkeypatch, tmp_path):
    given(entry("first", agreeing))
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert command.main(["--jobs", "1", "--html", str(tmp_path / "ledger.html")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--html needs latex2mathml; expected it: pip install" in err


def test_intervals_without_flint_are_refused_before_work(given, capsys, monkeypatch):
    first = entry("first", agreeing)
    given(replace(first, checks=(replace(first.checks[0], kind=Kind.INTERVAL),)))
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    assert command.main(["--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "intervals need python-flint; expected it: pip install 'rcmd-opt[verify]'" in err


def test_interrupt_shows_what_is_done(given, capsys, tmp_path):
    def interrupting(subject):
        raise KeyboardInterrupt

    given(entry("first", agreeing), entry("second", interrupting), entry("third", agreeing))
    file = tmp_path / "ledger.json"
    assert command.main(["--jobs", "1", "--json", str(file)]) == command.EXIT_INTERRUPTED == 130
    out, err = capsys.readouterr()
    assert "✓ thm:first" in out
    assert "1 statement (0 ours), 1 check" in out
    assert "interrupted; not done: 2 statements" in err
    assert [one["label"] for one in json.loads(file.read_text(encoding="utf-8"))] == ["thm:first"]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupt_of_processes_does_not_wait_for_them(tmp_path):
    """Two real processes, one of them in a check that would take minutes."""
    script = tmp_path / "interrupted.py"
    script.write_text(
        "import sys, types\n"
        "from proofs_check import __main__ as command, statement\n"
        "import pathlib, time\n"
        "def sleeping(subject):\n"
        "    pathlib.Path(sys.argv[1]).touch()\n"
        "    time.sleep(600)\n"
        'DOC = "T.\\n\\nPaper: x (l)\\nClaim: c\\nHypotheses: h\\nVerdict: OPEN\\n" \\\n'
        '    "Proof: none\\nCheck: k\\nTested: t"\n'
        "module = types.ModuleType('sleeper', DOC)\n"
        "module.sleeping = statement.check(statement.Kind.EXACT, None, {'b': None})(sleeping)\n"
        "sys.modules['sleeper'] = module\n"
        "if __name__ == '__main__':\n"
        "    command.ledger = lambda: [statement.read_statement(module)]\n"
        "    sys.exit(command.main(['--jobs', '2']))\n"
    )
    mark = tmp_path / "begun"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, script, mark], env=environment, stderr=subprocess.PIPE, text=True
    )
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "interrupted; not done: 1 statement" in err


def test_processes_and_one_process_agree():
    cheap = [one for one in ledger() if len(one.checks) > 1 and not one.checks[0].slow][:2]
    alone, together = list(run(cheap)), list(run(cheap, jobs=2))
    assert [one.statement.label for one in together] == [one.label for one in cheap]
    for first, second in zip(alone, together, strict=True):
        assert [o.detail for o in first.outcomes] == [o.detail for o in second.outcomes]


def outcome(agrees=True, **changes):
    values = {"detail": "1 < 2 & $x^2$", "slack": -0.5, "seconds": 1.0, **changes}
    return Outcome("a check", Kind.SYMBOLIC, agrees, **values)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_table_keeps_to_its_width(width):
    statement = entry("with-a-very-long-label-that-must-be-folded", agreeing)
    table = Table([statement], width, colour=False)
    lines = [*table.head(), *table.row(Entry(statement, (outcome(),)))]
    assert max(map(len, lines)) <= width
    assert "−0.5" in "".join(lines)
    label = "".join(line[2 : 2 + width // 5].strip() for line in lines[2:])
    assert label == statement.label


def test_an_entry_is_as_tight_as_its_tightest_check():
    outcomes = (outcome(slack=0.5), outcome(slack=None), outcome(slack=0.25))
    assert Entry(entry("first"), outcomes).slack == 0.25


def test_table_paints_a_contradiction_red_and_formulas_plain():
    statement = entry("first", agreeing)
    table = Table([statement], 100, colour=True)
    assert "\x1b[1;31m✗" in table.row(Entry(statement, (outcome(agrees=False),)))[0]
    assert "\x1b[1;31m" not in table.row(Entry(statement, (outcome(),)))[0]
    assert plain(r"at most $\frac{\gamma M^2}{2}$ for $w^*$") == "at most (γ M²)/(2) for w*"


class Reader(HTMLParser):
    """Open tags, and every attribute that could load something."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("meta", "wbr", "input"):
            self.open.append(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href", "data", "srcset")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_and_loads_nothing():
    second = entry("second", agreeing, agreeing, status=Status.PROOF_GAP)
    text = page([Entry(entry("first", agreeing), (outcome(),)), Entry(second, (outcome(False),))])
    reader = Reader()
    reader.feed(text)
    assert reader.open == reader.loads == []
    assert not re.search(r"url\(|@import", text)
    assert reader.tags.count("article") == 2
    for part in (
        "1 against the ledger; 1 slow check left out.",
        "1 &lt; 2 &amp; <math",
        'data-status="proof-gap"',
        "<mfrac>",
        "slack −0.5 · 1.00 s",
    ):
        assert part in text


def test_page_begins_with_what_matters_and_explains_its_verdicts():
    statuses = list(Status)
    shown = [Entry(entry(str(status), agreeing, status=status), ()) for status in statuses]
    text = page(shown)
    order = re.findall('<article data-status="([a-z-]+)"', text)
    assert order[:3] == ["false", "open", "repaired"]
    assert len(order) == len(statuses)
    assert text.count("<dd>true, with a better constant</dd>") == 1
    assert "Lu and R. M. Freund" in text


def test_page_names_statements_by_their_printed_numbers():
    printed = replace(
        entry("a", agreeing), paper="Theorem 3.2, second part (thm:strong), Section 3"
    )
    ours = replace(printed, paper="none; sharpens Theorem 3.1 (thm:A)")
    text = page([Entry(printed, ()), Entry(ours, ())])
    assert "<p class=paper>Theorem 3.2, second part, Section 3</p>" in text
    assert "<p class=paper>Ours, not the paper&#x27;s; sharpens Theorem 3.1</p>" in text


@pytest.mark.skipif(found() is None, reason="no Chromium or Chrome was found")
def test_page_shows_what_is_asked_for(tmp_path):
    (tmp_path / "ledger.html").write_text(
        page(
            [
                Entry(entry("first", agreeing), ()),
                Entry(entry("second", agreeing, status=Status.OPEN), ()),
            ]
        )
    )
    browser = Chromium()
    try:
        browser.open(tmp_path / "ledger.html", 800)

        def asked(words, verdict="all"):
            browser.evaluate(f"document.querySelector('nav .{verdict}').click()")
            browser.evaluate(f"search.value = {words!r}; search.dispatchEvent(new Event('input'))")
            return browser.evaluate(
                "[...document.querySelectorAll('article:not([hidden])')].map(card => card.id)"
            )

        assert asked("") == ["thm:second", "thm:first"]
        assert asked("BOUND first") == ["thm:first"]
        assert asked("", "open") == ["thm:second"]
        assert asked("first", "open") == asked("first words") == []
        assert browser.troubles == []
    finally:
        browser.close()


def test_page_refuses_half_a_formula():
    with pytest.raises(ValueError, match=r"no closing dollar sign in 'x \$y'"):
        typeset("x $y")


def test_long_formulas_may_break_and_signs_are_signs():
    long = r"\mathbb{E}[P(\bar\beta) - D(\bar w)] \le \frac{a = b}{c} + d(e + f)"
    assert typeset(f"${long}$").count("<math") == 3
    assert 'form="prefix"' in typeset("$[-1, 1]$")
    assert 'form="prefix"' not in typeset("$a - 1$")
