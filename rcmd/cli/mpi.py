"""``mpirun -n 4 rcmd solve …``: the rows of the command's problem, spread over ranks."""

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

from rcmd.cli.options import check_outputs
from rcmd.cli.tasks import (
    Task,
    about_solution,
    field_files,
    fitting_labels,
    generated,
    located,
    refuse,
    refuse_label,
    sample_data,
)
from rcmd.datasets.tables import is_table
from rcmd.distributed import world
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.shards import read_shard, shard
from rcmd.distributed.watch import watched
from rcmd.model.specs import parse_loss, parse_oracle
from rcmd.reporting.progress import EXIT_BAD_INPUT, launched_ranks
from rcmd.rows.processes import Alone, Group, SharedError, abort_on_error, shared_errors


def on_every_rank(work: Callable[[Group], int], options: argparse.Namespace) -> int:
    """Errors common to all ranks are printed once; an error of one rank ends the others."""
    group = world() if launched_ranks() > 1 else Alone()
    file = options.checkpoint
    hint = "" if file is None else f"; mpirun -n RANKS rcmd resume {file} continues it"
    try:
        with abort_on_error(group), watched(group, hint):
            with shared_errors(group):
                check_outputs(options)
                if options.truth:
                    raise ValueError(
                        "--truth needs all rows in one process; leave it out on several ranks"
                    )
            return work(group)
    except SharedError:
        if group.rank == 0:
            raise
        return EXIT_BAD_INPUT


def sharded_task(group: Group, options: argparse.Namespace) -> Task:
    """The problem of a command line, with this rank's share of the rows."""
    with shared_errors(group):
        if options.rows != "libsvm":
            raise ValueError(
                f"--rows {options.rows} on several ranks; expected samples, --rows libsvm: start "
                "one process for matrices"
            )
        refuse(options, "held_out", "keep")
        loss = parse_loss(options.loss or "logistic", field_files(options))
        oracle = parse_oracle(options.oracle or "l1:5")
        path = None if options.file is None else located(options.file, options.data)
        refuse_label(options)
        if path is not None and is_table(path):
            raise ValueError(
                f"{path} is a table; expected LIBSVM text or a folder of rcmd convert on several "
                "ranks: start one process for tables"
            )
    remarks: list[str] = []
    if path is None:
        X, y = shard(group, *generated(loss, options.seed or 0))
    else:
        X, y = read_shard(group, path)
        y, remarks = fitting_labels(loss, y, group)
    counts = [int(part[0]) for part in group.gather(np.array([len(y)]))]
    start = sum(counts[: group.rank])
    with shared_errors(group):
        own = sample_data(options, sum(counts), slice(start, start + len(y)))
    own["intercept"] = options.intercept
    problem = ShardedProblem(X, y, loss, oracle, group=group, **own)
    spread = f"{group.size} ranks with {min(counts):,} to {max(counts):,} rows each"
    return Task(problem, [*remarks, spread], partial(about_solution, problem))
