"""Many seeds in several processes: the same numbers, statistics, faults, nobody left behind."""

import json
import os
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

from rcmd import (
    RCMD,
    L1Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    certify,
    iterate,
    replicate,
    solve,
    sweep,
)
from rcmd.cli.main import main
from rcmd.datasets import RowsWriter, make_classification, open_rows
from rcmd.engine.sampling import Replay
from rcmd.methods import FrankWolfe
from rcmd.model.bounds import Bound
from rcmd.model.schedules import SublinearSchedule
from rcmd.reporting.progress import one_thread
from rcmd.theory import parallel
from rcmd.theory.parallel import RunFailed, run_each
from rcmd.theory.replicates import student_intervals

joblib = pytest.importorskip("joblib")

FIXED = {"batch": 5, "tol": 0.0, "max_iterations": 120, "record_at": [10, 40, 120]}


def quiet(text):
    """No progress."""


@pytest.fixture(scope="module")
def problem():
    return Problem(*make_classification(200, 20, density=1, rng=0), Logistic(), L1Ball(5.0))


def same(one, other):
    assert one.stop is other.stop
    assert np.array_equal(one.beta, other.beta)
    assert np.array_equal(one.w, other.w)
    for mine, theirs in zip(one.history, other.history, strict=True):
        for name in ("iteration", "gradients", "primal", "dual", "gap", "bound"):
            assert getattr(mine, name) == getattr(theirs, name)


def test_results_are_those_of_single_runs_for_any_number_of_processes(problem):
    seeds = [4, 0, 9]
    with one_thread():
        alone = [solve(problem, seed=seed, **FIXED) for seed in seeds]
    for jobs in (1, 2):
        runs = replicate(problem, seeds, n_jobs=jobs, tell=quiet, **FIXED)
        assert runs.seeds == (4, 0, 9)
        assert len(runs) == 3
        for mine, theirs in zip(runs, alone, strict=True):
            same(mine, theirs)
    assert not np.array_equal(alone[0].beta, alone[1].beta)


def test_statistics(problem):
    runs = replicate(problem, range(4), tell=quiet, **FIXED)
    gaps = np.array([[row.gap for row in result.history] for result in runs])
    assert runs.iterations.tolist() == [10, 40, 120]
    assert np.array_equal(runs.column(), gaps)
    assert np.array_equal(runs.mean(), gaps.mean(axis=0))
    assert np.array_equal(runs.quantiles([0.5]), [np.median(gaps, axis=0)])
    assert np.array_equal(runs.mean("gradients"), [50, 200, 600])
    assert str(runs).startswith("4 runs, 0 of them to the tolerance; certified gap ")


def test_only_records_that_all_reached_count(problem):
    options = {"batch": 5, "tol": 0.5, "record_at": range(10, 500, 10), "method": "rcmd"}
    runs = replicate(problem, range(6), tell=quiet, **options)
    lengths = [len(result.history) for result in runs]
    assert len(set(lengths)) > 1
    assert len(runs.iterations) == min(lengths) == runs.column().shape[1]


def test_corrections_are_no_records_of_the_algorithm(problem):
    fixed = {"batch": 50, "tol": 1e-6, "record_at": [5, 10]}
    runs = replicate(problem, range(2), tell=quiet, method="corrected", **fixed)
    for result in runs:
        assert [row.phase for row in result.history[:2]] == ["plain", "corrective"]
    assert runs.iterations.tolist() == [5]
    assert runs.column().shape == (2, 1)
    plain = replicate(problem, range(2), tell=quiet, max_iterations=20, **fixed)
    assert {row.phase for result in plain for row in result.history} == {"plain"}


