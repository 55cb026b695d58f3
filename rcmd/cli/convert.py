"""Turn a LIBSVM file (plain, .gz, .bz2 or .xz) of any size into a folder of
arrays, in constant memory. rcmd solve then reads it a block at a time, so that
it need not fit into memory:

    rcmd convert url_combined.bz2 url.rows
    rcmd solve url.rows --batch 0.1%
"""

import argparse
from pathlib import Path

import numpy as np

from rcmd.datasets import convert_libsvm
from rcmd.datasets.folder import read_meta
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import say, write_json


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the LIBSVM file")
    parser.add_argument("folder", metavar="FOLDER", help="the folder to make")
    parser.add_argument(
        "--float32", action="store_true", help="round values to single precision: a third less"
    )
    parser.add_argument(
        "--features", type=int, metavar="P", help="columns (default: the largest index in FILE)"
    )


def run(options: argparse.Namespace) -> int:
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
