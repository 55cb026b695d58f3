"""``rcmd demo``: the list, the file, the browser, and what is refused."""

import json

import pytest

from rcmd.cli import demo as command
from rcmd.cli.main import main
from rcmd.lab.demos import SUMMARIES


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """The addresses that a browser was asked to open."""
    addresses: list[str] = []
    monkeypatch.setattr(command.webbrowser, "open", lambda url: addresses.append(url) or True)
    monkeypatch.chdir(tmp_path)
    return addresses


def test_without_a_name_it_lists(capsys):
    assert main(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(SUMMARIES)
    assert main(["demo", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == {"pages": SUMMARIES}


def test_a_page_is_written_and_opened(opened, tmp_path, capsys):
    assert main(["demo", "mini-batch", "--seed", "3"]) == 0
    page = (tmp_path / "mini-batch.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "rcmd demo mini-batch --seed 3" in page
    assert opened == [(tmp_path / "mini-batch.html").as_uri()]
    assert capsys.readouterr().out == "wrote mini-batch.html\n"


def test_it_need_not_be_opened(opened, tmp_path, capsys):
    out = tmp_path / "a b.html"
    assert main(["demo", "mini-batch", "--no-open", "--out", str(out), "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    title = "Why batches need their own σ"
    assert told == {"name": "mini-batch", "title": title, "file": str(out), "seed": 0}
    assert out.exists()
    assert opened == []


def test_a_machine_without_a_browser_is_told_so(opened, monkeypatch, capsys):
    monkeypatch.setattr(command.webbrowser, "open", lambda url: False)
    assert main(["demo", "mini-batch"]) == 0
    assert "no browser was found; open the file in one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["equivalance"], "no teaching page 'equivalance'; did you mean equivalence?"),
        (["new_loss"], "did you mean new-loss?"),
        (["zzz"], "expected one of equivalence, substitute-gradient,"),
        (["mini-batch", "--out", "none/a.html"], "is in a folder that does not exist; make"),
        (["mini-batch", "--out", "."], "is a folder; expected the name of a file to write"),
        (["mini-batch", "--seed", "-1"], "--seed is -1; expected a whole number from 0 on"),
        (["--out", "a.html"], "--out is 'a.html' while no page is named; expected rcmd demo NAME"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(
    arguments, words, opened, monkeypatch, capsys
):
    monkeypatch.setattr(command, "make_page", lambda *given: pytest.fail("work was done"))
    assert main(["demo", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert opened == []


def test_what_is_missing_is_named_with_its_extra(opened, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda module: None)
    assert main(["demo", "mini-batch"]) == 2
    words = "teaching pages need plotly and latex2mathml: pip install 'rcmd-opt[demo]'"
    assert words in capsys.readouterr().err
