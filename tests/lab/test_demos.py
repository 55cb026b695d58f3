"""The teaching pages as files: their parts, nothing loaded, the smallness of their script."""

import ast
import re
from html.parser import HTMLParser

import pytest

from rcmd.lab.demos import SUMMARIES, write_page
from rcmd.lab.demos.page import HEADINGS, SCRIPTS, page, paragraph, parsed, part, text_of, typeset

NAMES = tuple(SUMMARIES)
LOADING = ("src", "href", "srcset", "data", "action", "poster")


class Outside(HTMLParser):
    """Collects what a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self._style = False

    def handle_starttag(self, tag, attributes):
        self._style = tag == "style"
        self.loads += [str(value) for name, value in attributes if name in LOADING]

    def handle_data(self, data):
        if self._style:
            self.loads += re.findall(r"url\(.*?\)|@import[^;]*", data)


def loads(page: str) -> list[str]:
    reader = Outside()
    reader.feed(page)
    inside = {"index.html", *(f"{name}.html" for name in NAMES)}  # links to one another
    return [one for one in reader.loads if not one.startswith("data:") and one not in inside]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_its_parts_and_loads_nothing(name, pages):
    text, page = text_of(name), (pages / f"{name}.html").read_text(encoding="utf-8")
    assert loads(page) == []
    assert f"<code>rcmd demo {name}</code>" in page
    words = [part for part in (*text.lead, *text.explanation) if not part.startswith("$$")]
    assert 3 <= len(words) <= 6
    assert len(text.tries) >= 3
    assert page.count("<math") >= 8
    assert 'class="formula"' in page
    assert page.count('class="plot"') == len(text.panels)
    assert "$" not in re.sub(r"<(script|style|pre).*?</\1>", "", page, flags=re.DOTALL)
    assert len(page) < 100_000


@pytest.mark.parametrize("name", NAMES)
def test_the_program_is_short_python(name):
    program = text_of(name).program
    ast.parse(re.sub(r"\{\w+\}", "0", program))
    assert len([line for line in program.splitlines() if line.strip()]) <= 25


def test_the_method_is_small():
    assert len(part("rcmd.js").splitlines()) <= 300
    script = "".join(map(part, SCRIPTS))
    assert "eval(" not in script
    assert "Function(" not in script


def test_a_page_alone_has_no_links(tmp_path):
    write_page("race", tmp_path / "race.html")
    written = (tmp_path / "race.html").read_text(encoding="utf-8")
    assert written == page("race")
    assert "<a " not in written


def test_an_accent_lifts_no_superscript():
    assert '<msup><mpadded height="0.75em"><mover>' in typeset(r"$\bar\beta^{i-1} + 1$")
    assert "mpadded" not in typeset(r"$\bar\beta + x^2$")


def test_a_formula_needs_both_dollar_signs():
    with pytest.raises(ValueError, match="no closing dollar sign"):
        typeset("costs $x^2")
    assert typeset("$x$").count("<math") == 1
    assert paragraph("$$x$$").startswith('<div class="formula"><math')


def test_a_text_needs_its_sections():
    with pytest.raises(ValueError, match=r"has the sections \['Panels'\]; expected a title and"):
        parsed("# Title\n\nLead.\n\n## Panels\n\n- one\n")
    whole = "# Title\n\nLead.\n" + "".join(f"\n## {name}\n\n- one\n" for name in HEADINGS)
    assert parsed(whole).panels == ["one"]
