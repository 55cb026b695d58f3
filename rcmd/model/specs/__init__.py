"""Losses, oracles and batches from the words of a command line: ``huber:0.5``, ``l1:5``, ``1%``.

A class that ``rcmd.conjugates`` or ``rcmd.oracles`` exports says by ``spec`` how it is written.
Begin with ``parsing``; ``kinds`` reads single words (numbers, shapes, files) as the types of fields
ask. Classes in the user's own files are found by ``rcmd.model.user_code``.
"""

from rcmd.model.specs.kinds import Waiting
from rcmd.model.specs.parsing import (
    LOSSES,
    ORACLES,
    REFUSED,
    Spec,
    for_columns,
    parse_batch,
    parse_loss,
    parse_oracle,
)

__all__ = [
    "LOSSES", "ORACLES", "REFUSED", "Spec", "Waiting", "for_columns", "parse_batch", "parse_loss",
    "parse_oracle",
]  # fmt: skip
