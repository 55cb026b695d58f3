"""For benchopt's public ridge-logistic regression: goes to benchmark_logreg_l2/solvers."""

from benchopt import BaseSolver

from rcmd import Problem, Ridge, solve
from rcmd.sklearn.model import intercept_bound


class Solver(BaseSolver):
    """To a certified gap; the benchmark's objective is n times rcmd's."""

    name = "rcmd"
    sampling_strategy = "tolerance"
    requirements = ["pip::rcmd-opt[sklearn]"]

    def set_objective(self, X, y, lmbd, fit_intercept):
        self.data = X, y, "logistic", Ridge(lmbd / len(y))
        self.bound = intercept_bound(Problem(*self.data)) if fit_intercept else None

    def warm_up(self):
        self.run_once(1e-3)  # compiles corrections, too

    def get_next(self, tol):
        return min(1.0, tol / 10)

    def run(self, tol):
        problem = Problem(*self.data, intercept=self.bound)
        self.beta = solve(problem, tol=tol / problem.n).beta

    def get_result(self):
        return {"beta": self.beta}
