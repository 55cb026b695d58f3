"""Every teaching page: its parts, its file that loads nothing, its snippet, its slider."""

import contextlib
import io
import re
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from demo_pages import NAMES, column, page_named, read, source
from guards import some

from rcmd.lab.demos import drawing, make_page
from rcmd.lab.demos.drawing import Drawing
from rcmd.lab.demos.page import Choice, Frame, Page, Scene, Text, html, paragraph, parsed, typeset

PRINTED = {
    "equivalence": ((), 6, slice(-1, None)),
    "substitute-gradient": (("1",), 4, slice(None)),
    "the-bound": (("3", "1"), 1, slice(None)),
    "mini-batch": (("10",), 2, slice(None)),
    "two-geometries": (("0.2",), 0, slice(-1, None)),
    "matrix-completion": (("30%",), 1, slice(None)),
    "new-loss": (("arc tangent",), 7, slice(-1, None)),
}
"""Which numbers of its page a snippet prints: scene, place, frames."""

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
    return [place for place in reader.loads if not place.startswith("data:")]


def snippet(page: str) -> str:
    """The code as the reader copies it."""
    found = re.search(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    return unescape(found.group(1))


def planted(*traces, choices=()) -> Page:
    """A page of one panel."""
    scene = Scene([Drawing(traces, {})], [Frame("a", (), [{}])])
    text = Text("t", (), (), (), ("one",), ())
    return Page(text, choices, "s", {("1",): scene, ("2",): scene}, "")


def refuse_unknown_words(page: Page) -> None:
    """Let plotly itself judge every trace and layout, and what the slider's two ends change."""
    for scene in page.scenes.values():
        for place, panel in enumerate(scene.drawings):
            go.Figure(data=panel.traces, layout=panel.layout)
            for frame in (scene.frames[0], scene.frames[-1]):
                for trace, change in frame.changes[place].items():
                    go.Figure(data=[{"type": panel.traces[trace]["type"], **change}])


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_its_parts_and_loads_nothing(name):
    text, page = page_named(name).text, source(name)
    assert loads(page) == []
    assert f"<code>rcmd demo {name}</code>" in page
    words = [part for part in (*text.lead, *text.explanation) if not part.startswith("$$")]
    assert 3 <= len(words) <= 5
    assert len(text.tries) >= 3
    assert page.count("<math") >= 8
    assert 'class="formula"' in page
    assert page.count('class="plot"') == len(text.panels)
    assert 'type="range"' in page
    assert "redraw: true" in page
    assert "$" not in re.sub(r"<(script|style|pre).*?</\1>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_every_trace_is_in_the_words_of_plotly(name):
    refuse_unknown_words(page_named(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_snippet_is_short_and_prints_numbers_of_the_page(name):
    code = snippet(source(name))
    assert "rcmd.lab" not in code
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    numbers = [float(found) for found in re.findall(r"-?\d+\.\d*(?:e-?\d+)?", printed.getvalue())]
    key, place, frames = PRINTED[name]
    for shown in some(column(page_named(name).scenes[key], place)[frames]):
        assert any(abs(one - read(shown)) <= 0.05 * abs(one) for one in numbers), shown


@pytest.mark.parametrize("name", NAMES)
def test_every_position_of_the_slider_differs_from_the_one_before(name):
    for scene in page_named(name).scenes.values():
        frames = [(frame.label, frame.changes) for frame in scene.frames]
        assert len(frames) > 2
        assert all(one != other for one, other in pairwise(frames))
        assert any(one[1] != frames[0][1] for one in frames)


@pytest.mark.parametrize("name", ["equivalence", "mini-batch"])
def test_the_seed_decides_the_numbers(name):
    assert make_page(name) == page_named(name)
    assert make_page(name, 1).scenes != page_named(name).scenes


def test_data_cannot_end_its_element():
    page = html(planted(drawing.line([0.0], [0.0], "</script><b>", drawing.BLUE)), "c")
    assert "</script><b>" not in page
    assert "\\u003c/script>\\u003cb>" in page


def test_an_option_and_its_start_are_marked():
    page = html(planted(choices=[Choice("Batch", ("1", "2"), "2")]), "c")
    assert re.findall(r'value="(\d)"( checked)?>', page) == [("1", ""), ("2", " checked")]


@pytest.mark.parametrize("name", NAMES)
def test_frames_fit_their_page(name):
    """Every number and panel has its name, and every frame sets the same traces.

    A trace that some frames leave alone would show what another one left behind.
    """
    page = page_named(name)
    panels, readouts = len(page.text.panels), len(page.text.numbers)
    for scene in page.scenes.values():
        moving = [list(changes) for changes in scene.frames[0].changes]
        assert len(scene.drawings) == len(moving) == panels
        for frame in scene.frames:
            assert len(frame.readouts) == readouts
            assert [list(changes) for changes in frame.changes] == moving


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


def test_what_is_no_number_is_a_hole():
    holes = drawing.plain([[1.0, float("inf")], [float("nan"), 1e-20]])
    assert holes == [[1.0, None], [None, 1e-20]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_every_page_as_shipped_with_other_seeds(name, seed):
    page = make_page(name, seed)
    assert set(page_named(name).scenes) <= set(page.scenes)
    refuse_unknown_words(page)
