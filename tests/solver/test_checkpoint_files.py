"""Checkpoint files: whole or refused, never overwritten, and no run stops for them."""

import contextlib
import errno
import io
import json
import os
import shutil
import zipfile
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator
from small_problems import lines, problem

from rcmd import (
    RCMD,
    Corrected,
    DenseAtom,
    FileError,
    L1Ball,
    LeastSquares,
    LinearMinOracle,
    LowRank,
    Problem,
    RankOneAtom,
    SparseAtom,
    StopReason,
    iterate,
    load_result,
    path,
    resume,
    solve,
)
from rcmd.datasets import RowsWriter, open_rows
from rcmd.engine.state import Stateful
from rcmd.model.fingerprint import fingerprint
from rcmd.rows import as_rows
from rcmd.solver.checkpoint import file as files
from rcmd.solver.checkpoint.file import CannotSave, read_file, write_file
from rcmd.solver.checkpoint.resume import reopen
from rcmd.solver.run import Run
from rcmd.solver.saved_results import FORMAT

OPTIONS: dict[str, Any] = {"tol": 0.0, "max_iterations": 40, "batch": 2}


def lasso(seed: int = 0) -> Problem:
    return problem("logistic", "l1-ball", n=20, seed=seed)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """The name of a file that is not there yet."""
    return tmp_path / "run.ckpt"


@pytest.fixture
def file(new: Path) -> Path:
    solve(lasso(), **OPTIONS, checkpoint=new)
    return new


@pytest.fixture
def begun(tmp_path: Path) -> Run:
    """A run after its first record, which writes its file as often as it can."""
    (tmp_path / "folder").mkdir()
    run = iterate(lasso(), **OPTIONS, checkpoint=tmp_path / "folder" / "run.ckpt", every=0.0)
    next(run)
    return run


def file_of(run: Run) -> Path:
    assert run.saver is not None
    return run.saver.path


def test_the_file_is_there_before_the_first_step_and_after_the_last(
    new: Path, tmp_path: Path
) -> None:
    run = iterate(lasso(), **OPTIONS, checkpoint=str(new))
    assert not new.exists()
    next(run)
    early = new.read_bytes()
    list(run)
    assert new.read_bytes() != early
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.ckpt"]


def test_it_is_written_every_so_often(tmp_path: Path) -> None:
    saver = iterate(lasso(), **OPTIONS, checkpoint=tmp_path / "run.ckpt").saver
    assert saver is not None
    waits = [saver.due(*now) for now in ((29.9, 0.0), (30.1, 0.0), (30.1, 5.0), (50.1, 5.0))]
    assert waits == [False, True, False, True]  # the third would take more than a tenth
    saver.every = 0.0
    assert saver.due(0.0, 5.0)


# Damage.


@pytest.mark.parametrize("kind", [files.CHECKPOINT, FORMAT], ids=lambda kind: kind.word)
def test_no_damage_goes_unseen(kind: files.Kind, new: Path) -> None:
    result = solve(lasso(), **OPTIONS, checkpoint=new)
    if kind is FORMAT:
        result.save(new)
    whole = new.read_bytes()
    rng = np.random.default_rng(0)
    places = {*range(140), *rng.integers(0, len(whole), 200).tolist(), len(whole) - 1}
    tree, harmless = repr(read_file(new, kind)), 0
    for place in sorted(places):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        new.write_bytes(damaged)
        with contextlib.suppress(FileError):
            assert repr(read_file(new, kind)) == tree
            harmless += 1  # a zip has bytes that mean nothing, such as the time of day
        assert new.read_bytes() == damaged
    assert harmless < len(places) / 4
    for length in sorted({*range(0, 140, 7), *rng.integers(0, len(whole), 60).tolist()}):
        new.write_bytes(whole[:length])
        with pytest.raises(FileError, match="was left as it is"):
            load_result(new) if kind is FORMAT else resume(new, lasso())


