"""A CVXPY problem as a ``Problem`` of rcmd: what became of each part, and the way back."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rcmd.applications.from_cvxpy.affine import read, shown
from rcmd.applications.from_cvxpy.bounding import level_of, reach_of
from rcmd.applications.from_cvxpy.domains import Feature, Space
from rcmd.applications.from_cvxpy.losses import Block, Losses, assemble, blocks_of, rows_of
from rcmd.applications.from_cvxpy.regions import RULES, Region, Unbounded, regions_of
from rcmd.applications.from_cvxpy.terms import Samples, Terms, gather
from rcmd.applications.from_cvxpy.tilted import Tilted
from rcmd.conjugates.samples import SampleLosses
from rcmd.model.problem import Problem
from rcmd.oracles import LinearMinOracle, Product
from rcmd.rows import as_rows
from rcmd.rows.layouts import cut
from rcmd.rows.validation import Array
from rcmd.solver.history import State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import TOL, solve


@dataclass(eq=False)
class CvxpyReading:
    """A CVXPY problem, read: objective = ±(``scale``·P + ``constant``), − where it is maximized.

    Attributes
    ----------
    problem
        The ``Problem``.
    scale, constant, sign
        How P and the objective belong together.
    order
        β_k is entry ``order[k]`` of all variables in a row, each column by column.
    """

    source: Any
    problem: Problem
    scale: float
    constant: float
    sign: int
    order: Array
    space: Space
    blocks: list[Block]
    regions: list[Region]
    result: Result | None = None

    def values(self, beta: Any) -> dict[Any, Array]:
        """What each variable of the CVXPY problem is at β."""
        whole = np.empty(len(self.order))
        whole[self.order] = np.asarray(beta, dtype=float)
        return {
            v: whole[start : start + v.size].reshape(v.shape, order="F")
            for v in self.space.variables
            for start in (self.space.starts[v.id],)
        }

    def objective(self, primal: Any) -> float:
        """The objective of the CVXPY problem where P is ``primal``."""
        return float(self.sign * (self.scale * float(primal) + self.constant))

    def explain(self) -> str:
        """Which part of the CVXPY problem became what."""
        problem = self.problem
        lines = [
            f"{'minimize' if self.sign > 0 else 'maximize'} {shown(self.source.objective.args[0])}",
            f"  = {'' if self.sign > 0 else '−('}{self.scale:.6g}·P(β)"
            f"{f' + {self.constant:.6g}' if self.constant else ''}{'' if self.sign > 0 else ')'}, "
            "P(β) = (1/n) Σ_j ω_j l(x_jᵀβ + o_j; y_j) + R(β)",
            f"loss         {problem.loss.formula}   ({type(problem.loss).__name__})",
        ]
        for block in self.blocks:
            terms = " + ".join(dict.fromkeys(shown(e) for e in block.expressions))
            lines.append(f"rows         {len(block.weights)} of {terms}")
        if problem.loss.labels != "real" or np.any(problem.y):
            lines.append(f"labels y     from {problem.y.min():.4g} to {problem.y.max():.4g}")
        if problem.offset is not None:
            low, high = problem.offset.min(), problem.offset.max()
            lines.append(f"offset o     from {low:.4g} to {high:.4g}")
        if problem.weights is not None:
            low, high = problem.weights.min(), problem.weights.max()
            lines.append(f"weights ω    from {low:.4g} to {high:.4g}")
        if problem.fields:
            lines.append(f"fields       {', '.join(problem.fields)}")
        lines.append(f"regularizer  R = {problem.oracle.describe()}")
        asked = [f.source for r in self.regions for f in [*r.features.values(), *r.rest]]
        for source in asked:
            lines.append(f"  from       {_source(source)}")
        start = 0
        names = []
        for variable in self.space.variables:
            names.append(f"{variable.name()} ({variable.size})")
            start += variable.size
        lines.append(f"variables    β = {', '.join(names)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"CvxpyReading({self.problem!r})"

    def solve(self, tol: float = TOL, **options: Any) -> Result:
        """Solve until the certified gap, in the objective's units, is at most tol·max(1, |it|).

        ``options`` are those of ``rcmd.solve``. A solution found before is the start.
        """

        def close(state: State) -> bool:
            reached = self.scale * float(state.gap)
            return reached <= tol * max(1.0, abs(self.objective(state.primal)))

        given = options.pop("callbacks", ())
        callbacks = [close, *([given] if callable(given) else given)]
        if self.result is not None and "warm_start" not in options:
            options["warm_start"] = self.result
        self.result = solve(self.problem, tol=tol / self.scale, callbacks=callbacks, **options)
        return self.result


def _source(source: Any) -> str:
    if isinstance(source, list):
        return ", ".join(dict.fromkeys(_source(feature.source) for feature in source))
    if isinstance(source, Samples):
        return shown(source.expression)
    if len(getattr(source, "args", ())) == 2 and hasattr(source, "dual_value"):
        joint = "==" if type(source).__name__ == "Equality" else "<="
        return f"{shown(source.args[0])} {joint} {shown(source.args[1])}"
    return shown(source)


# ---- reading -----------------------------------------------------------------------------------


def from_cvxpy(problem: Any, before: CvxpyReading | None = None) -> CvxpyReading:
    """Read a CVXPY problem as min (1/n) Σ_j ω_j l(x_jᵀβ + o_j; y_j) + R(β), exactly.

    The expression tree alone is read: nothing is canonicalized, and data that enter as they are
    are not copied. What is not of this form is refused in a sentence that names the part.

    ``before`` is an earlier reading, with other values of parameters: its data are used again where
    they are the same, and its solution is where ``solve`` begins.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> x = cp.Variable(2, name="x")
    >>> lasso = cp.Minimize(cp.sum_squares(np.eye(2) @ x - [3.0, 0.5]) + 2 * cp.norm1(x))
    >>> reading = from_cvxpy(cp.Problem(lasso))
    >>> reading.problem.loss, reading.problem.regularizer
    (LeastSquares(), L1Penalty(strength=0.5, radius=None))
    >>> result = reading.solve()
    >>> reading.values(result.beta)[x].round(6) + 0.0, round(reading.objective(result.primal), 6)
    (array([2., 0.]), 5.25)
    """
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; expected a cvxpy.Problem(objective, "
            "constraints)"
        )
    maximized = isinstance(problem.objective, cp.Maximize)
    sign = -1 if maximized else 1
    objective = problem.objective.args[0]
    _check_convex(objective, sign, problem.constraints)
    space = Space(problem.variables())
    if not space.variables:
        raise ValueError("the problem has no variables; expected a cvxpy.Variable in its objective")
    space.attributes()
    for asked in problem.constraints:
        space.add_constraint(asked)
    found = Terms()
    gather(objective, np.array([float(sign)]), found)
    samples, features = _divided(space, found)
    blocks, added, linear = blocks_of(samples, found.linear)
    losses = assemble(blocks, space.ends)
    slopes = np.zeros(space.p)
    constant = found.constant + added
    for leaf, weights in linear:
        slopes += space.matrix(leaf).T @ weights
        constant += float(weights @ leaf.offset)
    regions = regions_of(space, [*space.features, *features], losses.scale)
    order = np.concatenate([region.places for region in regions])
    columns = _columns(space, order)
    X = _rows(blocks, columns, space.p, before)
    oracle = _regularizer(regions, losses, X, slopes[order] / losses.scale, problem, constant)
    made = Problem(
        X, losses.y, losses.loss, oracle,
        weights=losses.weights, offset=losses.offset, fields=losses.fields,
    )  # fmt: skip
    result = None if before is None or before.problem.p != made.p else before.result
    if result is not None and len(result.w) != made.n:
        result = None
    return CvxpyReading(
        problem, made, losses.scale, constant, sign, order, space, blocks, regions, result
    )


def _check_convex(objective: Any, sign: int, constraints: list[Any]) -> None:
    """Refuse what CVXPY itself would refuse, naming the first part that is not convex."""
    if objective.is_complex():
        raise ValueError(f"{shown(objective)} is complex; expected real variables and data")
    fine = objective.is_convex() if sign > 0 else objective.is_concave()
    if not fine:
        kind = "convex" if sign > 0 else "concave"
        raise ValueError(
            f"the objective {shown(_culprit(objective, kind))} is not {kind} by CVXPY's rules; "
            f"expected a {kind} function to {'minimize' if sign > 0 else 'maximize'}"
        )
    for constraint in constraints:
        if not constraint.is_dcp():
            raise ValueError(
                f"the constraint {_source(constraint)} is not convex by CVXPY's rules; expected a "
                "convex set"
            )


def _culprit(expression: Any, kind: str) -> Any:
    """The smallest part whose own arguments have a curvature."""
    for argument in expression.args:
        if not (argument.is_convex() or argument.is_concave()):
            return _culprit(argument, kind)
    return expression


def _divided(space: Space, found: Terms) -> tuple[list[Samples], list[Feature]]:
    """The samples, and what is a penalty on the variables themselves."""
    penalties = [f for term in found.others for f in space.of_term(term)]
    rest, ridges = [], []
    for samples in found.samples:
        features = space.of_samples(samples)
        ridge = features and features[0].kind == "ridge" and not features[0].centre.any()
        if ridge:
            ridges.append((samples, features[0]._replace(centre=None)))
        else:
            rest.append(samples)
    if rest and ridges:
        trial = regions_of(space, [*space.features, *penalties, *(f for _, f in ridges)], 1.0)
        fitting = [r for r in trial if not r.rest and (r.kinds in RULES)]
        kept = [id(f.source) for r in fitting for f in r.features.values() if f.kind == "ridge"]
        penalties += [f for s, f in ridges if id(s) in kept]
        rest += [s for s, _ in ridges if id(s) not in kept]
    else:
        rest += [samples for samples, _ in ridges]
    if not rest:
        parts = " + ".join(shown(term.expression) for term in found.others[:3])
        what = f"{parts} is not smooth" if parts else "it is linear"
        raise ValueError(
            f"the objective has no smooth loss of separate predictions: {what}; expected a sum over "
            "samples, such as cp.sum_squares(X @ beta - y) (for a norm itself, minimize its square)"
        )
    return rest, penalties


def _columns(space: Space, order: Array) -> dict[int, Array]:
    """Which β each entry of a variable is."""
    where = np.empty(space.p, dtype=int)
    where[order] = np.arange(space.p)
    return {
        v.id: where[space.starts[v.id] : space.starts[v.id] + v.size] for v in space.variables
    }


def _rows(
    blocks: list[Block], columns: dict[int, Array], p: int, before: CvxpyReading | None
) -> Any:
    """The data; those of the reading before where they are the very same."""
    X = rows_of(blocks, columns, p)
    if before is not None and before.problem.p == p and X is before.problem.X:
        return before.problem.rows
    return X


def _regularizer(
    regions: list[Region], losses: Losses, X: Any, slopes: Array, problem: Any, constant: float
) -> LinearMinOracle:
    """The oracle of all regions, those that nothing bounds bounded by the losses."""
    ends = np.cumsum([0, *(region.p for region in regions)])
    tilts = [slopes[a:b] for a, b in zip(ends, ends[1:], strict=False)]
    oracles: list[LinearMinOracle | None] = []
    for region, tilt in zip(regions, tilts, strict=True):
        try:
            oracles.append(_tilted(region.oracle(), tilt))
        except Unbounded:
            oracles.append(None)
    if any(oracle is None for oracle in oracles):
        _bound(regions, oracles, tilts, losses, X, ends, problem, constant)
    if len(oracles) == 1:
        return oracles[0]  # type: ignore[return-value]
    return Product(tuple(oracles), tuple(region.p for region in regions))  # type: ignore[arg-type]


def _tilted(oracle: LinearMinOracle, tilt: Array) -> LinearMinOracle:
    if not tilt.any():
        return oracle
    if getattr(oracle, "radius", 1.0) is None:
        raise Unbounded
    return Tilted(oracle, tilt)


def _bound(
    regions: list[Region],
    oracles: list[LinearMinOracle | None],
    tilts: list[Array],
    losses: Losses,
    X: Any,
    ends: Array,
    problem: Any,
    constant: float,
) -> None:
    """Oracles for regions that nothing bounds, from the objective at a feasible point."""
    open_ones = [k for k, oracle in enumerate(oracles) if oracle is None]
    level = None
    if not any(tilts[k].any() for k in open_ones):
        samples = SampleLosses(
            losses.loss, losses.y, losses.weights,
            offset=losses.offset, fields=tuple(losses.fields[name] for name in losses.loss.reads),
        )  # fmt: skip
        start = _feasible(problem)
        value = (start - constant) / losses.scale
        zeros = [np.zeros(region.p) for region in regions]
        infimum = sum(
            float(oracle.minimum(zero))
            for oracle, zero in zip(oracles, zeros, strict=True)
            if oracle is not None and getattr(oracle, "radius", 1.0) is not None
        )
        level = level_of(samples, value, infimum)
    if level is not None:
        low, high = level.low, level.high
        rows = as_rows(X)
        for k, (region, oracle) in enumerate(zip(regions, oracles, strict=True)):
            if oracle is None:
                continue
            if getattr(oracle, "radius", 1.0) is None:
                region.level = level.penalty
                oracles[k] = oracle = region.oracle()
            bottom, top = oracle.prediction_range(cut(rows, int(ends[k]), int(ends[k + 1])))
            low, high = low - top, high - bottom
        chosen = np.concatenate([np.arange(ends[k], ends[k + 1]) for k in open_ones])
        reach = reach_of(X[:, chosen], low, high)
        for k in open_ones:
            region, own = regions[k], slice(*np.searchsorted(chosen, [ends[k], ends[k + 1]]))
            region.level = level.penalty
            if reach is not None:
                space, places = region.space, region.places
                space.lower[places] = np.maximum(space.lower[places], reach[0][own])
                space.upper[places] = np.minimum(space.upper[places], reach[1][own])
            with suppress(Unbounded):
                oracles[k] = _tilted(region.oracle(), tilts[k])
    for k in open_ones:
        if oracles[k] is None:
            raise ValueError(_no_bound(regions[k]))


def _feasible(problem: Any) -> float:
    """The objective, to be minimized, at a feasible point: 0 if it is one."""
    import cvxpy as cp

    kept = [variable.value for variable in problem.variables()]
    sign = -1 if isinstance(problem.objective, cp.Maximize) else 1
    try:
        for variable in problem.variables():
            variable.save_value(np.zeros(variable.shape))
        inside = [*problem.constraints, *(c for v in problem.variables() for c in v.domain)]
        if any(np.max(c.violation()) > 0 for c in inside):
            cp.Problem(cp.Minimize(0), problem.constraints).solve(solver=cp.CLARABEL)
            for variable in problem.variables():
                if variable.value is None:
                    variable.save_value(np.zeros(variable.shape))
        return sign * float(problem.objective.args[0].value)
    finally:
        for variable, value in zip(problem.variables(), kept, strict=True):
            variable.save_value(value)


def _no_bound(region: Region) -> str:
    names = [
        v.name()
        for v in region.space.variables
        if ((region.places >= region.space.starts[v.id])
            & (region.places < region.space.starts[v.id] + v.size)).any()
    ]  # fmt: skip
    plural = "s are" if len(names) > 1 else " is"
    return (
        f"the variable{plural} not bounded: neither a constraint, nor a penalty, nor the objective's "
        f"value at a feasible point keeps {' and '.join(names)} in a bounded set; expected such a "
        f"constraint, as cp.norm_inf({names[0]}) <= 100 (Assumption 1.1 needs a bounded domain)"
    )


# ---- solving from CVXPY ------------------------------------------------------------------------


READINGS: WeakKeyDictionary[Any, CvxpyReading] = WeakKeyDictionary()
"""What ``problem.solve(method="RCMD")`` read before."""

STATUS = {
    StopReason.TOLERANCE: "optimal",
    StopReason.PRECISION: "optimal_inaccurate",
    StopReason.STALLED: "optimal_inaccurate",
}
"""CVXPY's words for why a run ended; else ``user_limit``."""


