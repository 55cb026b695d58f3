"""The same run with many seeds, and what their gaps say about the theorem's bound."""

from rcmd.replicates.against_bound import AgainstBound
from rcmd.replicates.replicates import Replicates
from rcmd.replicates.running import replicate, sweep

__all__ = ["AgainstBound", "Replicates", "replicate", "sweep"]
