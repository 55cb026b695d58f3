"""Ranks that are processes: the same runs under mpirun."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rcmd import resume, solve
from rcmd.distributed import Alone, rehearse, watch, world
from rcmd.lab.bench import mpi as bench
from rcmd.lab.bench.mpi import mpirun
from rcmd.reporting.progress import launched_ranks

try:
    mpirun(1, [])
    HERE = ""
except ImportError as missing:
    HERE = str(missing)

needs_mpi = pytest.mark.skipif(bool(HERE), reason=HERE)

DATA = """
import numpy as np, scipy.sparse as sp
from rcmd import L1Ball, Logistic, solve
from rcmd.distributed import ShardedProblem, shard

FIRST = {"batch": 6, "tol": 0, "seed": 3, "max_iterations": 40}
def problem(group, exchange="sparse"):
    rng = np.random.default_rng(1)
    X = sp.random_array((60, 12), density=0.3, rng=rng, format="csr")
    y = np.where(rng.standard_normal(60) > 0, 1.0, -1.0)
    parts = (*shard(group, X, y), Logistic(), L1Ball(5.0))
    return ShardedProblem(*parts, group=group, exchange=exchange)

def told(result):
    history = [[line.iteration, float(line.gap)] for line in result.history]
    return [result.beta.tolist(), result.w.tolist(), history]
"""

SCRIPT = f"""{DATA}
import json, os, signal, sys
from rcmd.distributed import world
from rcmd.distributed.watch import watched

mode, file = sys.argv[1:]
group = world()

def midway(state):
    if state.iteration > 20 and mode == "killed" and group.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if state.iteration > 20 and mode == "raising" and group.rank == 1:
        raise RuntimeError("something of my own")

with watched(group, f"; {{file}} goes on"):
    if mode == "whole":
        results = [told(solve(problem(group, name), **FIRST)) for name in ("sparse", "dense")]
        if group.rank == 0:
            print(json.dumps(results))
    else:
        solve(problem(group), **FIRST, checkpoint=file, every=0, callbacks=[midway])