def register_cvxpy() -> None:
    """Let ``problem.solve(method="RCMD")`` solve CVXPY problems by rcmd.

    It takes ``tol``, the certified gap to reach relative to the objective's value where that is
    above 1, and the options of ``rcmd.solve``; it sets the values of the variables, of the problem
    and of the constraints' duals, the status, and ``problem.solver_stats``, whose ``extra_stats``
    have the certified gap. Solved again, after a parameter has changed, it begins at the solution
    before.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from rcmd import register_cvxpy
    >>> register_cvxpy()
    >>> x = cp.Variable(3)
    >>> inside = [x >= 0, cp.sum(x) == 1]
    >>> nearest = cp.Problem(cp.Minimize(cp.sum_squares(x - [1.0, 0.5, -1.0])), inside)
    >>> round(nearest.solve(method="RCMD"), 6), x.value.round(4) + 0.0, nearest.status
    (1.125, array([0.75, 0.25, 0.  ]), 'optimal')
    >>> nearest.solver_stats.extra_stats["gap"] <= 1.125e-6
    True
    """
    import cvxpy as cp

    cp.Problem.register_solve("RCMD", solve_cvxpy)


def solve_cvxpy(problem: Any, tol: float = TOL, **options: Any) -> float:
    """Solve a CVXPY problem and fill in its values; what ``register_cvxpy`` registers."""
    from cvxpy.problems.problem import SolverStats
    from cvxpy.reductions.solution import Solution

    begun = time.perf_counter()
    reading = from_cvxpy(problem, READINGS.get(problem))
    READINGS[problem] = reading
    read_in = time.perf_counter()
    result = reading.solve(tol, **options)
    seconds = time.perf_counter() - read_in
    value, gap = reading.objective(result.primal), reading.scale * float(result.gap)
    reached = gap <= tol * max(1.0, abs(value))
    status = "optimal" if reached else STATUS.get(result.stop, "user_limit")
    duals = dual_values(reading, result)
    values = {v.id: value for v, value in reading.values(result.beta).items()}
    problem.unpack(Solution(status, value, values, duals, {}))
    extra = {"gap": gap, "ground": result.ground, "result": result, "reading": reading}
    stats = SolverStats("RCMD", seconds, read_in - begun, result.nit, extra)
    problem._solver_stats = stats
    return problem.value


