"""scikit-learn's saga with the l1 penalty: for the ball it is told the multiplier."""

import sklearn  # noqa: F401 so that benchopt knows whether it is installed
from benchmark_utils import Peer

from rcmd.lab.bench.packages import sklearn_run


class Solver(Peer):
    """By its passes."""

    name = "scikit-learn saga"
    requirements = ["scikit-learn"]

    def prepare(self, task, penalised):
        return sklearn_run(task, "saga")
