"""The teaching pages in a browser: quiet, above the fold, moving, by keyboard too, and readable."""

import numpy as np
import pytest
from headless_chromium import Chromium

from rcmd.lab.demos import SUMMARIES

NAMES = tuple(SUMMARIES)
ENOUGH = 60
"""Pixels that must change for a reader to see it."""

CUT_OFF = """[...document.querySelectorAll('.formula')]
  .filter(box => box.scrollHeight > box.clientHeight).length"""
SMALLEST_LETTERS = """Math.min(...[...document.querySelectorAll('body *')]
  .filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  .filter(one => !one.closest('script, style, math') && one.getClientRects().length)
  .map(one => parseFloat(getComputedStyle(one).fontSize)))"""
OVERFLOWING = """[...document.querySelectorAll('.stage *')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && one.tagName !== 'INPUT' && box.right > innerWidth + 0.5;
}).length"""


def check_quiet(browser: Chromium) -> None:
    """Nothing went wrong, and nothing was fetched."""
    assert browser.troubles == []
    assert [
        url for url in browser.requests if not url.startswith(("file:", "data:", "blob:"))
    ] == []


def check_readable(browser: Chromium) -> None:
    """No scrolling sideways, nothing cut off, no letters too small."""
    assert browser.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert browser.evaluate(OVERFLOWING) == 0
    assert browser.evaluate(CUT_OFF) == 0
    assert browser.evaluate(SMALLEST_LETTERS) >= 10


KEYS = {"End": 35, "Home": 36, "ArrowRight": 39, "ArrowUp": 38, "Tab": 9}


def press(browser: Chromium, key: str) -> None:
    for event in ("keyDown", "keyUp"):
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        browser.call("Input.dispatchKeyEvent", type=event, **pressed)


def check_moving(browser: Chromium, selector: str, *keys: str) -> None:
    """Keys pressed at an element change the picture."""
    before = browser.pixels(".panels")
    browser.evaluate(f"document.querySelector({selector!r}).focus()")
    for key in keys:
        press(browser, key)
    after = browser.pixels(".panels")
    assert after.shape == before.shape
    assert (np.abs(after - before).max(axis=2) > 0.1).sum() >= ENOUGH


FOLD = "document.querySelector('.panels').getBoundingClientRect().bottom <= innerHeight"
UNNAMED = """[...document.querySelectorAll('form input, #position, .grip')].filter(one =>
  !(one.labels?.length && one.labels[0].innerText.trim())
  && !one.getAttribute('aria-label')).length"""
BETWEEN = """[...document.querySelectorAll('.ink > text, .grid text')].filter(one => {
  const box = one.getBoundingClientRect(), plot = one.closest('.plot').getBoundingClientRect();
  return box.left < plot.left - 1 || box.right > plot.right + 1 || box.bottom > plot.bottom + 1;
}).length"""


FITTED = """[...figures].every(figure => {
  const plot = figure.querySelector('.plot');
  return Math.abs(plot.viewBox.baseVal.width - plot.clientWidth) <= 1; })"""


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_quiet_readable_and_moves(name, browser, pages):
    browser.open(pages / f"{name}.html", 1280)
    for width, key in ((1280, "End"), (800, "Home")):
        browser.resize(width, 800)
        browser.wait_for(f"innerWidth === {width} && innerHeight === 800 && {FITTED}")
        assert width == 800 or browser.evaluate(FOLD)
        check_readable(browser)
        assert browser.evaluate(BETWEEN) == 0
        check_moving(browser, "#position", key)
    assert browser.evaluate(UNNAMED) == 0
    check_quiet(browser)


@pytest.mark.parametrize("name", NAMES)
def test_every_control_changes_the_numbers(name, browser, pages):
    browser.open(pages / f"{name}.html", 1280)
    browser.evaluate("slider.value = slider.max; slider.oninput(); 0")
    shown = "JSON.stringify(page.show(frames, slider.valueAsNumber, state).numbers)"
    for control in browser.evaluate("page.controls.map(({name}) => name)"):
        before = browser.evaluate(shown)
        browser.evaluate(
            f"""(() => {{
            const field = controls.elements[{control!r}];
            controls.reset();
            if (field.name === 'seed' && controls.elements.b) controls.elements.b.value = 1;
            if (field.name === 'loss') field.value = '0.7*(s - y)**2';
            else if (field.type === 'text') field.value = '0.3';
            else if (field.type === 'range') +field.value < field.max ? field.stepUp()
              : field.stepDown();
            else if (field.type === 'number') field.value = 5;
            else [...field].find((one) => !one.checked).click();
            controls.dispatchEvent(new Event('input')); slider.value = slider.max; show();
            }})()"""
        )
        assert browser.evaluate("alarm.textContent") == ""
        if (name, control) != ("new-loss", "seed"):  # there the numbers are of the last formula
            assert browser.evaluate(shown) != before, control
    check_quiet(browser)


