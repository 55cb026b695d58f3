"""CVXPY problems solved from the dual: CLARABEL's optimum, certificates, multipliers, refusals."""

import re
import warnings

import cvxpy as cp
import numpy as np
import pytest

from rcmd import from_cvxpy, register_cvxpy
from tests.applications.cvxpy_problems import REFUSED, SOLVED, A, b, minimize, variable

register_cvxpy()


@pytest.mark.parametrize("make", SOLVED, ids=lambda make: make.__name__)
def test_documented_problems_have_clarabels_optimum_and_a_certificate(make):
    problem = make()
    value = problem.solve(method="RCMD", tol=1e-7)
    assert problem.status == "optimal"
    stats = problem.solver_stats.extra_stats
    assert 0 <= stats["gap"] <= 1e-7 * max(1, abs(value))
    assert stats["ground"] == ("sampled" if "CvxpyOracle" in repr(stats["reading"]) else "proved")
    for constraint in problem.constraints:
        assert np.max(constraint.violation()) <= 1e-7
    expected = problem.solve(solver=cp.CLARABEL)
    assert abs(value - expected) <= 1e-6 * max(1, abs(expected))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_of_the_form_is_refused_in_a_sentence(name):
    make, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence) as refusal:
        make(variable()).solve(method="RCMD")
    assert "\n" not in str(refusal.value)
