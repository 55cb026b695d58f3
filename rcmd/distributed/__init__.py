"""Rows on more than one process: the same ``solve``, with a share of the rows on each rank.

``ShardedProblem`` is a ``Problem`` whose sums run over all ranks; every rank calls
``rcmd.solve(problem)``. ``world()`` is the group of ranks that ``mpirun`` started,
``rehearse`` simulates one with threads (both in ``groups``), ``read_shard`` and ``shard`` (in
``shards``) distribute the rows. Inside, ``engine`` takes the steps, ``exchange`` communicates
changes of d, and ``watch`` notices when a rank dies.
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
