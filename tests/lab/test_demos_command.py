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
    assert main(["demo", "mini-batch"]) == 0
    page = (tmp_path / "mini-batch.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "rcmd demo mini-batch" in page
    assert opened == [(tmp_path / "mini-batch.html").as_uri()]
    assert capsys.readouterr().out == "wrote mini-batch.html\n"


def test_all_pages_are_written_with_an_index(opened, tmp_path, capsys):
    for out in ([], ["--out", "mine"], ["--out", "mine"]):  # a folder that is there is written into
        assert main(["demo", "all", *out]) == 0
        folder = tmp_path / (out[1] if out else "rcmd-pages")
        assert sorted(path.stem for path in folder.iterdir()) == sorted(["index", *SUMMARIES])
        assert opened.pop() == (folder / "index.html").as_uri()
    assert capsys.readouterr().out.splitlines()[0] == "wrote rcmd-pages/index.html"


def test_a_machine_without_a_browser_is_told_so(opened, monkeypatch, capsys):
    monkeypatch.setattr(command.webbrowser, "open", lambda url: False)
    assert main(["demo", "mini-batch"]) == 0
    assert "no browser was found; open the file in one" in capsys.readouterr().out


def test_what_is_missing_is_named_with_its_extra(opened, monkeypatch, capsys):
    monkeypatch.setattr(command, "find_spec", lambda module: None)
    assert main(["demo", "mini-batch"]) == 2
    words = "teaching pages need latex2mathml: pip install 'rcmd-opt[demo]'"
    assert words in capsys.readouterr().err
