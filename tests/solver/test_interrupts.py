"""Ctrl-C ends a run between two steps, with what was found so far."""

import signal
import threading
from typing import Any

import numpy as np
import pytest
from small_problems import lines, problem

from rcmd import (
    RCMD,
    Problem,
    Result,
    State,
    StopReason,
    certify,
    iterate,
    solve,
)
from rcmd.engine.sampling import UniformSampler


@pytest.fixture
def lasso() -> Problem:
    return problem("least-squares", "l1-ball", n=8)


class Interrupting(UniformSampler):
    """Presses Ctrl-C while the given steps are under way, twice for a step given twice."""

    def __init__(self, *at: int) -> None:
        super().__init__(8, 1, np.random.default_rng(0))
        self.at, self.drawn = at, 0

    def draw(self, steps: int) -> Any:
        self.drawn += 1
        for _ in range(self.at.count(self.drawn)):
            signal.raise_signal(signal.SIGINT)
        return super().draw(steps)


@pytest.mark.parametrize("at", [1, 2, 30])
def test_interrupted(lasso: Problem, at: int) -> None:
    handler = signal.getsignal(signal.SIGINT)
    run = iterate(lasso, tol=0, max_iterations=1000, method=RCMD(sampler=Interrupting(at)))
    states, result = list(run), run.result()
    assert result.stop is StopReason.INTERRUPTED
    assert not result.success
    assert at <= result.nit == states[-1].iteration < 1000
    again = certify(lasso, result.beta, result.w)
    assert (again.primal, again.dual, again.gap) == (result.primal, result.dual, result.gap)
    assert signal.getsignal(signal.SIGINT) is handler


def test_interrupted_is_said_even_when_the_tolerance_is_met(lasso: Problem) -> None:
    result = solve(lasso, tol=1e9, method=RCMD(sampler=Interrupting(1)))
    assert result.stop is StopReason.INTERRUPTED


def test_a_second_interrupt_raises(lasso: Problem) -> None:
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        solve(lasso, tol=0, max_iterations=100, method=RCMD(sampler=Interrupting(3, 3)))
    assert signal.getsignal(signal.SIGINT) is handler


def test_runs_outside_the_main_thread(lasso: Problem) -> None:
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(solve(lasso, tol=0, max_iterations=20)))
    thread.start()
    thread.join()
    assert lines(results[0].history) == lines(solve(lasso, tol=0, max_iterations=20).history)


def test_ctrl_c_in_a_callback_returns_what_was_found(lasso: Problem) -> None:
    def interrupt(state: State) -> None:
        signal.raise_signal(signal.SIGINT)

    result = solve(lasso, tol=0, max_iterations=1000, callbacks=[interrupt])
    assert result.stop is StopReason.INTERRUPTED
    assert len(result.history) == 1


def test_a_second_ctrl_c_raises(lasso: Problem) -> None:
    def interrupt(state: State) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solve(lasso, tol=0, max_iterations=1000, callbacks=[interrupt])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
