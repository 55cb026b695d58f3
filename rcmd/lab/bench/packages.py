"""Who takes part in ``rcmd bench peers``, each on the same problem.

rcmd, COPT, cyanure, scikit-learn and skglm: each function puts a task into a package's own format
and returns what solves it from scratch with an effort.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.lab.bench.ladder import TARGETS, TOLERANCES, Answer, Peer, Run, Task
from rcmd.lab.bench.timing import Absent
from rcmd.lab.racing import CORRECTED, PLAIN, Entrant
from rcmd.rows.validation import Array

OWN_TARGETS = (*TARGETS, 1e-10)
SHARE = 0.01
"""Rows of a batch, as a share of n."""


def imported(module: str, name: str) -> Any:
    """The module of the package that people call ``name``.

    >>> imported("no_such_module", "Nobody")
    Traceback (most recent call last):
    rcmd.lab.bench.timing.Absent: Nobody cannot be imported: it is not installed
    """
    try:
        return importlib.import_module(module)
    except Exception as error:  # an old package may fail in any way beside new ones
        reason = "it is not installed" if isinstance(error, ModuleNotFoundError) else repr(error)
        raise Absent(f"{name} cannot be imported: {reason}") from error


def copt() -> Any:
    """The package COPT."""
    return imported("copt", "COPT")


def copt_lf(
    X: Any, y: Array, batch: int, radius: float, *, part: bool = False
) -> tuple[Callable[[int], int], int]:
    """COPT's LF on the l1 ball with the logistic loss, as the work of a contender, and its limit.

    COPT runs whole passes only, and the amount of work is their number. With ``part``, for
    batch 1 and p so large that a pass takes minutes, it is the number of rows that one pass
    sees: a step does no work that grows with n, and finds fewer rows sooner in the cache.
    """

    def work(amount: int) -> int:
        rows, passes = (amount, 1) if part else (len(y), amount)
        minimize_stochastic(X[:rows] if part else X, y[:rows], batch, radius, "LF", passes)
        return passes * (rows // batch) * batch

    copt()
    return work, len(y) if part else 1000


def minimize_stochastic(
    X: Any, y: Array, batch: int, radius: float, variant: str, passes: int
) -> Array:
    """β after ``passes`` of a variant of COPT's stochastic Frank-Wolfe: logistic loss, l1 ball."""
    package = copt()
    oracle, start = package.constraint.L1Ball(radius).lmo, np.zeros(X.shape[1])
    options = {"batch_size": batch, "max_iter": passes, "tol": 0, "variant": variant}
    found = package.randomized.minimize_sfw(_derivative, X, y, start, oracle, **options)
    return found.x


def _derivative(s: Any, y: Any) -> Any:
    return -y / (1 + np.exp(y * s))


def rcmd_run(task: Task, entrant: Entrant, *, penalised: bool = False) -> Run:
    """``rcmd.solve``; making the Problem is part of a run, as its constants are kept in it."""

    def run(tol: float) -> Answer:
        own = replace(task)
        problem = own.penalised if penalised else own.ball
        result = entrant.solve(problem, None, task.seed, tol=tol, max_seconds=task.budget)
        return Answer(result.beta, result.w)

    return run


def copt_stochastic(task: Task, variant: str) -> Run:
    """A variant of COPT's stochastic Frank-Wolfe."""
    copt()
    X, batch = sp.csr_matrix(task.X), max(1, round(SHARE * len(task.y)))
    data = X, task.y, batch, task.radius, variant
    return lambda passes: Answer(minimize_stochastic(*data, passes))


def copt_run(task: Task, variant: str) -> Run:
    """COPT's Frank-Wolfe with backtracking, or its accelerated proximal gradient method.

    They start at 0, pairwise steps at a vertex; the labels are 0 and 1 here.
    """
    package = copt()
    loss = package.loss.LogLoss(task.X, (task.y + 1) / 2)
    ball, start = package.constraint.L1Ball(task.radius), np.zeros(task.X.shape[1])
    if variant == "FISTA":
        prox = {"prox": ball.prox, "accelerated": True}
        minimize = partial(package.minimize_proximal_gradient, loss.f_grad, start, **prox)
    else:
        pairwise = variant == "pairwise"
        start[0] = task.radius if pairwise else 0.0
        oracle = ball.lmo_pairwise if pairwise else ball.lmo
        rule = {"x0_rep": (1.0, 0), "variant": variant, "lipschitz": loss.lipschitz}
        minimize = partial(package.minimize_frank_wolfe, loss.f_grad, start, oracle, **rule)

    def run(iterations: int) -> Answer:
        return Answer(minimize(jac=True, max_iter=iterations, tol=0).x)

    return run


