"""Teaching pages: list them, or write one as a single HTML file that needs no
network, and open it.

    rcmd demo
    rcmd demo equivalence
    rcmd demo the-bound --seed 1 --out bound.html --no-open
"""

import argparse
import shlex
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from rcmd.lab.demos import SUMMARIES, make_page, write_page
from rcmd.reporting.tables import say, write_json
from rcmd.rows.validation import pip_install
from rcmd.solver.saved_results import check_folder


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", choices=SUMMARIES, metavar="NAME", help="which page; else the list"
    )
    parser.add_argument("--out", metavar="FILE", help="where to write it (default: NAME.html)")
    parser.add_argument("--no-open", action="store_true", help="write the file without opening it")
    parser.add_argument("--seed", type=int, default=0, help="of the runs (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    name, out, seed, json = options.name, options.out, options.seed, options.json
    if name is None:
        if out is not None:
            raise ValueError(f"--out is {out!r} while no page is named; expected rcmd demo NAME")
        width = max(map(len, SUMMARIES))
        say("\n".join(f"{page:{width}}  {what}" for page, what in SUMMARIES.items()), json)
        write_json({"pages": SUMMARIES}, json)
        return 0
    if seed < 0:
        raise ValueError(f"--seed is {seed}; expected a whole number from 0 on")
    path = Path(out or f"{name}.html")
    check_folder(path)
    missing = [module for module in ("plotly", "latex2mathml") if find_spec(module) is None]
    if missing:
        raise ValueError(f"teaching pages need {' and '.join(missing)}: {pip_install('demo')}")
    page = make_page(name, seed)
    command = shlex.join(["rcmd", "demo", name, *(["--seed", str(seed)] if seed else [])])
    write_page(page, path, command)
    say(f"wrote {path}", json)
    write_json({"name": name, "title": page.text.title, "file": str(path), "seed": seed}, json)
    if not options.no_open and not webbrowser.open(path.absolute().as_uri()):
        say("no browser was found; open the file in one", json)
    return 0
