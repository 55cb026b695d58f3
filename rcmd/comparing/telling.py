"""What is being done, on a terminal's last line."""

from __future__ import annotations

import sys


def tell_on_terminal(text: str) -> None:
    """Put ``text`` in the place of the last one; nothing where stderr is not a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
