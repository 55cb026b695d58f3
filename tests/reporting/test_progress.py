"""Progress lines: estimates that are exact where the gap behaves, and silence off a terminal."""

import io
import math
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest
from small_problems import problem
from threadpoolctl import threadpool_info

from rcmd import solve
from rcmd.cli.main import main
from rcmd.lab.bench.timing import add_timed
from rcmd.reporting.progress import RunProgress, one_thread, seconds_left, tell_on_terminal
from rcmd.reporting.tables import Section
from rcmd.solver.history import Record
from rcmd.solver.run import Budgets


class Terminal(io.StringIO):
    def isatty(self):
        return True


def row(gradients, gap, seconds, phase="plain"):
    return Record(gradients, gradients, gradients, seconds, 1.0, 1.0 - gap, gap, gap, 1.0, phase)


FREE = Budgets(None, None, math.inf, n=10)


def budgets(**limits):
    return Budgets(None, limits.get("gradients"), limits.get("seconds"), n=10)


@pytest.mark.parametrize("exponent", [-0.5, -1.0, -2.0])
def test_powers_go_on_as_powers(exponent):
    rows = [row(g, 8.0 * g**exponent, 0.5 + 0.01 * g) for g in (100, 125, 160, 200)]
    end = (1e-5 / 8.0) ** (1 / exponent)
    assert seconds_left(rows, 1e-5, FREE) == pytest.approx(0.01 * (end - 200))


def test_corrections_go_on_geometrically():
    plain = [row(100, 1.0, 1.0), row(200, 0.9, 2.0)]
    rounds = [row(200 + 50 * k, 0.1**k, 2.0 + k, "corrective") for k in (1, 2, 3)]
    left = seconds_left([*plain, *rounds], 1e-6, FREE)
    pace = 4.0 / 250  # seconds a gradient since the first row
    assert left == pytest.approx(150 * pace)


def test_budgets_end_a_run_before_its_tolerance():
    rows = [row(g, 8.0 / g, 0.01 * g) for g in (100, 200)]
    assert seconds_left(rows, 1e-9, budgets(gradients=1200)) == pytest.approx(10.0)
    assert seconds_left(rows, 1e-9, budgets(seconds=5.0)) == pytest.approx(3.0)
    assert seconds_left(rows, 0.0, FREE) is None
    assert seconds_left(rows[:1], 1e-3, FREE) is None


def test_gaps_that_rise_stand_still_or_are_infinite_give_no_estimate():
    for gaps in ((1.0, 2.0), (1.0, 1.0), (math.inf, 1.0)):
        rows = [row(100, gaps[0], 1.0), row(200, gaps[1], 2.0)]
        assert seconds_left(rows, 1e-3, FREE) is None
    assert seconds_left([row(100, 1.0, 1.0), row(200, 0.0, 2.0)], 0.0, FREE) == 0.0


def test_a_run_is_told_with_its_gap_and_the_time_left():
    told = []
    task = problem("logistic", "l1-ball", n=20)
    result = solve(
        task, tol=1e-3, batch=2, method="rcmd", callbacks=[RunProgress(1e-3, FREE, told.append)]
    )
    assert len(told) == len(result.history)
    assert told[-1].startswith(f"gap {float(result.gap):.2e} (to reach: 1e-03), ")
    assert f"{result.history[-1].gradients:,} gradients" in told[-1]
    assert told[-1].endswith(", about 0.0 s left")


def test_the_time_left_is_told_from_the_last_records():
    """A run that was slow at first, as while compiling, is judged by how it goes now."""
    told = []
    rows = [row(g, 8.0 / g, 100.0 + 0.01 * g if g > 100 else 0.0) for g in range(100, 1100, 100)]
    progress = RunProgress(1e-3, FREE, told.append)
    for each in rows:
        progress(SimpleNamespace(record=lambda each=each: each))
    assert seconds_left(rows[-6:], 1e-3, FREE) == pytest.approx(70.0)
    assert told[-1].endswith(", 1 min 50 s, about 1 min 10 s left")


def test_all_packages_have_one_thread_and_then_what_they_had(monkeypatch):
    set_to = []
    monkeypatch.setattr("numba.get_num_threads", lambda: 3)
    monkeypatch.setattr("numba.set_num_threads", set_to.append)
    before = [pool["num_threads"] for pool in threadpool_info()]
    with suppress(ZeroDivisionError), one_thread():
        assert set_to == [1]
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
        raise ZeroDivisionError
    assert set_to == [1, 3]
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_lines_replace_each_other_and_fit_the_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "20")
    tell_on_terminal("x" * 50)
    tell_on_terminal("y" * 30, stays=True)
    tell_on_terminal("")
    shown = "x" * 19, "y" * 30 + "\n", ""
    assert sys.stderr.getvalue().split("\r\033[K") == ["", *shown]


def test_a_bench_shows_every_row_at_once(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    section = Section("s", "", [])
    for name in "ab":
        add_timed(section, [name], ["rcmd"], {}, {"rcmd": [5.0]})
        assert sys.stderr.getvalue().endswith(f"\r\033[K{name}  5 ns\n")


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "--tol", "0.3", "--json", "-"],
        ["path", "--radii", "1,2", "--tol", "0.3"],
        ["compare", "--methods", "fw", "--passes", "3", "--seeds", "1"],
    ],
)
def test_commands_tell_on_terminals_alone(capsys, monkeypatch, words):
    assert main(words) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(words) == 0
    lines = sys.stderr.getvalue().split("\r\033[K")
    assert any("gap" in line or "0 of 1 done; fw" in line for line in lines)
    assert lines[-1] == ""
    assert "\r" not in capsys.readouterr().out
