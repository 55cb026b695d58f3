"""Saved results that are whole, and lie: each is refused, or shown as it is."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rcmd import Problem, load_result, solve
from rcmd.solver.checkpoint.file import TREE
from rcmd.solver.saved_results import BadResult

LIES = (None, True, -1, 10**30, 0.5, "x", [], {"dict": {}}, {"array": 99}, {"fraction": "1e9"})


def problem() -> Problem:
    random = np.random.default_rng(0)
    X = random.normal(size=(8, 3))
    return Problem(X, X[:, 0] + 0.1 * random.normal(size=8), "least-squares", "l1:5")


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a tree of lists and dictionaries."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    inside = [(*path, key) for key, _ in inner]
    deeper = [
        found
        for key in inside
        if isinstance(tree[key[-1]], dict | list)
        for found in places(tree[key[-1]], key)
    ]
    return inside + deeper


def forged(whole: bytes) -> Any:
    """The file with one value replaced by each lie, and with one array cut, stretched, retyped."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    kind, version, tree = json.loads(members[TREE])
    for path in places(tree):
        for lie in LIES:
            copy = json.loads(json.dumps(tree))
            node = copy
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = lie
            yield zipped({**members, TREE: json.dumps([kind, version, copy]).encode()})
    for name in members.keys() - {TREE}:
        array = np.load(io.BytesIO(members[name]))
        for other in (array[:-1], np.append(array, array), np.full(array.shape, 2**40)):
            stream = io.BytesIO()
            np.save(stream, other)
            yield zipped({**members, name: stream.getvalue()})


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(members, key=lambda name: name != TREE):
            archive.writestr(name, members[name])
    return stream.getvalue()


def test_a_forged_result(tmp_path: Path) -> None:
    file = tmp_path / "run.rcmd"
    solve(problem(), tol=1e-3).save(file)
    refused = 0
    for lie in forged(file.read_bytes()):
        file.write_bytes(lie)
        try:
            result = load_result(file)
        except BadResult:
            refused += 1
        else:
            assert result.gap >= 0
            assert result.message
            assert result._repr_html_()
    assert refused > 50