def test_what_is_wrong_is_said(file: Path) -> None:
    whole = file.read_bytes()
    tree = read_file(file)
    for contents, sentence in {
        b"": "is not a checkpoint of rcmd; expected the name of a file that",
        b"PK\x03\x04 a zip": "is not a checkpoint of rcmd",
        whole[:-1]: "is a damaged checkpoint",
        whole[:200] + b"?" + whole[201:]: "is a damaged checkpoint",
    }.items():
        file.write_bytes(contents)
        with pytest.raises(FileError, match=sentence):
            resume(file, lasso())
        assert file.read_bytes() == contents
    for kind, sentence in (
        (replace(files.CHECKPOINT, version=5), "format 5, of another version of rcmd; expected"),
        (replace(files.CHECKPOINT, version=2), "format 2, of another version of rcmd; expected"),
        (replace(files.CHECKPOINT, word="result"), "is not a checkpoint of rcmd"),
    ):
        write_file(file, tree, kind)
        with pytest.raises(FileError, match=sentence):
            resume(file, lasso())


def test_a_state_of_another_shape_is_refused(file: Path) -> None:
    tree = read_file(file)
    for change in (
        lambda run: run["progress"].pop("_plain"),
        lambda run: run["progress"]["_plain"].update(sampler={}),
        lambda run: run["history"].pop("gap"),
    ):
        spoilt = deepcopy(tree)
        change(spoilt["run"])
        write_file(file, spoilt)
        with pytest.raises(FileError, match="does not hold the state of such a run"):
            resume(file, lasso())


def test_headers_that_ask_for_more_or_less_than_there_is_are_refused(file: Path) -> None:
    """No memory is asked for before the sizes agree, and nothing is unpickled."""
    floats, objects = np.zeros(3), np.zeros(3, dtype=object)
    for array, shape in ((floats, b"(99999999999999,)"), (objects, b"(3,)"), (floats, b"(2,)")):
        member = io.BytesIO()
        np.lib.format.write_array(member, array)
        lie = member.getvalue().replace(b"(3,)", shape)
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(
                files.TREE, json.dumps(["checkpoint", files.CHECKPOINT.version, {"array": 0}])
            )
            archive.writestr("0.npy", lie)
        with pytest.raises(FileError, match="damaged"):
            read_file(file)


# Nothing is overwritten.


def test_existing_files_are_refused_before_work(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match=r"holds a run of .* s; continue it by rcmd.resume"):
        iterate(lasso(), checkpoint=file)
    for contents in (b"my thesis", before[:-5]):
        file.write_bytes(contents)
        with pytest.raises(FileExistsError, match="not a whole checkpoint of rcmd; expected a new"):
            iterate(lasso(), checkpoint=file)
        assert file.read_bytes() == contents


def test_a_file_that_appears_meanwhile_is_left_alone(begun: Run) -> None:
    path = file_of(begun)
    path.unlink()
    path.write_bytes(b"another program's")
    with pytest.warns(RuntimeWarning, match="another program has written a file of that name"):
        list(begun)
    assert path.read_bytes() == b"another program's"


@pytest.mark.parametrize("name", ["missing/run.ckpt", "file/run.ckpt", ""])
def test_a_folder_that_takes_no_files_is_refused_before_work(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match=r"checkpoint .* (cannot be written|exists)"):
        iterate(lasso(), checkpoint=tmp_path / name)


