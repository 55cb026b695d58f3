"""The small problems of runs and of their results."""

import pytest
from small_problems import problem

from rcmd import Problem


@pytest.fixture
def lasso() -> Problem:
    return problem("least-squares", "l1-ball", n=8)


@pytest.fixture
def ridge() -> Problem:
    return problem("logistic", "ridge", n=8)