def test_a_figure_has_every_run_their_mean_and_the_bound(problem):
    runs = replicate(problem, range(4), tell=quiet, **FIXED)
    (axes,) = runs.plot().axes
    *each, mean, low, high, bound = (np.array(line.get_xydata()) for line in axes.get_lines())
    passes = runs.column("gradients")[0] / problem.n
    gaps = runs.column("pair_gap")
    assert len(each) == 4
    for drawn, right in zip(
        [*each, mean, low, high, bound],
        [*gaps, gaps.mean(axis=0), *np.quantile(gaps, (0.1, 0.9), axis=0), runs.column("bound")[0]],
        strict=True,
    ):
        assert drawn == pytest.approx(np.column_stack([passes, right]))
    others = replicate(problem, range(2), tell=quiet, max_iterations=30, method=FrankWolfe())
    (axes,) = others.plot().axes
    *_, mean, low, high = (line.get_ydata() for line in axes.get_lines())
    assert list(mean) == pytest.approx(others.mean("gap"))
    assert axes.get_ylabel() == "certified gap, 2 runs"
    assert repr(others) == f"Replicates({others})"


def test_a_figure_has_the_bounds_of_the_user(problem):
    """A dashed curve for each, named, beside the theorem's, or alone where no theorem holds."""
    mine = Bound("mine $", value=lambda c, k: 3.0 / (k + 1))
    apart = Bound("not of these", value=lambda c, k: 1.0, schedule="linear")
    runs = replicate(problem, range(3), tell=quiet, bounds=[mine, apart], **FIXED)
    figure = runs.plot()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["mean", "10 % and 90 %", "bound on the mean", r"mine \$, claimed"]
    *_, theorem, own = figure.axes[0].get_lines()
    passes = runs.column("gradients")[0] / problem.n
    assert theorem.get_ydata() == pytest.approx(runs.column("bound")[0])
    assert own.get_xydata() == pytest.approx(
        np.column_stack([passes, 3.0 / runs.iterations]), rel=1e-12
    )
    assert own.get_linestyle() == theorem.get_linestyle() == "--"
    walk = Bound("walk", value=lambda c, k: 1.0 / k, schedule=FrankWolfe)
    others = replicate(
        problem, range(2), tell=quiet, max_iterations=30, method=FrankWolfe(), bounds=[walk]
    )
    figure = others.plot()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["mean", "10 % and 90 %", "walk, claimed"]
    assert figure.axes[0].get_lines()[-1].get_ydata() == pytest.approx(1.0 / others.iterations)


# ---- the theorem's bound ------------------------------------------------------------------------


def test_intervals_are_students():
    gaps = np.random.default_rng(0).gamma(2.0, size=(12, 3))
    found = student_intervals(np.arange(3), gaps, np.array([9.0, 2.0, 0.1]), confidence=0.9)
    for k in range(3):
        low, high = scipy.stats.t.interval(
            1 - 0.1 / 3, 11, loc=gaps[:, k].mean(), scale=scipy.stats.sem(gaps[:, k])
        )
        assert found.lower[k] == pytest.approx(max(low, 0.0))
        assert found.upper[k] == pytest.approx(high)
    assert found.verdicts == ["below", "open", "above"]
    assert (found.holds, found.violated) == (False, True)
    assert "above" in str(found)
    assert "(all intervals together: 90%)" in str(found)


def test_intervals_contain_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        gaps = rng.gamma(4.0, size=(20, 4))
        found = student_intervals(np.arange(4), gaps, np.ones(4), confidence=0.9)
        inside += bool(((found.lower <= 4.0) & (found.upper >= 4.0)).all())
    # Binomial(400, 0.9) is below 336 with probability 2e-5; skewness costs some.
    assert inside >= 336


@pytest.mark.parametrize("oracle", [L1Ball(5.0), Ridge(0.1)], ids=["3.1", "3.2"])
def test_expected_gaps_are_below_the_bound(oracle):
    problem = Problem(*make_classification(60, 8, density=1, rng=0), Logistic(), oracle)
    options = {**FIXED, "method": "rcmd"}
    runs = replicate(problem, range(10), tell=quiet, **options)
    found = runs.against_bound()
    assert found.holds
    assert found.bound.tolist() == runs[0].history.column("bound").tolist()
    # The pair that the theorem is about, not the best one seen.
    state = list(iterate(problem, seed=3, **options))[-1]
    w = state.w_average if isinstance(oracle, L1Ball) else state.w
    pair_gap = runs.column("pair_gap")[3][-1]
    assert pair_gap == pytest.approx(certify(problem, state.beta_average, w).gap, rel=1e-9)
    assert pair_gap >= runs[3].gap - 1e-15


