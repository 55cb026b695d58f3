"""How many rows a step takes."""

from __future__ import annotations

from rcmd.specs.kinds import NUMBER


def parse_batch(text: str) -> int | float:
    """Rows per step: ``32``, or a share of all rows, ``1%``.

    >>> parse_batch("1%"), parse_batch("32")
    (0.01, 32)
    """
    if text.endswith("%"):
        percent: float = NUMBER.read(text[:-1], f"batch {text!r}", "share")
        if not 0 < percent <= 100:
            raise ValueError(
                f"batch {text!r} is no share of all rows; expected up to 100%, above 0%"
            )
        return percent / 100
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"batch {text!r} is neither a whole number of rows nor a percentage such as 1%"
        ) from None
