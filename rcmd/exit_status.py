"""Exit statuses of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rcmd.result import Result

EXIT_BUDGET, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

MEANINGS = """\
exit status:
  0    done: the tolerance was reached, the contract is kept
  1    not reached: a budget ended first, a contract is broken, something was found
  2    bad input, said in one sentence
  130  interrupted by Ctrl-C
"""

IN_SHORT = "exit status: 0 done, 1 not reached or broken, 2 bad input, 130 interrupted"


def status_of(result: Result) -> int:
    """0 where the tolerance was reached, 1 where a budget ended first, 130 after Ctrl-C."""
    if result.stop.name == "INTERRUPTED":
        return EXIT_INTERRUPTED
    return 0 if result.success else EXIT_BUDGET
