"""The note and the page of errata say what the ledger says, and the PDF is that of the text."""

import hashlib
import re
import zlib
from fractions import Fraction as F
from pathlib import Path

import mpmath

import proofs_check
from proofs_check.exact.energies import energies
from proofs_check.exact.fitted import separable
from proofs_check.exact.strong_instances import huber, labelled, logistic, pull
from proofs_check.intervals.arithmetic import Mpmath
from proofs_check.intervals.certificate import certify
from proofs_check.intervals.relaxation import Relaxation
from proofs_check.ledger import ledger
from proofs_check.statements.s32_random_w import published_first, response_to_the_average, sides
from proofs_check.statements.s46_worst_case import attained
from proofs_check.statements.s97_head_start_worst_case import CEILINGS, LARGE

FOLDER = Path(proofs_check.__file__).parent
NOTE = (FOLDER / "note" / "note.tex").read_text(encoding="utf-8")
ERRATA = (FOLDER / "ERRATA.md").read_text(encoding="utf-8")
STATUS = {statement.label: str(statement.status) for statement in ledger()}

DISPLAY = re.compile(
    r"\\begin\{(equation|align|gather|multline)(\*?)\}(.*?)\\end\{\1\2\}|\\\[(.*?)\\\]", re.DOTALL
)
SCRIPT = re.compile(r"[_^]\{(?:[^{}]|\{[^{}]*\})*\}")
RELATION = re.compile(r"\\(?:le|ge|leq|geq|ll|gg|lesssim)(?![a-zA-Z])|[<>]")


def without_comments(text):
    return re.sub(r"(?m)(?<!\\)%.*$", "", text)


def unlabelled(text):
    """Rows of displays with a sign of inequality, scripts apart, and no label of the ledger."""
    rows = []
    for found in DISPLAY.finditer(without_comments(text)):
        body = found[3] or found[4]
        rows += [body] if found[1] == "multline" else re.split(r"\\\\", body)
    return [row for row in rows if RELATION.search(SCRIPT.sub("", row)) and r"\ledger{" not in row]


def labels(text):
    """Every label that the text refers to."""
    return re.findall(r"\\(?:ledger|entry|verdict)\{([^}#]+)\}", without_comments(text))


def verdicts(text):
    return re.findall(r"\\verdict\{([^}#]+)\}\{([^}]+)\}", without_comments(text))


def table(name):
    """The rows of a table, cell by cell, dollar signs apart."""
    body = re.search(rf"% table {name}\n(.*?)% end", NOTE, re.DOTALL)[1]
    rows = [row for row in re.split(r"\\\\", body) if row.strip()]
    return [[cell.strip().strip("$") for cell in row.split("&")] for row in rows]


def printed(value, cell):
    """The value as the cell has it: a fraction, or so many decimals."""
    if "/" in cell:
        return str(value)
    return f"{float(value):.{len(cell.partition('.')[2])}f}"


def test_every_displayed_inequality_has_a_label_of_the_ledger():
    assert len(DISPLAY.findall(NOTE)) > 40
    assert not re.search(r"\$\$|eqnarray|displaymath|displaystyle|flalign", NOTE)
    assert unlabelled(NOTE) == []
    assert len(labels(NOTE)) > 60
    assert not set(labels(NOTE)) - set(STATUS)


def test_a_label_that_is_missing_is_noticed():
    """All but one, which stands at an equation, are at inequalities."""
    given = re.findall(r"\\ledger\{[^}#]+\}", without_comments(NOTE))
    assert len(unlabelled(re.sub(r"\\ledger\{[^}]+\}", "", NOTE))) == len(given) - 1
    assert len(unlabelled(NOTE.replace(given[0], "", 1))) == 1
    assert unlabelled(r"\[\sum_{i<k} a_i \le b\]") == [r"\sum_{i<k} a_i \le b"]
    assert unlabelled(r"\[\sum_{i<k} a_i = b^{x \ge 0}\]") == []


def test_verdicts_are_those_of_the_ledger():
    assert len(verdicts(NOTE)) == 8
    assert {label: STATUS[label] for label, _ in verdicts(NOTE)} == dict(verdicts(NOTE))


def test_certificate_is_rounded_up():
    found = certify(Relaxation(Mpmath()))
    for value, cells in zip(found, table("certificate"), strict=True):
        assert 0 <= float(cells[-1]) - value < 0.01


