"""Solving a problem, in one go or record by record, and the options of a run."""

import functools
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rcmd.methods import Method, method_named
from rcmd.methods.corrected import Corrected
from rcmd.model.bounds import Bound, asked
from rcmd.model.problem import Problem
from rcmd.rows.validation import batch_size, check_kind, check_seed, takes
from rcmd.solver.history import COLUMNS, State
from rcmd.solver.result import Result
from rcmd.solver.run import Budgets, Run

Callback = Callable[[State], bool | Mapping[str, Any] | None]

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

CHANGING = (
    "tol", "max_iterations", "max_gradients", "max_seconds", "every", "callbacks",
    "bounds",
)  # fmt: skip
"""The options that may change when a run is resumed."""


TOL = 1e-6
"""The certified gap to reach where none is given: in Python, on the command line, by estimators.

It settles the digits of P that people print, and with corrections, the default, costs a few rounds
more than 1e-3: they double the digits. The plain algorithm, whose gap falls like 1/k, is to be
given a larger one; on its own ``rcmd solve`` shows it down to 1e-2.
"""


def flag(text: str, metavar: str, kind: type = str) -> dict[str, Any]:
    """The command line's help for an option, and how it is read."""
    return {"help": text, "metavar": metavar, "type": kind}


@dataclass(frozen=True)
class Options:
    """The options of a run, for Python, the command line and checkpoints; explained at ``solve``.

    Those with a ``flag`` are also options of the command line.
    """

    problem: Problem
    _: KW_ONLY
    method: Method | str | None = field(
        default=None, metadata=flag("rcmd, corrected, fw, svrf, …", "NAME")
    )
    batch: int | float | None = field(
        default=None, metadata=flag("rows per step, or a percentage", "ROWS")
    )
    tol: float = field(default=TOL, metadata=flag("certified gap to reach", "GAP", float))
    max_iterations: int | None = field(default=None, metadata=flag("budget of steps", "K", int))
    max_gradients: int | None = field(
        default=None, metadata=flag("budget of stochastic gradients", "G", int)
    )
    max_seconds: float | None = field(default=None, metadata=flag("time budget", "S", float))
    seed: int | np.random.Generator = field(
        default=0, metadata=flag("random seed: same seed, same iterates", "N", int)
    )
    record_at: Iterable[int] | None = None
    warm_start: Result | None = None
    checkpoint: str | os.PathLike[str] | None = field(
        default=None, metadata=flag("save the run, for rcmd resume", "FILE")
    )
    every: float = field(default=30.0, metadata=flag("seconds between two saves", "S", float))
    callbacks: Callback | Sequence[Callback] = ()
    bounds: Sequence[Bound | str] = ()

    def check(self) -> tuple[Method, int | None, Budgets]:
        """The method, the rows per step and the budgets, all options checked before any work."""
        check_amount("tol", self.tol, "a number ≥ 0")
        check_amount("every", self.every, "seconds between two saves, ≥ 0")
        check_seed(self.seed)
        method = Corrected() if self.method is None else self.method
        if isinstance(method, str):
            method = method_named(method)
        expected = "a Method, such as RCMD() or FrankWolfe(), the name of one, such as 'rcmd'"
        check_kind("method", method, Method, f"{expected}, or None")
        limits = self.max_iterations, self.max_gradients, self.max_seconds
        n = self.problem.n
        batch = None if self.batch is None else batch_size(self.batch, n)
        if self.warm_start is not None and not method.warm_starts:
            raise ValueError(
                f"warm_start is given with method = {method!r}, which starts from scratch; "
                "expected none, or method RCMD or Corrected"
            )
        if not isinstance(self.warm_start, Result | None):
            raise TypeError(
                f"warm_start is of type {type(self.warm_start).__name__}; expected the Result of "
                "an earlier run"
            )
        if self.problem.spread and not method.spreads:
            raise ValueError(
                f"method is {method!r}, which runs on one process, while the rows are on several; "
                "expected RCMD or Corrected"
            )
        return method, batch, Budgets(*limits, n=n)

    def listeners(self) -> tuple[Callback, ...]:
        """The functions to call at each record, from one or several."""
        given: Any = self.callbacks
        found = (given,) if callable(given) or not isinstance(given, Iterable) else tuple(given)
        for callback in found:
            if not takes(callback, 1):
                raise TypeError(
                    f"callbacks holds {callback!r}; expected a function of a State, or several of "
                    "them"
                )
        return found

    def asked_bounds(self) -> tuple[Bound, ...]:
        """The bounds to show, by name or as they are given."""
        found = asked(self.bounds)
        clash = [bound.name for bound in found if bound.name in COLUMNS]
        if clash:
            raise ValueError(
                f"bounds holds one named {clash[0]!r}, which is a column of the history already; "
                "expected another name"
            )
        return found


