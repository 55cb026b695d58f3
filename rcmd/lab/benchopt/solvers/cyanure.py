"""cyanure, on the ball or penalised."""

import cyanure  # noqa: F401 so that benchopt knows whether it is installed
from benchmark_utils import Peer

from rcmd.lab.bench.packages import cyanure_run


class Solver(Peer):
    """Passes of one of its solvers."""

    name = "cyanure"
    requirements = ["pip::cyanure"]
    parameters = {"solver": ["qning-svrg", "acc-svrg", "qning-miso", "fista"]}

    def prepare(self, task, penalised):
        return cyanure_run(task, self.solver, penalised=penalised)
