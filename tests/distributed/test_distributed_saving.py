"""Checkpoints of runs on several ranks, taken up on other numbers of them."""

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from guards import some
from small_problems import data

from rcmd import RCMD, L1Ball, Logistic, Problem, StopReason, iterate, resume, solve
from rcmd.distributed import ShardedProblem, SharedError, rehearse, shard
from rcmd.model.schedules import SublinearSchedule

N, P, BATCH, STEPS = 40, 6, 4, 120
HISTORY = ("iteration", "gradients", "primal", "dual", "gap", "bound")


def problem_on(group, change=0.0, radius=3.0):
    X, y, _ = data(N, P, seed=4)
    X[5, 2] += change
    rows, labels = shard(group, sp.csr_array(X), np.where(y > 0, 1.0, -1.0))
    parts = (rows, labels, Logistic(), L1Ball(radius))
    return ShardedProblem(*parts, group=group, exchange="sparse")


def started(size, file, steps, **options):
    given = {"batch": BATCH, "tol": 0, "max_iterations": steps, "seed": 8}

    def work(group):
        return solve(problem_on(group), checkpoint=file, every=0, **given, **options)

    return rehearse(size, work)[0]


def resumed(size, file, **changes):
    return rehearse(size, lambda group: resume(file, problem_on(group), **changes))[0]


@pytest.fixture(scope="module")
def whole():
    return started(1, None, STEPS)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.mark.parametrize("steps", [1, 3, 17, 100])
def test_a_run_goes_on_bit_for_bit_on_other_ranks(file, steps, whole):
    started(3, file, steps)
    more = resumed(2, file, max_iterations=STEPS)
    assert more.stop is StopReason.ITERATIONS
    assert (more.beta == whole.beta).all()
    assert (more.w == whole.w).all()
    # A run that ends by its budget certifies once more where it ends.
    marks = some(k for k, line in enumerate(more.history) if line.iteration != steps)
    for name in HISTORY:
        column, iterations = whole.history.column(name), whole.history.column("iteration").tolist()
        for k in marks:
            line = more.history[k]
            assert getattr(line, name) == column[iterations.index(line.iteration)]


def test_a_run_cut_down_between_certificates_goes_on_bit_for_bit(file, whole):
    class Killed(Exception):
        pass

    def work(group):
        options = {"batch": BATCH, "tol": 0, "seed": 8, "every": 0, "max_iterations": STEPS}
        run = iterate(problem_on(group), checkpoint=file, **options)
        write, saves = run.saver.save, []

        def save(run):
            write(run)
            saves.append(run)
            if len(saves) == 15:
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
        return solve(problem_on(group), batch=BATCH, tol=0.1, checkpoint=file)

    first = rehearse(2, work)[0]
    again = resumed(3, file)
    assert again.stop is StopReason.TOLERANCE
    assert again.nit == first.nit
    assert resumed(2, file, tol=0.05).gap <= 0.05


def test_files_are_refused_and_left_as_they_are(file):
    started(2, file, 3)
    whole = file.read_bytes()

    def refused(words, make=problem_on, kind=SharedError, **changes):
        with pytest.raises(kind, match=words):
            rehearse(2, lambda group: resume(file, make(group), **changes))

    refused("X differs", lambda group: problem_on(group, change=1e-9), ValueError)
    refused("oracle differs", lambda group: problem_on(group, radius=2.0), ValueError)
    other = RCMD(schedule=SublinearSchedule(3.0))
    refused("not that of the checkpoint's run", kind=ValueError, method=other)
    assert file.read_bytes() == whole
    with pytest.raises(SharedError, match=r"run\.ckpt exists and holds a run"):
        started(2, file, 3)
    file.write_bytes(whole[:-1])
    refused("is a damaged checkpoint", kind=ValueError)
    place = whole.index(b"NUMPY")  # in an array's own bytes: no others have checksums
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    refused("is a damaged checkpoint", kind=ValueError)
    file.unlink()
    refused("there is no checkpoint")
    X, y, _ = data(N, P, seed=4)
    alone = Problem(X, np.where(y > 0, 1.0, -1.0), Logistic(), L1Ball(3.0))
    solve(alone, tol=0, max_iterations=3, checkpoint=file)
    refused("X and y and weights and oracle differ", kind=ValueError)


def test_a_full_disk_stops_nothing(file, monkeypatch):
    written = []

    def full(*_):
        if written:
            raise OSError(28, "No space left on device")
        written.append(True)  # what fails at first fails before any work

    monkeypatch.setattr("rcmd.solver.checkpoint.saver.write_file", full)
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
    with pytest.raises(SharedError, match="cannot be written"):
        started(2, tmp_path / "run.ckpt", 3)