@pytest.mark.parametrize(
    "name", ["equivalence", "the-bound", "two-geometries", "matrix-completion"]
)
def test_points_are_moved_by_the_keyboard(name, browser, pages):
    browser.open(pages / f"{name}.html", 1280)
    before = browser.evaluate("document.querySelector('.grip').getAttribute('aria-valuetext')")
    check_moving(browser, ".grip", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowRight")
    after = browser.evaluate("document.querySelector('.grip').getAttribute('aria-valuetext')")
    assert [float(word.replace("−", "-")) for word in after.split(", ")] != pytest.approx(
        [float(word.replace("−", "-")) for word in before.split(", ")]
    )
    assert browser.evaluate("document.activeElement.classList.contains('grip')")
    check_quiet(browser)


def test_the_index_leads_around(browser, pages):
    browser.open(pages / "index.html", 800)
    assert browser.evaluate(
        "[...document.querySelectorAll('.index a')].map(a => a.getAttribute('href'))"
    ) == [f"{name}.html" for name in NAMES]
    check_readable(browser)
    here, seen = NAMES[0], []
    for _ in NAMES:
        seen.append(here)
        browser.open(pages / f"{here}.html", 800)
        assert (
            browser.evaluate("document.querySelector('.series a').getAttribute('href')")
            == "index.html"
        )
        here = browser.evaluate(
            "document.querySelector('[rel=next]').getAttribute('href')"
        ).removesuffix(".html")
    assert tuple(seen) == NAMES
    assert here == NAMES[0]


@pytest.fixture(scope="module")
def bound(browser, pages):
    """The browser with one page, which the tests below share; each leaves it as it was."""
    browser.open(pages / "the-bound.html", 800)
    return browser


def test_a_batch_is_at_most_all_rows(bound):
    bound.evaluate(
        "controls.elements.b.value = 3; update(); "
        "document.querySelector('[name=n][value=\"2\"]').click(); 0"
    )
    assert bound.evaluate("[state.n, state.b, frames[0].gaps.length]") == ["2", 2, 1]
    bound.evaluate(
        "document.querySelector('[name=n][value=\"3\"]').click(); "
        "controls.elements.b.value = 1; update(); 0"
    )


def test_playing_goes_to_the_end_and_stops(bound):
    bound.evaluate("slider.value = slider.max - 1; play.click(); 0")
    bound.wait_for("slider.value === slider.max && play.textContent === 'Play'")
    assert bound.evaluate("document.getElementById('label').textContent") == "step 7"
    check_moving(bound, "#position", "Home")
    check_quiet(bound)


def test_a_refused_formula_leaves_the_picture(bound):
    before = bound.evaluate("[...frames[1].gaps]")
    bound.evaluate("controls.elements.loss.value = 's +'; update(); 0")
    assert "the formula ends too early" in bound.evaluate("alarm.textContent")
    assert bound.evaluate("[...frames[1].gaps]") == before
    bound.evaluate("controls.elements.loss.value = '(s - y)**2/2'; update(); 0")
    assert bound.evaluate("alarm.textContent") == ""


def test_a_slider_that_moves_nothing_would_be_seen(bound):
    bound.evaluate("window.honest = page.show; page.show = (all) => honest(all, 0, state); 0")
    with pytest.raises(AssertionError):
        check_moving(bound, "#position", "End")
    bound.evaluate("page.show = honest; show()")


@pytest.mark.parametrize(
    "fault",
    [
        "console.error('a')",
        "setTimeout(() => { throw new Error('late'); })",
        "Promise.reject(new Error('nobody waits'))",
        "document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/a.png'}))",
    ],
)
def test_a_page_that_is_not_quiet_would_be_seen(fault, bound):
    check_quiet(bound)
    bound.evaluate(f"{fault}; new Promise(resolve => setTimeout(resolve, 10))")
    with pytest.raises(AssertionError):
        check_quiet(bound)
    bound.troubles.clear()
    bound.requests.clear()


@pytest.mark.parametrize(
    "fault",
    [
        '<div style="width: 1500px">wide</div>',
        "<style>.panels { min-width: 90rem }</style>",
        '<p style="font-size: 7px">small</p>',
        "<style>.formula { height: 1rem }</style>",
    ],
)
def test_a_page_that_is_hard_to_read_would_be_seen(fault, bound):
    check_readable(bound)
    bound.evaluate(f"document.body.insertAdjacentHTML('beforeend', {fault!r})")
    with pytest.raises(AssertionError):
        check_readable(bound)
    bound.evaluate("document.body.lastElementChild.remove()")
