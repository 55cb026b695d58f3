"""The paper's algorithm: randomized coordinate mirror descent on the dual.

With the average of its atoms, which its default accounting keeps, it is generalized stochastic
Frank-Wolfe on the primal (Lemma 2.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, get_args

import numpy as np

from rcmd.engine.accounting import Accounting
from rcmd.engine.base import EngineName
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import ImportanceSampler, Sampler, UniformSampler
from rcmd.methods.base import BATCH, Method, Progress
from rcmd.model import bounds
from rcmd.model.certificate import BestPair, OfferedPair
from rcmd.model.constants import Constants
from rcmd.model.ownership import foreign, is_own, patched, unaltered
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx, ConjugateProx, ExactProx
from rcmd.model.schedules import (
    HeadStart,
    LinearSchedule,
    Resumed,
    Schedule,
    SublinearSchedule,
    UnitStepSchedule,
    default_schedule,
)
from rcmd.model.specs import parse_prox, schedule_class, schedule_for
from rcmd.rows.processes import shared_errors
from rcmd.rows.validation import Array, batch_size, check_kind, takes, warn_caller

if TYPE_CHECKING:
    from rcmd.engine.compiled import CompiledEngine

    Engine: TypeAlias = ReferenceEngine | CompiledEngine

COUNTED_PAST = 0.25
"""Share of an earlier run's passes that a warm start counts as done.

