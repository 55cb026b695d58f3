"""What must hold of every run, judged by CVXPY and by the other engine."""

from __future__ import annotations

import contextlib
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rcmd.engine.base import EngineName
from rcmd.methods.rcmd import RCMD
from rcmd.model import truth
from rcmd.model.problem import Problem
from rcmd.oracles.cvxpy_oracle import Unsolved
from rcmd.solver.result import Result
from rcmd.solver.solve import solve
from rcmd.testing.fuzzing.cases import Case

CASE_SECONDS = 60.0
"""Processor time after which a case is taken to hang; most take a tenth of a second."""

SOLVER_ROUNDING = 1e-7
"""What an interior-point optimum may miss, relative to the terms of P, beyond its own gap."""

ROUNDING = 1e-9
"""What a value computed twice may differ by, relative to its terms."""

UNLIKELY = 50
"""By Markov's inequality a gap is so many times its expectation in one run out of as many."""

STEPS = 20
"""Steps that both engines take side by side."""

AS_GOOD_AS_BEST = 1e-7
"""What an atom may miss of the minimum, relative to the terms that were compared."""


@dataclass(frozen=True)
class Finding:
    """Something that should not be: its kind, which shrinking keeps, and a sentence."""

    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The findings of a case; whether it reached its tolerance, and its optimum was found.

    With a planted fault also what became of it, and code where a sampled check did not see it.
    """

    findings: list[Finding]
    reached: bool = False
    judged: bool = True
    outcome: str = ""
    code: str = ""


def judge(case: Any, judged: Callable[[Any], Verdict]) -> Verdict:
    """What ``judged`` says of ``case``.

    Warnings count as findings, and so does every exception that it lets pass.
    """
    try:
        with warnings.catch_warnings(), _at_most(CASE_SECONDS):
            warnings.simplefilter("error")
            return judged(case)
    except _TooSlow:
        return Verdict([Finding("hang", f"not finished after {CASE_SECONDS:.0f} s of computing")])
    except Unsolved:  # of CvxpyOracle, whose solver is not ours
        return Verdict([], judged=False)
    except Exception as fault:  # whatever is raised for valid input is a finding
        where = traceback.extract_tb(fault.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        name = type(fault).__name__
        return Verdict([Finding(f"{name} in {where.name}", f"{name}: {fault} ({place})")])


def solved(case: Case) -> Verdict:
    """Solve a case with nothing wrong about it, and check everything that can be known."""
    import cvxpy as cp

    problem = case.problem()
    first = solve(problem, **case.options())
    findings = list(_certificate_findings(problem, first, case.tol))
    if case.warm:
        again = solve(problem, **case.options() | {"warm_start": first})
        findings += _certificate_findings(problem, again, case.tol)
        if again.gap > first.gap + ROUNDING * _size(problem, first):
            findings.append(Finding("warm", f"from a gap of {first.gap} to one of {again.gap}"))
    findings += _value_findings(problem, first)
    findings += _engine_findings(case)
    optimum = None
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError, RuntimeError):
        warnings.simplefilter("ignore")  # CVXPY's own
        optimum = truth.solve(problem)
    if optimum is not None and not findings:
        findings += _optimum_findings(problem, first, optimum)
    return Verdict(findings, first.success, optimum is not None)


def _certificate_findings(problem: Problem, result: Result, tol: float) -> Iterator[Finding]:
    """Where a result contradicts itself, or the theorem."""
    numbers = [result.primal, result.dual, result.gap, *np.ravel(result.beta), *result.w]
    if not np.isfinite(np.asarray(numbers, dtype=float)).all():
        yield Finding("not finite", f"{result!r}, β = {result.beta}, w = {result.w}")
        return
    if result.success and not result.gap <= tol:
        yield Finding("tolerance", f"success with a gap of {result.gap} for tol = {tol}")
    size = _size(problem, result)
    if abs(result.primal - result.dual - result.gap) > ROUNDING * size:
        yield Finding("gap", f"P − D = {result.primal - result.dual}, but the gap is {result.gap}")
    reach = abs(problem.rows.matvec(result.beta)) - problem.prediction_bounds
    if (reach > ROUNDING * problem.prediction_bounds.max()).any():
        yield Finding("bounds", f"predictions leave [−M_j, M_j] by {reach.max()}")
    gaps = result.history.column("gap")
    if (gaps[1:] > gaps[:-1] + ROUNDING * size).any():
        yield Finding("history", f"the best gap grew: {gaps.tolist()}")
    for row in result.history:
        if row.pair_gap > UNLIKELY * row.bound + ROUNDING * size:
            text = f"gap {row.pair_gap} at step {row.iteration}, the bound is {row.bound}"
            yield Finding("theorem", text)
            break


def _value_findings(problem: Problem, result: Result) -> Iterator[Finding]:
    """P(β) again, from the CVXPY forms of loss and regularizer alone."""
    import cvxpy as cp

    losses, beta = problem.losses, cp.Variable(problem.p)
    s = np.asarray(problem.rows.as_matrix() @ result.beta)
    s = s if losses.offset is None else s + losses.offset
    values, convex, accuracy = truth.loss_values(losses.loss, s, losses.y)
    if not convex:
        yield Finding("form", f"the CVXPY form of {losses.loss!r} is not convex")
        return
    weights = np.ones(problem.n) if losses.weights is None else losses.weights
    beta.value = result.beta
    penalty = problem.oracle.cvxpy_form(beta)[0]
    penalty = getattr(penalty, "value", penalty)
    if penalty is None:  # a form with variables of its own
        penalty = problem.oracle.penalty(result.beta)
    value, size = weights @ values / problem.n + float(penalty), _size(problem, result)
    # The accuracy of a form that is minimized is an absolute one.
    if abs(value - result.primal) > ROUNDING * size + accuracy * (weights.max() + size):
        yield Finding("value", f"P(β) = {result.primal}, but by its CVXPY forms {value}")


def _optimum_findings(problem: Problem, result: Result, optimum: truth.Truth) -> Iterator[Finding]:
    """P* lies between D(w) and P(β), and P(β) − P* within the certified gap."""
    # Not the absolute value: a dual value above the optimum is a fault and no inaccuracy.
    allowance = SOLVER_ROUNDING * _size(problem, result) + max(optimum.residuals["gap"], 0.0)
    # CVXPY's β leaves dom R a little, where a strongly convex R whose minimum is 0 is below it.
    allowance += ROUNDING * float(problem.oracle.mu * (result.beta @ result.beta))
    found = f"CVXPY's P* = {optimum.primal} (allowing for {allowance:.2g})"
    if result.primal < optimum.primal - allowance:
        yield Finding("primal", f"P(β) = {result.primal} is below {found}")
    if result.dual > optimum.primal + allowance:
        yield Finding("dual", f"D(w) = {result.dual} is above {found}")
    if result.primal - optimum.primal > result.gap + allowance:
        text = f"P(β) = {result.primal} with a gap of {result.gap}, but {found}"
        yield Finding("certificate", text)


def _size(problem: Problem, result: Result) -> float:
    """The terms that P, D and the gap are sums of, in absolute values."""
    predictions = problem.rows.matvec(result.beta)
    terms = abs(problem.losses.value(predictions)) + abs(problem.losses.conjugate(result.w))
    lowest = problem.oracle.minimum(problem.gradient(result.w))
    total = problem.mean(terms) + abs(problem.oracle.penalty(result.beta)) + abs(lowest)
    return max(float(total), 1e-300)  # subnormal numbers have few digits


class _Side:
    """One engine on a problem of its own, as oracles remember earlier calls."""

    def __init__(self, case: Case, engine: EngineName) -> None:
        self.problem = case.problem()
        method, rng = RCMD(engine=engine), np.random.default_rng(case.seed)
        self.engine: Any = method.start(self.problem, case.batch, rng).engine
        self.beta = np.array(self.engine.averages()[0], dtype=float)
        self.reach = self.slopes = 0.0

    def step(self, i: int) -> None:
        """Take step i; its atom is what it did to β̄."""
        engine, last = self.engine, self.beta
        slopes = abs(engine.w) @ abs(self.problem.rows.as_matrix()) / self.problem.n
        self.slopes = np.maximum(self.slopes, slopes)  # d rounds in terms of this size
        self.d, share = np.array(engine.d, dtype=float), float(engine.schedule.mixing(i))
        engine.advance(1)
        self.beta = np.array(engine.averages()[0], dtype=float)
        self.atom = (self.beta - (1 - share) * last) / share
        self.reach = max(self.reach, float(abs(self.atom).max()))

    def excess(self) -> float:
        """How far the atom is from the best one, relative to the terms that were compared."""
        oracle, d = self.problem.oracle, self.d
        penalty, lowest = oracle.penalty(self.atom), oracle.minimum(d)
        # The atom, a difference of averages, rounds in terms of the largest one so far.
        size = (abs(d) + self.slopes).sum() * self.reach + abs(lowest) + abs(penalty)
        slack = abs(oracle.penalty(self.atom + ROUNDING * self.reach) - penalty)
        return float((d @ self.atom + penalty - lowest - slack) / (size or 1.0))

    def agrees(self, other: _Side) -> bool:
        """Whether s, w and β̄ are the same but for rounding."""
        a, b, losses = self.engine, other.engine, self.problem.losses
        scale = float(self.problem.prediction_bounds.max() + abs(losses.y).max())
        return bool(
            abs(a.s - b.s).max() <= ROUNDING * scale
            and (abs(a.w - b.w) <= ROUNDING * (scale * losses.gammas + abs(b.w))).all()
            and abs(self.beta - other.beta).max() <= ROUNDING * other.reach
        )


def _engine_findings(case: Case) -> Iterator[Finding]:
    """Where an engine takes an atom that is not the best, or both differ for no good reason.

    A good reason is a tie: two atoms that are best but for rounding, of which each engine may
    take either. There the comparison ends, as it does where atoms are approximate anyway.
    """
    compiled, reference = _Side(case, "compiled"), _Side(case, "reference")
    exact = compiled.problem.oracle.exact_atoms
    for i in range(STEPS):
        for side in (compiled, reference):
            side.step(i)
            if exact and side.excess() > AS_GOOD_AS_BEST:
                engine, atom = type(side.engine).__name__, f"the atom {side.atom} at d = {side.d}"
                excess = f"{side.excess():.2g} of its terms above the best one"
                yield Finding("engines", f"{atom} in step {i} is {excess} ({engine})")
                return
        if not compiled.agrees(reference):
            if exact and abs(compiled.atom - reference.atom).max() <= ROUNDING * reference.reach:
                text = f"the engines differ after step {i}, with the same atom {reference.atom}"
                yield Finding("engines", text)
            return


class _TooSlow(BaseException):
    """Not an ``Exception``, so that no handler inside the code under test swallows it."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise ``_TooSlow`` in a block that computes longer, where the system has such a clock.

    Time that other processes take, or for which this one is stopped, does not count.
    """

    def ring(*_: object) -> None:
        raise _TooSlow

    with contextlib.ExitStack() as stack:
        # Windows has no such signal, and only the main thread may set one.
        with contextlib.suppress(AttributeError, ValueError):
            stack.callback(signal.signal, signal.SIGPROF, signal.signal(signal.SIGPROF, ring))
            stack.callback(signal.setitimer, signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
