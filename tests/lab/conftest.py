"""The teaching pages, written once, and one browser for all tests of them."""

import pytest
from headless_chromium import Chromium, found

from rcmd.lab.demos import write_all


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The folder with all pages."""
    return write_all(tmp_path_factory.mktemp("pages"))[0].parent


@pytest.fixture(scope="session")
def browser():
    """A browser; its tests are left out where there is none."""
    if found() is None:
        pytest.skip("no Chromium or Chrome was found")
    chromium = Chromium()
    yield chromium
    chromium.close()
