"""Ctrl-C, SIGTERM and time limits end a run at once, with its pair and a checkpoint to go on."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from planted import planted
from small_problems import lines, problem

from rcmd import (
    L1Ball,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    Result,
    State,
    StopReason,
    certify,
    iterate,
    resume,
    solve,
)
from rcmd.datasets import make_classification
from rcmd.rows.processes import Cancelled, cancellable, check_cancelled
from rcmd.solver import run as running
from rcmd.solver.checkpoint.resume import reopen
from rcmd.solver.run import Interrupts

SIGNALS = [signal.SIGINT, signal.SIGTERM]
HULL: dict[str, Any] = {"tol": 1e-12, "batch": 3}


def lasso() -> Problem:
    return problem("logistic", "l1-ball", n=40)


def ball() -> Problem:
    X, y = make_classification(n=60, p=7, rng=np.random.default_rng(1))
    return Problem(X, y, Logistic(), L2Ball(2.0))


def wide_ball() -> Problem:
    """Too wide for its Hessian: systems are solved by conjugate gradients."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 210)) * np.geomspace(1.0, 0.03, 210)
    return Problem(X, np.sign(X[:, 0] + rng.normal(size=60)), Logistic(), L2Ball(2.0))


def at_call(number: int, function: Callable[..., Any], then: Callable[[], None]) -> Any:
    """``function``, doing ``then`` first when it is called for that time."""
    calls = [0]

    def counted(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == number:
            then()
        return function(*arguments, **options)

    return counted


CANCELLABLE = (
    "rows.base",
    "methods.corrections.hull",
    "methods.corrections.ball",
    "methods.corrections.newton",
)
"""Modules whose long work ends early."""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("at", [1, 2, 9, 15])
def test_signals_between_steps(
    number: signal.Signals, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same end as undisturbed, after going on."""
    handlers = [signal.getsignal(one) for one in SIGNALS]
    options: dict[str, Any] = {"tol": 0.0, "max_iterations": 200, "batch": 3}
    run = iterate(lasso(), **options, checkpoint=tmp_path / "run.ckpt", every=1e9)
    advance = at_call(at, run.progress.advance, lambda: signal.raise_signal(number))
    monkeypatch.setattr(run.progress, "advance", advance)
    list(run)
    result = run.result()
    assert result.stop is StopReason.INTERRUPTED
    assert result.gap == certify(lasso(), result.beta, result.w).gap
    assert [signal.getsignal(one) for one in SIGNALS] == handlers
    more = resume(tmp_path / "run.ckpt", lasso())
    whole = solve(lasso(), **options)
    assert result.nit < more.nit
    assert lines(more.history) == lines(whole.history)
    assert more.beta.tobytes() == whole.beta.tobytes()


@pytest.mark.parametrize(
    ("make", "at"),
    [*product((lasso, ball), (1, 2, 3, 4, 5)), *product([wide_ball], (1, 2, 7, 20, 40))],
)
def test_signals_within_a_round_of_corrections(
    make: Callable[[], Problem], at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The round is given up, and begun anew by whoever goes on."""
    path = tmp_path / "run.ckpt"
    whole = solve(make(), **HULL)
    for module in CANCELLABLE:
        calling = at_call(at, check_cancelled, lambda: signal.raise_signal(signal.SIGTERM))
        monkeypatch.setattr(f"rcmd.{module}.check_cancelled", calling)
    result = solve(make(), **HULL, checkpoint=path, every=1e9)
    monkeypatch.undo()
    assert result.stop is StopReason.INTERRUPTED
    assert result.gap == pytest.approx(certify(make(), result.beta, result.w).gap, rel=1e-12)
    more = resume(path, make())
    assert lines(more.history) == lines(whole.history)
    assert more.beta.tobytes() == whole.beta.tobytes()


def test_interrupted_is_said_even_when_the_tolerance_is_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = iterate(lasso(), tol=1e9)
    advance = at_call(1, run.progress.advance, lambda: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(run.progress, "advance", advance)
    assert run.finish().stop is StopReason.INTERRUPTED


def ctrl_c(state: State) -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_in_a_callback_returns_what_was_found() -> None:
    result = solve(lasso(), tol=0, max_iterations=1000, callbacks=[ctrl_c])
    assert result.stop is StopReason.INTERRUPTED
    assert len(result.history) == 1


def test_a_second_interrupt_raises() -> None:
    with pytest.raises(KeyboardInterrupt):
        solve(lasso(), tol=0, max_iterations=1000, callbacks=[ctrl_c, ctrl_c])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_acts_as_usual(number: signal.Signals) -> None:
    seen: list[int] = []
    before = signal.signal(number, lambda number, frame: seen.append(number))
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(number)
            assert interrupts.requested
            assert not seen
            signal.raise_signal(number)
            assert seen == [number]
        signal.raise_signal(number)
        assert seen == [number] * 2
    finally:
        signal.signal(number, before)


def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert not interrupts.requested
    finally:
        signal.signal(signal.SIGINT, before)


def test_runs_outside_the_main_thread() -> None:
    with ThreadPoolExecutor() as pool:
        result = pool.submit(solve, lasso(), tol=0, max_iterations=20).result()
    assert lines(result.history) == lines(solve(lasso(), tol=0, max_iterations=20).history)


def test_other_threads_touch_no_handlers() -> None:
    handlers = [signal.getsignal(one) for one in SIGNALS]

    def found() -> list[Any]:
        with Interrupts():
            return [signal.getsignal(one) for one in SIGNALS]

    with ThreadPoolExecutor() as pool:
        assert pool.submit(found).result() == handlers


def test_cancellation_is_for_this_thread_and_this_work_alone() -> None:
    with cancellable(lambda: True):
        with ThreadPoolExecutor() as pool:
            pool.submit(check_cancelled).result()
        with cancellable(lambda: False):
            check_cancelled()
        with pytest.raises(Cancelled):
            check_cancelled()
    check_cancelled()


# Time, by a clock of our own.


class Clock:
    """Seconds that pass only where work is said to take time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def costs(self, seconds: float, function: Callable[..., Any]) -> Any:
        def slow(*arguments: Any, **options: Any) -> Any:
            self.now += seconds
            return function(*arguments, **options)

        return slow


def test_certificates_end_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    run = iterate(lasso(), tol=0.0, max_seconds=60.0)
    monkeypatch.setattr(run.progress, "advance", clock.costs(0.01, run.progress.advance))
    certificate = clock.costs(7.0, run._best.certificate)
    monkeypatch.setattr(run._best, "certificate", certificate)
    states = list(run)
    assert run.stop is StopReason.SECONDS
    assert 39 < states[-1].seconds < 61


@pytest.mark.parametrize("make", [lasso, wide_ball])
def test_rounds_end_within_the_limit(
    make: Callable[[], Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    for module in CANCELLABLE:
        monkeypatch.setattr(f"rcmd.{module}.check_cancelled", clock.costs(0.5, check_cancelled))
    for limit in (1.2, 2.0, 3.1):
        clock.now = 0.0
        run = iterate(make(), **HULL, max_seconds=limit)
        states = list(run)
        assert run.stop is StopReason.SECONDS
        assert limit - 0.5 <= states[-1].seconds <= limit + 0.5
        result = run.result()
        assert states[-1].gap == result.gap
        assert result.gap == pytest.approx(certify(make(), result.beta, result.w).gap, rel=1e-12)


@pytest.mark.parametrize(("n", "calls"), [(150, 300), (300, 8)], ids=["rows", "bounding box"])
def test_constants_are_found_within_the_limit(
    n: int, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M_j by oracle calls: counted, timed, and given up where they would take too long."""
    clock, rng = Clock(monkeypatch), np.random.default_rng(0)
    X, y = rng.standard_normal((n, 4)), rng.standard_normal(n)
    slow = clock.costs(1.0, lambda self, c: -2.0 * float(abs(c).max()))
    oracle = planted(L1Ball, 2.0, minimum=slow, prediction_range=LinearMinOracle.prediction_range)
    whole = solve(Problem(X, y, LeastSquares(), oracle), max_seconds=calls + 10.0, tol=1e-12)
    assert whole.nit > 0
    assert whole.history[0].seconds > calls
    assert whole.note.endswith(f"the constants M_j took {calls} calls of the oracle")
    again, file = Problem(X, y, LeastSquares(), oracle), tmp_path / "run.ckpt"
    none = solve(again, max_seconds=calls / 2, checkpoint=file)
    assert (none.stop, none.nit, len(none.history)) == (StopReason.SECONDS, 0, 1)
    assert none.history[0].seconds <= calls / 2 + 5  # one certificate
    assert none.gap >= whole.primal - none.dual > 0
    assert again.range_calls == calls / 2
    assert not file.exists()
    none.save(tmp_path / "none.rcmd")
    assert solve(again).success
    bounds = Problem(X, y, LeastSquares(), L1Ball(2.0)).prediction_bounds
    assert (again.prediction_bounds >= (1 - 1e-12) * bounds).all()


def test_time_goes_on_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    path = tmp_path / "run.ckpt"

    def until(run: Any) -> Any:
        monkeypatch.setattr(run.progress, "advance", clock.costs(1.0, run.progress.advance))
        return list(run)[-1].seconds

    options: dict[str, Any] = {"tol": 0.0, "batch": 3, "max_iterations": 10**6}
    begun = clock.now
    assert until(iterate(lasso(), **options, max_seconds=10.0, checkpoint=path)) == 10.0
    assert until(reopen(path, lasso(), max_seconds=25.0)) == 25.0 == clock.now - begun


def test_saves_keep_their_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, saved = Clock(monkeypatch), []
    options: dict[str, Any] = {"tol": 0.0, "max_iterations": 40, "record_at": [40]}
    run = iterate(lasso(), **options, checkpoint=tmp_path / "run.ckpt", every=30.0)
    assert run.saver is not None
    monkeypatch.setattr(run.progress, "advance", clock.costs(7.0, run.progress.advance))
    save = run.saver.save
    monkeypatch.setattr(run.saver, "save", lambda run: saved.append(clock.now) or save(run))
    list(run)
    assert len(saved) == 9
    assert (np.diff(saved)[:-1] == 35.0).all()


def test_slices_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_in_slices() -> tuple[Result, int]:
        run = iterate(ball(), method="rcmd", tol=0.0, max_iterations=500)
        run.progress.advance = advance = Mock(wraps=run.progress.advance)
        list(run)
        return run.result(), advance.call_count

    whole, few = run_in_slices()
    monkeypatch.setattr(running, "SLICE_SECONDS", 0.0)
    single, many = run_in_slices()
    assert few < many == 500
    assert lines(single.history) == lines(whole.history)
    assert single.beta.tobytes() == whole.beta.tobytes()
