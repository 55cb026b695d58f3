"""A CVXPY problem as a ``Problem`` of rcmd: what became of each part, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.applications.from_cvxpy.affine import shown
from rcmd.applications.from_cvxpy.blocks import Block, blocks_of, rows_of
from rcmd.applications.from_cvxpy.bounding import enclosed, regularizer
from rcmd.applications.from_cvxpy.domains import Space
from rcmd.applications.from_cvxpy.features import Feature
from rcmd.applications.from_cvxpy.losses import assemble
from rcmd.applications.from_cvxpy.regions import Region, regions_of
from rcmd.applications.from_cvxpy.rules import RULES
from rcmd.applications.from_cvxpy.terms import Samples, Terms, gather
from rcmd.model.problem import Problem
from rcmd.rows.validation import Array
from rcmd.solver.history import State
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
        asked = [
            shown(getattr(one.source, "expression", one.source))
            for region in self.regions
            for one in region.asked
        ]
        lines += [f"  from       {text}" for text in dict.fromkeys(asked)]
        reaches = {region.reach: region for region in self.regions if region.reach is not None}
        lines += [
            f"  within     |{', '.join(region.names)}| ≤ {reach:g}, where an optimum lies inside"
            for reach, region in reaches.items()
        ]
        names = (f"{variable.name()} ({variable.size})" for variable in self.space.variables)
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
    sign = -1 if isinstance(problem.objective, cp.Maximize) else 1
    objective = problem.objective.args[0]
    _check_convex(objective, sign, problem.constraints)
    space = _space(problem)
    found = Terms()
    gather(objective, np.array([float(sign)]), found)
    for asked in found.inside:
        space.add_constraint(asked)
    for expression in found.finite:
        space.add_domain(expression)
    samples, features = _divided(space, found)
    blocks, added, linear = blocks_of(samples, found.linear)
    slopes = np.zeros(space.p)
    constant = found.constant + added
    for leaf, weights in linear:
        slopes += space.matrix(leaf).T @ weights
        constant += float(weights @ leaf.offset)
    regions = regions_of(space, [*space.features, *features])
    order = np.concatenate([region.places for region in regions])
    columns = _columns(space, order)
    X = _rows(blocks, columns, space.p, before)

    def build(reach: float, floor: float) -> Problem:
        losses = assemble(blocks, floor)
        for region in regions:
            region.scale = losses.scale
        return Problem(
            X, losses.y, losses.loss, regularizer(regions, slopes[order] / losses.scale, reach),
            weights=losses.weights, offset=losses.offset, fields=losses.fields,
        )  # fmt: skip

    made, result = enclosed(build, regions, blocks, None if before is None else before.result)
    return CvxpyReading(
        problem, made, regions[0].scale, constant, sign, order, space, blocks, regions, result
    )


def _space(problem: Any) -> Space:
    """The variables, with what they were declared as and the constraints."""
    space = Space(problem.variables())
    if not space.variables:
        raise ValueError("the problem has no variables; expected a cvxpy.Variable in its objective")
    space.attributes()
    for asked in problem.constraints:
        space.add_constraint(asked)
    wrong = np.flatnonzero(space.lower > space.upper)
    if len(wrong):
        low, high = space.lower[wrong[0]], space.upper[wrong[0]]
        raise ValueError(
            f"the constraints ask {space.names(wrong[:1])[0]} to be at least {low:g} and at most "
            f"{high:g} in an entry; expected at least one point that fulfils them all"
        )
    return space


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
                f"the constraint {shown(constraint)} is not convex by CVXPY's rules; expected a "
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
        if features and features[0].kind == "ridge" and not np.any(features[0].centre):
            ridges.append((samples, features[0]._replace(centre=None)))
        else:
            rest.append(samples)
    if rest and ridges:
        trial = regions_of(space, [*space.features, *penalties, *(f for _, f in ridges)])
        fitting = [r for r in trial if not r.rest and (r.kinds in RULES)]
        kept = [id(one.source) for r in fitting for one in r.asked if one.kind == "ridge"]
        penalties += [f for s, f in ridges if id(s) in kept]
        rest += [s for s, _ in ridges if id(s) not in kept]
    else:
        rest += [samples for samples, _ in ridges]
    if not rest:
        parts = " + ".join(shown(term.expression) for term in found.others[:3])
        what = f"{parts} is not smooth" if parts else "it is linear"
        raise ValueError(
            f"the objective has no smooth loss of separate predictions: {what}; expected a sum "
            "over samples, such as cp.sum_squares(X @ beta - y) (of a norm itself, minimize its "
            "square)"
        )
    return rest, penalties


def _columns(space: Space, order: Array) -> dict[int, Array]:
    """Which β each entry of a variable is."""
    where = np.empty(space.p, dtype=int)
    where[order] = np.arange(space.p)
    return {v.id: where[space.starts[v.id] : space.starts[v.id] + v.size] for v in space.variables}


def _rows(
    blocks: list[Block], columns: dict[int, Array], p: int, before: CvxpyReading | None
) -> Any:
    """The data; those of the reading before where they are the very same."""
    X = rows_of(blocks, columns, p)
    if before is not None and before.problem.p == p and X is before.problem.X:
        return before.problem.rows
    return X
