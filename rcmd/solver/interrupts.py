"""Ctrl-C and SIGTERM between two steps instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Within it, the first Ctrl-C or SIGTERM only sets ``requested``; a second acts as usual.

    It may be entered again inside itself. A signal that was ignored stays so. Outside the main
    thread Python delivers no signals, and it does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[signal.Signals, Any] = {}
        self._depth = 0

    def __enter__(self) -> Interrupts:
        self._depth += 1
        if self._depth == 1 and threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                # None is a handler that is not Python's and could not be put back.
                if handler not in (signal.SIG_IGN, None):
                    self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            while self._previous:
                signal.signal(*self._previous.popitem())

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            # As it would have been without this object, which must not see the signal again.
            signal.signal(number, self._previous.pop(signal.Signals(number)))
            signal.raise_signal(number)
        self.requested = True
