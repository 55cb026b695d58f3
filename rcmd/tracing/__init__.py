"""The proofs, evaluated line by line along a run of your own."""

from rcmd.tracing.report import Entry, Trace
from rcmd.tracing.tracing import trace

__all__ = ["Entry", "Trace", "trace"]
