"""Every Python snippet of the README runs, and its commands are the ones CI runs."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from rcmd.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number):
    exec(compile(SNIPPETS[number], f"README snippet {number}", "exec"), {"__name__": "readme"})


def test_readme_shows_a_start_three_losses_a_set_a_bound_and_exact_runs():
    assert len(SNIPPETS) == 12


def test_ci_runs_the_readmes_test_command():
    (command,) = [line for line in README.splitlines() if line.endswith("-m pytest -n auto")]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a shell, each with the lines that follow it up to END."""
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        text = []
        if line.endswith("<<'END'"):
            while (line_inside := next(lines)) != "END":
                text.append(line_inside)
        found.append((line, "\n".join(text) + "\n"))
    return found


def test_from_an_empty_directory_to_four_figures_in_six_commands(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    pytest.importorskip("matplotlib")
    (block,) = re.findall(
        r"## From an empty directory\n.*?```bash\n(.*?)```.*?```bash", README, re.DOTALL
    )
    first, *others = commands(block)
    assert "pip install" in first[0]
    assert len(others) <= 5
    monkeypatch.chdir(tmp_path)
    for line, text in others:
        words = shlex.split(line.partition("<<")[0])
        if words[:2] == ["cat", ">"]:
            Path(words[2]).write_text(text, encoding="utf-8")
        else:
            assert (line, main(words[1:])) == (line, 0)
    capsys.readouterr()
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.svg")}
    assert set(drawn) == {"first.svg", "loss.svg", "set.svg", "batches.svg"}
    assert all("bound" in picture for picture in drawn.values())
    assert all(f"batch {b}<" in drawn["batches.svg"] for b in (1, 40, 400))
