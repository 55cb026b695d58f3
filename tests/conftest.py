"""Tests leave nothing in the user's own cache folder."""

import os
import tempfile

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RCMD_CACHE"] = folder
        yield
        del os.environ["RCMD_CACHE"]
