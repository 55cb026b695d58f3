"""Checks of the contracts for your own classes, in your own tests or by ``rcmd check``.

Each ``check_…`` raises a ``ContractError``, an ``AssertionError`` that lists every identity
which fails, where, both numbers and the likely cause; each ``inspect_…`` returns the same as a
``Report``. All are deterministic. The identities are in ``losses`` (what ``value`` implies in
``evidence``), ``oracles`` (what their methods return in ``answers``), ``proxes``, ``schedules``,
``rows`` and ``samplers``, the diagnosis of failures in ``report``; ``fuzzing`` judges random
problems, ``enclosure`` (``rcmd.verify``) proves the gap of a result.
"""

from rcmd.testing.losses import check_conjugate, inspect_conjugate
from rcmd.testing.oracles import check_oracle, inspect_oracle
from rcmd.testing.proxes import check_prox, inspect_prox
from rcmd.testing.report import ContractError, Failure, Report
from rcmd.testing.rows import check_rows, inspect_rows
from rcmd.testing.samplers import check_sampler, inspect_sampler
from rcmd.testing.schedules import check_schedule, inspect_schedule

__all__ = [
    "ContractError",
    "Failure",
    "Report",
    "check_conjugate",
    "check_oracle",
    "check_prox",
    "check_rows",
    "check_sampler",
    "check_schedule",
    "inspect_conjugate",
    "inspect_oracle",
    "inspect_prox",
    "inspect_rows",
    "inspect_sampler",
    "inspect_schedule",
]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__