def test_claims_are_judged_beside_the_mean_gap(problem):
    """A claim at half the mean is refuted, one at twice the mean is not."""
    first = replicate(problem, range(6), tell=quiet, **FIXED)
    means = dict(zip(first.iterations.tolist(), first.mean("pair_gap").tolist(), strict=True))

    def times(factor):
        return lambda constants, k: factor * means.get(k + 1, 1.0)

    claims = [Bound("half", value=times(0.5)), Bound("twice", value=times(2.0))]
    claims += [Bound("near", value=times(1.01))]
    runs = replicate(problem, range(6), tell=quiet, bounds=claims, **FIXED)
    half, twice, near = (runs.against_bound(name=claim.name) for claim in claims)
    assert half.mean.tolist() == twice.mean.tolist() == first.mean("pair_gap").tolist()
    assert half.violated
    assert not twice.violated
    assert not near.violated
    assert not near.holds
    assert str(half).splitlines()[-1].startswith("'half', claimed, is broken at 95%: in 6 runs the")
    assert "claimed, stays open" in near.summary()
    assert "'bound', proved, holds" in runs.against_bound().summary()
    with pytest.raises(
        ValueError, match="no bound of these runs is named 'gap'; expected one of b"
    ):
        runs.against_bound(name="gap")


def test_no_bound_no_comparison(problem):
    two = replicate(problem, range(2), tell=quiet, max_iterations=3, method=FrankWolfe())
    with pytest.raises(ValueError, match="no theorem bounds these runs; expected the paper's own"):
        two.against_bound()
    one = replicate(problem, [0], tell=quiet, **FIXED)
    with pytest.raises(ValueError, match="there is 1 run; expected at least 2 to estimate their"):
        one.against_bound()
    three = replicate(problem, range(3), tell=quiet, **FIXED)
    with pytest.raises(ValueError, match=r"confidence is 95; expected a number between 0 and 1"):
        three.against_bound(95)


# ---- sweeps and bad input -----------------------------------------------------------------------


def test_sweep(problem):
    other = problem.with_oracle(L1Ball(1.0))
    cases = {"plain": problem, "small": other, "batch 20": (problem, {"batch": 20})}
    found = sweep(cases, [1, 2], n_jobs=2, tell=quiet, **FIXED)
    assert list(found) == list(cases)
    with one_thread():
        same(found["plain"][1], solve(problem, seed=2, **FIXED))
        same(found["small"][1], solve(other, seed=2, **FIXED))
        same(found["batch 20"][1], solve(problem, seed=2, **FIXED | {"batch": 20}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": []}, "seeds are empty; expected different whole numbers from 0 on"),
        ({"seeds": [0.5]}, r"seeds hold 0\.5; expected different whole numbers"),
        ({"seeds": [3, -1]}, "seeds hold -1; expected different whole numbers from 0 on"),
        ({"method": RCMD(sampler=Replay([[0]]))}, "sampler given for all"),
        ({"checkpoint": "x"}, "checkpoint given for all runs together"),
        ({"record_at": iter([1])}, "which one run would use up; expected a list or a range"),
        ({"batch": 1000}, "batch is 1000; expected between 1 and n = 200"),
        ({"method": 3}, "method is 3; expected a Method"),
    ],
)
def test_bad_input_is_refused_before_work_starts(problem, monkeypatch, change, message):
    monkeypatch.setattr("rcmd.theory.replicates._run", lambda *_: pytest.fail("it ran"))
    with pytest.raises((ValueError, TypeError), match=message):
        replicate(problem, **({"tell": quiet} | change))


