"""Published LIBSVM files by name: looked for in the user's folders, else downloaded."""

import os
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rcmd.conjugates.expressions.cache import folder as expressions_folder
from rcmd.datasets.libsvm import LibsvmData, read_libsvm
from rcmd.rows.matrix_files import DataError
from rcmd.rows.validation import pip_install

SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
SUFFIXES = ("", ".bz2", ".xz", ".gz", ".txt")


class Published(NamedTuple):
    """A file of LIBSVM's site and the SHA-256 of its bytes."""

    file: str
    sha256: str


PUBLISHED = {
    "a9a": Published("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
    "gisette_scale.t": Published(
        "gisette_scale.t.bz2", "eea2d7f3c0cf60698144c3d577935ca3166bddcb0a10c03cf9ae1a707387deff"
    ),
    "mushrooms": Published(
        "mushrooms", "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538"
    ),
    "w8a": Published("w8a", "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2"),
}
"""What can be downloaded; any other file is found by its name in a folder."""


def load(name: str, folder: str | os.PathLike[str] | None = None) -> LibsvmData:
    r"""Read the data set ``name``, found as ``locate`` says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "mine.txt").write_text("+1 2:3\n")
    ...     X, y = load("mine", folder)
    >>> X.toarray(), y
    (array([[0., 3.]]), array([1.]))
    """
    return read_libsvm(locate(name, folder))


def locate(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    r"""The file of the data set ``name``.

    It is ``name``, plain or with the ending .bz2, .xz, .gz or .txt, in ``folder``, in the folder
    that the variable RCMD_DATA names, or in rcmd's own cache folder. One of ``PUBLISHED`` that is
    in none of them is downloaded into the cache folder, by pooch, and its checksum is compared.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "mine.txt").write_text("+1 2:3\n")
    ...     print(locate("mine", folder).name)
    mine.txt
    """
    if not name or Path(name).name != name:
        raise DataError(f"name is {name!r}; expected that of a data set, such as 'a9a', no path")
    given = [Path(f) for f in (folder, os.environ.get("RCMD_DATA")) if f]
    folders = [*given, cache_folder()]
    for path in (place / (name + suffix) for place in folders for suffix in SUFFIXES):
        if path.is_file():
            return path
    looked = f"{name} (plain, .bz2, .xz or .gz) is not in {' or '.join(map(str, folders))}"
    if name not in PUBLISHED:
        raise DataError(
            f"{looked}; expected it there, or one of {', '.join(PUBLISHED)}, which can be "
            "downloaded"
        )
    return _download(PUBLISHED[name], looked)


def cache_folder() -> Path:
    """Where downloads are kept: a folder of RCMD_CACHE, or of the user's cache folder."""
    return expressions_folder().parent / "datasets"


def _download(published: Published, looked: str) -> Path:
    url = SITE + published.file
    put = f"put {published.file} from {url} into {cache_folder()}"
    try:
        pooch = import_module("pooch")
    except ImportError:
        raise DataError(
            f"{looked}, and downloading needs pooch: {pip_install('data')}, or {put}"
        ) from None
    try:
        path = pooch.retrieve(
            url=url,
            known_hash=f"sha256:{published.sha256}",
            fname=published.file,
            path=cache_folder(),
        )
    except ValueError as fault:  # what pooch says of a wrong checksum
        raise DataError(
            f"{url} came without its SHA-256 {published.sha256}: it was cut off, or is "
            f"another file; try again, or put one that you trust into {cache_folder()}"
        ) from fault
    except OSError as fault:  # of which the errors of requests are kinds
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise DataError(f"{looked} and cannot be downloaded ({reason}): {put}") from fault
    return Path(path)
