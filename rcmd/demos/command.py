"""``rcmd demo``: list the teaching pages, or write one and open it."""

from __future__ import annotations

import shlex
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from rcmd.demos.catalogue import SUMMARIES, check_name, make_page
from rcmd.demos.writing import write_page
from rcmd.json_output import check_folder, check_json, say, write_json


def run_demo(name: str | None, out: str | None, seed: int, browse: bool, json: str | None) -> int:
    """Carry out ``rcmd demo``; returns the exit status."""
    check_json(json)
    if name is None:
        if out is not None:
            raise ValueError(f"--out is {out!r} while no page is named; expected rcmd demo NAME")
        width = max(map(len, SUMMARIES))
        say("\n".join(f"{page:{width}}  {what}" for page, what in SUMMARIES.items()), json)
        write_json({"pages": SUMMARIES}, json)
        return 0
    path = Path(out or f"{name}.html")
    _check(name, path, seed)
    page = make_page(name, seed)
    write_page(page, path, _command(name, seed))
    say(f"wrote {path}", json)
    write_json({"name": name, "title": page.text.title, "file": str(path), "seed": seed}, json)
    if browse and not webbrowser.open(path.absolute().as_uri()):
        say("no browser was found; open the file in one", json)
    return 0


def _check(name: str, path: Path, seed: int) -> None:
    """Refuse, before any work, what cannot be done."""
    check_name(name)
    if seed < 0:
        raise ValueError(f"--seed is {seed}; expected a whole number from 0 on")
    check_folder(path)
    missing = [module for module in ("plotly", "latex2mathml") if find_spec(module) is None]
    if missing:
        raise ValueError(f"teaching pages need {' and '.join(missing)}: pip install 'rcmd[demo]'")


def _command(name: str, seed: int) -> str:
    return shlex.join(["rcmd", "demo", name, *(["--seed", str(seed)] if seed else [])])
