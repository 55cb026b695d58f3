"""A loss from one expression: derived, checked, and solved with."""

from typing import Any

import numpy as np

from rcmd import L1Ball, Problem, SeparableConjugate, solve
from rcmd.testing import check_conjugate

EXPRESSION = "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2"


def run(expression: str = EXPRESSION, seed: int = 0) -> tuple[Any, Any, Any]:
    """The loss, the report of its checks, and a result with it."""
    loss = SeparableConjugate.from_expression(expression)
    report = check_conjugate(loss)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, :5].sum(axis=1) + 2.0 * rng.normal(size=400) > 0, 1.0, -1.0)
    result = solve(
        Problem(X, y, loss, L1Ball(1.0)), batch=20, tol=1e-3, seed=seed, corrective=False
    )
    return loss, report, result


if __name__ == "__main__":
    loss, report, result = run()
    print(loss.describe(), report, result, sep="\n")