def test_without_joblib(problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert len(replicate(problem, [0], tell=quiet, **FIXED)) == 1
    with pytest.raises(ImportError, match=r"2 runs at a time need joblib: pip install 'rcmd-opt\["):
        replicate(problem, range(3), n_jobs=2, tell=quiet, **FIXED)


# ---- the machinery ------------------------------------------------------------------------------


def test_order_and_progress():
    told = []

    def sleepy(seconds):
        time.sleep(seconds)
        return seconds

    tasks = [(0.3,), (0.0,), (0.1,)]
    assert run_each(sleepy, tasks, "abc", jobs=2, tell=told.append) == [0.3, 0.0, 0.1]
    assert told[0] == "0 of 3 done; a, b"
    assert told[1].startswith("1 of 3 done, about ")
    assert told[-1] == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_run_says_its_seed(problem, jobs):
    schedule = FailsLater(problem.constants(5).blocks)
    cases = {"good": problem, "bad": (problem, {"method": RCMD(schedule=schedule)})}
    with pytest.raises(RunFailed, match=r"^bad seed 2 failed: ZeroDivisionError: on purpose$"):
        sweep(cases, [2], n_jobs=jobs, tell=quiet, **FIXED)


class FailsLater(SublinearSchedule):
    """A schedule that fails once the run is under way."""

    def table(self, start, stop, base):
        if start > 0:
            raise ZeroDivisionError("on purpose")
        return super().table(start, stop, base)


def ends_its_process(place):
    if place == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.5)


def test_a_killed_worker_is_said():
    with pytest.raises(RunFailed, match=r"a process was ended from outside, .* one of these: .*b"):
        run_each(ends_its_process, [(0,), (1,)], ["a", "b"], jobs=2)


def where_the_data_are(problem):
    arrays = [problem.rows.matrix.data, problem.rows.matrix.indices, problem.losses.y]
    return [type(array).__name__ for array in arrays], os.getpid()


def test_processes_share_the_data():
    n, rng = 150_000, np.random.default_rng(0)
    columns = np.arange(4 * n, dtype=np.int32) % 1000  # each row has four of its own
    offsets = np.arange(0, 4 * n + 1, 4, dtype=np.int32)
    X = sp.csr_array((rng.random(4 * n), columns, offsets), shape=(n, 1000))
    problem = Problem(X, rng.random(n), LeastSquares(), L1Ball(1.0))
    found = run_each(where_the_data_are, [(problem,)] * 4, "abcd", jobs=2)
    assert {tuple(kinds) for kinds, _ in found} == {("memmap",) * 3}
    assert os.getpid() not in {process for _, process in found}


def test_rows_on_disk_stay_there(tmp_path):
    X, y = make_classification(100, 10, density=0.5, rng=0)
    with RowsWriter(tmp_path / "some.rows") as writer:
        writer.append(X, y)
    problem = Problem(*open_rows(tmp_path / "some.rows"), Logistic(), L1Ball(5.0))
    options = {**FIXED, "max_iterations": 40}
    one, two = (replicate(problem, [0, 1], n_jobs=jobs, tell=quiet, **options) for jobs in (1, 2))
    for mine, theirs in zip(one, two, strict=True):
        same(mine, theirs)


SCRIPT = """
from dataclasses import dataclass
import numpy as np
from rcmd import L1Ball, Problem, SeparableConjugate
from rcmd import replicate

@dataclass(frozen=True)
class QuarterSquare(SeparableConjugate):
    gamma = 0.5

    def value(self, s, y):
        return (s - y) * (s - y) / 4.0

    def derivative(self, s, y):
        return (s - y) / 2.0

    def conjugate(self, w, y):
        return w * (w + y)

    def conjugate_derivative(self, w, y):
        return 2.0 * w + y

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    expression = SeparableConjugate.from_expression("log(cosh(s - y))")
    for loss in (QuarterSquare(), expression):
        problem = Problem(X, y, loss, L1Ball(1.0))
        one, two = (
            replicate(problem, [0, 1], n_jobs=jobs, batch=4, tol=0, max_iterations=30)
            for jobs in (1, 2)
        )
        print([np.array_equal(a.beta, b.beta) for a, b in zip(one, two)], len(one[0].history))
"""


