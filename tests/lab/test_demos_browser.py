"""The teaching pages in a browser: quiet, moving, readable; skipped where there is no browser."""

import numpy as np
import pytest
from demo_pages import NAMES, written
from headless_chromium import Chromium, found

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium or Chrome was found")

WIDTHS = (1280, 800)
ENOUGH = 60
"""Pixels that must change for a reader to see it."""

CUT_OFF = """[...document.querySelectorAll('.formula')]
  .filter(box => box.scrollHeight > box.clientHeight).length"""
SMALLEST_LETTERS = """Math.min(...[...document.querySelectorAll('body *')]
  .filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
  .filter(one => !one.closest('script, style, math, tspan[dy]') && one.getClientRects().length)
  .map(one => parseFloat(getComputedStyle(one).fontSize)))"""
OVERFLOWING = """[...document.querySelectorAll('.stage *')].filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && one.tagName !== 'INPUT' && box.right > innerWidth + 0.5;
}).length"""

FITTED = """plots.every(plot =>
  Math.abs(plot.clientWidth - plot.querySelector('.main-svg').clientWidth) <= 1)"""


@pytest.fixture(scope="module")
def browser():
    chromium = Chromium()
    yield chromium
    chromium.close()


def show(browser: Chromium, path, width: int) -> None:
    """Open the page and wait for its picture."""
    browser.open(path, width)
    browser.wait_for("document.body.dataset.shown !== undefined")


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


KEYS = {"End": 35, "Home": 36}


def pick(browser: Chromium, option: str) -> None:
    """Click an option and wait for its scene."""
    browser.evaluate(f"{option}.click()")
    browser.wait_for("!busy && document.body.dataset.shown.startsWith(picked().join('|') + '@')")


def check_moving(browser: Chromium, key: str) -> None:
    """A key pressed on the slider changes the picture, and not only the slider."""
    before, shown = browser.pixels(".panels"), browser.evaluate("document.body.dataset.shown")
    browser.evaluate("document.getElementById('position').focus()")
    for event in ("keyDown", "keyUp"):
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        browser.call("Input.dispatchKeyEvent", type=event, **pressed)
    browser.wait_for(f"document.body.dataset.shown !== '{shown}' && !busy")
    after = browser.pixels(".panels")
    assert after.shape == before.shape
    assert (np.abs(after - before).max(axis=2) > 0.1).sum() >= ENOUGH


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_quiet_readable_and_moves(name, browser, tmp_path):
    show(browser, written(name, tmp_path), WIDTHS[0])
    for width, key in zip(WIDTHS, KEYS, strict=True):
        browser.resize(width)
        browser.wait_for(FITTED)
        check_readable(browser)
        check_moving(browser, key)
    for option in range(browser.evaluate("document.querySelectorAll('.options input').length")):
        picked = f"document.querySelectorAll('.options input')[{option}]"
        if not browser.evaluate(f"{picked}.disabled"):
            pick(browser, picked)
            check_readable(browser)
    check_quiet(browser)


@pytest.fixture(scope="module")
def bound(browser, tmp_path_factory):
    """The browser with one page, which the tests below share; each leaves it as it was."""
    show(browser, written("the-bound", tmp_path_factory.mktemp("page")), WIDTHS[1])
    return browser


def test_options_without_a_scene_cannot_be_picked(bound):
    batches = "[...choices[1].querySelectorAll('input')].map(input => input.disabled)"
    assert bound.evaluate(batches) == [False, False, True, True]
    for place, picked in ((1, ["3", "2"]), (0, ["3", "1"])):
        pick(bound, f"choices[1].querySelectorAll('input')[{place}]")
        assert bound.evaluate("picked()") == picked


def test_playing_goes_to_the_end_and_stops(bound):
    bound.evaluate("play.click()")
    bound.wait_for("slider.value === slider.max && play.textContent === 'Play' && !busy")
    assert bound.evaluate("label.textContent") == "step 5"
    check_moving(bound, "Home")
    check_quiet(bound)


def test_a_slider_that_moves_nothing_would_be_seen(bound):
    bound.evaluate("window.honest = Plotly.animate; Plotly.animate = async () => {}; 0")
    with pytest.raises(AssertionError):
        check_moving(bound, "End")
    bound.evaluate("Plotly.animate = honest; 0")


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
        "<style>.plot { min-width: 90rem }</style>",
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