Counting all can make the steps too short to correct its errors; counting none would forget it.
"""


SUBLINEAR = SublinearSchedule, HeadStart
"""The schedules of theorems for every R with a bounded domain."""

LINEAR = LinearSchedule, UnitStepSchedule
"""The schedules of theorems for a strongly convex R."""

PAPERS = "h = L*/n, the paper's prox: the theorems' bounds apply"
APPLIES = {
    "sublinear": PAPERS,
    "head-start": "the bounds of HeadStart apply",
    "linear": PAPERS,
    "exact": "the bounds of Theorem I apply",
}


@dataclass(frozen=True, repr=False)
class RCMD(Method):
    """Algorithm 2 on (D), and with it Algorithm 1, GSFW, on (P).

    Parameters
    ----------
    batch
        Rows per step: a whole number, or a fraction of n as a float in (0, 1]; 1 % by default.
    schedule
        Step sizes and averaging weights: an object, or a class or a name that gets the problem's
        numbers, ``"sublinear"``, ``"head-start"``, ``"linear"``, ``"unit"``, ``"short-step"``. By
        default Theorem 3.2's (linear) where R is strongly convex, else Theorem 3.1's (sublinear).
    prox
        Geometry of the dual step, or its name: ``"conjugate"``, the paper's h = L*/n and the
        default, ``"euclidean"`` or ``"exact"``, which has Theorem I where R is strongly convex.
    sampler
        Where batches come from, instead of ``batch`` and the run's seed; see
        ``rcmd.engine.sampling``.
    engine
        ``"compiled"`` runs machine code made from the classes given, ``"reference"`` plain
        Python; ``"auto"`` compiles where it can. Both give the same iterates.
    accounting
        Objects of your own whose ``record(step)`` is called after every step, beside the averages
        that a run certifies. ``step`` has ``i``, ``atom``, ``batch`` and ``change``, that of w on
        the batch. The iterates are the same; the steps are then taken one by one. A run with a
        checkpoint needs their ``state()`` and ``load_state(state)``: derive them from
        ``rcmd.engine.state.Stateful``.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, RCMD, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> result = solve(problem, method=RCMD(batch=2), tol=1e-3)
    >>> result.success, bool(result.gap <= result.history[-1].bound)
    (True, True)
    """

    batch: int | float | None = None
    schedule: Schedule | type[Schedule] | str | None = None
    prox: BregmanProx | str | None = None
    sampler: Sampler | None = None
    engine: EngineName = "auto"
    accounting: Sequence[Accounting] = ()
    any_batch: ClassVar[bool] = True
    spreads: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        waits = isinstance(self.schedule, type) and issubclass(self.schedule, Schedule)
        if isinstance(self.schedule, str):
            schedule_class(self.schedule)  # which refuses other names
        elif not waits:
            check_kind("schedule", self.schedule, Schedule | None, "a Schedule, its name or None")
        check_kind("prox", self.prox, BregmanProx | str | None, "a BregmanProx, its name or None")
        if isinstance(self.prox, str):
            object.__setattr__(self, "prox", parse_prox(self.prox))
        sampler = self.sampler
        if sampler is not None and not (hasattr(sampler, "draw") and hasattr(sampler, "batch")):
            raise TypeError(
                f"sampler is {sampler!r}; expected a Sampler, such as "
                "rcmd.engine.sampling.Replay([[0], [1]]), or None"
            )
        if self.engine not in get_args(EngineName):
            names = ", ".join(get_args(EngineName))
            raise ValueError(f"engine is {self.engine!r}; expected one of {names}")
        if not isinstance(self.accounting, Sequence):
            raise TypeError(f"accounting is {self.accounting!r}; expected a list, such as [mine]")
        for one in self.accounting:
            if not takes(getattr(one, "record", None), 1):
                raise TypeError(f"accounting holds {one!r}; expected objects with record(step)")

    def start(
        self,
        problem: Problem,
        batch: int | None,
        rng: np.random.Generator,
        warm_start: Any = None,
        within: Method | None = None,
    ) -> RCMDProgress:
        """A run, perhaps as the plain steps ``within`` another method."""
        size = self._size(problem, batch)
        constants = problem.constants(size)
        given: Any = self.prox or ConjugateProx()
        prox = given.bind(constants)
        if type(self.sampler) is ImportanceSampler and type(prox) is ExactProx:
            constants = mean_constants(problem, constants)
        schedule = self._schedule(prox, constants)
        theorem = _whose(schedule, constants)
        if schedule.sees_run and not takes(schedule.step, 2):
            raise TypeError(
                f"step of {type(schedule).__name__} takes other arguments than (i, state); "
                "expected both, as sees_run is True"
            )
        if schedule.sees_run and problem.spread:
            raise ValueError(
                f"schedule {type(schedule).__name__} sees the run, while the rows are on several "
                "processes; expected a schedule of i alone"
            )
        memory = deepcopy(schedule) if hasattr(schedule, "load_state") else None
        schedule = schedule if memory is None else memory
        start = None
        if warm_start is not None:
            start = checked_start(problem, warm_start)
            schedule = Resumed(schedule, round(COUNTED_PAST * warm_start.passes * problem.n / size))
        source = self.sampler or UniformSampler(problem.n, size, rng)
        own = own_sampler(source, theorem, problem)
        sampler = own or source
        if problem.verify and (foreign(prox) or foreign(schedule)):
            from rcmd.model.vetting import vet_run

            with shared_errors(problem.group):
                vet_run(problem, prox, schedule)
        facts = bounds.RunFacts.of(
            problem,
            constants,
            theorem=theorem,
            own_prox=_own_prox(prox, theorem, constants),
            own_sampler=own is not None,
            own_method=is_own(self) and is_own(within or self),
            cold=warm_start is None,
            parts=tuple(type(part) for part in (schedule, prox, sampler) if not patched(part)),
        )
        engine = make_engine(self.engine, problem, schedule, sampler, prox, start, self.accounting)
        lent = None if own is None else source.rng  # type: ignore[attr-defined]
        return RCMDProgress(problem, engine, facts, prox.note, lent, memory)

    def _schedule(self, prox: BregmanProx, constants: Constants) -> Schedule:
        given = self.schedule
        makes = schedule_class(given) if isinstance(given, str) else given
        if isinstance(makes, type):
            return schedule_for(makes, constants)
        return makes or _schedule_for(prox, constants)

    def _size(self, problem: Problem, batch: int | None) -> int:
        """Rows per step, from ``solve``, from this method or from its sampler."""
        drawn = None if self.sampler is None else self.sampler.batch
        given = {"solve": batch, "RCMD": self.batch, "sampler": drawn}
        named = [name for name, value in given.items() if value is not None]
        if "sampler" in named:
            drawn_from = getattr(self.sampler, "n", problem.n)
            if drawn_from != problem.n:
                raise ValueError(
                    f"sampler draws from {drawn_from} rows; expected one for the problem's n = "
                    f"{problem.n}"
                )
        if len(named) > 1:
            raise ValueError(
                f"batch is given by {' and by '.join(named)}; expected only one of them"
            )
        return batch_size(next(filter(None, given.values()), BATCH), problem.n)


class EngineProgress(Progress):
    """A run of an engine, whose steps all cost the same."""

    even_steps = True

    def __init__(self, problem: Problem, engine: Engine) -> None:
        self.problem, self.engine = problem, engine
        self._count()

    @property
    def step_gradients(self) -> int:
        return self.engine.sampler.batch

    @property
    def s(self) -> Array:
        return self.engine.s

    @property
    def w(self) -> Array:
        return self.engine.w

    @property
    def d(self) -> Any:
        return self.engine.d

    def step(self) -> None:
        self.advance(1)

    def advance(self, steps: int) -> None:
        self.engine.advance(steps)
        self._count()

    def _count(self) -> None:
        self.iteration = self.oracle_calls = self.engine.iteration
        self.gradients = self.iteration * self.step_gradients

    def averages(self) -> tuple[Any, Array]:
        return self.engine.averages()

    def state(self) -> dict[str, Any]:
        return self.engine.state()

    def load_state(self, state: dict[str, Any]) -> None:
        self.engine.load_state(state)
        self._count()


class RCMDProgress(EngineProgress):
    """A run of the engine, and what its theorem says of it."""

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        facts: bounds.RunFacts,
        note: str,
        lent: np.random.Generator | None = None,
        memory: Any = None,
    ) -> None:
        super().__init__(problem, engine)
        self._lent, self._memory = lent, memory
        self.steps_per_pass, self._dual = problem.n / engine.sampler.batch, -math.inf
        self.facts, self._constants, why = facts, facts.constants, bounds.why_none(facts)
        self.constants_batch = facts.constants.batch
        self.theorem = None if why else facts.theorem
        # Not the note of the paper's prox, which a subclass would inherit.
        said = f"no bound: {why}" if why else APPLIES[facts.theorem or "sublinear"]
        self.note = "; ".join(filter(None, (note, said)))

    def advance(self, steps: int) -> None:
        self.theorem_pair = None
        super().advance(steps)
        if self._lent is not None:  # whoever gave it draws on from here
            own: Any = self.engine.sampler
            self._lent.bit_generator.state = own.rng.bit_generator.state

    def state(self) -> dict[str, Any]:
        state = super().state()
        return state if self._memory is None else state | {"schedule": self._memory.state()}

    def load_state(self, state: dict[str, Any]) -> None:
        super().load_state(state)
        if self._memory is not None:
            self._memory.load_state(state["schedule"])

    def offer_own_pair(self, best: BestPair, beta: Any, w_average: Array) -> Array:
        """β̄ with w̄, or with the last w where that is the theorem's."""
        last = self.theorem in ("linear", "exact")
        predictions = best.offer_pair(beta, self.w if last else w_average)
        if self.theorem is not None:
            self._see_pair(best.offered(), rising=last)
        return predictions

    def _see_pair(self, pair: OfferedPair, rising: bool) -> None:
        """Check what is proved of the theorem's pair in every run; ``rising``: of its D(w) too."""
        self.theorem_pair = pair
        c, before = self._constants, self._dual
        if rising and c.batch not in (1, c.n):
            return  # there D(w) rises in expectation only
        if math.inf > pair.gap > 2 * c.prediction_energy + pair.rounding:
            raise self._contradiction(
                f"P − D of the theorem's pair is {float(pair.gap):.6g}",
                f"at most 2E = {2 * float(c.prediction_energy):.6g}",
            )
        if rising:
            self._dual = pair.dual
            if pair.dual < before - pair.rounding:
                raise self._contradiction(
                    f"D(w) fell from {float(before):.9g} to {float(pair.dual):.9g}",
                    "in every step at least the D(w) before it",
                )

    def _contradiction(self, found: str, proved: str) -> ValueError:
        """A hypothesis of the theorems is wrong: those named are the classes' own words."""
        c, loss, oracle = self._constants, self.problem.loss, self.problem.oracle
        return ValueError(
            f"{found} at step {self.iteration}; proved is {proved}, in every run whose "
            f"hypotheses hold. So one is wrong: γ_j, at most {float(c.gamma):.6g}, or derivative "
            f"of {loss!r}; prediction_range, |x_jᵀβ| ≤ {float(c.prediction_bound):.6g}, argmin "
            f"(exact_atoms) or mu of {oracle!r}. Look at them with rcmd.testing.check_conjugate "
            "and check_oracle"
        )


