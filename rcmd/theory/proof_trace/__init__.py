"""The proofs, evaluated line by line along a run of your own.

``trace`` (in ``tracing``) runs Algorithm 2 and returns a ``Trace``. The lines are in ``sublinear``
(Theorem 3.1) and ``linear`` (Theorem 3.2), written with the quantities of ``lines.Moment``.
"""

from rcmd.theory.proof_trace.tracing import Entry, Trace, trace

__all__ = ["Entry", "Trace", "trace"]
