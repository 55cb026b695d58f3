"""Tools for theorems, the paper's and yours.

``expected_gap`` is E[gap] over all sequences of batches, exactly; ``verify`` puts a bound to
independent runs at a stated error rate; ``trace`` evaluates every line of a proof along a run;
``replicate`` and ``sweep`` put the mean gap of many seeds beside a bound.
"""

from rcmd.theory.enumeration import expected_gap
from rcmd.theory.proof_trace import trace
from rcmd.theory.replicates import replicate, sweep
from rcmd.theory.verification import Verification, verify

__all__ = ["Verification", "expected_gap", "replicate", "sweep", "trace", "verify"]
