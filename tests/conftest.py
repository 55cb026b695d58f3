"""Tests leave nothing in the user's own cache folder, and hear Ctrl-C in a background job too."""

import os
import signal
import tempfile

import pytest


def pytest_configure():
    # Shells start background jobs with Ctrl-C ignored, and what these start inherits it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def own_cache():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCMD_CACHE"] = folder
        yield
        del os.environ["RCMD_CACHE"]