def test_worst_cases_of_the_head_start():
    columns = list(zip(*table("head-start"), strict=True))[1:]
    ceilings = CEILINGS | LARGE
    assert [pair for pair, *_ in columns] == [f"({n},{k})" for n, k in ceilings]
    for ((n, k), ceiling), (_, above, below) in zip(ceilings.items(), columns, strict=True):
        assert 0 <= F(above) - F(str(ceiling)) < F(1, 10**4)
        assert printed(attained(n, k), below) == below


def test_two_logistic_losses():
    with mpmath.workdps(50):
        one = logistic()
        gaps, radius = dict(one.gaps(8)), mpmath.log(2)
        for k, gap, bound, ratio in table("logistic"):
            limit = radius / (one.q ** int(k) - 1)
            values = gaps[int(k)], limit, gaps[int(k)] / limit
            cells = gap, bound, ratio
            assert [printed(*pair) for pair in zip(values, cells, strict=True)] == list(cells)


def test_ratio_grows_with_the_radius():
    with mpmath.workdps(50):
        for radius, *cells in table("radius"):
            one = logistic(radius=int(radius), mu=10)
            gaps = dict(one.gaps(4))
            ratios = [gaps[k] * (one.q**k - 1) / mpmath.log(2) for k in (1, 2, 4)]
            assert [printed(*pair) for pair in zip(ratios, cells, strict=True)] == cells


def test_huber_losses():
    for n, k, radius, flatness, *cells in table("huber"):
        one = huber(int(n), int(radius), int(1 / F(flatness)))
        gap = one.gaps(int(k))[-1][1]
        bound = one.radius / (one.q ** int(k) - 1)
        values = gap, bound, gap / bound
        assert [printed(*pair) for pair in zip(values, cells, strict=True)] == cells
        assert gap * (one.q ** int(k) - 1) < one.printed_energy / 40
    numerator, denominator = re.search(
        r"first expectation is \$\\frac\{(\d+)\}\{(\d+)\}", NOTE
    ).groups()
    assert huber(2, 10, 1000).gaps(1)[0][1] == F(int(numerator), int(denominator))


def test_batches_with_the_constant_of_single_rows():
    for n, b, mu, theta, centre, interval, k, *cells in table("batches"):
        if centre == "1":
            assert (theta, interval) == ("0", "[0,1]")
            one = pull(int(n), F(mu), int(b), printed=True)
        else:
            assert (centre, interval) == ("0", "[-1,1]")
            one = labelled(int(n), F(mu), F(theta), int(b), printed=True)
        gap = one.gaps(int(k))[-1][1]
        growth = one.q ** int(k) - 1
        values = gap, gap * growth / one.radius, gap * growth / one.printed_energy
        assert [printed(*pair) for pair in zip(values, cells, strict=True)] == cells


def test_sums_at_the_random_response():
    display = next(d[0] for d in DISPLAY.finditer(NOTE) if "chain:random-w" in d[0])
    shown = [F(int(a), int(b)) for a, b in re.findall(r"\\tfrac\{(\d+)\}\{(\d+)\}", display)]
    run = energies(separable(2, F(7, 12)), 1, 3)
    assert shown == list(sides(run, response_to_the_average, published_first))


def pdf():
    return (FOLDER / "note" / "note.pdf").read_bytes()


def test_the_pdf_is_built_from_the_text():
    source = hashlib.md5(NOTE.encode(), usedforsecurity=False).hexdigest().upper()
    assert f"MD5 of note.tex: {source})".encode() in pdf(), (
        "note.pdf is not that of note.tex; build it as the head of note.tex says"
    )


def test_the_pdf_is_small_and_at_most_15_pages_long():
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf(), re.DOTALL)
    objects = b"".join(zlib.decompressobj().decompress(s) for s in streams if s[:1] == b"x")
    assert 10 <= len(re.findall(rb"/Type\s*/Page\b", objects + pdf())) <= 15
    assert len(pdf()) < 400_000


def test_errata_are_one_page_that_points_to_the_note():
    assert "(note/note.pdf)" in ERRATA
    assert len(ERRATA.splitlines()) <= 60
    rows = re.findall(
        r"^\| ([^|]+) \| \*\*([A-Z ]+)\*\* \| ([^|]+) \| ([^|]+) \|$", ERRATA, re.MULTILINE
    )
    assert len(rows) >= 8
    for _, verdict, where, named in rows:
        first, *others = re.findall(r"`([^`]+)`", named)
        assert STATUS[first] == verdict
        assert not set(others) - set(STATUS)
        for section in re.findall(r"Section (\d+)", where):
            assert int(section) <= NOTE.count(r"\section{")
        for theorem in re.findall(r"Theorem ([A-Z])\b", where):
            assert rf"\begin{{theorem{theorem}}}" in NOTE