def test_losses_of_a_script_and_of_expressions(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    answer = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert answer.stderr == ""
    lines = answer.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("[True, True]") for line in lines)


ENDLESS = """
import numpy as np
from rcmd import L1Ball, LeastSquares, Problem
from rcmd import replicate

if __name__ == "__main__":
    problem = Problem(np.eye(50), np.ones(50), LeastSquares(), L1Ball(1.0))
    replicate(problem, range(4), n_jobs=2, tol=0.0, max_iterations=10**13, record_at=[10**13],
              tell=lambda text: print(text, flush=True))
"""


def processes_of(session):
    """Everybody in the session but zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = path.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        state, _, _, number = rest.split()[:4]
        if int(number) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc to look for processes")
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)],
    ids=["Ctrl-C", "killed"],
)
def test_nobody_is_left_behind(tmp_path, number):
    script = tmp_path / "script.py"
    script.write_text(ENDLESS)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, script], start_new_session=True, **pipes) as process:
        assert process.stdout.readline() == b"0 of 4 done; seed 0, seed 1\n"
        deadline = time.monotonic() + 60
        while len(processes_of(process.pid)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)  # itself, two workers and joblib's own
        time.sleep(0.5)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
            assert b"KeyboardInterrupt" in process.communicate(timeout=60)[1]
        else:
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        while processes_of(process.pid) and time.monotonic() < deadline + 60:
            time.sleep(0.05)
        assert processes_of(process.pid) == []


def test_command(tmp_path, capsys):
    report = tmp_path / "report.json"
    words = ["replicate", "--seeds", "4", "--passes", "2", "--seed", "3", "--json", str(report)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.count(" below") > 3
    assert " above" not in out.split("Student")[0]
    rows = json.loads(report.read_text())["sections"][0]["rows"]
    again = Problem(*make_classification(rng=3), Logistic(), L1Ball(5.0))
    options = {"batch": 0.01, "tol": 0.0, "max_gradients": 800, "method": "rcmd"}
    runs = replicate(again, range(3, 7), tell=quiet, **options)
    assert [row["mean"] for row in rows] == runs.against_bound().mean.tolist()
    for option, message in (
        (["--seeds", "1"], "--seeds is 1; expected at least 2"),
        (["--passes", "-1"], "--passes is -1.0; expected a number above 0"),
    ):
        assert main(["replicate", *option]) == 2
        assert message in capsys.readouterr().err


def test_the_watch_is_what_ends_the_others(monkeypatch):
    """The planted fault: a parent that is gone, and an end that can be seen."""
    ended = queue.Queue()
    monkeypatch.setattr("os._exit", ended.put)
    monkeypatch.setattr("os.getppid", lambda: 1)
    parallel._end_with_parent(7)
    assert ended.get(timeout=30) == 1


def test_a_sweep_draws_every_case_and_its_bound_where_all_have_one():
    pytest.importorskip("matplotlib")
    task = Problem(*make_classification(40, 5, rng=0), Logistic(), L1Ball(4.0))
    cases = {"batch 1": (task, {"batch": 1}), "full": (task, {"batch": 1.0})}
    found = sweep(cases, range(3), tol=0.0, max_gradients=400)
    assert repr(found) == "Sweep('batch 1', 'full')"
    assert "<pre" in found._repr_html_()
    assert "<pre" in found["full"]._repr_html_()
    (axes,) = found.plot().axes
    curves = axes.get_lines()
    assert [line.get_linestyle() for line in curves] == ["-", "--"] * 2
    for runs, (mean, bound) in zip(found.values(), (curves[:2], curves[2:]), strict=True):
        assert mean.get_ydata() == pytest.approx(runs.mean("pair_gap").astype(float))
        assert bound.get_ydata() == pytest.approx(runs.mean("bound").astype(float))
        assert mean.get_color() == bound.get_color()
    unbounded = sweep(cases | {"fw": (task, {"method": "fw"})}, range(2), max_gradients=400)
    assert [line.get_linestyle() for line in unbounded.plot().axes[0].get_lines()] == ["-"] * 3
