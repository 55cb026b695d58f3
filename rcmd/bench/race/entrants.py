"""Who takes part: rcmd, COPT, cyanure, scikit-learn and skglm, each on the same problem."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd import L1Ball, Logistic, Problem, solve
from rcmd.bench import peers
from rcmd.bench.race.ladder import Answer, counts, tolerances

Array = npt.NDArray[Any]

TARGETS = (1e-3, 1e-5, 1e-6)
OWN_TARGETS = (*TARGETS, 1e-10)
SHARE = 0.01
"""Rows of a batch, as a share of n."""


class Task(NamedTuple):
    """The problem, on the ball and with the penalty that has the same solution."""

    X: Any
    y: Array
    radius: float
    strength: float
    seed: int
    budget: float


Run = Callable[[Any], Answer]


@dataclass(frozen=True)
class Entrant:
    """Somebody who takes part.

    Attributes
    ----------
    name
        Who it is.
    prepare
        Puts the data into the package's own format, once, and returns what solves.
    efforts
        The ladder, from the least effort on.
    penalised
        Whether the penalised problem is solved, not that on the ball.
    targets
        Gaps to reach.
    team
        The table has one line for each team, with the best of its times; by default everybody
        is one.
    """

    name: str
    prepare: Callable[[Task], Run]
    efforts: Callable[[], Iterable[Any]] = counts
    penalised: bool = False
    targets: tuple[float, ...] = TARGETS
    team: str = ""

    @property
    def line(self) -> str:
        """The line of the table."""
        return self.team or self.name


def rcmd_run(task: Task, corrective: bool) -> Run:
    """``rcmd.solve``; making the Problem is part of a run, as its constants are kept in it."""

    def run(tol: float) -> Answer:
        problem = Problem(task.X, task.y, Logistic(), L1Ball(task.radius))
        result = solve(
            problem,
            batch=SHARE,
            tol=tol,
            seed=task.seed,
            corrective=corrective,
            max_seconds=task.budget,
        )
        return Answer(result.beta, result.w)

    return run


def copt_stochastic(task: Task, variant: str) -> Run:
    """A variant of COPT's stochastic Frank-Wolfe."""
    peers.copt()
    X, batch = sp.csr_matrix(task.X), max(1, round(SHARE * len(task.y)))
    return lambda passes: Answer(
        peers.minimize_stochastic(X, task.y, batch, task.radius, variant, passes)
    )


def copt_frank_wolfe(task: Task, pairwise: bool) -> Run:
    """COPT's Frank-Wolfe with backtracking, from 0 or, for pairwise steps, from a vertex."""
    package = peers.copt()
    loss = _copt_loss(package, task)
    ball, lipschitz = package.constraint.L1Ball(task.radius), loss.lipschitz
    start = np.zeros(task.X.shape[1])
    start[0] = task.radius if pairwise else 0.0

    def run(iterations: int) -> Answer:
        found = package.minimize_frank_wolfe(
            loss.f_grad,
            start,
            ball.lmo_pairwise if pairwise else ball.lmo,
            x0_rep=(1.0, 0),
            variant="pairwise" if pairwise else "vanilla",
            jac=True,
            lipschitz=lipschitz,
            max_iter=iterations,
            tol=0,
        )
        return Answer(found.x)

    return run


def copt_fista(task: Task) -> Run:
    """COPT's accelerated proximal gradient method, projecting onto the ball."""
    package = peers.copt()
    loss, ball = _copt_loss(package, task), package.constraint.L1Ball(task.radius)

    def run(iterations: int) -> Answer:
        found = package.minimize_proximal_gradient(
            loss.f_grad,
            np.zeros(task.X.shape[1]),
            prox=ball.prox,
            jac=True,
            accelerated=True,
            max_iter=iterations,
            tol=0,
        )
        return Answer(found.x)

    return run


