"""What the peers share: each is a function of rcmd.lab.bench.packages."""

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion


class Peer(BaseSolver):
    """Somebody who solves from scratch with an effort: passes."""

    sampling_strategy = "iteration"

    def set_objective(self, task, penalised):
        self.solve = self.prepare(task, penalised)

    def warm_up(self):
        self.run_once()

    def run(self, effort):
        self.answer = self.solve(effort or 1)

    def get_result(self):
        return self.answer._asdict()


class ByTolerance(Peer):
    """Or with a tolerance; one answer may be good enough for ten of them."""

    sampling_strategy = "tolerance"
    stopping_criterion = SufficientProgressCriterion(patience=10)

    def warm_up(self):
        self.run_once(1e-3)  # compiles what a loose tolerance does not reach

    def get_next(self, tol):
        return min(1.0, tol / 10)
