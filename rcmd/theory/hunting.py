"""Adversarial search: the small problem for which a bound is tightest, or fails."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from rcmd.conjugates import Huber, LeastSquares, Logistic, Poisson, SquaredHinge
from rcmd.engine.sampling import ImportanceSampler
from rcmd.methods.dual_ascent import Quartz
from rcmd.methods.rcmd import RCMD
from rcmd.model.bounds import SIDES, Bound, asked
from rcmd.model.problem import Problem
from rcmd.model.prox import ExactProx
from rcmd.model.schedules import HeadStart, SublinearSchedule
from rcmd.oracles import Box, BoxRidge, L1Ball, Ridge, Translated
from rcmd.reporting.progress import tell_on_terminal
from rcmd.rows.validation import Array
from rcmd.solver.solve import solve
from rcmd.theory.enumeration import ends, mean_gap, started

LARGEST_N, LARGEST_K, MOST_SEQUENCES = 4, 8, 256
LONGEST = 64
"""Steps where there is one batch alone, and nothing is random."""

SCOUTS, LOCAL = 20, 120
"""Problems drawn at a restart, the best of which begins a local search; and its length."""

LARGEST = 4
"""In size, of a coordinate of the search: numbers from 1/400 to 400."""

SPREADS = 1.0, 2.5
"""Of the coordinates of scouts: the second puts many numbers at their ends, where Nσ nears 1."""

SHARES = 1.0, 0.7
"""Of their coordinates that are not zero: rows that are orthogonal or zero, kinks at zero."""

SMALLEST_STEP = 1e-4

JUMPS = 0.15
"""Share of the moves that are to a run or a set of another kind."""

ROUGH, LONGEST_SOLVE = 1e-4, 10_000
"""Of a bound: how far D* may be from what stands for it; and the steps that this may take."""

DIGITS = 5
"""Of the numbers of an instance, which are exact as they are printed."""

LOSSES: dict[str, Any] = {
    "Logistic": Logistic,
    "SquaredHinge": SquaredHinge,
    "LeastSquares": LeastSquares,
    "Poisson": Poisson,
}
IMPORTS = """\
import numpy as np
from rcmd import *
from rcmd.engine.sampling import ImportanceSampler
from rcmd.methods import Quartz
from rcmd.model.schedules import *
from rcmd.theory import expected_gap
from rcmd.theory.hunting import left_side, started