REACH = 10.0
"""Duals follow from costs alone within so many times the size of the solution."""

MOST_DUALS = 5000


def dual_values(reading: CvxpyReading, result: Result) -> dict[int, Any]:
    """The constraints' dual values, which the certificate's costs Xᵀw/n determine.

    β minimizes cᵀβ + R(β) for them, and the multipliers of that small problem, without data, are
    those of the whole.
    """
    import cvxpy as cp

    asked = reading.source.constraints
    if not asked or reading.problem.p > MOST_DUALS:
        return {}
    costs = np.empty(reading.problem.p)
    slopes = np.zeros(reading.problem.p)
    oracle = reading.problem.regularizer
    parts = zip(oracle.oracles, oracle.ends, strict=True) if isinstance(oracle, Product) else (
        (oracle, (0, reading.problem.p)),
    )
    for part, (start, stop) in parts:
        if isinstance(part, Tilted):
            slopes[start:stop] = part.slopes
    costs[reading.order] = reading.scale * (reading.problem.gradient(result.w) + slopes)
    bound = np.concatenate([r.places for r in reading.regions if r.kinds or r.rest])
    mask = np.zeros(reading.problem.p)
    mask[bound] = 1.0
    total: Any = 0
    inside = list(asked)
    for variable, value in reading.values(result.beta).items():
        start = reading.space.starts[variable.id]
        own = slice(start, start + variable.size)
        total += (costs * mask)[own] @ cp.vec(variable, order="F")
        reach = REACH * (1 + float(abs(value).max(initial=0.0)))
        inside += [variable - value <= reach, variable - value >= -reach]
    for region in reading.regions:
        for feature in [*region.features.values(), *region.rest]:
            if "≤" in feature.kind or feature.kind == "psd":
                continue
            sources = feature.source if isinstance(feature.source, list) else [feature]
            for one in sources:
                if one.kind == "ridge":
                    whole = cp.hstack([cp.vec(v, order="F") for v in reading.space.variables])
                    total += one.size / 2 * cp.sum_squares(whole[one.places])
                else:
                    total += one.weights @ cp.vec(one.source, order="F")
    small = cp.Problem(cp.Minimize(total), inside)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        try:
            small.solve(solver=cp.CLARABEL)
        except cp.error.SolverError:
            return {}
    if small.status not in ("optimal", "optimal_inaccurate"):
        return {}
    return {c.id: c.dual_value for c in asked}


__all__ = ["CvxpyReading", "from_cvxpy", "register_cvxpy"]
