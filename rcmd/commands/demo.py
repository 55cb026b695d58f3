"""``rcmd demo``: its options; the work is in ``rcmd.demos``."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """\
Teaching pages: list them, or write one as a single HTML file that needs no network, and open it.

    rcmd demo
    rcmd demo equivalence
    rcmd demo the-bound --seed 1 --out bound.html --no-open
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    demo = add_command(commands, "demo", _demo, "teaching pages for the browser", HELP)
    demo.add_argument("name", nargs="?", metavar="NAME", help="which page; without it, the list")
    demo.add_argument("--out", metavar="FILE", help="where to write it (default: NAME.html)")
    demo.add_argument("--no-open", action="store_true", help="write the file and no more")
    demo.add_argument("--seed", type=int, default=0, help="of the runs (default: %(default)s)")
    add_json_option(demo)


def _demo(options: argparse.Namespace) -> int:
    from rcmd.demos.command import run_demo

    return run_demo(
        options.name, options.out, options.seed, browse=not options.no_open, json=options.json
    )
