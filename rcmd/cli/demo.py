"""Teaching pages, in which the method runs in the browser: list them, write one
as a single HTML file that needs no network, and open it, or write all with an
index.

    rcmd demo
    rcmd demo equivalence
    rcmd demo race --out race.html --no-open
    rcmd demo all --out pages
"""

import argparse
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from rcmd.lab.demos import SUMMARIES, write_all, write_page
from rcmd.reporting.tables import say, write_json
from rcmd.rows.validation import pip_install
from rcmd.solver.saved_results import check_folder


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        choices=[*SUMMARIES, "all"],
        metavar="NAME",
        help="which page, or all of them; else the list",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where to write it (default: NAME.html); of all, the folder (default: rcmd-pages)",
    )
    parser.add_argument("--no-open", action="store_true", help="write the file without opening it")


def run(options: argparse.Namespace) -> int:
    name, out, json = options.name, options.out, options.json
    if name is None:
        if out is not None:
            raise ValueError(f"--out is {out!r} while no page is named; expected rcmd demo NAME")
        width = max(map(len, SUMMARIES))
        say("\n".join(f"{page:{width}}  {what}" for page, what in SUMMARIES.items()), json)
        write_json({"pages": SUMMARIES}, json)
        return 0
    path = Path(out or ("rcmd-pages" if name == "all" else f"{name}.html"))
    check_folder(path / "index.html" if name == "all" and path.is_dir() else path)
    if find_spec("latex2mathml") is None:
        raise ValueError(f"teaching pages need latex2mathml: {pip_install('demo')}")
    if name == "all":
        path.mkdir(exist_ok=True)
        path = write_all(path)[0]
    else:
        write_page(name, path)
    say(f"wrote {path}", json)
    write_json({"name": name, "file": str(path)}, json)
    if not options.no_open and not webbrowser.open(path.absolute().as_uri()):
        say("no browser was found; open the file in one", json)
    return 0
