"""Starting Python on several ranks of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec


def mpirun(ranks: int, arguments: Sequence[str]) -> list[str]:
    """The command line that starts this Python on so many ranks, with these arguments.

    The launcher beside this Python comes first: it belongs to the MPI that pip installed there.
    """
    beside = os.path.dirname(sys.executable)
    launcher = shutil.which("mpirun", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if launcher is None or find_spec("mpi4py") is None:
        raise ImportError(
            "mpirun or mpi4py is missing; expected both: pip install 'rcmd[mpi]', and an MPI such "
            "as that of pip install mpich"
        )
    said = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    # Open MPI refuses more ranks than cores, and root, unless told; others know no such words.
    words = ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in said else []
    return [launcher, *words, "-n", str(ranks), sys.executable, *arguments]
