"""``rcmd resume``: its options; the work is in ``rcmd.solving``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rcmd.commands.adding import add_command, add_json_option, add_plot_option, limit
from rcmd.launched import launched_ranks

HELP = """\
Go on with a run that was killed, interrupted, or ended by a budget: bit for bit as if nothing
had happened.

    rcmd solve a9a.bz2 --oracle l1:5 --tol 1e-8 --max-seconds 60 --checkpoint a9a.ckpt
    rcmd resume a9a.ckpt --max-seconds 600

Budgets count what was used before. The data are read again, and must not have changed.
"""


def add(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    resume = add_command(commands, "resume", _resume, "go on from a checkpoint", HELP)
    resume.add_argument(
        "checkpoint", metavar="FILE", help="the checkpoint, which is kept up to date"
    )
    resume.add_argument("--tol", type=float, help="another certified gap to reach")
    resume.add_argument(
        "--max-seconds", type=limit(float), metavar="S", help="another time budget, in all"
    )
    resume.add_argument(
        "--max-gradients", type=limit(int), metavar="G", help="another budget of gradients, in all"
    )
    resume.add_argument("--every", type=float, metavar="S", help="seconds between two checkpoints")
    resume.add_argument(
        "--truth", action="store_true", help="compare with the CVXPY optimum (slow on large files)"
    )
    resume.add_argument("--save", metavar="FILE", help="keep the result, for rcmd show")
    add_plot_option(resume)
    add_json_option(resume)
    resume.set_defaults(seed=None)  # the checkpoint's


def _resume(options: argparse.Namespace) -> int:
    from rcmd.distributed.command import is_sharded, run_resume_sharded
    from rcmd.saving.places import refuse_missing
    from rcmd.solving.command import changes_in, run_resume

    refuse_missing(Path(options.checkpoint))
    if launched_ranks() > 1 or is_sharded(options.checkpoint):
        return run_resume_sharded(options.checkpoint, options, **changes_in(options))
    return run_resume(options)
