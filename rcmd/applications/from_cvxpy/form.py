"""What rcmd has no oracle for, as constraints and penalties for a ``CvxpyOracle``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.applications.from_cvxpy.affine import constant
from rcmd.applications.from_cvxpy.regions import Region


@dataclass(frozen=True, eq=False)
class Form:
    """What a region asks of β, in CVXPY."""

    region: Region

    def __repr__(self) -> str:
        return "what the problem asks"

    def __call__(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        region, space = self.region, self.region.space
        put = {}
        for variable in space.variables:
            own = region.places - space.starts[variable.id]
            here = np.flatnonzero((own >= 0) & (own < variable.size))
            ones = np.ones(len(here))
            place = sp.csr_array((ones, (own[here], here)), shape=(variable.size, region.p))
            put[variable.id] = cp.reshape(place @ beta, variable.shape, order="F")
        penalty: Any = 0
        inside: list[Any] = []
        where = np.full(space.p, -1)
        where[region.places] = np.arange(region.p)
        for one in region.asked:
            if one.is_set:
                inside.append(substituted(one.source, put))
            elif one.kind == "ridge":
                penalty += one.size / region.scale / 2 * cp.sum_squares(beta[where[one.places]])
            else:
                entries = cp.vec(substituted(one.source, put), order="F")
                penalty += (one.weights / region.scale) @ entries
        for end, sign in zip(region.ends, (-1, 1), strict=True):
            finite = np.flatnonzero(np.isfinite(end))
            if len(finite):
                inside.append(sign * beta[finite] <= sign * end[finite])
        inside += [G @ beta == h if equal else G @ beta <= h for G, h, equal in region.rows]
        return penalty, inside


def substituted(expression: Any, put: dict[int, Any]) -> Any:
    """A CVXPY expression or constraint with other expressions for its variables."""
    kind = type(expression).__name__
    if kind == "Variable":
        return put[expression.id]
    if kind in ("Parameter", "CallbackParameter"):
        import cvxpy as cp

        return cp.Constant(constant(expression))
    if not expression.args:
        return expression
    return expression.copy([substituted(argument, put) for argument in expression.args])
