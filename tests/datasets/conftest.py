"""Fixtures of readers."""

import pytest

from rcmd.datasets import libsvm


@pytest.fixture
def cut(monkeypatch):
    """Cut texts into blocks of so many bytes, each to the end of its last line."""
    read = libsvm._blocks

    def blocks(size):
        def watched(name):
            for block, share in read(name):
                assert b"\n" not in block[size:-1], "a block is longer than asked for"
                yield block, share

        monkeypatch.setattr(libsvm, "_BLOCK", size)
        monkeypatch.setattr(libsvm, "_blocks", watched)

    return blocks
