"""A process that sees ranks die, and says which.

What MPI's launchers do when a process is killed is to kill the others, often without a word about
the rank. So rank 0 starts this file as a program of its own, and every rank keeps a connection to
it, which the system closes when the rank dies, however that happens. It imports nothing but the
standard library, so that it is there at once.
"""

from __future__ import annotations

import os
import secrets
import selectors
import socket
import subprocess
import sys
import threading
from typing import Any

DIED = 3
"""Exit status of the ranks that end because another one died."""

ABSENT = 60
"""Seconds after which nobody is expected to come any more."""

WORDS = 64
"""Bytes of the longest message."""


class Watched:
    """Within it, the death of any rank of ``group`` is told in a sentence and ends the others.

    ``hint`` stands behind that sentence. A rank that cannot reach rank 0's machine runs on
    without being watched.
    """

    def __init__(self, group: Any, hint: str = "") -> None:
        from rcmd.rows.processes import same_text

        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        if group.size == 1:
            return
        where = ""
        if group.rank == 0:
            token = secrets.token_hex(8)
            command = [sys.executable, "-I", __file__, token, hint]
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, start_new_session=True
            )
            assert self._process.stdout is not None
            port = self._process.stdout.readline().decode().strip()
            where = f"{socket.gethostname()} {port} {token}"
        host, port, token = same_text(group, where).split()
        address = ("localhost" if host == socket.gethostname() else host, int(port))
        try:
            self._socket = socket.create_connection(address, timeout=5)
        except OSError:
            return
        self._socket.settimeout(None)
        self._socket.sendall(f"{token} {group.rank}".encode().ljust(WORDS))
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Say goodbye: this rank ends as it should, or says itself why it does not."""
        if self._socket is not None:
            self._socket.sendall(b"bye".ljust(WORDS))  # upon which it is closed from there
        if self._process is not None and kind is None:  # else the others may not have ended
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()

    def _listen(self) -> None:
        """Wait for news of a death; MPI would let this rank wait for the dead one."""
        own = self._socket
        assert own is not None
        if own.recv(WORDS).startswith(b"died"):
            os._exit(DIED)
        own.close()


def watch(token: str, hint: str) -> int:
    """Listen until all have said goodbye, or one has died; returns the exit status."""
    server = socket.create_server(("", 0))
    print(server.getsockname()[1], flush=True)
    ranks: dict[socket.socket, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(server, selectors.EVENT_READ)
        greeted = False
        while ranks or not greeted:
            dead = []
            events = selector.select(timeout=None if ranks else ABSENT)
            if not events:
                return 0
            for key, _ in events:
                if key.fileobj is server:
                    new, _ = server.accept()
                    words = _received(new)
                    if words.startswith(token):
                        ranks[new] = int(words.split()[1])
                        selector.register(new, selectors.EVENT_READ)
                        greeted = True
                    continue
                known: Any = key.fileobj
                selector.unregister(known)
                rank = ranks.pop(known)
                if not _received(known).startswith("bye"):
                    dead.append(rank)
                known.close()
            if dead:
                names = " and ".join(f"rank {rank}" for rank in sorted(dead))
                print(f"rcmd: {names} died, and the run ends with it{hint}", file=sys.stderr)
                for other in ranks:
                    other.sendall(b"died".ljust(WORDS))
                return 1
    return 0


def _received(connection: socket.socket) -> str:
    """One message; nothing where the other side is gone."""
    try:
        return connection.recv(WORDS, socket.MSG_WAITALL).decode()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(watch(*sys.argv[1:]))
