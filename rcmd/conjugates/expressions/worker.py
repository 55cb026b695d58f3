"""Derivations in a process of their own, which can be stopped: computer algebra may take any time.

The process is started when a formula is first derived, imports SymPy once, and ends with the
process that started it. A formula that takes too long or too much memory costs that process, and
the next formula gets a new one. Where none can be started (a program frozen into one file, a system
that forbids it) formulas are derived here, without limits.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from rcmd.conjugates.expressions.language import ExpressionError

# Seconds of computing, where the system counts them, and of waiting, however busy the machine is.
SECONDS, PATIENCE = 20, 120.0
_BYTES = 4 * 2**30
_COMMAND = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import {0}; {0}.serve()"


def derive(
    text: str, numbers: dict[str, float], labels: str | None, fields: Sequence[str] = ()
) -> str:
    """The module that ``generation.generate`` makes of a formula."""
    with _lock:
        try:
            process = _started()
        except OSError:
            from rcmd.conjugates.expressions.generation import generate

            return generate(text, numbers, labels, fields)
        timer, begun = threading.Timer(PATIENCE, process.kill), time.monotonic()
        try:
            process.stdin.write(json.dumps([text, numbers, labels, fields]) + "\n")
            process.stdin.flush()
            timer.start()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        except BaseException:  # Ctrl-C
            _stop()
            raise
        finally:
            timer.cancel()
        module, refusal, fault = json.loads(answer or "[null, null, null]")
        if not answer:
            fault = _end(process.wait(), time.monotonic() - begun)
        if fault is not None:
            _stop()
            raise ExpressionError(f"computer algebra {fault}; expected a simpler expression")
    if refusal is not None:
        raise ExpressionError(refusal)
    return str(module)


def _end(code: int, seconds: float) -> str:
    """Why a process ended without an answer."""
    if sys.platform == "linux" and code == -signal.SIGXCPU:
        return f"did not finish in {SECONDS} seconds of computing"
    if seconds >= PATIENCE:
        return f"did not finish in {PATIENCE:g} seconds of waiting"
    how = f"exit status {code}" if code >= 0 else signal.strsignal(-code)
    return f"ended in the midst of the expression ({how})"


# ---- the process ---------------------------------------------------------------------------------

_lock = threading.Lock()
_process: Any = None


def _started() -> Any:
    global _process
    if _process is None or _process.poll() is not None:
        _stop()  # its pipes
        if getattr(sys, "frozen", False) or not sys.executable:
            raise OSError("there is no interpreter to start")
        arguments = [sys.executable, "-c", _COMMAND.format(__name__), json.dumps(sys.path)]
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        _process = subprocess.Popen(
            arguments, stdin=pipe, stdout=pipe, stderr=quiet, text=True, encoding="utf-8"
        )
    return _process


@atexit.register
def _stop() -> None:
    global _process
    if _process is not None:
        _process.terminate()
        _process.communicate()
        _process = None


def _forget() -> None:
    """In a forked process: what the other one started is not ours."""
    global _lock, _process
    _lock = threading.Lock()
    if _process is not None:
        _process.returncode = 0
        _process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def serve() -> None:
    """Answer formulas on the standard input by [module, refusal, fault] until it ends."""
    from rcmd.conjugates.expressions import generation

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks stops us
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        _limit()
        try:
            answer = [generation.generate(*json.loads(line)), None, None]
        except ExpressionError as refusal:
            answer = [None, str(refusal), None]
        except Exception as fault:  # of SymPy, or of memory
            words = f"{type(fault).__name__}: {fault}".rstrip(": ")
            answer = [None, None, f"failed within {_BYTES >> 30} GB of memory ({words})"]
        print(json.dumps(answer), file=answers, flush=True)


def _limit() -> None:
    """Bounds of memory and of computing from now on, beyond which the system ends the process."""
    if sys.platform == "linux":
        import resource

        seconds = int(time.process_time()) + SECONDS + 1
        for kind, most in ((resource.RLIMIT_AS, _BYTES), (resource.RLIMIT_CPU, seconds)):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
