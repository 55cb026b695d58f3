"""Sequences of drawn rows, as seen from row 0."""

from __future__ import annotations

History = tuple[int, ...]


def last_hit(history: History) -> History:
    """The history up to the last step that changed row 0: what s_0 is a function of."""
    while history and history[-1] != 0:
        history = history[:-1]
    return history


def exchanged(history: History, j: int) -> History:
    """The history with rows 0 and j exchanged."""
    return tuple(j if row == 0 else 0 if row == j else row for row in history)
