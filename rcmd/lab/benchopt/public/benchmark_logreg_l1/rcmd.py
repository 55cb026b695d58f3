"""For benchopt's public l1-penalised logistic regression: goes to benchmark_logreg_l1/solvers."""

from benchopt import BaseSolver

from rcmd import L1Penalty, Problem, solve


class Solver(BaseSolver):
    """To a certified gap; the benchmark's objective is n times rcmd's."""

    name = "rcmd"
    sampling_strategy = "tolerance"
    requirements = ["pip::rcmd-opt"]

    def set_objective(self, X, y, lmbd):
        self.data = X, y, "logistic", L1Penalty(lmbd / len(y))

    def warm_up(self):
        self.run_once(1e-3)  # compiles corrections, too

    def get_next(self, tol):
        return min(1.0, tol / 10)

    def run(self, tol):
        problem = Problem(*self.data)
        self.beta = solve(problem, tol=tol / problem.n).beta

    def get_result(self):
        return {"beta": self.beta}
