"""A run taken up from any of its checkpoints goes on bit for bit as if nothing had happened."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from small_problems import exact_problem, lines, problem

from rcmd import (
    RCMD,
    Box,
    Caching,
    Corrected,
    Counting,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    LowRank,
    MatrixEntries,
    NuclearBall,
    Polytope,
    Problem,
    Product,
    Result,
    Ridge,
    Scaled,
    State,
    iterate,
    methods,
    resume,
    solve,
)
from rcmd.datasets import RowsWriter, make_classification, open_rows
from rcmd.engine import sampling
from rcmd.engine.accounting import DualAverage, PrimalAverage
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.kernels.coordinatewise import CoordinateLoop
from rcmd.engine.sampling import (
    CyclicSampler,
    ImportanceSampler,
    Replay,
    ReshuffledSampler,
    UniformSampler,
)
from rcmd.methods import Method, Progress
from rcmd.methods.corrected import CorrectedProgress
from rcmd.methods.dual_ascent import ApcgProgress
from rcmd.methods.step_rules import StepRule
from rcmd.model import schedules
from rcmd.model.certificate import BestPair
from rcmd.model.schedules import HeadStart, LinearSchedule, Schedule, ShortStep, SublinearSchedule
from rcmd.model.specs import PROXES
from rcmd.solver import run as running
from rcmd.solver.checkpoint import saver
from rcmd.solver.checkpoint.file import write_file
from rcmd.solver.checkpoint.resume import reopen


@dataclass
class Case:
    """A problem, made anew in every process, and the options of a run on it."""

    make: Callable[[], Problem]
    options: dict[str, Any] = field(default_factory=dict)
    again: Callable[[], dict[str, Any]] = dict  # what a checkpoint cannot hold
    warm: Callable[[], Problem] | None = None  # whose solution is the start

    def first(self) -> dict[str, Any]:
        """The options of the run that is not resumed."""
        options = {**self.options, **self.again()}
        if self.warm:
            options["warm_start"] = solve(self.warm(), tol=0.0, max_iterations=50, method="rcmd")
        return options


def classes(oracle: LinearMinOracle, n: int = 30, p: int = 7, **more: Any) -> Callable[[], Problem]:
    def make() -> Problem:
        X, y = make_classification(n=n, p=p, rng=np.random.default_rng(1))
        return Problem(sp.csr_array(X * (abs(X) > 0.5)), y, Logistic(), oracle, **more)

    return make


def entries() -> Problem:
    rng = np.random.default_rng(0)
    rows, columns = np.divmod(rng.permutation(70 * 66)[:300], 66)
    return Problem(
        MatrixEntries(rows, columns, (70, 66)), rng.normal(size=300), LeastSquares(),
        NuclearBall((70, 66), 30.0),
    )  # fmt: skip


def pictures() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 70 * 66))
    return Problem(X, rng.normal(size=12), LeastSquares(), NuclearBall((70, 66), 2.0))


def on_polytope(wrap: Callable[[Any], Any] = lambda oracle: oracle) -> Callable[[], Problem]:
    def make() -> Problem:
        rng = np.random.default_rng(3)
        A = abs(rng.normal(size=(12, 6)))
        inside = Polytope(A, np.ones(12), lower=-1.0, upper=1.0)
        X = rng.normal(size=(40, 6))
        return Problem(X, rng.normal(size=40), LeastSquares(), wrap(inside))

    return make


def by_operator() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5))
    return Problem(aslinearoperator(X), rng.normal(size=20), LeastSquares(), L1Ball(1.0))


REFERENCE = Corrected(RCMD(engine="reference"))
PLAIN: dict[str, Any] = {"tol": 0.0, "max_iterations": 60, "batch": 3}
CASES = {
    "l1": Case(classes(L1Ball(5.0)), PLAIN),
    "l1-reference": Case(classes(L1Ball(5.0)), {**PLAIN, "method": REFERENCE}),
    "l1-wide": Case(classes(L1Ball(5.0), p=900), {**PLAIN, "batch": 1}),
    "l1-weighted": Case(
        lambda: problem("logistic", "l1-ball", n=30, weighted=True),
        {"tol": 0.0, "max_seconds": 9e9, "max_iterations": 60},
    ),
    "l1-single-precision": Case(
        lambda: Problem(
            np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32), np.arange(20.0),
            LeastSquares(), L1Ball(3.0),
        ), PLAIN,
    ),
    "ridge": Case(classes(Ridge(0.01)), PLAIN),
    "ridge-geometric": Case(  # weights that outgrow RESCALE_ABOVE
        classes(Ridge(20.0), n=12), {**PLAIN, "max_iterations": 130, "batch": 11}
    ),
    "ridge-reference": Case(classes(Ridge(0.01)), {**PLAIN, "method": REFERENCE}),
    "box": Case(classes(Box(-1.0, 2.0)), PLAIN),
    "l2": Case(classes(L2Ball(2.0)), PLAIN),
    "moved": Case(lambda: problem("logistic", "moved-l1-ball", n=20), PLAIN),
    "intercept": Case(classes(L1Ball(5.0), intercept=3.0), PLAIN),
    "fractions": Case(
        lambda: exact_problem("l1-ball"),
        {"tol": 0, "max_iterations": 12, "record_at": [2, 7, 12]},
    ),
    "entries": Case(entries, {**PLAIN, "batch": 0.2, "max_iterations": 12}),
    "dense-nuclear": Case(pictures, {**PLAIN, "max_iterations": 7}),
    "polytope": Case(on_polytope(), {**PLAIN, "max_iterations": 30}),
    "polytope-in-product": Case(
        on_polytope(lambda oracle: Counting(Scaled(oracle, 2.0))), {**PLAIN, "max_iterations": 30}
    ),
    "caching": Case(
        classes(Caching(L1Ball(5.0), 0.05, size=4), n=60), {**PLAIN, "max_iterations": 150}
    ),
    "caching-polytope": Case(on_polytope(lambda oracle: Caching(oracle, 0.01)), PLAIN),
    "operator": Case(by_operator, {**PLAIN, "max_iterations": 40}),
    "warm": Case(classes(L1Ball(5.0)), PLAIN, warm=classes(L1Ball(2.0))),
    "warm-ridge": Case(
        classes(Ridge(0.01)), {**PLAIN, "method": REFERENCE}, warm=classes(L1Ball(2.0))
    ),
    "marks": Case(classes(L1Ball(5.0)), {**PLAIN, "record_at": [10, 11, 50]}),
    "stream": Case(
        classes(L1Ball(5.0)), PLAIN, lambda: {"record_at": (7 * k for k in count(1))}
    ),
    "hull": Case(classes(L1Ball(5.0)), {"tol": 1e-12, "batch": 3}),
    "hull-dense": Case(lambda: problem("logistic", "l1-ball", n=40), {"tol": 1e-12}),
    "hull-sampled-first": Case(classes(L1Ball(5.0), n=400), {"tol": 1e-12, "batch": 20}),
    "coordinates": Case(classes(L1Penalty(0.003)), {"tol": 1e-12, "batch": 3}),
    "coordinates-hull": Case(classes(L1Penalty(0.001, 1.0)), {"tol": 1e-12, "batch": 3}),
    "hull-nuclear": Case(entries, {"tol": 1e-6, "batch": 0.2, "max_seconds": 9e9,
                                   "max_iterations": 60}),
    "hull-polytope": Case(on_polytope(), {"tol": 1e-9, "batch": 3, "max_iterations": 60}),
    "hull-product": Case(
        lambda: Problem(
            np.random.default_rng(0).normal(size=(40, 5)),
            np.random.default_rng(1).normal(size=40), LeastSquares(),
            Product((L1Ball(2.0), Box(-1.0, 1.0)), (3, 2)),
        ), {"tol": 1e-9},
    ),
    "ball": Case(classes(L2Ball(2.0)), {"tol": 1e-13, "batch": 3}),
    "ball-ridge": Case(classes(Ridge(0.001)), {"tol": 1e-13, "batch": 3}),
    "gradient-budget": Case(
        classes(L2Ball(2.0)), {"tol": 1e-14, "batch": 3, "max_gradients": 4000}
    ),
}  # fmt: skip
ROWS: dict[str, Any] = {"tol": 0.0, "max_iterations": 40}
for name in methods.__all__:
    if name not in ("NAMED", "Method", "Progress", "method_named"):
        oracle: Any = Ridge(0.01) if name in ("Apcg", "Quartz", "Sdca") else L1Ball(5.0)
        many = {"max_iterations": 130} if name in ("Apcg", "Quartz", "Sdca") else {}
        CASES[name] = Case(classes(oracle), {**ROWS, **many, "method": getattr(methods, name)()})
SCHEDULES = [
    SublinearSchedule(11.0), HeadStart(11.0), LinearSchedule(10.0, 2.0),
    ShortStep(LinearSchedule(10.0, 2.0)),
]  # fmt: skip
SAMPLERS = [
    UniformSampler(30, 2, np.random.default_rng(5)), CyclicSampler(30, 4),
    ReshuffledSampler(30, 4, np.random.default_rng(5)), Replay([[i % 30] for i in range(40)]),
    ImportanceSampler(np.arange(1, 31) / 465, np.random.default_rng(5)),
]  # fmt: skip
for part in (*(kind() for kind in PROXES.values()), *SCHEDULES):
    one = RCMD(schedule=part) if isinstance(part, Schedule) else RCMD(prox=part)
    CASES[type(part).__name__] = Case(classes(Ridge(0.01)), {**PLAIN, "method": one})
for part in SAMPLERS:  # most of them have to be given again
    given = partial(dict, method=RCMD(sampler=part))
    CASES[type(part).__name__] = Case(classes(Ridge(0.01)), ROWS, given)
for rule in get_args(StepRule):
    CASES[f"FrankWolfe-{rule}"] = Case(
        classes(L1Ball(5.0)), {**ROWS, "method": methods.FrankWolfe(rule)}
    )
CASES["FrankWolfe-entries"] = Case(
    entries, {**ROWS, "max_iterations": 6, "method": methods.FrankWolfe("exact")}
)


def bits(value: Any) -> Any:
    """What two values have in common if and only if they are the same, bit for bit."""
    if isinstance(value, LowRank):
        return [bits(part) for part in (value.left, value.right, value.weights)]
    if sp.issparse(value):
        return [bits(part) for part in (value.data, value.indices, value.indptr)]
    array = np.asarray(value)
    if array.dtype == object:
        return [str(entry) for entry in array.ravel().tolist()]
    return [array.dtype.str, array.shape, array.tobytes()]


def told(state: State) -> dict[str, Any]:
    """All that a run tells at a checkpoint, but for the time."""
    numbers = {k: v for k, v in vars(state).items() if k not in ("seconds", "certificate")}
    pair = vars(state.certificate)
    return {k: bits(v) for k, v in {**numbers, **{f"best {k}": v for k, v in pair.items()}}.items()}


def recorded(case: Case, folder: Path) -> tuple[list[dict[str, Any]], list[Any], Result]:
    """What the whole run tells, what every file that it wrote would hold, and its result."""
    files: list[Any] = []

    def keep(path: Path, tree: Any) -> None:
        files.append(pickle.dumps(tree))

    options = case.first()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saver, "write_file", keep)
        patch.setattr(running, "SLICE_SECONDS", 0.0)  # a file after every step
        whole = iterate(case.make(), **options, checkpoint=folder / "run.ckpt", every=0.0)
        states = [told(state) for state in whole]
    return states, list(map(pickle.loads, files)), whole.result()


@pytest.fixture(autouse=True)
def _single_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of corrections of one step each, so that there are several to go on from.

    Of 400 samples or more, some are solved first.
    """
    monkeypatch.setattr("rcmd.methods.corrections.hull.MOST_STEPS", 1)
    monkeypatch.setattr("rcmd.methods.corrections.coordinates.MOST_STEPS", 1)
    monkeypatch.setattr("rcmd.methods.corrections.hull.FEWEST_SAMPLES", 50)


