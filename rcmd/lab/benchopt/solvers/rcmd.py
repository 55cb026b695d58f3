"""rcmd: its own algorithm with and without corrections, and Frank-Wolfe's steps."""

from dataclasses import replace

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

from rcmd.lab.racing import entrants_of


class Solver(BaseSolver):
    """One run, seen at each of its records: the best certified pair so far."""

    name = "rcmd"
    sampling_strategy = "callback"
    stopping_criterion = SufficientProgressCriterion(patience=10)  # records are close together
    parameters = {
        "method": ["corrected", "rcmd", "fw:open-loop", "fw:exact", "away:exact", "pairwise:exact"]
    }

    def skip(self, task, penalised):
        try:
            entrants_of([self.method])[0].check(self._problem(task, penalised), None)
        except ValueError as reason:
            return True, str(reason)
        return False, None

    def set_objective(self, task, penalised):
        self.task, self.penalised = task, penalised

    def warm_up(self):
        self.run_once()

    def run(self, callback):
        def see(state):
            self.pair = state.certificate
            return not callback()

        problem = self._problem(self.task, self.penalised)
        entrants_of([self.method])[0].solve(problem, None, tol=1e-13, callbacks=[see])

    def get_result(self):
        return {"beta": self.pair.beta, "w": self.pair.w}

    @staticmethod
    def _problem(task, penalised):
        """A problem without the constants that others have computed."""
        task = replace(task)
        return task.penalised if penalised else task.ball