def _copt_loss(package: Any, task: Task) -> Any:
    """COPT's labels are 0 and 1 here."""
    return package.loss.LogLoss(task.X, (task.y + 1) / 2)


def cyanure_run(task: Task, solver: str) -> Run:
    """Passes of cyanure on the ball, which evaluates its own gap only at the end."""
    package = peers.imported("cyanure.estimators", "cyanure")
    X = sp.csr_matrix(task.X) if sp.issparse(task.X) else task.X

    def run(passes: int) -> Answer:
        model = package.Classifier(
            loss="logistic",
            penalty="l1-ball",
            lambda_1=task.radius,
            fit_intercept=False,
            solver=solver,
            tol=1e-15,
            max_iter=passes,
            duality_gap_interval=passes,
            n_threads=1,
            random_state=task.seed,
            verbose=False,
            safe=False,
        )
        return Answer(model.fit(X, task.y).coef_.ravel())

    return run


def sklearn_run(task: Task, solver: str) -> Run:
    """scikit-learn's l1 penalty: passes of saga, or a tolerance of liblinear."""
    model = peers.imported("sklearn.linear_model", "scikit-learn").LogisticRegression
    X = sp.csr_matrix(task.X) if sp.issparse(task.X) else task.X
    # Before version 1.8 the l1 penalty had a name, since then it is a ratio.
    named = inspect.signature(model).parameters["penalty"].default == "l2"
    l1: dict[str, Any] = {"penalty": "l1"} if named else {"l1_ratio": 1.0}

    def run(effort: Any) -> Answer:
        limits = {"max_iter": effort, "tol": 1e-30} if solver == "saga" else {"tol": effort}
        found = model(
            C=1 / (len(task.y) * task.strength),
            fit_intercept=False,
            solver=solver,
            random_state=task.seed,
            **{"max_iter": 10**6, **limits},
            **l1,
        ).fit(X, task.y)
        return Answer(found.coef_.ravel())

    return run


def skglm_run(task: Task) -> Run:
    """skglm's sparse logistic regression, by tolerance."""
    package = peers.imported("skglm", "skglm")
    X = sp.csc_matrix(task.X) if sp.issparse(task.X) else np.asfortranarray(task.X)

    def run(tol: float) -> Answer:
        model = package.SparseLogisticRegression(
            alpha=task.strength, tol=tol, max_iter=10**4, fit_intercept=False
        )
        return Answer(model.fit(X, task.y).coef_.ravel())

    return run


# Those that are usually best come first: who follows gives up once beaten by them.
CYANURE_SOLVERS = (
    "qning-svrg",
    "catalyst-svrg",
    "acc-svrg",
    "svrg",
    "qning-miso",
    "miso",
    "catalyst-miso",
    "qning-ista",
    "catalyst-ista",
    "fista",
    "ista",
)

ENTRANTS = (
    Entrant("rcmd", lambda t: rcmd_run(t, True), lambda: OWN_TARGETS, targets=OWN_TARGETS),
    Entrant("rcmd plain", lambda t: rcmd_run(t, False), lambda: TARGETS),
    *(
        Entrant(f"cyanure {solver}", partial(cyanure_run, solver=solver), team="cyanure")
        for solver in CYANURE_SOLVERS
    ),
    Entrant("COPT LF", lambda t: copt_stochastic(t, "LF")),
    Entrant("COPT SAG", lambda t: copt_stochastic(t, "SAG")),
    Entrant("COPT FW", lambda t: copt_frank_wolfe(t, False)),
    Entrant("COPT pairwise FW", lambda t: copt_frank_wolfe(t, True)),
    Entrant("COPT FISTA", copt_fista),
    Entrant("scikit-learn saga", lambda t: sklearn_run(t, "saga"), penalised=True),
    Entrant(
        "scikit-learn liblinear", lambda t: sklearn_run(t, "liblinear"), tolerances, penalised=True
    ),
    Entrant("skglm", skglm_run, tolerances, penalised=True),
)
