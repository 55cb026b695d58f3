"""numba's on-disk cache, used so that it is never stale and never required."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from rcmd.compiling.fingerprint import fingerprint


def cached(compiler: Any, *signature: Any, **options: Any) -> Callable[[Any], Any]:
    """``compiler(…, cache=True)``, or without the cache where no folder can be written.

    numba numbers the entries of one index file without a lock, and two processes that add to
    it at once may swap their code. So every closure gets an index of its own. Where the same
    code was cached by a module that is gone, numba fails to import it: then, too, do without.
    """

    def decorate(function: Any) -> Any:
        function.__qualname__ = f"{function.__qualname__}.{fingerprint(function)}"
        try:
            return compiler(*signature, cache=True, **options)(function)
        except ImportError:
            return compiler(*signature, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return compiler(*signature, **options)(function)

    return decorate


def kernel(make: Callable[[str], Any]) -> Any:
    """Compile the closure ``make(stamp)`` with the options that every kernel here has.

    The stamp names the sources of all kernels: numba would not see an edit in a file that
    a kernel only calls into. ``error_model="numpy"`` drops the tests for division by zero,
    and ``nogil`` lets other threads run.
    """
    return cached(numba.njit, nogil=True, error_model="numpy")(make(source_stamp()))


@functools.cache
def source_stamp() -> str:
    """A hash of the sources that kernels are made of."""
    package = Path(__file__).parents[1]
    folders = (package / "compiling", package / "engine" / "kernels")
    sources = sorted(path for folder in folders for path in folder.glob("*.py"))
    return fingerprint(*(path.read_bytes() for path in sources))
