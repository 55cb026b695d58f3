"""Data sets by name: where they are looked for, and what happens where they are not."""

import bz2
import hashlib
import socket
import sys
from pathlib import Path
from types import ModuleType

import data_files
import pytest
from numpy.testing import assert_array_equal

from rcmd import FileError
from rcmd.datasets import fetching, load, locate

SMALL = b"+1 1:0.5 3:2\n-1 2:1\n"


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Three empty folders, of which the last is the cache; the network is out of reach."""

    def refuse(*_):
        raise AssertionError("a test reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("RCMD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RCMD_DATA", str(tmp_path / "data"))
    folders = (tmp_path / "given", tmp_path / "data", tmp_path / "cache" / "datasets")
    for folder in folders:
        folder.mkdir(parents=True)
    return folders


@pytest.fixture
def downloads(monkeypatch):
    """Put a stand-in for pooch, whose ``retrieve`` is the given function or raises the error."""

    def install(retrieve):
        def raising(**_):
            raise retrieve

        module = ModuleType("pooch")
        module.retrieve = raising if isinstance(retrieve, Exception) else retrieve
        monkeypatch.setitem(sys.modules, "pooch", module)

    return install


def test_folders_in_order(places, monkeypatch):
    for folder in reversed(places):
        (folder / "toy").write_bytes(SMALL)
        assert locate("toy", places[0]) == folder / "toy"
    assert locate("toy") == places[1] / "toy"
    monkeypatch.delenv("RCMD_DATA")
    assert locate("toy") == places[2] / "toy"


@pytest.mark.parametrize("suffix", fetching.SUFFIXES)
def test_endings(places, suffix):
    (places[1] / f"toy{suffix}").write_bytes(SMALL)  # how it is packed, its content tells
    X, y = load("toy")
    assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert_array_equal(y, [1, -1])


def test_what_is_there_is_not_downloaded(places, downloads):
    downloads(lambda **_: pytest.fail("downloaded although it is there"))
    (places[1] / "a9a.bz2").write_bytes(bz2.compress(SMALL))
    assert load("a9a").X.shape == (2, 3)


@pytest.mark.parametrize("name", ["a9a", "gisette_scale.t", "mushrooms", "w8a"])
def test_download_with_its_checksum_into_the_cache(places, downloads, name):
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash))
        file = Path(path) / fname
        file.write_bytes(SMALL)
        return str(file)

    downloads(retrieve)
    published = name + ".bz2" * (name == "gisette_scale.t")
    assert load(name).X.shape == (2, 3)
    assert asked == [(fetching.SITE + published, f"sha256:{fetching.PUBLISHED[published]}")]
    assert locate(name) == places[2] / published
    assert len(asked) == 1  # the second time it is there


def test_offline(places, downloads):
    downloads(ConnectionError("no route\nto host"))
    with pytest.raises(FileError) as caught:
        load("a9a", places[0])
    assert str(caught.value) == (
        f"a9a (plain, .bz2, .xz or .gz) is not in {places[0]} or {places[1]} or {places[2]} and "
        "cannot be downloaded (no route to host): put a9a from "
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/a9a into "
        f"{places[2]}"
    )


def test_without_pooch(places, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    expected = r"needs pooch: pip install 'rcmd-opt\[data\]', or put gisette_scale\.t\.bz2 from "
    with pytest.raises(FileError, match=expected):
        load("gisette_scale.t")


def test_a_wrong_checksum(downloads):
    downloads(ValueError("SHA256 hash of downloaded file does not match"))
    with pytest.raises(FileError, match=r"binary/w8a came without its SHA-256 6a9f.*try again"):
        load("w8a")


def test_a_name_that_nobody_published(places):
    expected = r"toy \(plain.*\) is not in .*; expected it there, or one of a9a, gisette_scale\.t"
    with pytest.raises(FileError, match=expected):
        load("toy")


@pytest.mark.parametrize("name", ["", "folder/a9a", "/a9a"])
def test_a_name_is_no_path(name):
    with pytest.raises(ValueError, match="expected that of a data set, such as 'a9a', no path"):
        load(name)


@pytest.mark.parametrize("content", [SMALL, b"something else"])
def test_pooch_itself_compares_the_checksum(places, monkeypatch, content):
    pooch = pytest.importorskip("pooch")

    def write(self, url, output_file, pooch, **_):
        assert url == fetching.SITE + "toy"
        Path(output_file).write_bytes(content)

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", write)
    monkeypatch.setitem(fetching.PUBLISHED, "toy", hashlib.sha256(SMALL).hexdigest())
    if content == SMALL:
        assert load("toy").X.shape == (2, 3)
        assert (places[2] / "toy").read_bytes() == SMALL
    else:
        with pytest.raises(FileError, match="came without its SHA-256"):
            load("toy")
        assert list(places[2].iterdir()) == []


@pytest.mark.parametrize("name", data_files.each(*data_files.NAMES))
def test_checksums_are_those_of_the_files_at_hand(name):
    content, published = data_files.path(name).read_bytes(), f"{name}.bz2"
    if name in fetching.PUBLISHED:
        content, published = bz2.decompress(content), name
    assert hashlib.sha256(content).hexdigest() == fetching.PUBLISHED[published]
