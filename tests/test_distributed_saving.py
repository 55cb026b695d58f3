"""Checkpoints of runs on several ranks, taken up on other numbers of them."""

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from small_problems import data

from rcmd import L1Ball, Logistic, solve
from rcmd.distributed import ShardedProblem, SharedFault, rehearse, resume_sharded, shard
from rcmd.distributed.run import ShardedRun
from rcmd.distributed.solve import solve_sharded
from rcmd.problem import Problem
from rcmd.result import StopReason
from rcmd.saving.faults import BadCheckpoint
from rcmd.schedules import SublinearSchedule

N, P, BATCH, STEPS = 40, 6, 4, 120
HISTORY = ("iteration", "gradients", "primal", "dual", "gap", "bound")


def problem_on(group, change=0.0, radius=3.0):
    X, y, _ = data(N, P, seed=4)
    X[5, 2] += change
    rows, labels = shard(group, sp.csr_array(X), np.where(y > 0, 1.0, -1.0))
    return ShardedProblem(rows, labels, Logistic(), L1Ball(radius), group=group)


def started(size, file, steps, **options):
    given = {"batch": BATCH, "tol": 0, "exchange": "sparse", "max_iterations": steps, "seed": 8}

    def work(group):
        return solve_sharded(problem_on(group), checkpoint=file, every=0, **given, **options)

    return rehearse(size, work)[0]


def resumed(size, file, **changes):
    return rehearse(size, lambda group: resume_sharded(file, problem_on(group), **changes))[0]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.mark.parametrize("steps", [1, 3, 17, 100])
def test_a_run_goes_on_bit_for_bit_on_other_ranks(file, steps):
    whole = started(1, None, STEPS)
    started(3, file, steps)
    more = resumed(2, file, max_iterations=STEPS)
    assert more.stop is StopReason.ITERATIONS
    assert (more.beta == whole.beta).all()
    assert (more.w == whole.w).all()
    # A run that ends by its budget certifies once more where it ends.
    marks = [k for k, line in enumerate(more.history) if line.iteration != steps]
    for name in HISTORY:
        column, iterations = whole.history.column(name), whole.history.column("iteration").tolist()
        for k in marks:
            line = more.history[k]
            assert getattr(line, name) == column[iterations.index(line.iteration)]


def test_a_run_cut_down_between_certificates_goes_on_bit_for_bit(file):
    class Killed(Exception):
        pass

    whole = started(1, None, STEPS)

    def work(group):
        run = ShardedRun(
            problem_on(group), batch=BATCH, tol=0, seed=8, exchange="sparse", every=0,
            checkpoint=file, max_iterations=STEPS,
        )  # fmt: skip
        saves = 0
        write = run.saver.save

        def save(run):
            nonlocal saves
            write(run)
            saves += 1
            if saves == 15:
                raise Killed

        run.saver.save = save
        for _ in run:
            pass

    with pytest.raises(Killed):
        rehearse(4, work)
    more = resumed(3, file, max_iterations=STEPS)
    assert (more.w == whole.w).all()
    for name in HISTORY:
        assert more.history.column(name).tolist() == whole.history.column(name).tolist()


def test_a_smaller_tolerance_goes_on_and_the_same_one_is_done(file):
    def work(group):
        return solve_sharded(problem_on(group), batch=BATCH, tol=0.1, checkpoint=file)

    first = rehearse(2, work)[0]
    again = resumed(3, file)
    assert again.stop is StopReason.TOLERANCE
    assert again.nit == first.nit
    assert resumed(2, file, tol=0.05).gap <= 0.05


def test_files_are_refused_and_left_as_they_are(file):
    started(2, file, 3)
    whole = file.read_bytes()

    def refused(words, make=problem_on, kind=SharedFault, **changes):
        with pytest.raises(kind, match=words):
            rehearse(2, lambda group: resume_sharded(file, make(group), **changes))

    refused("had another X; expected the same", lambda group: problem_on(group, change=1e-9))
    refused("had another oracle", lambda group: problem_on(group, radius=2.0))
    refused("had another schedule", schedule=SublinearSchedule(3.0))
    assert file.read_bytes() == whole
    with pytest.raises(SharedFault, match=r"run\.ckpt exists; expected a new name"):
        started(2, file, 3)
    file.write_bytes(whole[:-1])
    refused("is a damaged sharded checkpoint: it is cut short")
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    refused("its contents do not have its checksum")
    file.write_bytes(b"rcmd sharded checkpoint 2\n" + whole[26:])
    refused("of format 2, of a newer rcmd")
    file.unlink()
    refused("there is no checkpoint")
    X, y, _ = data(N, P, seed=4)
    alone = Problem(X, np.where(y > 0, 1.0, -1.0), Logistic(), L1Ball(3.0))
    solve(alone, tol=0, max_iterations=3, checkpoint=file)
    refused("is not a sharded checkpoint of rcmd")


def test_a_full_disk_stops_nothing(file, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rcmd.distributed.saver.replace_file", full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = started(2, file, 20)
    assert result.nit == 20
    assert len(caught) == 1
    assert "is not up to date" in str(caught[0].message)
    assert not file.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_takes_no_files_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SharedFault, match="cannot be written"):
        started(2, tmp_path / "run.ckpt", 3)


def test_bad_seconds_are_refused(file):
    with pytest.raises(ValueError, match="every is -1; expected seconds"):
        rehearse(1, lambda group: ShardedRun(problem_on(group), checkpoint=file, every=-1))


def test_the_fault_is_one_of_checkpoints():
    assert issubclass(BadCheckpoint, ValueError)
