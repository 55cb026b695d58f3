"""A process that notices when a rank dies, and says which.

When a process is killed, MPI's launchers kill the others, often without naming the rank. So rank 0
starts this file as a program of its own, and every rank keeps a connection to it, which the system
closes when the rank dies, however that happens. It imports nothing but the standard library, so
that it is there at once.
"""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

DIED = 3
"""Exit status of the ranks that end because another one died."""

ABSENT = 60
"""Seconds without any connection after which the process ends."""

WORDS = 64
"""Bytes of the longest message."""


@contextlib.contextmanager
def watched(group: Any, hint: str = "") -> Iterator[None]:
    """Within it, the death of any rank of ``group`` is reported in a sentence and ends the others.

    ``hint`` stands behind that sentence. A rank that cannot reach rank 0's machine runs on
    without being watched.
    """
    from rcmd.rows.processes import same_bytes  # not where this file runs as a script

    if group.size == 1:
        yield
        return
    process, where = None, ""
    if group.rank == 0:
        token = secrets.token_hex(8)
        command = [sys.executable, "-I", __file__, token, hint]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout is not None
        with process.stdout as told:
            where = f"{socket.gethostname()} {told.readline().decode().strip()} {token}"
    host, port, token = same_bytes(group, where.encode()).decode().split()
    address = ("localhost" if host == socket.gethostname() else host, int(port))
    connection = None
    with contextlib.suppress(OSError):
        connection = socket.create_connection(address, timeout=5)
        connection.settimeout(None)
        connection.sendall(f"{token} {group.rank}".encode().ljust(WORDS))
        threading.Thread(target=_listen, args=(connection,), daemon=True).start()
    try:
        yield
    finally:  # this rank ends as it should, or says itself why it does not
        if connection is not None:
            connection.sendall(b"bye".ljust(WORDS))  # upon which it is closed from there
    if process is not None:  # after an error, the others may not have ended
        process.wait()


def _listen(connection: socket.socket) -> None:
    """Wait for the message that a rank died; MPI would let this one wait for it forever."""
    if connection.recv(WORDS).startswith(b"died"):
        os._exit(DIED)
    connection.close()


def watch(token: str, hint: str) -> int:
    """Listen until all have said goodbye, or one has died; returns the exit status."""
    server = socket.create_server(("", 0))
    print(server.getsockname()[1], flush=True)
    ranks: dict[Any, int] = {}
    greeted = False
    while ranks or not greeted:
        ready: list[Any] = wait([server, *ranks], None if ranks else ABSENT)
        if not ready:
            return 0
        dead = []
        for connection in ready:
            if connection is server:
                new, _ = server.accept()
                words = _received(new)
                if words.startswith(token):
                    ranks[new] = int(words.split()[1])
                    greeted = True
                continue
            rank = ranks.pop(connection)
            if not _received(connection).startswith("bye"):
                dead.append(rank)
            connection.close()
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
