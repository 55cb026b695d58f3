"""scikit-learn's liblinear with the l1 penalty: for the ball it is told the multiplier."""

import sklearn  # noqa: F401 so that benchopt knows whether it is installed
from benchmark_utils import ByTolerance

from rcmd.lab.bench.packages import sklearn_run


class Solver(ByTolerance):
    """By its tolerance."""

    name = "scikit-learn liblinear"
    requirements = ["scikit-learn"]

    def prepare(self, task, penalised):
        return sklearn_run(task, "liblinear")