"""

HERE_TOO = {}
exec(DATA, HERE_TOO)
FIRST, problem, told = (HERE_TOO[name] for name in ("FIRST", "problem", "told"))

KILLED = (signal.SIGKILL, 128 + signal.SIGKILL, watch.DIED)
"""What launchers return when a rank was killed, or when the others ended for it."""


def run(ranks, arguments, folder, *, status=0):
    own = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    options = {"capture_output": True, "text": True, "cwd": folder, "timeout": 240}
    done = subprocess.run(mpirun(ranks, arguments), env=os.environ | own, **options)
    assert done.returncode in (status if isinstance(status, tuple) else (status,)), done.stderr
    return done


def script(ranks, folder, mode, file="run.ckpt", **expected):
    return run(ranks, ["-c", SCRIPT, mode, file], folder, **expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def whole():
    """β, w and history of one rank, in this process."""
    return told(solve(problem(Alone()), **FIRST))


@needs_mpi
def test_iterates_are_those_of_one_process(folder, whole):
    """On threads that is shown for other numbers of ranks."""
    sparse, (beta, w, history) = json.loads(script(3, folder, "whole").stdout)
    assert sparse == whole  # to the last bit
    np.testing.assert_allclose(beta, whole[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(w, whole[1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(history, whole[2], rtol=1e-12)


@needs_mpi
def test_a_rank_that_dies_is_named_and_others_go_on_from_its_checkpoint(folder, whole):
    died = script(2, folder, "killed", status=KILLED)
    assert "rcmd: rank 1 died, and the run ends with it; run.ckpt goes on" in died.stderr
    file = folder / "run.ckpt"
    assert told(rehearse(3, lambda group: resume(file, problem(group)))[0]) == whole


@needs_mpi
def test_an_error_of_one_rank_ends_all(folder):
    done = script(2, folder, "raising", file="other.ckpt", status=2)
    assert "rcmd: rank 1: RuntimeError: something of my own" in done.stderr


@needs_mpi
def test_rcmd_solve_spreads_a_file_and_rcmd_resume_goes_on(folder):
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(1, 3)} 1:{a!r} 3:{b!r}" for a, b in rng.normal(size=(40, 2)).tolist()]
    (folder / "samples.txt").write_text("\n".join(lines))
    words = ["samples.txt", "--batch", "8", "--oracle", "l1:2", "--max-gradients", "400"]
    solve = ["-m", "rcmd", "solve", *words, "--tol", "0", "--checkpoint", "solve.ckpt"]
    done = run(3, [*solve, "--json", "three.json"], folder, status=1)
    assert "3 ranks with 13 to 14 rows each" in done.stdout
    assert "labels 1 and 2 were mapped to -1 and +1" in done.stdout
    assert done.stdout.count("the gradient budget is used up") == 1
    resume = ["-m", "rcmd", "resume", "solve.ckpt", "--json"]
    run(2, [*resume, "same.json"], folder, status=1)
    run(2, [*resume, "two.json", "--max-gradients", "800"], folder, status=1)
    run(2, [*resume, "kept.json"], folder, status=1)
    names = ("three", "same", "two", "kept")
    first, same, more, kept = (json.loads((folder / f"{name}.json").read_text()) for name in names)
    assert (first["gradients"], more["gradients"]) == (400, 800)
    # Budgets are those of the checkpoint where none are given.
    assert (same["gradients"], kept["gradients"]) == (400, 800)
    assert (same["gap"], kept["gap"]) == (first["gap"], more["gap"])
    assert more["gap"] <= first["gap"]


@needs_mpi
def test_bad_input_is_told_once(folder):
    (folder / "short.txt").write_text("1 1:1\n")
    done = run(2, ["-m", "rcmd", "solve", "short.txt"], folder, status=2)
    assert done.stderr.count("rcmd: there are 1 rows for 2 ranks; expected at least one row") == 1


def test_launchers_are_known_by_their_words():
    assert launched_ranks({"OMPI_COMM_WORLD_SIZE": "3"}) == 3
    assert launched_ranks({"PMI_SIZE": "2", "HOME": "/"}) == 2


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match="mpirun started 4 processes, and mpi4py cannot be"):
        world()
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="mpirun or mpi4py is missing; expected both"):
        mpirun(2, [])


@needs_mpi
def test_another_mpi_than_that_of_the_launcher_is_refused():
    code = "from rcmd.distributed import world; world()"
    options = {"capture_output": True, "text": True}
    environment = os.environ | {"OMPI_COMM_WORLD_SIZE": "4"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, **options)
    assert "mpirun started 4 processes while mpi4py sees 1; expected both" in done.stderr


def watcher(hint=""):
    command = [sys.executable, "-I", watch.__file__, "token", hint]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def joined(process, ranks):
    port = int(process.stdout.readline())
    sockets = [socket.create_connection(("localhost", port)) for _ in range(ranks)]
    for rank, own in enumerate(sockets):
        own.sendall(f"token {rank}".encode().ljust(watch.WORDS))
    return sockets


def test_the_watcher_names_who_leaves_without_a_word():
    process = watcher("; and so on")
    sockets = joined(process, 3)
    sockets[2].sendall(b"bye".ljust(watch.WORDS))
    assert sockets[2].recv(watch.WORDS) == b""
    sockets[1].close()
    assert sockets[0].recv(watch.WORDS).startswith(b"died")
    _, said = process.communicate()
    assert said == "rcmd: rank 1 died, and the run ends with it; and so on\n"
    assert process.returncode == 1
    for own in sockets:
        own.close()


def test_the_watcher_is_silent_where_all_say_goodbye():
    process = watcher()
    for own in joined(process, 2):
        own.sendall(b"bye".ljust(watch.WORDS))
        own.close()
    assert process.communicate() == ("", "")
    assert process.returncode == 0
