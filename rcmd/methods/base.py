"""The contract of all methods: what starts a run, and what a run drives."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rcmd.engine.base import checked_atom
from rcmd.engine.sampling import check_places
from rcmd.engine.state import load_attribute, plain
from rcmd.model.bounds import Bound, Kind, RunFacts, best
from rcmd.model.certificate import BestPair, OfferedPair
from rcmd.model.problem import Problem
from rcmd.oracles.base import FEASIBILITY
from rcmd.rows.atoms import Atom, DenseAtom
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, batch_size

FEW_ROWS = 1000
"""Up to so many, a certificate takes a fraction of a millisecond, and there is no need to save."""

SEVERAL_FROM = 40
"""Passes after which certificates are so far apart that they look at several dual points."""


BATCH = 0.01
"""The share of all rows that is a batch where none is given, for methods with batches of any size.

A step's oracle call looks at p numbers, so steps of one row spend nearly all their time outside the
data; 1 %, as in the paper's experiments, leaves N = n/b = 100 steps a pass. Up to 149 rows it is
one row.
"""


def rows_a_step(batch: int | None, n: int) -> int:
    """``batch``, or the default where it is ``None``."""
    return batch or batch_size(BATCH, n)


class Batches:
    """Batches of the rows of a problem whose β is a vector of floats."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._kernels: Any = None
        if problem.rows.compilable and not isinstance(problem.rows.zero(), LowRank):
            self._compile()

    def _compile(self) -> None:
        from rcmd.engine.kernels import batch
        from rcmd.engine.kernels.layout import rows_tuple
        from rcmd.jit.scalars import CannotCompile

        try:
            self._derivative = self._problem.losses.scalar("derivative")
        except CannotCompile:
            return
        self._rows, self._kernels = rows_tuple(self._problem.rows), batch
        self._labels = self._problem.losses.labels
        nothing, beta = np.empty(0, dtype=np.int64), np.zeros(self._problem.p)
        self.scatter(nothing, self.derivatives(beta, nothing), beta)  # compiles before timing

    def derivatives(self, beta: Array, batch: Array) -> Array:
        """l_j'(x_jᵀβ) for the rows j of ``batch``."""
        rows, losses = self._problem.rows, self._problem.losses
        if self._kernels is None:
            return losses.derivative(rows.predict(batch, DenseAtom(beta)), batch)
        out, addresses = np.empty(len(batch)), (self._derivative.address, self._derivative.theta)
        self._kernels.batch_derivatives(self._rows, batch, beta, self._labels, addresses, out)
        return out if losses.weights is None else losses.weights[batch] * out

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        """``total += Σ_j coefficients_j x_j`` over the rows j of ``batch``, in place."""
        if self._kernels is None:
            self._problem.rows.scatter(batch, coefficients, total)
        else:
            self._kernels.scatter_batch(self._rows, batch, coefficients, total)


