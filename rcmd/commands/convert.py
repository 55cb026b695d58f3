"""``rcmd convert``: LIBSVM text to rows on disk."""

from __future__ import annotations

import argparse
from typing import Any

from rcmd.commands.adding import add_command, add_json_option

HELP = """\
Turn a LIBSVM file (plain, .gz, .bz2 or .xz) of any size into a folder of arrays, in constant
memory. rcmd solve then reads it a block at a time, so that it need not fit into memory:

    rcmd convert url_combined.bz2 url.rows
    rcmd solve url.rows --batch 0.1%
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    convert = add_command(commands, "convert", _convert, "LIBSVM text to rows on disk", HELP)
    convert.add_argument("file", metavar="FILE", help="the LIBSVM file")
    convert.add_argument("folder", metavar="FOLDER", help="the folder to make")
    convert.add_argument(
        "--float32", action="store_true", help="round values to single precision: a third less"
    )
    convert.add_argument(
        "--features", type=int, metavar="P", help="columns (default: the largest index in FILE)"
    )
    add_json_option(convert)


def _convert(options: argparse.Namespace) -> int:
    from pathlib import Path

    import numpy as np

    from rcmd.datasets import convert_libsvm
    from rcmd.datasets.folder import read_meta
    from rcmd.json_output import check_json, say, write_json
    from rcmd.telling import tell_on_terminal

    check_json(options.json)
    dtype = np.float32 if options.float32 else np.float64
    convert_libsvm(
        options.file, options.folder, features=options.features, dtype=dtype, tell=tell_on_terminal
    )
    meta = read_meta(Path(options.folder))
    counts = {
        "rows": meta.rows,
        "features": meta.features,
        "entries": meta.entries,
        "bytes": sum(file["bytes"] for file in meta.files.values()),
    }
    text = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    say(f"{options.folder}: {text}", options.json)
    write_json({"folder": options.folder, **counts}, options.json)
    return 0
