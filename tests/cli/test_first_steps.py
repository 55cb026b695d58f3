"""What trips people up in their first hour."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rcmd.cli.main import main
from rcmd.lab.demos.page import formula
from rcmd.model.specs import LOSSES, ORACLES, OTHER_NAMES

ROOT = Path(__file__).parents[2]

FAULTY = """
from dataclasses import dataclass
from rcmd import SeparableConjugate

@dataclass(frozen=True)
class Faulty(SeparableConjugate):
    gamma = 1.0
    formula = "(s − y)²/2"

    def value(self, s, y):
        return (s - y) ** 2 / 2

    def derivative(self, s, y):
        return 1.1 * (s - y)
"""


def test_one_mistake_is_one_failure(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    """The conjugate is found from value and derivative: it is not wrong by itself."""
    monkeypatch.chdir(tmp_path)
    Path("faulty.py").write_text(FAULTY)
    assert main(["check", "faulty.py:Faulty"]) == 1
    out = capsys.readouterr().out
    assert re.findall("^FAIL .*", out, re.MULTILINE) == ["FAIL  derivative is the slope of value"]
    assert out.endswith("1 failure\n")


@pytest.mark.parametrize("inside", [False, True])
def test_a_folder_of_the_same_name_is_told_from_the_file(
    inside: bool, tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    name = f"first_steps_{inside}".lower()
    folder = tmp_path / name
    folder.mkdir()
    file = folder / f"{name}.py" if inside else tmp_path / f"{name}.py"
    file.write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["check", f"{name}:Faulty"]) == (2 if inside else 1)
    told = capsys.readouterr().err
    assert (f"write {name}/{name}.py:Faulty" in told) is inside
    (folder / "__init__.py").touch()
    sys.modules.pop(name, None)
    assert main(["check", f"{name}:Faulty"]) == 2
    place = f"{name}/{name}.py" if inside else f"{name}.py"
    assert capsys.readouterr().err == (
        f"rcmd: {name} is the folder {name}, which has no Faulty; expected a file: write "
        f"{place}:Faulty\n"
    )
    assert main(["check", f"{place}:Faulty"]) == 1


def test_rcmd_is_found_from_the_folder_above_a_clone_called_rcmd(tmp_path: Any) -> None:
    """A folder without __init__.py gives way to a path behind it, but not to an import hook."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["distutils"]["editable_wheel"]["mode"] == "compat"
    (tmp_path / "rcmd").symlink_to(ROOT)
    command = [sys.executable, "-c", "from rcmd import Problem; print(Problem.__module__)"]
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=paths, capture_output=True, text=True, check=True
    )
    assert done.stdout == "rcmd.model.problem\n"


def test_primes_are_no_superscripts() -> None:
    pytest.importorskip("latex2mathml")
    for tex, letters in (
        (r"l'(s)", "<mi>l</mi>"),
        (r"l''(s)", "<mi>l</mi>"),
        (r"l_j'(s)", "<msub><mi>l</mi><mi>j</mi></msub>"),
    ):
        made = formula(tex, "inline")
        mark = "&#x02032;" if tex.count("'") == 1 else "&#x02033;"
        assert f"<mrow>{letters}<mo>{mark}</mo></mrow>" in made
        assert "msup" not in made
        assert "msubsup" not in made


def test_names_that_others_use_lead_to_ours() -> None:
    ours = {**LOSSES, **ORACLES}
    assert not OTHER_NAMES.keys() & ours.keys()
    assert {name for names in OTHER_NAMES.values() for name in names} <= ours.keys()
