"""COPT's (stochastic) Frank-Wolfe and FISTA, on the ball."""

import copt  # noqa: F401 so that benchopt knows whether it is installed
from benchmark_utils import Peer

from rcmd.lab.bench.packages import copt_run, copt_stochastic


class Solver(Peer):
    """LF and SAG see a batch a step, the others all rows."""

    name = "COPT"
    requirements = ["pip::copt"]
    parameters = {"variant": ["LF", "SAG", "vanilla", "pairwise", "FISTA"]}

    def skip(self, task, penalised):
        return penalised, "it solves the problem on the ball" if penalised else None

    def prepare(self, task, penalised):
        start = copt_stochastic if self.variant in ("LF", "SAG") else copt_run
        return start(task, self.variant)
