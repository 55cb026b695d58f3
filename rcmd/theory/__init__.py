"""Tools for theorems, the paper's and yours.

``expected_gap`` is E[gap] over all sequences of batches, exactly; ``verify`` puts a bound to
independent runs at a stated error rate; ``hunt`` looks for a problem that breaks it;
``worst_case`` encloses the largest E[gap] of all problems; ``trace`` evaluates every line of a
proof along a run; ``replicate`` and ``sweep`` put the mean gap of many seeds beside a bound.
"""

from rcmd.theory.enumeration import expected_gap
from rcmd.theory.hunting import Catch, hunt
from rcmd.theory.proof_trace import trace as trace
from rcmd.theory.replicates import replicate as replicate
from rcmd.theory.replicates import sweep as sweep
from rcmd.theory.verification import Verification, verify
from rcmd.theory.worst_cases import WorstCase, worst_case

__all__ = [
    "Catch", "Verification", "WorstCase", "expected_gap", "hunt", "verify", "worst_case",
]  # fmt: skip


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
