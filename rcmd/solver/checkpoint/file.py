"""The file format: a zip of JSON and .npy arrays, which is always complete.

``rcmd.json`` comes first: the kind of file, its format, and a tree of plain values in which an
array is a number k, the member ``k.npy``. Nothing is compressed, and nothing in a file is ever
executed. Every member has a checksum.
"""

import contextlib
import json
import os
import secrets
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Integral, Number
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rcmd.rows.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, FileError, one_line, sp

TREE = "rcmd.json"
"""The name of the first member."""

ATOMS = {kind.__name__: kind for kind in (SparseAtom, DenseAtom, RankOneAtom)}
"""The kinds of atom that a file holds, by the values of their fields."""


class CannotSave(ValueError):
    """A run that holds something which no checkpoint can hold."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, the format that this rcmd writes, and what writes it."""

    word: str
    version: int
    writer: str


CHECKPOINT = Kind("checkpoint", 4, "solve(…, checkpoint=…)")


def write_file(path: Path, tree: Any, kind: Kind = CHECKPOINT) -> None:
    """Write ``tree`` under another name, which then takes the place of ``path``."""
    arrays: list[Array] = []
    text = json.dumps([kind.word, kind.version, encoded(tree, arrays, kind.word)])
    with replaced(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(TREE, text)
        for number, array in enumerate(arrays):
            with archive.open(f"{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_file(path: Path, kind: Kind = CHECKPOINT) -> Any:
    """The tree of a complete file; others are refused."""
    with open(path, "rb") as stream:
        return read_stream(stream, path, kind)


def read_stream(stream: BinaryIO, path: Path, kind: Kind = CHECKPOINT) -> Any:
    """The same, from the bytes of the file ``path``."""
    beginning = stream.read(64)
    if not beginning.startswith(b"PK") or TREE.encode() not in beginning:
        raise _foreign(path, kind)
    try:
        with zipfile.ZipFile(stream) as archive:
            word, version, tree = json.loads(archive.read(TREE))
            if word != kind.word:
                raise _foreign(path, kind)
            if version != kind.version:
                raise FileError(
                    f"{path} is a {word} of format {one_line(version)}, of another version of "
                    f"rcmd; expected format {kind.version}: use the version that wrote it. The "
                    "file was left as it is"
                )
            return _decoded(tree, archive)
    except FileError:
        raise
    except Exception as error:  # zip, JSON and NumPy raise a dozen kinds for damaged bytes
        raise FileError(
            f"{path} is a damaged {kind.word}: {one_line(error)}. Expected the whole file, as it "
            "was written: restore a copy, or start again under another name. The file was left as "
            "it is"
        ) from None


def _foreign(path: Path, kind: Kind) -> FileError:
    return FileError(
        f"{path} is not a {kind.word} of rcmd; expected the name of a file that {kind.writer} "
        "wrote. The file was left as it is"
    )


def encoded(value: Any, arrays: list[Array], where: str) -> Any:
    """``value`` for JSON, its arrays added to ``arrays``; ``where`` names it in errors."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list):
        return [encoded(item, arrays, where) for item in value]
    if isinstance(value, tuple):
        return {"tuple": encoded(list(value), arrays, where)}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {"dict": {k: encoded(v, arrays, f"{where}.{k}") for k, v in value.items()}}
        return {"pairs": encoded([list(pair) for pair in value.items()], arrays, where)}
    if isinstance(value, Fraction):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = encoded(value.ravel().tolist(), arrays, where)
        return {"objects": items, "shape": list(value.shape)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {"number": value.item(), "dtype": value.dtype.str}
    if isinstance(value, sp.sparray) and value.format in ("csr", "csc"):
        parts = encoded([value.data, value.indices, value.indptr], arrays, where)
        return {"sparse": parts, "format": value.format, "shape": list(value.shape)}
    if isinstance(value, LowRank):
        return {"lowrank": encoded(value.state(), arrays, where)}
    if type(value) in ATOMS.values():
        parts = encoded([getattr(value, field.name) for field in fields(value)], arrays, where)
        return {"atom": type(value).__name__, "parts": parts}
    raise CannotSave(
        f"{where} is of type {type(value).__name__}, which no checkpoint holds; expected numbers, "
        "text, arrays and atoms, or a class with state() and load_state()"
    )


def _decoded(tree: Any, archive: zipfile.ZipFile) -> Any:
    """The value of a tree that ``encoded`` made."""
    if isinstance(tree, list):
        return [_decoded(item, archive) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind, content = next(iter(tree.items()))
    if kind == "dict":
        return {name: _decoded(item, archive) for name, item in content.items()}
    if kind == "array":
        return _array(f"{int(content)}.npy", archive)
    content = _decoded(content, archive)
    if kind == "tuple":
        return tuple(content)
    if kind == "pairs":
        return dict(content)
    if kind == "fraction":
        return Fraction(*(int(part, 16) for part in content))
    if kind == "number":
        return np.dtype(tree["dtype"]).type(content)
    if kind == "objects":
        array = np.empty(len(content), dtype=object)
        array[:] = content
        return array.reshape(tree["shape"])
    if kind == "lowrank":
        return _low_rank(content)
    if kind == "atom":
        return _atom(ATOMS[content], _decoded(tree["parts"], archive))
    layout = {"csr": sp.csr_array, "csc": sp.csc_array}[tree["format"]]
    matrix = layout(tuple(content), shape=tuple(tree["shape"]))
    matrix.check_format()
    return matrix


def _atom(kind: type[Atom], parts: list[Any]) -> Atom:
    """The atom, of numbers; whether it is one of the problem is for ``resume`` to say."""
    if kind is SparseAtom:
        indices, values = parts
        right = all(isinstance(index, Integral) for index in indices)
        right = right and all(isinstance(value, Number) for value in values)
        parts = [tuple(indices), tuple(values)]
    else:
        right = all(part.ndim == 1 and part.dtype.kind in "fO" for part in parts)
    if not right:
        raise ValueError(f"{kind.__name__} does not hold the numbers of an atom")
    return kind(*parts)


def _low_rank(state: dict[str, Any]) -> LowRank:
    m, p = state["shape"]
    terms = len(state["weights"])
    for name, shape in (("left", (m, terms)), ("right", (p, terms)), ("weights", (terms,))):
        if state[name].shape != shape or not np.isfinite(state[name]).all():
            raise ValueError(f"{name} is not a finite array of shape {shape}")
    return LowRank.from_state(state)


def _array(name: str, archive: zipfile.ZipFile) -> Array:
    """The member, whose header must agree with its size before anything is allocated."""
    info = archive.getinfo(name)
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        read = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
        shape, _, dtype = read(member)
        length = member.tell() + int(np.prod(shape, dtype=object)) * dtype.itemsize
    stored = info.compress_type == zipfile.ZIP_STORED and length == info.file_size
    if dtype.kind not in "biuf" or not stored:
        raise ValueError(f"{name} does not hold the numbers that its header says")
    with archive.open(name) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A stream whose contents become the file ``path`` when all of it has reached the disk.

    Whatever fails, ``path`` stays what it was and the part written is removed. A link stays one.
    """
    path = Path(os.path.realpath(path))
    part = part_of(path)
    stream = open(part, "xb")  # noqa: SIM115 (what fails here must not remove a file)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    with contextlib.suppress(OSError):  # make the new name durable, on systems that can
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def part_of(path: Path) -> Path:
    """A name that nobody else has, under which a file is written before it is complete.

    It is no longer than names may be, which is 255 bytes.
    """
    return path.with_name(f"{path.name[:40]}.{secrets.token_hex(4)}.part")
