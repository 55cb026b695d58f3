"""skglm with the l1 penalty: for the ball it is told the multiplier."""

import skglm  # noqa: F401 so that benchopt knows whether it is installed
from benchmark_utils import ByTolerance

from rcmd.lab.bench.packages import skglm_run


class Solver(ByTolerance):
    """By its tolerance."""

    name = "skglm"
    requirements = ["pip::skglm"]

    def prepare(self, task, penalised):
        return skglm_run(task)