def test_a_disk_that_is_full_from_the_start_is_refused_before_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch)
    run = iterate(lasso(), **OPTIONS, checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(OSError, match="No space left"):
        next(run)
    assert run.progress.iteration == 0
    assert not list(tmp_path.iterdir())


# Faults on the way.


def fill_disk(patch: pytest.MonkeyPatch) -> None:
    """The text fits, the arrays do not."""

    def write(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(files.np.lib.format, "write_array", write)


def test_a_full_disk_stops_neither_the_run_nor_its_result(
    begun: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_of(begun)
    with monkeypatch.context() as full:
        fill_disk(full)
        with pytest.warns(RuntimeWarning, match="No space left") as warned:
            list(begun)
    assert len(warned) == 1
    assert f"the checkpoint {path} is not up to date" in begun.result().note
    whole = solve(lasso(), **OPTIONS)
    assert lines(begun.result().history) == lines(whole.history)
    assert [entry.name for entry in path.parent.iterdir()] == ["run.ckpt"]  # the old one, intact
    assert lines(resume(path, lasso()).history) == lines(whole.history)


def test_a_disk_that_has_room_again_is_used_again(
    begun: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        fill_disk(full)
        with pytest.warns(RuntimeWarning):
            next(begun)
        assert "not up to date" in begun.result().note
    list(begun)
    assert "not up to date" not in begun.result().note


def test_a_folder_removed_on_the_way_stops_nothing(begun: Run) -> None:
    shutil.rmtree(file_of(begun).parent)
    with pytest.warns(RuntimeWarning, match="No such file or directory"):
        list(begun)
    assert lines(begun.result().history) == lines(solve(lasso(), **OPTIONS).history)


def test_a_read_only_disk_on_the_way_stops_nothing(
    begun: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = file_of(begun).read_bytes()

    def replace(*paths: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", replace)
    with pytest.warns(RuntimeWarning, match="Read-only file system"):
        list(begun)
    assert file_of(begun).read_bytes() == old
    assert begun.stop is StopReason.ITERATIONS


# The problem and the options of the run.


def test_a_fingerprint_is_of_the_contents_alone(tmp_path: Path) -> None:
    X = np.arange(12.0).reshape(4, 3)
    rows = []
    for name, data in (("one", X), ("two", X), ("other", X + 1)):
        with RowsWriter(tmp_path / name) as writer:
            writer.append(data, np.zeros(4))
        rows.append(open_rows(tmp_path / name).X)
    rows[0].matvec(np.ones(3))  # which leaves rows in memory
    rows[0].row(2)
    assert fingerprint(rows[0]) == fingerprint(rows[1]) != fingerprint(rows[2])
    assert fingerprint(as_rows(X)) == fingerprint(as_rows(np.asfortranarray(X)))
    operators = [as_rows(aslinearoperator(data)) for data in (X, X + 1)]
    assert fingerprint(operators[0]) != fingerprint(operators[1])


def test_the_code_of_other_classes_counts() -> None:
    def loss(power: int) -> Any:
        @dataclass(frozen=True)
        class Mine(LeastSquares):
            def value(self, s: Any, y: Any) -> Any:
                return (s - y) ** power

        return Mine()

    assert fingerprint(loss(2)) == fingerprint(loss(2)) != fingerprint(loss(4))


def test_another_problem_is_refused(file: Path) -> None:
    X, y = np.arange(6.0).reshape(3, 2), [1.0, 0.0, 2.0]
    made = Problem(X, y, LeastSquares(), L1Ball(1.0))
    path = file.with_name("other.ckpt")
    solve(made, tol=0.0, max_iterations=5, checkpoint=path)
    for other, part in (
        (Problem(X + 1e-15, y, LeastSquares(), L1Ball(1.0)), "X differs"),
        (Problem(X, y[::-1], LeastSquares(), L1Ball(1.0)), "y differs"),
        (Problem(X, y, LeastSquares(), L1Ball(2.0)), "oracle differs"),
        (Problem(X, y, LeastSquares(), L1Ball(1.0), weights=[1.0, 2.0, 1.0]), "weights"),
        (lasso(), "X and y and loss and oracle differ;"),
    ):
        with pytest.raises(ValueError, match=f"problem is not that of .*: {part}"):
            resume(path, other)
    with pytest.raises(TypeError, match="expected a Problem"):
        resume(path, X)  # type: ignore[arg-type]
    assert resume(path, made, max_iterations=9).nit == 9


def test_larger_budgets_lead_where_one_run_would_have_led(tmp_path: Path) -> None:
    for number, (first, more) in enumerate(
        (
            ({"max_iterations": 13}, {"max_iterations": 60}),
            ({"max_gradients": 31}, {"max_gradients": 120}),
            ({"max_seconds": 1e-9, "max_iterations": 60}, {"max_seconds": None}),
        )
    ):
        path = tmp_path / str(number)
        options: dict[str, Any] = {"tol": 0.0, "batch": 2}
        early = solve(lasso(), **options, **first, checkpoint=path)
        late = resume(path, lasso(), **more)
        assert early.nit < late.nit == 60
        whole = solve(lasso(), **options, max_iterations=60)
        assert lines(late.history) == lines(whole.history)
        assert (np.diff(late.history.column("seconds")) >= 0).all()


def test_a_run_that_ended_is_as_it_was(tmp_path: Path) -> None:
    for name, options in {
        "tolerance": {"tol": 1e-3},
        "iterations": {"tol": 0.0, "max_iterations": 17},
        "rounds": {"tol": 1e-15, "max_gradients": 900},
    }.items():
        path = tmp_path / name
        first = solve(lasso(), **options, checkpoint=path)  # type: ignore[arg-type]
        again = resume(path, lasso())
        assert again.stop is first.stop
        assert lines(again.history) == lines(first.history)
        assert again.beta.tobytes() == first.beta.tobytes()


def test_a_smaller_tolerance_goes_on(new: Path) -> None:
    first = solve(lasso(), tol=1e-1, checkpoint=new)
    more = resume(new, lasso(), tol=1e-10)
    assert more.success
    assert more.gap <= 1e-10 < first.gap
    assert lines(more.history)[: len(first.history)] == lines(first.history)


def test_a_smaller_tolerance_turns_to_corrections_at_once(new: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 6)) * (rng.random((24, 6)) < 0.7)
    y = X @ rng.standard_normal(6) + 0.3 * rng.standard_normal(24)
    problem = Problem(X, y, "huber:0.3", "l2:0.75")
    method = Corrected(RCMD(batch=1))
    first = solve(problem, method=method, tol=1e-2, checkpoint=new)
    assert first.history[-1].phase == "plain"
    more = resume(new, problem, tol=1e-10)
    direct = solve(problem, method=method, tol=1e-10)
    assert [record.phase for record in more.history] == [r.phase for r in direct.history]
    assert more.beta.tobytes() == direct.beta.tobytes()


def test_corrections_may_begin_with_a_tolerance(new: Path) -> None:
    solve(lasso(), tol=0.0, max_iterations=30, checkpoint=new)
    more = resume(new, lasso(), tol=1e-10, max_iterations=None)
    assert more.success
    assert more.history[-1].phase == "corrective"


@pytest.mark.parametrize("seed", [7, np.random.default_rng(7)])
def test_the_seed_is_told_again(seed: Any, new: Path) -> None:
    first = solve(lasso(), **OPTIONS, seed=seed, checkpoint=new)
    more = resume(new, lasso(), max_iterations=80)
    assert more.options == first.options
    whole = solve(lasso(), **{**OPTIONS, "max_iterations": 80}, seed=7)
    assert lines(more.history) == lines(whole.history)


def test_budgets_that_are_none_are_refused(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(ValueError, match="max_iterations is 0; expected a positive whole number"):
        resume(file, lasso(), max_iterations=0)
    with pytest.raises(ValueError, match="every is -1; expected seconds between two saves"):
        resume(file, lasso(), every=-1)
    assert file.read_bytes() == before


def test_only_some_options_may_change(file: Path) -> None:
    with pytest.raises(TypeError, match=r"resume\(\) got an unexpected keyword argument 'seed'"):
        resume(file, lasso(), seed=1)
    assert resume(file, lasso(), tol=None, every=None).stop is StopReason.ITERATIONS  # as before


def test_a_path_has_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="checkpoint is given to path; expected None: it holds"):
        path(lasso(), [1.0, 2.0], checkpoint=tmp_path / "run.ckpt")


class MySampler(Stateful):
    """Batches in turn."""

    changing = ("turn",)

    def __init__(self) -> None:
        self.batch, self.turn = 1, 0

    def draw(self, steps: int) -> Any:
        self.turn += steps
        return np.arange(self.turn - steps, self.turn).reshape(-1, 1) % 20


def test_objects_of_other_classes_are_given_again(new: Path) -> None:
    solve(lasso(), tol=0.0, max_iterations=10, method=RCMD(sampler=MySampler()), checkpoint=new)
    with pytest.raises(ValueError, match="method is missing; expected the one that"):
        resume(new, lasso())
    more = resume(new, lasso(), method=RCMD(sampler=MySampler()), max_iterations=30)
    whole = solve(lasso(), tol=0.0, max_iterations=30, method=RCMD(sampler=MySampler()))
    assert lines(more.history) == lines(whole.history)


def test_other_parts_are_refused(file: Path) -> None:
    from rcmd.methods import FrankWolfe
    from rcmd.model.schedules import SublinearSchedule

    for method in (
        FrankWolfe(), RCMD(schedule=SublinearSchedule(3.0)), RCMD(sampler=MySampler()),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"not that of the checkpoint's run; expected"):
            resume(file, lasso(), method=method)


@dataclass(frozen=True)
class Forgetful(LinearMinOracle):
    """Remembers, and does not tell."""

    def argmin(self, c: Any) -> DenseAtom:
        return DenseAtom(-np.sign(c))

    def minimum(self, c: Any) -> Any:
        return -abs(c).sum()

    def violation(self, beta: Any) -> Any:
        return max(abs(beta).max() - 1, 0.0)

    def reset(self) -> None:
        pass


def test_what_no_checkpoint_can_hold_is_refused_before_work(tmp_path: Path) -> None:
    run = iterate(problem("logistic", Forgetful()), checkpoint=tmp_path / "run.ckpt")
    with pytest.raises(CannotSave, match=r"has a reset\(\) of its own but no state\(\)"):
        next(run)
    with open(os.devnull) as stream:
        for thing, name in ((stream, "TextIOWrapper"), (os, "module"), (object(), "object")):
            sampler = MySampler()
            sampler.turn = thing  # type: ignore[assignment]
            run = iterate(lasso(), method=RCMD(sampler=sampler), checkpoint=tmp_path / "run.ckpt")
            with pytest.raises(CannotSave, match=f"sampler.turn is of type {name}, which no"):
                next(run)
    assert not list(tmp_path.iterdir())


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    array, matrix = np.arange(6.0).reshape(2, 3), LowRank((2, 3))
    matrix.add(2.0, np.ones(2), np.arange(3.0))
    value = [
        None, True, 3, -0.0, float("inf"), "β", np.float64(0.1), Fraction(1, 3), (1, [2.0]),
        {"a": array}, array, np.asfortranarray(array), array[:, ::2], np.zeros((0, 4)),
        np.array(2.5), np.array([Fraction(1, 7)]), 2**200, np.arange(3) > 1,
        SparseAtom((1,), (Fraction(1, 2),)), DenseAtom(array[0]), RankOneAtom(array[0], array[1]),
        csr_array(array), matrix, np.random.default_rng(0).bit_generator.state,
    ]  # fmt: skip
    write_file(tmp_path / "it", value)
    back = read_file(tmp_path / "it")
    assert repr(back) == repr(value)
    assert back[11].flags.f_contiguous
    assert back[-2].to_array().tolist() == matrix.to_array().tolist()


def test_a_frozen_array_stays_frozen(file: Path) -> None:
    run = reopen(file, lasso(), max_iterations=60)
    assert not run.result().beta.flags.writeable
    assert run.saver is not None
    assert run.saver.every == 30.0