def some(files: list[Any]) -> list[Any]:
    """The first, one in between, and the last ones, where corrections are."""
    last = len(files) - 1
    chosen = {0, last // 2, *range(max(last - 3, 0), last + 1)}
    return [files[i] for i in sorted(chosen)]


def continued(
    case: Case, file: Any, path: Path, **more: Any
) -> tuple[int, list[dict[str, Any]], Result]:
    """How much was told before this file, what a run from it tells, and its result."""
    write_file(path, file)
    resumed = reopen(path, case.make(), **case.again(), **more, every=1e9)
    before = len(resumed.history)
    return before, [told(state) for state in resumed], resumed.result()


@pytest.mark.parametrize("name", CASES)
def test_every_checkpoint_leads_to_the_same_end(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    states, files, whole = recorded(case, tmp_path)
    assert len(files) > len(states) > 2
    assert len(files) > whole.nit, "not a file after every step"
    if name == "hull-sampled-first":
        assert files[-1]["run"]["progress"]["_correction"]["_earlier"] > 0
    befores = set()
    for file in some(files):
        before, rest, result = continued(case, file, tmp_path / "copy.ckpt")
        assert rest == states[before:]
        assert lines(result.history) == lines(whole.history)
        befores.add(before)
    assert len(befores) > 2


def test_no_shipped_schedule_or_sampler_is_left_out() -> None:
    shipped = {
        name
        for module, kind in ((schedules, "step"), (sampling, "draw"))
        for name, member in vars(module).items()
        if hasattr(member, kind) and getattr(member, "__module__", "") == module.__name__
    }
    # Of ExactProx, of the cases "warm", and what they are all kinds of.
    others = {"UnitStepSchedule", "Resumed", "Schedule", "Sampler"}
    assert shipped == others | {type(part).__name__ for part in (*SCHEDULES, *SAMPLERS)}


def test_neither_a_checkpoint_nor_an_earlier_run_changes_anything(tmp_path: Path) -> None:
    for name in ("l1", "ridge-geometric", "hull", "caching", "polytope", "dense-nuclear"):
        case = CASES[name]
        made, (states, *_) = case.make(), recorded(case, tmp_path)
        for _ in range(2):
            assert [told(state) for state in iterate(made, **case.options)] == states


def without(*names: str) -> Any:
    return tuple(name for name in CompiledEngine.changing if name not in names)


PLANTED: list[tuple[str, Any, str, Any]] = [
    ("l1", CompiledEngine, "changing", without("sampler")),
    ("l1", CompiledEngine, "changing", without("_samples")),
    ("l1", CompiledEngine, "changing", without("_loop")),
    ("l1", CompiledEngine, "changing", without("_total")),
    ("ridge-geometric", CompiledEngine, "changing", without("_base")),
    ("warm-compiled", CompiledEngine, "changing", without("_past")),
    ("ridge", CoordinateLoop, "changing", ("columns",)),
    ("l1-reference", DualAverage, "changing", ("last",)),
    ("l1-reference", PrimalAverage, "changing", ("total", "base")),
    ("Apcg", ApcgProgress, "changing", ("iteration", "_records", "_columns", "_power")),
    ("hull", BestPair, "load_state", lambda self, state: None),
    (
        "hull",
        CorrectedProgress,
        "not_kept",
        (*CorrectedProgress.not_kept, "record_due", "_start", "_last"),
    ),
    ("caching", Caching, "load_state", lambda self, state: None),
    ("dense-nuclear", NuclearBall, "load_state", lambda self, state: None),
]
CASES_TO_BREAK = {
    **CASES,
    "warm-compiled": Case(
        classes(Ridge(20.0), n=12),
        {**PLAIN, "max_iterations": 366, "batch": 6},
        warm=classes(Ridge(20.0), n=12),
    ),
}


@pytest.mark.parametrize(("name", "owner", "attribute", "value"), PLANTED)
def test_what_is_forgotten_is_missed(
    name: str, owner: Any, attribute: str, value: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    case = CASES_TO_BREAK[name]
    monkeypatch.setattr(owner, attribute, value, raising=False)
    states, files, _ = recorded(case, tmp_path)

    def missed(file: Any) -> bool:
        try:
            before, rest, _ = continued(case, file, tmp_path / "copy.ckpt")
        except (AttributeError, TypeError, ValueError):
            return True
        return rest != states[before:]

    assert any(missed(file) for file in reversed(some(files)))


def test_rows_on_disk(tmp_path: Path) -> None:
    X, y = make_classification(n=60, p=7, rng=np.random.default_rng(1))
    with RowsWriter(tmp_path / "some.rows") as writer:
        writer.append(X, y)

    def make() -> Problem:
        stored = open_rows(tmp_path / "some.rows")
        return Problem(stored.X, stored.y, Logistic(), L1Ball(5.0))

    for options in (PLAIN, {"tol": 1e-10, "batch": 3}):
        case = Case(make, options)
        states, files, _ = recorded(case, tmp_path)
        for file in some(files):
            before, rest, _ = continued(case, file, tmp_path / "copy.ckpt")
            assert rest == states[before:]


class Tally:
    """An object with a state, which is also called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> int:
        self.count += 1
        return self.count

    def state(self) -> int:
        return self.count

    def load_state(self, state: int) -> None:
        self.count = state


class Remembering(Progress):
    """Steps whose length depends on values of many kinds that a user may keep."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.seen: dict[Any, int] = {}
        self.past: tuple[int, ...] = ()
        self.tally, self.pair, self.named = Tally(), [Tally(), Tally()], {"one": Tally()}

    @property
    def step_gradients(self) -> int:
        return self.problem.n

    def step(self) -> None:
        k = self.iteration % 3
        self.seen[k] = self.seen.get(k, 0) + 1
        self.past += (k,)
        counted = self.tally() + self.pair[0]() + self.pair[1]() + self.named["one"]()
        slope = self.slope_at(self.beta, self.draw(self.problem.n))
        share = 1 / (self.seen[k] + len(self.past) + counted)
        self.beta += share * (self.lowest_point(slope) - self.beta)


@dataclass(frozen=True, repr=False)
class Mine(Method):
    """A method of one's own."""

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Remembering:
        return Remembering(problem, rng)


def test_what_a_method_of_ones_own_keeps_is_kept(tmp_path: Path) -> None:
    X, y = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]]), np.array([1.0, -0.5, 0.2])
    problem = Problem(X, y, LeastSquares(), L1Ball(1.0))
    whole = solve(problem, method=Mine(), tol=0, max_iterations=20)
    file = tmp_path / "mine.ckpt"
    solve(problem, method=Mine(), tol=0, max_iterations=7, checkpoint=file)
    resumed = resume(file, problem, method=Mine(), max_iterations=20)
    assert resumed.beta.tolist() == whole.beta.tolist()
