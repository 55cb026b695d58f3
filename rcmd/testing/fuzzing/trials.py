"""Problems with the classes of ``planted``, and what may become of them.

A fault must be *refused* by a sentence, or the certificate *labelled*: as resting on a sample, or
unchecked. Never may it be called proved; no bound may be shown that a class voids, nor one that the
mean gap breaks; a twin must be solved, and rightly. The judge is no solver of ours: P is evaluated
by its formula, and minimized over its one or two variables by grids that close in, one variable
inside the other: to 1e-10 where P is convex, as twins are and all but faulty losses. As any point
bounds P* from above, it may miss a wrong certificate of another P but never accuses a right one.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from rcmd.conjugates.huber import Huber, LeastSquares
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.certificate import certify
from rcmd.model.problem import Problem
from rcmd.model.prox import ConjugateProx
from rcmd.oracles.l1 import L1Ball
from rcmd.oracles.l2 import L2Ball
from rcmd.rows.validation import Array
from rcmd.solver.solve import solve
from rcmd.testing.fuzzing import planted
from rcmd.testing.fuzzing.cases import MOST_ITERATIONS, Case, Draw
from rcmd.testing.fuzzing.judging import ROUNDING, Finding, Verdict
from rcmd.testing.fuzzing.planted import (
    Cube,
    Disc,
    HiddenCube,
    Idle,
    Rough,
    RoughAt,
    RoughMarked,
    RoughUnsaid,
    SameMethod,
    SaysQuadratic,
    Squares,
    Steep,
    SteepUnsaid,
    refilled,
)

MOST_ROWS = 6

MANY_ROWS = 12
"""Where one row has a fault; a check looks at some of so many."""

IN_LOSSES = ["derivative", "conjugate", "curvature", "cosine", "bump", "kink", "labels", "formula"]
IN_LOSSES += ["quadratic"]

IN_ROWS = ["mark", "offset", "weight"]
"""What one row has of its own, where alone a loss has its fault."""

IN_ORACLES = ["heuristic", "rare heuristic", "argmin", "short", "minimum"]
IN_ORACLES += ["outside", "writes", "buffer", "range", "mu"]
"""The faults of ``Cube`` and ``Disc``."""

IN_LOOPS = {"shape": planted.Shaped, "vertex rule": planted.Ruled}
"""What compiled loops read of a set instead of its ``argmin``."""

WAYS = {"SameDraw": "", "SameProx": "", "SameSteps": "", "SameMethod": ""}
WAYS |= {"RowZero": "sampler", "Biased": "sampler", "refilled": "sampler", "Idle": "method"}
WAYS |= {"SlowProx": "prox", "ShortSteps": "schedule", "ShortLinear": "schedule"}
"""What stands in the place of what a theorem is about, and where it breaks it."""

REFUSALS = ValueError, FloatingPointError

ENGINES = ["reference", "reference", "compiled"]

CHECKPOINTS = 1, 10, 100
"""Steps after which the mean gap of runs is compared with their bound."""

FEW_RUNS, MANY_RUNS = 6, 60


@dataclass(frozen=True, eq=False)
class Planted(Case):
    """A case with a fault, named, or with none; run by ``way``, a class of ``planted``."""

    loss: Any  # a formula is a loss, too
    fault: str = ""
    way: str = ""
    offset: Array | None = None
    mark: Array | None = None
    energy: float = 1.0
    verify: bool = True

    def problem(self) -> Problem:
        """The problem; with a private fault after one of the same class without it."""
        given: dict[str, Any] = {"weights": self.weights, "verify": self.verify}
        given |= {"offset": self.offset, "fields": None}
        given |= {} if self.mark is None else {"fields": {"mark": self.mark}}
        X: Any = self.X if self.energy == 1 else planted.Damped(self.X, self.energy)
        if isinstance(self.oracle, HiddenCube):
            Problem(X, self.y, self.loss, replace(self.oracle, fault="", size=0.0), **given)
        return Problem(X, self.y, self.loss, self.oracle, **given)

    def method(self, problem: Problem, seed: int) -> RCMD:
        """The algorithm, as ``way`` changes it."""
        made: Any = getattr(planted, self.way, None)
        given: dict[str, Any] = {"engine": self.engine, "batch": self.batch}
        if made is None:
            return RCMD(**given)
        if made is Idle or made is SameMethod:
            return made(**given)
        if made is refilled or issubclass(made, UniformSampler):
            rng = np.random.default_rng(seed)
            return RCMD(engine=given["engine"], sampler=made(problem.n, self.batch, rng))
        if issubclass(made, ConjugateProx):
            return RCMD(**given, prox=made())
        constants = problem.constants(self.batch)
        linear = (constants.sigma,) if self.way == "ShortLinear" else ()
        return RCMD(**given, schedule=made(constants.blocks, *linear))

    def values(self, points: Array) -> Array:
        """P at each row of ``points``, all in dom R, by its formula."""
        s = points @ self.X.T + (0.0 if self.offset is None else self.offset)
        if isinstance(self.loss, str):
            names = {"exp": np.exp, "cos": np.cos, "s": s, "y": self.y}
            losses = eval(self.loss.removeprefix("expression:"), names)
        else:
            own = (self.y,) if self.mark is None else (self.y, self.mark)
            losses = np.vectorize(self.loss.value, otypes=[float])(s, *own)
        weighted = losses if self.weights is None else self.weights * losses
        strength = getattr(self.oracle, "strength", 0.0)
        return np.asarray(weighted.mean(axis=1) + strength / 2 * (points**2).sum(axis=1))


# ---- drawing -----------------------------------------------------------------------------------


def random_planted(rng: Random) -> Planted:
    """A case with a fault in its loss, in its oracle or in the way it is run, or with its twin."""
    draw = Draw(rng)
    part = rng.choice(["loss", "oracle", "way", "loss", "oracle", "way", "row", "loop", "rows"])
    n, p = MANY_ROWS if part == "row" else rng.randint(2, MOST_ROWS), rng.randint(1, 2)
    twin = draw.chance(30)
    scales = [10.0 ** rng.randint(-6, 6) if draw.chance(20) else 1.0 for _ in range(3)]
    X = scales[0] * draw.numbers(MANY_ROWS, 2)[:n, :p]
    radius = scales[1] * draw.magnitude(0.5)
    unit = float(abs(X).max() * radius) or 1.0
    y = scales[2] * unit * draw.numbers(MANY_ROWS)[:n]
    steep = float(abs(X).max() ** 2)
    strength = steep * draw.magnitude() or 1.0 if draw.chance(40) else 0.0
    own = rng.choice([Cube, Disc, HiddenCube])(radius, strength)
    oracle = rng.choice([own, own, L1Ball(radius), L2Ball(radius)])
    loss: Any = rng.choice([LeastSquares(), Squares(), Huber(unit)])
    size, fault, way = 10.0 ** (rng.randint(-200, -5) / 100), "", ""
    weights = draw.whole_numbers(1, 9, n) / 3 if draw.chance(20) else None
    own_data: dict[str, Any] = {"weights": weights}
    energy, batch = 1.0, rng.randint(1, n) if draw.chance(30) else 1
    if part == "row":
        fault, loss, of_row = _faulty_row(draw, X, y, radius, unit, twin)
        own_data |= of_row
    elif part == "loop":
        fault = rng.choice([*IN_LOOPS])
        oracle = IN_LOOPS[fault](radius, share=1.0 if twin else 1 - size)
        fault = "" if twin else fault
    elif part == "rows":
        oracle, batch = replace(own, strength=strength or steep or 1.0), rng.randint(1, n)
        energy, fault = (1.0, "") if twin or not X.any() else (1 - size, "energy")
    elif part == "loss":
        place = rng.randint(-900, 900) / 1000 * float(abs(X[0]).max()) * radius - y[0]
        width = unit * 10.0 ** (rng.randint(-300, 0) / 100)
        with warnings.catch_warnings():  # of numeric conjugates
            warnings.simplefilter("ignore")
            fault, loss, labels = _random_loss(draw, twin, size, float(place), width)
        y = np.where(y < 0, -labels, labels) if labels else y
    elif part == "oracle":
        fault = "" if twin else rng.choice(IN_ORACLES)
        if fault in {"heuristic", "rare heuristic", "argmin"} and p == 1:
            fault = "minimum"  # a search along one coordinate is right there
        if fault == "mu":
            strength = strength or steep or 1.0
        oracle = type(own)(radius, strength, fault, size)
    else:
        way = rng.choice([name for name, broken in WAYS.items() if twin != bool(broken)])
        fault = WAYS[way]
        if way == "ShortLinear":
            oracle = type(own)(radius, strength or steep or 1.0)
    return Planted(
        X=X,
        y=y,
        loss=loss,
        oracle=oracle,
        batch=batch,
        tol=10.0 ** (rng.randint(-90, -10) / 10) * unit**2,
        seed=rng.randint(0, 99),
        # Methods that call those of their base class, and own rows, are not compiled.
        engine="reference" if part in {"row", "rows"} else rng.choice(ENGINES),
        corrected=draw.chance(50),
        fault=f"{part}: {fault}" if fault else "",
        way=way,
        energy=energy,
        **own_data,
        verify=not draw.chance(5),
    )


def _faulty_row(
    draw: Draw, X: Array, y: Array, radius: float, unit: float, twin: bool
) -> tuple[str, Any, dict[str, Any]]:
    """The name of a fault, a loss that has it at one row alone, and what that row has of its own.

    The place of the fault is among the row's predictions.
    """
    k, far, kind = draw.whole(0, len(y) - 1), np.zeros(len(y)), draw.rng.choice(IN_ROWS)
    far[k] = 1.0
    reach = float(abs(X[k]).max()) * radius
    place, width = draw.whole(-900, 900) / 1000 * reach - y[k], (reach or unit) / 10
    own: dict[str, Any] = {"mark": far}
    if kind == "offset":  # where no other row comes to
        own = {"offset": 20 * float(abs(X).max() * radius + abs(y).max() or 1.0) * far}
        place += own["offset"][k]
    elif kind == "weight":
        own = {"weights": 1 + 8 * far}
    depth = (0.9 if twin else 2.0) * width**2
    rough = 1 + 2 * depth / width**2, depth, float(place), width
    made: dict[str, Any] = {
        "mark": RoughMarked,
        "offset": Rough,
        "weight": partial(RoughAt, label=float(y[k])),
    }
    with warnings.catch_warnings():  # of numeric conjugates
        warnings.simplefilter("ignore")
        loss = made[kind](*rough)
    return "" if twin or not reach else kind, loss, own


def _random_loss(
    draw: Draw, twin: bool, size: float, place: float, width: float
) -> tuple[str, Any, float]:
    """The name of a fault, a loss that has it unless it is a ``twin``, and the size of its labels.

    That is 0 where any labels will do.
    """
    fault = draw.rng.choice([*IN_LOSSES, "bump", "bump"])
    wrong = draw.rng.choice([1 - size, 1 + size, 1 / size])
    far = draw.rng.choice([1.01, 1.1, 2.0, 10.0, 1e2, 1e4, 1e6])
    labels, made = 0.0, draw.rng.choice([Rough, RoughUnsaid])
    depth = (0.9 if twin else 1.1205 * far) * width**2
    ripple = (0.9 if twin else far) * width**2
    losses: dict[str, Callable[[], Any]] = {
        "derivative": lambda: Squares(slope=1.0 if twin else wrong),
        "conjugate": lambda: Squares(dual=1.0 if twin else wrong),
        "curvature": lambda: Squares(curvature=1.0 if twin else 1 - size),
        "cosine": lambda: made(1 + ripple / width**2, width=width, ripple=ripple),
        "bump": lambda: made(1 + 2 * depth / width**2, depth, place, width),
        "kink": lambda: made(
            4.0, place=place, **({"bend": 3.0} if twin else {"kink": size * width})
        ),
        "labels": lambda: SteepUnsaid() if twin else Steep(),
        "quadratic": lambda: SaysQuadratic(
            1.0 if twin else 1 + size, place=place, bend=0.0 if twin else size
        ),
        "formula": lambda: (
            f"expression:(s - y)**2/2 - {depth!r}*exp(-((s - y - ({place!r}))/{width!r})**2)"
        ),
    }
    if fault == "labels":
        labels = draw.rng.choice([10.0, 100.0, 1000.0])
    return "" if twin else fault, losses[fault](), labels


# ---- judging -----------------------------------------------------------------------------------


def tried(case: Planted) -> Verdict:
    """What becomes of a case: the outcome, and the findings."""
    warnings.simplefilter("ignore")  # as faults may warn; the caller restores it
    try:
        problem = case.problem()
        plain = case.method(problem, case.seed)
        method = Corrected(plain) if case.corrected else plain
        options: dict[str, Any] = {"tol": case.tol, "seed": case.seed}
        result = solve(problem, method=method, max_iterations=MOST_ITERATIONS, **options)
    except REFUSALS:
        if case.fault:
            return Verdict([], outcome="refused")
        raise
    lowest = _lowest(case, result.beta)
    wrong = _contradiction(case, result, lowest)
    ground, findings = result.certificate.ground, list[Finding]()
    users = {type(part).__module__ for part in (case.loss, case.oracle)} & {planted.__name__}
    unsaid = isinstance(case.loss, RoughUnsaid | SteepUnsaid)
    if ground == "proved" and (users or wrong):
        findings.append(Finding("proved", f"called proved; {wrong or 'true, of a user class'}"))
    elif wrong and not case.fault:
        findings.append(Finding("twin", wrong))
    if (case.way or unsaid) and np.isfinite(result.history.column("bound")).any():
        without = case.way or "a γ that is an estimate"
        findings.append(Finding("voided", f"a bound is shown with {without}"))
    with suppress(*(REFUSALS if case.fault else ())):  # a run that is refused shows no bound
        findings += _bound_findings(case, problem, lowest)
    outcome = f"{ground} and {'wrong' if wrong else 'true'}" if case.fault else "twin solved"
    code = case.code() if wrong and case.verify else ""
    return Verdict(findings, result.success, outcome=outcome, code=code)


def _contradiction(case: Planted, result: Any, lowest: float) -> str:
    """What is wrong with a certificate, in words; nothing if nothing is."""
    beta, size = result.beta, _size(case, result.beta)
    reach, radius = case.oracle.norm(beta), case.oracle.radius  # type: ignore[attr-defined]
    if reach > radius * (1 + ROUNDING):
        return f"β = {beta} of norm {reach} is outside dom R"
    value, found = float(case.values(beta[None])[0]), f"P* ≤ {lowest} (± {size:.2g})"
    if value - lowest > result.gap + size:
        return f"P(β) = {value} with a gap of {result.gap}, but {found}"
    return f"D(w) = {result.dual}, but {found}" if result.dual > lowest + size else ""


def _size(case: Planted, beta: Array) -> float:
    """The rounding in values of P."""
    return float(ROUNDING * abs(case.values(np.array([beta, 0 * beta]))).sum())


def _lowest(case: Planted, beta: Array) -> float:
    """The least P found in dom R, and P* to 1e-10 of its variation there where P is convex.

    From the whole of dom R, and from around the best point of a grid and of places of faults.
    """
    radius, p = case.oracle.radius, case.X.shape[1]  # type: ignore[attr-defined]
    axis = np.linspace(-radius, radius, 2001 if p == 1 else 45)
    points = [np.stack(np.meshgrid(*[axis] * p), axis=-1).reshape(-1, p), beta[None]]
    place, width = getattr(case.loss, "place", 0.0), getattr(case.loss, "width", 0.0)
    offset = 0 * case.y if case.offset is None else case.offset
    for x, y, o in zip(case.X, case.y, offset, strict=True):
        if x.any():  # β along x that predicts what is near the place of the fault
            s = y - o + place + width * np.linspace(-3, 3, 25)
            points.append(np.outer(s / (x @ x), x))
    start = np.concatenate(points)
    norms = np.array([case.oracle.norm(point) for point in start])  # type: ignore[attr-defined]
    start *= (radius / np.maximum(norms, radius))[:, None]
    values = case.values(start)
    best, cell = start[values.argmin()], axis[1] - axis[0]
    return min(
        float(values.min()), _least(case, 0 * best, radius), _least(case, best, 2 * float(cell))
    )


def _least(case: Planted, centre: Array, width: float) -> float:
    """The least P in dom R within ``width`` of ``centre``, over β₂ for each β₁ if there are two."""
    oracle: Any = case.oracle

    def value(*columns: Array) -> Array:
        points = np.stack(np.broadcast_arrays(*columns), axis=-1)
        return case.values(points.reshape(-1, len(columns))).reshape(points.shape[:-1])

    def lowest(first: Array) -> Array:
        if len(centre) == 1:
            return value(first)
        share = np.minimum(abs(first) / oracle.radius, 1.0)
        reach = oracle.radius + 0 * share
        if isinstance(oracle, L1Ball):
            reach *= 1 - share
        elif isinstance(oracle, Disc | L2Ball):
            reach *= np.sqrt((1 - share) * (1 + share))
        ends = (np.clip(centre[1] + side, -reach, reach) for side in (-width, width))
        return _minima(lambda second: value(first, second), *ends)

    ends = (np.clip(centre[0] + side, -oracle.radius, oracle.radius) for side in (-width, width))
    return float(_minima(lowest, *ends))


def _minima(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """The least values on [low, high]; of a convex function to 4⁻¹⁸ of the length."""
    best: Array = np.array(np.inf)
    for _ in range(18):
        points = low + (high - low) * np.linspace(0, 1, 9).reshape(-1, *[1] * np.ndim(low))
        values = function(points)
        k, best = values.argmin(axis=0)[None], np.minimum(best, values.min(axis=0))
        low, high = (
            np.take_along_axis(points, np.clip(k + side, 0, 8), axis=0)[0] for side in (-1, 1)
        )
    return best


def _bound_findings(case: Planted, problem: Problem, lowest: float) -> Iterator[Finding]:
    """Where the mean gap of runs breaks the bound that they show, twice."""
    few, bounds = _gaps(case, problem, lowest, range(FEW_RUNS))
    if (few.mean(axis=0) > bounds).any():
        many, bounds = _gaps(case, problem, lowest, range(FEW_RUNS, FEW_RUNS + MANY_RUNS))
        mean, error = many.mean(axis=0), many.std(axis=0) / np.sqrt(MANY_RUNS)
        for k in np.flatnonzero(mean - 4 * error > bounds)[:1]:
            text = f"a mean gap of {mean[k]} ± {error[k]:.2g} after {CHECKPOINTS[k]} steps"
            yield Finding("bound", f"{text}; the bound is {bounds[k]}")


def _gaps(case: Planted, problem: Problem, lowest: float, seeds: range) -> tuple[Array, Array]:
    """The gaps of the theorem's pairs, a row a run, less their rounding; and the bounds."""
    gaps, bounds = np.zeros((len(seeds), len(CHECKPOINTS))), np.full(len(CHECKPOINTS), np.nan)
    for row, seed in zip(gaps, seeds, strict=True):
        method = case.method(problem, seed)
        progress = method.start(problem, None, np.random.default_rng(seed))
        for k, steps in enumerate(np.diff((0, *CHECKPOINTS))):
            progress.advance(int(steps))
            bounds[k] = progress.bound
            beta, w_average = progress.averages()
            w = progress.w if progress.theorem in ("linear", "exact") else w_average
            gap = certify(problem, beta, w).gap
            row[k] = max(gap, case.values(beta[None])[0] - lowest) - _size(case, beta)
        if np.isnan(bounds).all():
            break
    return gaps, bounds