def make_engine(
    name: EngineName,
    problem: Problem,
    schedule: Schedule,
    sampler: Sampler,
    prox: BregmanProx,
    start: Any = None,
    accounting: Sequence[Accounting] = (),
) -> Engine:
    """The engine of that name; ``"auto"`` falls back to the reference, with a warning.

    Exact problems and layouts without kernels always run on the reference engine, without warning.
    """
    if problem.spread:
        own: Any = problem  # it alone knows where its rows are
        engine: Engine = own.engine(schedule, sampler, prox, start, accounting)
        return engine
    if name == "compiled" or (name == "auto" and problem.rows.compilable):
        from rcmd.engine.compiled import CompiledEngine
        from rcmd.jit.scalars import CannotCompile

        try:
            return CompiledEngine(problem, schedule, sampler, prox, start, accounting)
        except CannotCompile as reason:
            if name == "compiled":
                raise
            warn_caller(f"running on the slower reference engine, because {reason}")
    return ReferenceEngine(problem, schedule, sampler, prox, start, accounting)


def checked_start(problem: Problem, warm_start: Any) -> Any:
    """The β to start from, which must lie in dom R: otherwise averages would stay outside."""
    beta, like = warm_start.beta, problem.rows.zero()
    if type(beta) is not type(like) or beta.shape != like.shape:
        raise ValueError(
            f"warm_start holds a β of shape {beta.shape}; expected {like.shape}, that of this "
            "problem"
        )
    if math.isinf(problem.oracle.value(beta)):
        raise ValueError(
            f"warm_start holds a β outside dom R, R(β) = {problem.oracle.describe()}; expected "
            "one inside: go from smaller sets to larger ones"
        )
    return beta


