"""rcmd: its own algorithm with and without corrections, and Frank-Wolfe's steps."""

from benchmark_utils import ByTolerance

from rcmd.lab.bench.packages import rcmd_run
from rcmd.lab.racing import entrants_of


class Solver(ByTolerance):
    """To a certified gap, with its certificates in its times."""

    name = "rcmd"
    parameters = {"method": ["corrected", "rcmd", "fw", "away", "pairwise", "bpcg"]}

    def skip(self, task, penalised):
        try:
            self._entrant.check(task.penalised if penalised else task.ball, None)
        except ValueError as reason:
            return True, str(reason)
        return False, None

    def prepare(self, task, penalised):
        return rcmd_run(task, self._entrant, penalised=penalised)

    @property
    def _entrant(self):
        return entrants_of([self.method])[0]
