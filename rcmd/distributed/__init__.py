"""Rows on more than one machine: the same method, with a share of the rows on each rank."""

from rcmd.distributed.group import Alone, Group, SharedFault
from rcmd.distributed.mpi import world
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.resuming import resume_sharded
from rcmd.distributed.run import ShardedRun
from rcmd.distributed.shards import read_shard, shard
from rcmd.distributed.solve import solve_sharded
from rcmd.distributed.threads import rehearse

__all__ = [
    "Alone",
    "Group",
    "ShardedProblem",
    "ShardedRun",
    "SharedFault",
    "read_shard",
    "rehearse",
    "resume_sharded",
    "shard",
    "solve_sharded",
    "world",
]