def _schedule_for(prox: BregmanProx, constants: Constants) -> Schedule:
    """Relative smoothness, which Theorem 3.2 needs, is a property of h = L*/n alone."""
    if prox.unit_steps and not constants.mu > 0:
        raise ValueError(
            f"schedule is None while {type(prox).__name__} takes unit steps and R has μ = 0, for "
            "which there is no default; expected a schedule of your own"
        )
    if type(prox) is ConjugateProx or prox.unit_steps:
        return default_schedule(constants, prox.unit_steps)
    return SublinearSchedule(constants.blocks)


def mean_constants(problem: Problem, constants: Constants) -> Constants:
    """The constants with the mean of the σ_j for σ, their maximum; see ``ImportanceSampler``."""
    energy = problem.mean(problem.losses.gammas * problem.rows.square_norms())
    known = {name: getattr(constants, name) for name in ("n", "batch", "gamma", "mu", "quadratic")}
    return Constants.of(problem, known | {"row_energy": energy})


def own_sampler(
    sampler: Any, theorem: bounds.Kind | None, problem: Problem
) -> UniformSampler | ImportanceSampler | None:
    """A copy of the theorem's own sampler, which nobody can alter during the run; else ``None``.

    Class, numbers and functions must be rcmd's, and the generator NumPy's.
    """
    right: UniformSampler | ImportanceSampler
    if type(sampler) is UniformSampler:
        right = UniformSampler(problem.n, sampler.batch, deepcopy(sampler.rng))
    elif type(sampler) is ImportanceSampler and theorem == "exact":
        right = ImportanceSampler.matching(problem, deepcopy(sampler.rng))
    else:
        return None
    rng, found, expected = sampler.rng, vars(sampler) | {"rng": 0}, vars(right) | {"rng": 0}
    numpys = type(rng) is np.random.Generator and (
        type(rng.bit_generator).__module__.partition(".")[0] == "numpy"
    )
    same = found.keys() == expected.keys() and all(
        np.array_equal(found[name], value) for name, value in expected.items()
    )
    return right if numpys and same and unaltered(sampler) else None


def _own_prox(prox: BregmanProx, theorem: bounds.Kind | None, constants: Constants) -> bool:
    """Whether this is the theorem's own prox, unaltered and with the numbers of this problem."""
    own = ExactProx().bind(constants) if theorem == "exact" else ConjugateProx()
    return type(prox) is type(own) and prox == own and unaltered(prox)


def _whose(schedule: Schedule, constants: Constants) -> bounds.Kind | None:
    """Whose schedule this is: a theorem's own class, with the numbers of this problem."""
    own: list[Schedule] = [kind(constants.blocks) for kind in SUBLINEAR]
    if constants.mu > 0:
        own += [kind(constants.blocks, constants.sigma) for kind in LINEAR]
    same = unaltered(schedule) and any(
        type(schedule) is type(one) and schedule == one for one in own
    )
    return schedule.theorem if same else None