def cyanure_run(task: Task, solver: str, *, penalised: bool = False) -> Run:
    """Passes of cyanure, on the ball or penalised; its own gap is evaluated only at the end."""
    package = imported("cyanure.estimators", "cyanure")
    X = sp.csr_matrix(task.X) if sp.issparse(task.X) else task.X

    penalty, level = ("l1", task.strength) if penalised else ("l1-ball", task.radius)
    problem = {"loss": "logistic", "penalty": penalty, "lambda_1": level}
    options = {"solver": solver, "tol": 1e-15, "n_threads": 1, "random_state": task.seed}
    options |= {"fit_intercept": False, "verbose": False, "safe": False}

    def run(passes: int) -> Answer:
        limits = {"max_iter": passes, "duality_gap_interval": passes}
        model = package.Classifier(**problem, **options, **limits)
        return Answer(model.fit(X, task.y).coef_.ravel())

    return run


def sklearn_run(task: Task, solver: str) -> Run:
    """scikit-learn's l1 penalty: passes of saga, or a tolerance of liblinear."""
    model = imported("sklearn.linear_model", "scikit-learn").LogisticRegression
    X = sp.csr_matrix(task.X) if sp.issparse(task.X) else task.X
    # Before version 1.8 the l1 penalty had a name, since then it is a ratio.
    named = inspect.signature(model).parameters["penalty"].default == "l2"
    options: dict[str, Any] = {"penalty": "l1"} if named else {"l1_ratio": 1.0}
    options |= {"C": 1 / (len(task.y) * task.strength), "fit_intercept": False}
    options |= {"solver": solver, "random_state": task.seed}

    def run(effort: Any) -> Answer:
        passes, tol = (effort, 1e-30) if solver == "saga" else (10**6, effort)
        found = model(max_iter=passes, tol=tol, **options).fit(X, task.y)
        return Answer(found.coef_.ravel())

    return run


def skglm_run(task: Task) -> Run:
    """skglm's sparse logistic regression, by tolerance."""
    package = imported("skglm", "skglm")
    X = sp.csc_matrix(task.X) if sp.issparse(task.X) else np.asfortranarray(task.X)

    options = {"alpha": task.strength, "max_iter": 10**4, "fit_intercept": False}

    def run(tol: float) -> Answer:
        model = package.SparseLogisticRegression(tol=tol, **options)
        return Answer(model.fit(X, task.y).coef_.ravel())

    return run


CYANURE_SOLVERS = (
    "qning-svrg", "catalyst-svrg", "acc-svrg", "svrg", "qning-miso", "miso", "catalyst-miso",
    "qning-ista", "catalyst-ista", "fista", "ista",
)  # fmt: skip
"""Those that are usually best come first: who follows gives up once beaten by them."""

PEERS = (
    Peer("rcmd", partial(rcmd_run, entrant=CORRECTED), OWN_TARGETS, targets=OWN_TARGETS),
    Peer("rcmd plain", partial(rcmd_run, entrant=PLAIN), TARGETS),
    *(
        Peer(f"cyanure {solver}", partial(cyanure_run, solver=solver), team="cyanure")
        for solver in CYANURE_SOLVERS
    ),
    Peer("COPT LF", partial(copt_stochastic, variant="LF")),
    Peer("COPT SAG", partial(copt_stochastic, variant="SAG")),
    Peer("COPT FW", partial(copt_run, variant="vanilla")),
    Peer("COPT pairwise FW", partial(copt_run, variant="pairwise")),
    Peer("COPT FISTA", partial(copt_run, variant="FISTA")),
    Peer("scikit-learn saga", partial(sklearn_run, solver="saga"), penalised=True),
    Peer("scikit-learn liblinear", partial(sklearn_run, solver="liblinear"), TOLERANCES, True),
    Peer("skglm", skglm_run, TOLERANCES, True),
)