class Progress(ABC):
    """A method in the middle of a run, which ``rcmd.solver.run.Run`` drives.

    ``step`` moves ``beta`` and adds what it used to ``gradients`` (derivatives l_j' evaluated,
    one per row) and ``oracle_calls``; ``advance`` counts the iterations.

    Attributes
    ----------
    problem, rng
        The instance, and the generator of every random draw.
    beta
        The primal iterate, in dom R from the start: 0, or where that is outside dom R a minimizer
        of R, at the cost of an oracle call.
    iteration, gradients, oracle_calls
        Work done so far.
    """

    note: str = ""
    """What a reader of the result must know; the method's own where it is empty."""

    steps_per_pass: float = 1
    """The first record comes after a quarter of these."""

    theorem: Kind | None = None
    """The kind of bound that applies, if any."""

    facts: RunFacts | None = None
    """What the hypotheses of bounds read of this run; ``None`` where only its class is known."""

    theorem_pair: OfferedPair | None = None
    """The theorem's own pair at this record, where there is one and it was evaluated."""

    constants_batch: int = 1
    """The rows per step for which a result reports the constants of its problem."""

    record_due: bool = False
    """Whether to make a record now, at any iteration."""

    not_kept: ClassVar[tuple[str, ...]] = ()
    """Attributes that no checkpoint keeps: ``aim`` sets them, or ``load_state`` does."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.iteration = self.gradients = self.oracle_calls = 0
        problem.oracle.reset()
        self.beta = problem.rows.zero()
        if math.isinf(problem.oracle.value(self.beta)):
            self.beta = self.lowest_point(problem.gradient(0 * problem.losses.y))

    @cached_property
    def batches(self) -> Batches:
        """Derivatives at some of the rows, and sums of them."""
        return Batches(self.problem)

    @abstractmethod
    def step(self) -> None:
        """One iteration."""

    @property
    @abstractmethod
    def step_gradients(self) -> int:
        """The gradients that the next iteration will use."""

    @property
    def usual_gradients(self) -> int:
        """Those of a step of the algorithm itself, which a result tells as its batch."""
        return self.step_gradients

    @property
    def even_steps(self) -> bool:
        """Whether all steps cost the same, so that many are taken between checks of the clock."""
        return False

    @property
    def phase(self) -> str:
        """The kind of the last step, for the history."""
        return "plain"

    @property
    def steps_done(self) -> int:
        """The algorithm's own steps, which bounds count; corrections are none."""
        return self.iteration

    @property
    def best_bound(self) -> tuple[Bound, float] | None:
        """The theorem's best bound on the expected gap now, and its value; ``None`` without one."""
        if self.theorem is None or self.facts is None:
            return None
        return best(self.facts.constants, self.iteration, self.theorem)

    @property
    def bound(self) -> float:
        """The value of ``best_bound``; NaN where none applies."""
        found = self.best_bound
        return math.nan if found is None else found[1]

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations."""
        for _ in range(steps):
            self.step()
            self.iteration += 1

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: all attributes except those that method and problem give."""
        return {name: plain(getattr(self, name)) for name in self._kept()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue exactly as the run that gave ``state`` would have."""
        given = {name for name, value in vars(self).items() if isinstance(value, CONSTANT)}
        own, kept = type(self).__module__.startswith("rcmd."), set(self._kept())
        # Classes that are not rcmd's may get attributes, but no methods, from a step.
        given |= {
            name for name in state.keys() - kept if own or callable(getattr(self, name, None))
        }
        wrong = (kept - state.keys()) | (given & state.keys())
        if wrong:
            raise ValueError(f"{min(wrong)} is missing, or is nothing that changes in a run")
        for name, value in state.items():
            load_attribute(self, name, value, in_place=False)

    def _kept(self) -> list[str]:
        return [
            name
            for name, value in vars(self).items()
            if not isinstance(value, CONSTANT)
            and (hasattr(value, "load_state") or not callable(value))
            and name not in self.not_kept
        ]

    def aim(self, tol: float, max_gradients: float) -> None:  # noqa: B027
        """Receive, before the first step, the tolerance and the gradient budget."""

    def reconsider(self, best: BestPair) -> None:  # noqa: B027
        """Decide again, when a run is resumed at a record, how to reach a smaller gap."""

    def averages(self) -> tuple[Any, Array]:
        """The primal point and a dual point to be certified; the response to β by default."""
        return self.beta.copy(), self.w

    def offer_start(self, best: BestPair, warm_start: Any) -> None:
        """Offer, before the first step, what the run starts from."""
        predictions = best.offer_primal(warm_start.beta)
        best.offer_dual(self.problem.losses.derivative(predictions))
        if len(warm_start.w) == self.problem.n:
            best.offer_dual(warm_start.w)

    def follow(self, earlier: "Progress") -> None:  # noqa: B027 (most have nothing to take)
        """Take over, before the first step, what ``earlier`` found in the data for another R."""

    def offer(self, best: BestPair) -> tuple[Any, Array]:
        """Offer β̄ with one w, and with more where that costs little; returns the averages."""
        beta, w_average = self.feasible_averages()
        self.offer_responses(best, self.offer_own_pair(best, beta, w_average))
        return beta, w_average

    def offer_own_pair(self, best: BestPair, beta: Any, w_average: Array) -> Array:
        """Offer β̄ with the w of the theorem, or with w̄; returns Xβ̄."""
        return best.offer_pair(beta, w_average)

    def feasible_averages(self) -> tuple[Any, Array]:
        """The averages; an error where β̄ is outside dom R because the oracle's atoms are."""
        beta, w_average = self.averages()
        oracle = self.problem.oracle
        if math.isinf(oracle.value(beta)):
            miss = oracle.violation(checked_atom(oracle, self.d).dense(self.problem.rows.zero()))
            if not miss <= FEASIBILITY:
                raise ValueError(
                    f"argmin of {oracle!r} returned a point that misses dom R by {float(miss):.3g} "
                    "of its size, by the oracle's own violation; expected a point of dom R: "
                    "rcmd.testing.check_oracle shows which of the two is wrong"
                )
        return beta, w_average

    def offer_responses(self, best: BestPair, predictions: Array) -> None:
        """Offer ∇L at the predictions of β̄, and the last w, where that costs little."""
        n = self.problem.n
        if n <= FEW_ROWS or self.gradients >= SEVERAL_FROM * n:
            best.offer_dual(self.problem.losses.derivative(predictions))
            best.offer_dual(self.w)

    @property
    def s(self) -> Array:
        """The predictions Xβ."""
        return self.problem.rows.matvec(self.beta)

    @property
    def w(self) -> Array:
        """The response ∇L(Xβ), or the method's own dual variable."""
        return self.problem.losses.derivative(self.s)

    @property
    def d(self) -> Any:
        """The method's gradient estimate; the true one by default."""
        return self.problem.gradient(self.w)

    def lowest_atom(self, c: Any) -> Atom:
        """A minimizer of cᵀβ + R(β), counted as an oracle call."""
        self.oracle_calls += 1
        return self.problem.oracle.argmin(c)

    def lowest_point(self, c: Any) -> Any:
        """The same as a vector."""
        return self.lowest_atom(c).dense(self.beta)

    def draw(self, size: int) -> Array:
        """``size`` different rows, uniformly; all of them where ``size`` is n or more."""
        n = self.problem.n
        batch = np.arange(n) if size >= n else self.rng.choice(n, size=size, replace=False)
        check_places(batch, n, f"choice of {type(self.rng).__name__}")
        return batch

    def slope_at(self, beta: Any, batch: Array) -> Array:
        """The mean of l_j'(x_jᵀβ) x_j over ``batch``, counted as that many gradients."""
        problem = self.problem
        self.gradients += len(batch)
        if len(batch) == problem.n:
            return problem.gradient(problem.losses.derivative(problem.rows.matvec(beta)))
        total = problem.rows.zero()
        self.batches.scatter(batch, self.batches.derivatives(beta, batch) / len(batch), total)
        return total


def refuse_matrices(method: Any, problem: Problem) -> None:
    """Refuse a problem whose β is a matrix in factors."""
    if isinstance(problem.rows.zero(), LowRank):
        raise ValueError(
            f"the rows are entries of a matrix while {type(method).__name__} works on vectors; "
            "expected X with a row of features for each sample: RCMD, Corrected and FrankWolfe "
            "take matrices"
        )


class NotStarted(Progress):
    """A run whose time was up before its first step: its start is certified, no more."""

    step_gradients = 1

    def step(self) -> None:
        raise AssertionError("the time is up")


Generators = Callable[[], np.random.Generator]
"""Where a generator comes from, to one who may not need it."""


class Method(ABC):
    """A method and its parameters: a frozen dataclass that starts runs.

    ``rcmd.solve(problem, method=FrankWolfe())`` runs it.

    Examples
    --------
    Frank-Wolfe as textbooks have it:

    >>> from dataclasses import dataclass
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> class Steps(Progress):
    ...     step_gradients = property(lambda self: self.problem.n)
    ...     def step(self):
    ...         slope = self.slope_at(self.beta, self.draw(self.problem.n))
    ...         self.beta += 2 / (self.iteration + 2) * (self.lowest_point(slope) - self.beta)
    >>> @dataclass(frozen=True)
    ... class Textbook(Method):
    ...     def start(self, problem, batch, rng): return Steps(problem, rng)
    >>> problem = Problem([[1.0]], [0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=Textbook(), tol=1e-3).success
    True
    """

    note: ClassVar[str] = ""
    """The paper and its rate."""

    any_batch: ClassVar[bool] = False
    """Whether it takes batches of any size; others have a rule of their own."""

    random: ClassVar[bool] = True
    """Whether the run depends on the seed."""

    spreads: ClassVar[bool] = False
    """Whether the rows may be on several processes."""

    warm_starts: ClassVar[bool] = False
    """Whether ``start`` takes a ``warm_start`` too, the ``Result`` of an earlier run."""

    def __repr__(self) -> str:
        """The class, and the parameters that differ from their defaults."""
        given = [
            f"{parameter.name}={getattr(self, parameter.name)!r}"
            for parameter in fields(self)  # type: ignore[arg-type]
            if getattr(self, parameter.name) != parameter.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @abstractmethod
    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        """A run on ``problem``; ``batch`` rows a step, the paper's rule where it is ``None``."""

    def begin(
        self, problem: Problem, batch: int | None, generator: Generators, **warm: Any
    ) -> Progress:
        """``start``; a method that may need no generator makes it when it does."""
        return self.start(problem, batch, generator(), **warm)


CONSTANT = (Problem, Method, Batches, RunFacts)
"""What method and problem give a run; a checkpoint holds none of it."""
