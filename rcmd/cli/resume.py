"""Continue a run that was killed, interrupted, or ended by a budget: bit for bit
as if nothing had happened.

    rcmd solve a9a.bz2 --tol 1e-8 --max-seconds 60 --checkpoint a9a.ckpt
    rcmd resume a9a.ckpt --max-seconds 600

Budgets include what was used before. The data are read again, and must not
have changed. A file of yours with a loss, a set or a method is run only with
--trust-user-code, and only if it is the same: a checkpoint may be forged. What
that file imports in turn is not compared.
"""

import argparse
from pathlib import Path
from typing import Any

from rcmd.cli.options import (
    FLAGS,
    STEPS,
    add_result_options,
    add_run_options,
    chosen_method,
    given,
)
from rcmd.cli.solve import WORDS, finish
from rcmd.cli.tasks import TASKS, Task
from rcmd.model.user_code import is_file, only_trusted
from rcmd.reporting.progress import launched_ranks
from rcmd.rows.processes import Alone, Group, shared_errors
from rcmd.rows.validation import FileError
from rcmd.solver.checkpoint.resume import read_checkpoint, reopen
from rcmd.solver.solve import CHANGING

TYPED = [name for name in CHANGING if name in FLAGS]
"""Options of the command line that may change."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="FILE", help="the checkpoint, kept up to date")
    parser.add_argument(
        "--trust-user-code", action="store_true", help="run the Python files that it names"
    )
    add_run_options(parser, dict.fromkeys(TYPED))
    add_result_options(parser)
    parser.set_defaults(seed=None)  # the checkpoint's


def run(options: argparse.Namespace) -> int:
    path = Path(options.checkpoint)
    if launched_ranks() > 1 or (_words(path, Alone()) or {}).get("spread"):
        from rcmd.cli.mpi import on_every_rank

        return on_every_rank(lambda group: _resume(path, group, options), options)
    return _resume(path, Alone(), options)


def _resume(path: Path, group: Group, options: argparse.Namespace) -> int:
    words = _words(path, group)
    with shared_errors(group):
        _check(options.checkpoint, words, data=group.rank == 0)
    whole = argparse.Namespace(**vars(options) | {name: words[name] for name in WORDS})
    changes = given(options, TYPED)
    with only_trusted(words["code"] if options.trust_user_code else {}):
        task = _task(group, whole, spread=words["spread"])
        if any(is_file(words[name] or "") for name in ("method", *STEPS)):
            changes["method"] = chosen_method(whole, task.method)
    return finish(task, reopen(path, task.problem, **changes), whole)


def _task(group: Group, options: argparse.Namespace, *, spread: bool) -> Task:
    if not spread:
        return TASKS[options.rows](options)
    from rcmd.cli.mpi import sharded_task

    return sharded_task(group, options)


def _words(path: Path, group: Group) -> Any:
    """The options of the command that wrote a checkpoint, which may be forged; else ``None``."""
    tree = read_checkpoint(path, group)
    words = tree.get("command", 0) if isinstance(tree, dict) else 0
    kinds: dict[str, Any] = WORDS | {"spread": bool, "code": dict}
    if words is not None and not (
        isinstance(words, dict)
        and words.keys() >= kinds.keys()
        and all(isinstance(words[name], kind | None) for name, kind in kinds.items())
        and words["rows"] in TASKS
        and None not in (words["spread"], words["code"])
    ):
        raise FileError(
            f"{path} does not hold the options of a command; expected a file that `rcmd solve "
            "--checkpoint` wrote. The file was left as it is"
        )
    return words


def _check(checkpoint: str, words: Any, *, data: bool) -> None:
    """Refuse a checkpoint that does not say what is solved, or whose ``data`` are gone."""
    if words is None:
        raise ValueError(
            f"{checkpoint} was not written by `rcmd solve`, and does not say how its problem is "
            "made; expected one that was: in Python, rcmd.resume(file, problem) continues it"
        )
    if data and words["file"] is not None and not Path(words["file"]).exists():
        raise FileError(
            f"{words['file']}, the data of {checkpoint}, is not there; expected it as it was when "
            "the run began: restore it"
        )
