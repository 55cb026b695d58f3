"""Every Python snippet of the README runs, and its commands are the ones CI runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number):
    exec(compile(SNIPPETS[number], f"README snippet {number}", "exec"), {"__name__": "readme"})


def test_readme_shows_a_start_three_losses_a_set_a_bound_and_exact_runs():
    assert len(SNIPPETS) == 11


def test_ci_runs_the_readmes_test_command():
    (command,) = [line for line in README.splitlines() if line.endswith("-m pytest -n auto")]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()
