"""Rows on more than one process: the same ``solve``, with a share of the rows on each rank.

``ShardedProblem`` is a ``Problem`` whose sums are everyone's; every rank calls
``rcmd.solve(problem)`` alike. ``world()`` is the group of ranks that ``mpirun`` started,
``rehearse`` makes one of threads, ``read_shard`` and ``shard`` deal out the rows. Inside,
``engine`` takes the steps, ``exchange`` says how the change of d travels, ``oracle`` how atoms do,
and ``watch`` notices when a rank dies.
"""

from rcmd.distributed.groups import rehearse, world
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.shards import read_shard, shard
from rcmd.rows.processes import Alone, Group, SharedError

__all__ = [
    "Alone",
    "Group",
    "ShardedProblem",
    "SharedError",
    "read_shard",
    "rehearse",
    "shard",
    "world",
]
