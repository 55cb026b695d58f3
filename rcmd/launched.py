"""Whether a launcher such as ``mpirun`` started this process among others; imports nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")
"""Where launchers say how many processes they started: Open MPI, MPICH and Intel, MVAPICH."""


def launched_ranks(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes a launcher started; 1 without one.

    Examples
    --------
    >>> launched_ranks({"PMI_SIZE": "4"}), launched_ranks({})
    (4, 1)
    """
    return max(int(environment.get(name, "1")) for name in SIZES)