"""
SIGN = partial(math.copysign, 1.0)
LABELS: dict[str, Callable[[float], float]] = {
    "Logistic": SIGN,
    "SquaredHinge": SIGN,
    "Poisson": abs,
}
"""Of losses that ask for labels of some kind; offsets put the bends of all anywhere."""

MATCHING = (
    "RCMD(prox=ExactProx(), sampler=ImportanceSampler.matching(problem, np.random.default_rng(0)))"
)


def hunt(
    bound: Bound | str,
    *,
    seconds: float = 60.0,
    evaluations: float = math.inf,
    seed: int = 0,
    method: Callable[[Problem, int], RCMD | Quartz] | None = None,
    last: bool | None = None,
    n: int | None = None,
    iterations: int | None = None,
    mu: float | None = None,
    tell: Callable[[str], None] = tell_on_terminal,
) -> Catch:
    """Search for the problem with the largest E[gap]/bound: above 1, the bound is false.

    In the place of E[gap] is what the bound is ``of``: the gap of the worst run, or D* − E[D].

    Problems have up to four rows and two variables, or one variable a row, losses whose kinks lie
    anywhere, a γ_j for each row, batches, sets of all sizes, and parabolas whose centre lies in
    their set or out of it; bounds of Theorem I are put to importance sampling too. Of each the
    expectation is over all sequences of batches, and a problem that breaks a hypothesis of the
    bound is passed over.

    Parameters
    ----------
    bound
        Your own, or rcmd's by name, refuted ones included.
    seconds, evaluations
        The search ends with either; what it finds depends on the seed and on the number of
        evaluations alone.
    seed
        Where the problems come from.
    method
        A function of the problem and the batch size, for steps that are not the bound's
        schedule: ``lambda problem, b: RCMD(batch=b, schedule=Mine(problem.n / b))``. The bound is
        then taken to be about these runs.
    last
        As in ``expected_gap``.
    n, iterations, mu
        Look only at single rows of problems with so many of them, after so many steps, or with R
        so strongly convex, in units of γ max‖x_j‖².
    tell
        Called with the progress; by default it is shown on the terminal's last line.

    Examples
    --------
    >>> catch = hunt("theorem-3.2-first", evaluations=150, seed=1)
    >>> catch.violates, catch.evaluations
    (True, 150)
    """
    if not evaluations >= 1 or not seconds > 0:
        raise ValueError(
            f"evaluations is {evaluations!r} and seconds {seconds!r}; expected at least one "
            "evaluation, and some time"
        )
    (claim,) = asked([bound], of=list(SIDES))
    search = _Search(claim, method, last, np.random.default_rng(seed), n, iterations, mu)
    end, best, done = time.perf_counter() + seconds, _Found(-math.inf, None, None), 0
    for found in search.steps():
        done += 1
        best = max(best, found, key=lambda one: one.ratio)
        if done % 50 == 0:
            tell(f"{done:,} problems, the largest ratio {best.ratio:.6g}")
        if done >= evaluations or time.perf_counter() >= end:
            break
    tell("")
    if best.shape is None:
        raise ValueError(
            f"bound {claim.name!r} is about none of {done} problems, or too small there for "
            "doubles to judge; expected more evaluations or seconds, or weaker hypotheses"
        )
    return search.caught(best.shape, best.point, done)


@dataclass(frozen=True)
class Catch:
    """The worst problem found.

    Attributes
    ----------
    bound, problem, batch, iterations
        What was hunted, and where it is tightest.
    gap, value
        The two sides: E[gap], or what else the bound is ``of``, and the bound itself.
    evaluations
        Problems tried.
    code
        Python that repeats it.
    """

    bound: Bound
    problem: Problem
    batch: int
    iterations: int
    gap: Any
    value: Any
    evaluations: int
    code: str

    @property
    def ratio(self) -> float:
        """The left side over the bound."""
        return float(self.gap) / float(self.value)

    @property
    def violates(self) -> bool:
        """Whether the bound is false; bounds are doubles, and some are attained."""
        return self.ratio > 1 + 1e-9

    def __str__(self) -> str:
        what = "is violated" if self.violates else "is not violated"
        return (
            f"{self.bound.name!r}, {self.bound.verdict.value}, {what}: the largest of "
            f"{self.evaluations:,} ratios is {self.ratio:.6g} = {float(self.gap):.6g} / "
            f"{float(self.value):.6g}, at\n\n{self.code}"
        )


@dataclass(frozen=True)
class _Shape:
    """All of an instance but its real numbers; ``alike`` rows are often the extreme ones.

    Those that are ``turned`` have one's numbers, each a place later: a cube of n variables is one.
    """

    n: int
    p: int
    batch: int
    steps: int
    loss: str
    domain: str
    alike: bool
    turned: bool
    weighted: bool
    matching: bool
    mu: float | None = None

    @property
    def size(self) -> int:
        """How many real numbers an instance takes."""
        return (1 if self.alike else self.n) * (self.p + 3) + self.p + 5

    def code(self, point: Array) -> str:
        """The problem as Python writes it: real numbers by sinh, positive ones by exp."""
        numbers = iter(point.tolist())

        def real(count: int) -> list[float]:
            return [_short(math.sinh(next(numbers))) for _ in range(count)]

        def positive() -> float:
            return _short(math.exp(1.5 * next(numbers)))

        samples = [(real(self.p), real(2), positive()) for _ in range(1 if self.alike else self.n)]
        samples *= self.n if self.alike else 1
        rows, pairs, weights = zip(*samples, strict=True)
        if self.turned:
            rows = tuple(row[-j:] + row[:-j] for j, row in enumerate(rows))
        labels = [LABELS.get(self.loss, float)(y) for y, _ in pairs]
        options = f", offset={[o for _, o in pairs]}"
        if self.weighted:
            options += f", weights={list(weights)}"
        loss = f"Huber({positive()})" if self.loss == "Huber" else f"{self.loss}()"
        first, second, centre, ends = positive(), positive(), real(self.p), sorted(real(2))
        if self.mu:
            gamma = 1.0 if self.loss == "Huber" else LOSSES[self.loss]().gamma
            longest = max(sum(x * x for x in row) for row in rows)
            first = float(self.mu * gamma * longest) or first  # where all rows are zero
        oracle = {
            "box": f"Box({_short(centre[0] - first)}, {_short(centre[0] + first)})",
            "l1": f"Translated(L1Ball({first}), np.array({centre}))",
            "ridge": f"Translated(Ridge({first}, {second}), np.array({centre}))",
            "box ridge": f"Translated(BoxRidge({ends[0]}, {ends[1]}, {first}), np.array({centre}))",
        }[self.domain]
        return f"Problem({list(rows)}, {labels}, {loss}, {oracle}{options})"


def _most_steps(n: int, batch: int) -> int:
    if batch == n:
        return LONGEST
    return min(int(math.log(MOST_SEQUENCES + 0.5, math.comb(n, batch))), LARGEST_K)


def _short(x: float) -> float:
    return float(f"{x:.{DIGITS}g}")


@dataclass(frozen=True)
class _Found:
    ratio: float
    shape: _Shape | None
    point: Any


@dataclass(frozen=True, eq=False)
class _Search:
    bound: Bound
    method: Callable[[Problem, int], RCMD | Quartz] | None
    last: bool | None
    rng: np.random.Generator
    n: int | None
    iterations: int | None
    mu: float | None

    def steps(self) -> Iterator[_Found]:
        """One evaluation after the other, without end.

        A restart is about one kind of loss, lest the first to come near a bound win them all; after
        each round of restarts the search goes on from the best.
        """
        rng, best = self.rng, _Found(-math.inf, None, None)
        for loss in cycle([*self._losses(), None]):
            here, step = best, 0.3
            if best.shape is None or loss:
                scouts = []
                for _ in range(5 * SCOUTS):
                    shape = self._shape(loss or "Huber")
                    point = rng.choice(SPREADS) * rng.normal(size=shape.size)
                    point *= rng.random(shape.size) < rng.choice(SHARES)
                    found = self._found(shape, np.clip(point, -LARGEST, LARGEST))
                    yield found
                    scouts += [found] if found.ratio > -math.inf else []
                    if len(scouts) == SCOUTS:
                        break
                if not scouts:
                    continue
                here, step = max(scouts, key=lambda found: found.ratio), 0.5
            assert here.shape is not None
            free = here.point != 0 if loss else True  # what is degenerate stays so at first
            for _ in range(LOCAL):
                shape, point, size = here.shape, here.point, here.shape.size
                if elsewhere := rng.random() < JUMPS:
                    shape = self._beside(shape)
                else:
                    moves = free * rng.normal(size=size) * (rng.random(size) < 0.5)
                    point = np.clip(point + step * moves, -LARGEST, LARGEST)
                there = self._found(shape, point)
                yield there
                better = there.ratio > here.ratio
                here = there if better else here
                if not elsewhere:
                    step = max(step * (1.6 if better else 0.9), SMALLEST_STEP)
            best = max(best, here, key=lambda found: found.ratio)

    def _losses(self) -> list[str]:
        # In units of γ there is no μ where γ depends on the set.
        known = [name for name in LOSSES if not (self.mu and name == "Poisson")]
        return [*known, "Huber"]

    def _shape(self, loss: str) -> _Shape:
        rng = self.rng
        n = self.n or int(rng.integers(1, LARGEST_N + 1))
        alike, turned, weighted, matching = (
            rng.random(4) < (0.5, 0.3, 0 if self.n else 0.25, 0.5)
        ).tolist()
        turned = turned and alike
        p = n if turned else int(rng.integers(1, 3))
        batch = int(rng.integers(1, n + 1)) if not self.n and rng.random() < 0.5 else 1
        # Short runs more often than long ones, which cost as much as many of them.
        steps = self.iterations or 1 + int(_most_steps(n, batch) * rng.random() ** 2)
        domain = str(rng.choice(self._domains))
        matching = matching and batch == 1 and self.bound.schedule == "exact"
        return _Shape(n, p, batch, steps, loss, domain, alike, turned, weighted, matching, self.mu)

    @property
    def _domains(self) -> list[str]:
        strong = self.bound.schedule in ("linear", "exact", "quartz") or self.mu
        return [*([] if strong else ["box", "l1"]), "ridge", "box ridge"]

    def _beside(self, shape: _Shape) -> _Shape:
        """The same with a step more or less, or with a set of some kind."""
        if self.iterations or self.rng.random() < 0.5:
            return replace(shape, domain=str(self.rng.choice(self._domains)))
        steps = shape.steps + int(self.rng.choice((-1, 1)))
        return replace(shape, steps=min(max(steps, 1), _most_steps(shape.n, shape.batch)))

    def _found(self, shape: _Shape, point: Array) -> _Found:
        try:
            problem = _made(shape.code(point))
            problem.constants(shape.batch)
        except ValueError:
            if shape.loss != "Poisson":
                raise
            return _Found(-math.inf, shape, point)  # refused: exp(s) is beyond doubles
        gap, value = self._sides(shape, problem)
        return _Found(gap / value if value > 0 else -math.inf, shape, point)

    def _sides(self, shape: _Shape, problem: Problem) -> tuple[Any, Any]:
        """Both sides; zero for the right one where it says nothing or rounding decides."""
        run = started(problem, shape.steps, *self._method(problem, shape), engine="reference")
        constants = run.facts.constants
        why = self.bound.broken(run.facts) if self.method is None else self.bound.why_not(constants)
        if why or not constants.prediction_energy > 1e-6:
            return 0, 0
        try:
            value = float(self.bound(constants, shape.steps))
        except ArithmeticError:  # infinite, or 0/0 where Nσ is 1
            return 0, 0
        size = constants.prediction_energy + abs(problem.dual(run.w))  # of which doubles hold 1e-15
        if not 1e-6 * size < value < math.inf:
            return 0, 0
        tol = ROUGH * value
        return left_side(self.bound.of, problem, run, shape.steps, self.last, tol), value

    def _method(self, problem: Problem, shape: _Shape) -> tuple[RCMD | Quartz, int | None]:
        """What is run, and the rows of its steps where it does not say them."""
        batch, kind = shape.batch, self.bound.schedule
        if self.method is not None:
            method = self.method(problem, batch)
            return method, None if isinstance(method, RCMD) else batch
        if kind == "quartz":
            return Quartz(), batch
        if shape.matching:
            sampler = ImportanceSampler.matching(problem, np.random.default_rng(0))
            return RCMD(prox=ExactProx(), sampler=sampler), None
        if kind == "exact":
            return RCMD(prox=ExactProx()), batch
        if kind == "linear":
            return RCMD(), batch
        steps = HeadStart if kind == "head-start" else SublinearSchedule
        return RCMD(schedule=steps(problem.n / batch)), batch

    def caught(self, shape: _Shape, point: Array, evaluations: int) -> Catch:
        problem = _made(shape.code(point))
        gap, value = self._sides(shape, problem)
        method, batch = self._method(problem, shape)
        said = MATCHING if shape.matching else repr(method)
        of, steps = self.bound.of, shape.steps
        again = f"expected_gap(problem, {steps}, method={said}, batch={batch}, last={self.last})"
        if of != "gap":
            run = f'started(problem, {steps}, {said}, {batch}, engine="reference")'
            again = f"left_side({of!r}, problem, {run}, {steps}, {self.last}, {ROUGH * value})"
        code = f"{IMPORTS}problem = {shape.code(point)}\n{again}\n"
        return Catch(self.bound, problem, shape.batch, shape.steps, gap, value, evaluations, code)


def left_side(
    of: str, problem: Problem, run: Any, iterations: int, last: bool | None, tol: float
) -> Any:
    """What a bound ``of`` this is about, for a run that has not begun.

    D* is taken from below, by ``tol`` if the solver gets there, so that no ratio is too large.
    """
    parts = ends(problem, run, iterations, last)
    if of == "gap":
        return mean_gap(parts)
    chance, beta, primal, dual = map(np.concatenate, zip(*parts, strict=True))
    if of == "every gap":
        return (primal - dual).max()
    if of == "mean":
        return problem.primal(chance @ beta) - chance @ dual
    best = solve(problem, tol=tol, max_iterations=LONGEST_SOLVE, seed=0)
    return problem.dual(best.w) - chance @ dual


def _made(code: str) -> Problem:
    names = {"Problem": Problem, "Huber": Huber, **LOSSES, "np": np}
    names |= {one.__name__: one for one in (Box, BoxRidge, L1Ball, Ridge, Translated)}
    problem: Problem = eval(code, names)
    return problem
