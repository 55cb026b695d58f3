"""APCG: accelerated proximal coordinate ascent on the dual of a ridge problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.engine.choosing import Engine
from rcmd.methods.base import Method
from rcmd.oracles.l2 import Ridge
from rcmd.problem import Problem


@dataclass(frozen=True)
class Apcg(Method):
    """Three sequences of duals, one random coordinate j a step (Lin, Lu and Xiao 2015).

    −D(w) = f(w) + Σ_j ψ_j(w_j), where f(w) = ‖Xᵀw/n‖²/(2μ) + Σ_j w_j²/(2nγ_j) has the strong
    convexity of the l_j*, L_j = ‖x_j‖²/(n²μ) + 1/(nγ_j), and α = 1/(n√σ) with
    σ = max_j 1 + γ_j‖x_j‖²/(nμ):

        y = (w + αz)/(1 + α),        z̄ = (1 − α)z + αy,
        z⁺ = z̄ but for z⁺_j = argmin_v (nα L_j/2)(v − z̄_j)² + ∇_j f(y) v + ψ_j(v),
        w⁺ = y + nα(z⁺ − z̄).

    With w = ρ^k u + v and z = −ρ^k u + v, ρ = (1 − α)/(1 + α), a step changes u and v at j
    alone and costs what the row has nonzeros. E[D* − D(w^k)] = O((1 − 1/(n√σ))^k): the √σ is
    the acceleration. The last w is certified with β = ∇R*(−Xᵀw/n).

    R is a ``Ridge`` whose radius is left open: no optimum leaves that ball, so that the dual
    without it has the same maximizer.

    Examples
    --------
    >>> from rcmd import Logistic, Problem, Ridge, solve
    >>> problem = Problem([[1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], Logistic(), Ridge(0.1))
    >>> solve(problem, method=Apcg(), tol=1e-8).success
    True
    """

    note = "APCG (Lin, Lu & Xiao): accelerated, D* − D = O((1 − 1/(n√σ))^k)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Engine:
        given = problem.regularizer
        if not isinstance(given, Ridge) or given.radius is not None or problem.intercept:
            what = f"{given!r} with an intercept" if problem.intercept else repr(given)
            raise ValueError(
                f"method Apcg got R = {what}; expected a Ridge(strength) whose radius is left "
                "open, and no intercept: use Sdca() for other strongly convex R"
            )
        if batch not in (None, 1):
            raise ValueError(f"batch is {batch} rows for Apcg; expected 1, its theory's only one")
        if not problem.rows.compilable:
            raise ValueError(
                f"X is held as {type(problem.rows).__name__} for Apcg; expected dense or sparse "
                "rows of floats, for which it has compiled code"
            )
        from rcmd.compiling.records import CannotCompile
        from rcmd.methods.acceleration import Acceleration

        try:
            return Acceleration(problem, rng)
        except CannotCompile as reason:
            raise ValueError(
                f"the loss of Apcg cannot be compiled: {reason}; expected one that numba "
                "understands: use Sdca() for others"
            ) from reason
