"""A regularizer with a linear term, such as the expected return of a portfolio."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.decorators import Decorated


@dataclass(frozen=True, eq=False)
class Tilted(Decorated):
    """R(β) + slopesᵀβ, whose answer to costs c is that of R to c + slopes.

    A radius left open by R must be given: what no optimum leaves depends on the slopes.

    Examples
    --------
    >>> from rcmd import Simplex
    >>> tilted = Tilted(Simplex(), np.array([0.0, -2.0]))
    >>> tilted.argmin(np.array([-1.0, 0.0])), float(tilted.minimum(np.array([-1.0, 0.0])))
    (SparseAtom(indices=(1,), values=(1.0,)), -2.0)
    """

    oracle: LinearMinOracle
    slopes: Array
    indicator = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.own_array("slopes")

    def inner_costs(self, c: Array) -> Array:
        return c + self.slopes

    def penalty(self, beta: Array) -> Any:
        return self.oracle.penalty(beta) + self.slopes @ beta

    def describe(self) -> str:
        return f"{self.oracle.describe()} + slopesᵀβ, {np.count_nonzero(self.slopes)} slopes"
