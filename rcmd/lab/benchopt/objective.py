"""Logistic regression on an l1 ball, or with the l1 penalty of the same solution."""

import numpy as np
from benchopt import BaseObjective

from rcmd.lab.bench.ladder import judged
from rcmd.lab.bench.peers import make_task
from rcmd.lab.bench.workloads import Data


class Objective(BaseObjective):
    """The certified gap P(β) − D(w), from scratch, of everybody's β: what Task judges."""

    name = "Certified gap"
    min_benchopt_version = "1.10"
    parameters = {"penalised": [False, True], "radius": [5.0]}

    def set_data(self, X, y):
        self.task, _ = make_task(Data(X, y), self.radius, seed=0, budget=10.0)

    def get_objective(self):
        return {"task": self.task, "penalised": self.penalised}

    def evaluate_result(self, beta, w=None):
        task = self.task
        gap = judged(task.penalised, beta, w) if self.penalised else task.on_ball(beta, w)
        return {"value": gap, "support": np.count_nonzero(beta)}

    def get_one_result(self):
        return {"beta": np.zeros(self.task.ball.p)}
