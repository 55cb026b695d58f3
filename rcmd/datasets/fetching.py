"""Published LIBSVM files by name: looked for in the user's folders, else downloaded."""

import os
from importlib import import_module
from pathlib import Path

from rcmd.conjugates.expressions.cache import folder as expressions_folder
from rcmd.datasets.libsvm import LibsvmData, read_libsvm
from rcmd.rows.validation import FileError, pip_install

SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
SUFFIXES = ("", ".bz2", ".xz", ".gz", ".txt")


PUBLISHED = {
    "a9a": "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "gisette_scale.t.bz2": "eea2d7f3c0cf60698144c3d577935ca3166bddcb0a10c03cf9ae1a707387deff",
    "mushrooms": "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538",
    "w8a": "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
}
"""The files that can be downloaded, with the SHA-256 of their bytes; others are found by name."""


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
        raise ValueError(f"name is {name!r}; expected that of a data set, such as 'a9a', no path")
    given = [Path(f) for f in (folder, os.environ.get("RCMD_DATA")) if f]
    folders, files = [*given, cache_folder()], [name + suffix for suffix in SUFFIXES]
    for path in (place / file for place in folders for file in files):
        if path.is_file():
            return path
    looked = f"{name} (plain, .bz2, .xz or .gz) is not in {' or '.join(map(str, folders))}"
    for file in files:
        if file in PUBLISHED:
            return _download(file, looked)
    raise FileError(
        f"{looked}; expected it there, or one of {', '.join(PUBLISHED)}, which can be downloaded"
    )


def cache_folder() -> Path:
    """Where downloads are kept: a folder of RCMD_CACHE, or of the user's cache folder."""
    return expressions_folder().parent / "datasets"


def _download(file: str, looked: str) -> Path:
    url, sha256, folder = SITE + file, PUBLISHED[file], cache_folder()
    put = f"put {file} from {url} into {folder}"
    try:
        pooch = import_module("pooch")
    except ImportError:
        raise FileError(
            f"{looked}, and downloading needs pooch: {pip_install('data')}, or {put}"
        ) from None
    try:
        path = pooch.retrieve(url=url, known_hash=f"sha256:{sha256}", fname=file, path=folder)
    except ValueError as fault:  # what pooch says of a wrong checksum
        raise FileError(
            f"{url} came without its SHA-256 {sha256}: it was cut off, or is "
            f"another file; try again, or put one that you trust into {folder}"
        ) from fault
    except OSError as fault:  # of which the errors of requests are kinds
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise FileError(f"{looked} and cannot be downloaded ({reason}): {put}") from fault
    return Path(path)
