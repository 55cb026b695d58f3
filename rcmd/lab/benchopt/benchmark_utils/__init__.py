"""What the peers share: each is a function of rcmd.lab.bench.packages."""

from benchopt import BaseSolver


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
    """Or with a tolerance; a tenth of it comes next, as some answer alike to the loose ones."""

    sampling_strategy = "tolerance"

    def get_next(self, tol):
        return min(1.0, tol / 10)
