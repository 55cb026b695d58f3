"""How many rows a step takes."""

from __future__ import annotations

from rcmd.specs.kinds import NUMBER


def parse_batch(text: str) -> int | float:
    """Rows per step: ``32``, or a share of all rows, ``1%``.

    >>> parse_batch("1%"), parse_batch("32")
    (0.01, 32)
    """
    if text.endswith("%"):
        return NUMBER.read(text[:-1], f"batch {text!r}", "share") / 100
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"batch {text!r} is neither a whole number of rows nor a percentage such as 1%"
        ) from None