def check_amount(name: str, value: Any, expected: str) -> None:
    """Refuse anything but a number ≥ 0."""
    number: Any = value if isinstance(value, Real) else math.nan
    if not number >= 0:
        raise ValueError(f"{name} is {value!r}; expected {expected}")


def called_with(make: Callable[P, T]) -> Callable[[Callable[[T], R]], Callable[P, R]]:
    """Let a function of what ``make`` returns be called with the arguments of ``make``.

    Its signature, for people, tools and mypy, is then that of ``make``.
    """
    signature = inspect.signature(make)

    def decorate(function: Callable[[T], R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> R:
            try:
                made = make(*arguments, **options)
            except TypeError:
                try:
                    signature.bind(*arguments, **options)
                except TypeError as fault:
                    raise TypeError(f"{function.__name__}() {fault}") from None
                raise
            return function(made)

        answer = function.__annotations__["return"]
        vars(called)["__signature__"] = signature.replace(return_annotation=answer)
        return called

    return decorate


@called_with(Options)
def iterate(options: Options) -> Run:
    """Iterate over the records of a run: ``for state in iterate(problem): …``.

    Takes the options of ``solve`` and runs the same code; its ``result()`` may be called at any
    record.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, iterate
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> run = iterate(problem, batch=2, tol=0.0, max_iterations=4, record_at=[1, 2, 3, 4])
    >>> [state.iteration for state in run], run.result().stop.name
    ([1, 2, 3, 4], 'ITERATIONS')
    """
    return Run(options)


@called_with(iterate)
def solve(run: Run) -> Result:
    """Solve (P) and (D) together, to a certified gap.

    Parameters
    ----------
    problem
        The problem to solve.
    method
        A ``Method`` of ``rcmd.methods`` or of your own, or the name of one. By default
        ``"corrected"``, the paper's algorithm that ends with corrections; ``"rcmd"`` is that
        algorithm alone, ``RCMD(schedule=…, prox=…)`` with parts of your own.
    batch
        Rows per step, passed to the method: a whole number, or a fraction of n as a float in
        (0, 1]; by default the method's own rule, 1 % for those that take any batch.
    tol
        Stop when the certified gap P(β) − D(w) is at most this.
    max_iterations, max_gradients, max_seconds
        Budgets; with none given, the larger of 1000 passes over the data and 10⁷ gradients. The
        clock starts with the first step, after what is compiled once, and at least one step and
        one certificate are made.
    seed
        A whole number, or a ``numpy.random.Generator``: same seed, same iterates.
    record_at
        Iterations at which to certify; by default log-spaced from a quarter of a pass on.
    warm_start
        An earlier ``Result``, of this problem or one like it (other labels, a larger ball),
        to start from: s⁰ = Xβ, and step sizes and averages as if a quarter of its passes over
        the data had led to β here. No theorem bounds such runs; certificates still hold.
    checkpoint
        A file to save the run in, which must not exist yet: written regularly and at the end,
        complete at any time. ``rcmd.resume(file, problem)`` continues from it, bit for bit as if
        nothing had happened. A full disk does not stop the run: a warning and the result's
        ``note`` say that the file is out of date.
    every
        Seconds between two saves; more where saving takes longer than a tenth of them. With 0
        the run is saved whenever it checks the clock.
    callbacks
        A function of a ``State``, or several, called at each record; one that returns True stops
        the run, one that returns a mapping of names to numbers gives the history those columns:
        ``result.plot(y="support")`` draws one.
    bounds
        Bounds to show beside the run, each as a column of its name: your own ``Bound``, or the
        name of one of ``rcmd.model.bounds``. The result's ``note`` says whose claim each is, or
        which of its hypotheses this run lacks.

    Returns
    -------
    Result
        β, w, the certificate, the history and the reason for stopping. Ctrl-C and SIGTERM
        return what was found so far.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic, Problem, solve
    >>> from rcmd.datasets import make_classification
    >>> import numpy as np
    >>> X, y = make_classification(n=50, p=5, rng=np.random.default_rng(0))
    >>> result = solve(Problem(X, y, Logistic(), L1Ball(5.0)), batch=0.1, tol=1e-2)
    >>> result.success, bool(result.gap <= 1e-2)
    (True, True)
    """
    return run.finish()
