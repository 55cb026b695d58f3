"""Further problems of ``rcmd bench peers``: penalties, ridge, elastic nets, paths and plain runs.

All data but a9a are generated, so that the table needs scikit-learn and a C compiler only. A peer
is told the loosest of its tolerances that is enough; its answer is judged by rcmd's certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd import (
    RCMD,
    Box,
    ElasticNet,
    L1Ball,
    L1Penalty,
    L2Ball,
    LInfBall,
    Problem,
    Ridge,
    path,
    solve,
)
from rcmd.lab.bench import workloads
from rcmd.lab.bench.contenders import RADIUS, PlainC
from rcmd.lab.bench.ladder import judged
from rcmd.lab.bench.packages import imported
from rcmd.lab.bench.timing import Absent, as_json, cells, clocked
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Section, Target, nanoseconds
from rcmd.rows.validation import Array, FileError

SHORT = 2e6
"""Nanoseconds that are short enough for a tiny problem, whatever a peer takes."""

ATOMS_STRENGTH = 1.38e-4
"""That of a logistic regression on text with about 328 atoms."""

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)


@dataclass(frozen=True)
class Duel:
    """rcmd and a peer on one problem; both return what ``gap`` judges, ``None`` for no judge."""

    name: str
    goal: float
    own: Callable[[], Any]
    peer: str
    fit: Callable[[float], Any]
    gap: Callable[[Any], float] | None = None
    tol: float = 0.0
    certifies: bool = False  # whether the peer has a duality gap of its own
    tiny: bool = False  # whether ``SHORT`` will do, too

    def measure(self, section: Section, repeats: int) -> None:
        """Take turns, and add a line."""
        tell(self.name)
        effort = next(filter(self._enough, TOLERANCES), None)
        gap = 0.0 if self.gap is None else self.gap(self.own())
        own: list[float] = []
        other: list[float] = []
        for _ in range(repeats):
            own.append(1e9 * clocked(self.own)[1])
            if effort is not None:
                other.append(1e9 * clocked(self.fit, effort)[1])
        ratio = min(own) / min(other) if other and gap <= self.tol else math.nan
        verdict = "–" if math.isnan(ratio) else Target(self.goal).shown(ratio)
        if self.tiny and ratio > self.goal and min(own) <= SHORT:
            verdict = f"≤ {nanoseconds(SHORT)} met"
        times = [nanoseconds(min(part)) if part else "–" for part in (own, other)]
        shown = "" if self.gap is None else f"{gap:.0e}"
        certifies = "" if self.gap is None else "yes" if self.certifies else "no"
        line = [self.name, times[0], shown, self.peer, times[1], certifies, f"{ratio:.2f}", verdict]
        found = {"rcmd": as_json(own)} | ({self.peer: as_json(other)} if other else {})
        section.add(line, problem=self.name, times=found, ratio=ratio, goal=self.goal, gap=gap)

    def _enough(self, effort: float) -> bool:
        return self.gap is None or self.gap(self.fit(effort)) <= self.tol


def fitted(model: Any, X: Any, y: Array, tol: float, **options: Any) -> Array:
    """The coefficients of a scikit-learn model without intercept."""
    found = model(tol=tol, fit_intercept=False, max_iter=10**5, **options).fit(X, y)
    return np.asarray(found.coef_).ravel()


def against(
    name: str, goal: float, parts: Any, oracle: Any, tol: float, peer: str, fit: Any, **more: bool
) -> Duel:
    """A duel on one problem, its β judged."""
    X, y, loss = parts
    judge = partial(judged, Problem(X, y, loss, oracle))

    def own() -> Any:
        return solve(Problem(X, y, loss, oracle), tol=tol).beta

    return Duel(name, goal, own, peer, fit, judge, tol, **more)


def duels(seed: int, small: bool, folder: str | None = None) -> Iterator[Duel]:
    """All of them; a tenth of the rows where ``small``. a9a is in ``folder``, or where found."""
    linear = imported("sklearn.linear_model", "scikit-learn")
    rng, tenth = np.random.default_rng(seed), 10 if small else 1
    yield from logistic_duels(linear, rng, tenth)
    yield from text_duels(linear, rng, tenth)
    yield from dense_duels(linear, rng, tenth)
    yield from plain_duels(workloads.zipf(30_000 // tenth, 1000, 15, rng))
    yield from a9a_duels(linear, folder, tenth)  # the last, as there may be no such file


def logistic(linear: Any, X: Any, y: Array, strength: float, solver: str, **options: Any) -> Any:
    """The fit of a logistic regression, from its tolerance."""
    options |= {"solver": solver, "C": 1 / (len(y) * strength), "random_state": 0}
    X = sp.csr_matrix(X) if sp.issparse(X) else X
    return partial(fitted, linear.LogisticRegression, X, y, **options)


def logistic_duels(linear: Any, rng: np.random.Generator, tenth: int) -> Iterator[Duel]:
    """Sparse normal rows, and three numbers of atoms."""
    n, p = 20_000 // tenth, 5000 // tenth
    X = sp.random_array((n, p), density=0.01 * tenth, format="csr", random_state=rng)
    X.data[:] = rng.standard_normal(X.nnz)
    signal = np.where(rng.random(p) < 0.1, 2 * rng.standard_normal(p), 0.0)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-(X @ signal))), 1.0, -1.0)
    for strength, goal in ((8e-4, 2.0), (5e-4, 3.0), (2.5e-4, 3.0)):
        fit = logistic(linear, X, y, strength, "liblinear", l1_ratio=1.0)
        name = f"l1-penalised logistic, {n:,} × {p:,}, λ = {strength:g}"
        parts = X, y, "logistic"
        yield against(name, goal, parts, L1Penalty(strength), 1e-6, "liblinear", fit)


def text_duels(linear: Any, rng: np.random.Generator, tenth: int) -> Iterator[Duel]:
    """Rows like those of texts, whose k-th commonest word has a frequency ∝ 1/k."""
    text = workloads.zipf(10_000 // tenth, 8000 // tenth, 60, rng).X
    s = text @ rng.standard_normal(text.shape[1])
    y = np.where(s + 0.5 * rng.standard_normal(len(s)) > 0, 1.0, -1.0)
    parts: Any = text, y, "logistic"
    fit = logistic(linear, text, y, ATOMS_STRENGTH, "liblinear", l1_ratio=1.0)
    name = f"l1-penalised logistic, text, λ = {ATOMS_STRENGTH:g}"
    yield against(name, 1.2, parts, L1Penalty(ATOMS_STRENGTH), 1e-6, "liblinear", fit)
    for solver in ("liblinear", "newton-cg"):
        fit = logistic(linear, text, y, 1e-6, solver)
        yield against("ridge-logistic, text, λ = 1e-6", 1.2, parts, Ridge(1e-6), 1e-6, solver, fit)
    y = s / s.std()
    fit = partial(fitted, linear.Lasso, sp.csc_matrix(text), y, alpha=2e-3)
    parts = text, y, "least-squares"
    yield against("lasso, text", 1.2, parts, L1Penalty(2e-3), 1e-6, "Lasso", fit, certifies=True)
    yield path_duel("path of 20 strengths, text", 1.0, text, y, linear)


def dense_duels(linear: Any, rng: np.random.Generator, tenth: int) -> Iterator[Duel]:
    """Normal rows: ridge of many variables, and least squares of few."""
    X = rng.standard_normal((60_000 // tenth, 500 // tenth))
    s = X @ rng.standard_normal(X.shape[1]) * 3 / math.sqrt(X.shape[1])
    y = np.where(rng.random(len(s)) < 1 / (1 + np.exp(-s)), 1.0, -1.0)
    parts: Any = X, y, "logistic"
    fit = logistic(linear, X, y, 1e-3, "lbfgs")
    name = f"ridge-logistic, dense {X.shape[0]:,} × {X.shape[1]}, λ = 1e-3"
    yield against(name, 1.2, parts, Ridge(1e-3), 1e-6, "L-BFGS", fit)
    for n, p in ((4177, 8), (8000, 12)):
        X = rng.standard_normal((n // tenth, p))
        y = X @ np.where(rng.random(p) < 0.6, 1.0, 0.0) + rng.standard_normal(len(X))
        fit = partial(fitted, linear.ElasticNet, X, y, alpha=0.1, l1_ratio=0.5)
        name, parts = f"elastic net, {len(X):,} × {p}, to 1e-10", (X, y, "least-squares")
        net = ElasticNet(0.05, 0.05)
        yield against(name, 1.5, parts, net, 1e-10, "ElasticNet", fit, certifies=True)
    X, y = X[:200], y[:200]
    parts = X, y, "least-squares"
    lasso = partial(fitted, linear.Lasso, X, y, alpha=0.1)
    ridge = partial(fitted, linear.Ridge, X, y, alpha=0.1 * len(y), solver="cholesky")

    def box(tol: float) -> Any:
        from scipy.optimize import lsq_linear

        return lsq_linear(X, y, (-0.5, 0.5), tol=tol).x

    for what, oracle, peer, fit in (
        ("lasso", L1Penalty(0.1), "Lasso", lasso),
        ("ridge", Ridge(0.1), "Ridge", ridge),
        ("box", Box(-0.5, 0.5), "lsq_linear", box),
    ):
        own = {"certifies": what == "lasso", "tiny": True}
        yield against(f"{what}, {len(y)} × 12", 1.5, parts, oracle, 1e-6, peer, fit, **own)


def a9a_duels(linear: Any, folder: str | None, tenth: int) -> Iterator[Duel]:
    """A path, and two balls beside rcmd's own ridge of the first one's multiplier."""
    data = workloads.load("a9a", folder)
    X, y = data.X[::tenth], data.y[::tenth]
    yield path_duel("path of 20 strengths, a9a", 0.5, X, y, linear)
    ball = Problem(X, y, "logistic", L2Ball(20.0))
    slope = ball.gradient(solve(ball, tol=1e-8).w)

    def gap(oracle: Any, *_: float) -> float:
        return float(solve(Problem(X, y, "logistic", oracle), tol=1e-8).gap)

    ridge = partial(gap, Ridge(float(np.linalg.norm(slope)) / 20))
    for name, oracle in (("l2 ball of radius 20", L2Ball(20.0)), ("l∞ ball", LInfBall(1.0))):
        own = partial(gap, oracle)
        yield Duel(f"{name}, a9a, to 1e-8", 1.0, own, "our ridge", ridge, float, 1e-8, True)


def path_duel(name: str, goal: float, X: Any, y: Array, linear: Any, tol: float = 1e-6) -> Duel:
    """A whole path of the lasso; the worst of its gaps is judged."""
    strengths = np.geomspace(0.9, 0.01, 20) * abs(X.T @ y / len(y)).max()
    problem, columns = Problem(X, y, "least-squares", L1Penalty(1.0)), sp.csc_matrix(X)
    each = [problem.with_oracle(L1Penalty(float(strength))) for strength in strengths]

    def own() -> Any:
        whole = Problem(X, y, "least-squares", L1Penalty(1.0))
        return path(whole, strengths.tolist(), parameter="strength", tol=tol).betas

    def fit(effort: float) -> Any:
        return linear.lasso_path(columns, y, alphas=strengths, tol=effort, max_iter=10**5)[1].T

    def worst(betas: Any) -> float:
        return max(judged(one, beta) for one, beta in zip(each, betas, strict=True))

    return Duel(name, goal, own, "lasso_path", fit, worst, tol, certifies=True)


def plain_duels(data: workloads.Data) -> Iterator[Duel]:
    """``solve`` with plain steps, beside the C loop of the same number of steps."""
    n = len(data.y)
    batch = max(1, n // 100)
    PlainC(data.X, data.y, batch)  # which says where there is no compiler
    for passes, goal in ((2, 3.0), (15, 1.25), (150, 1.1)):
        steps = passes * n // batch

        def own(steps: int = steps) -> Any:
            problem = Problem(data.X, data.y, "logistic", L1Ball(RADIUS))
            return solve(problem, method=RCMD(batch=batch), tol=0.0, max_iterations=steps)

        def fit(_: float, steps: int = steps) -> Any:
            return PlainC(data.X, data.y, batch).advance(steps)

        yield Duel(f"plain steps, {passes} passes", goal, own, "plain C", fit)


def others(seed: int, repeats: int, folder: str | None = None, *, small: bool = False) -> Section:
    """The table."""
    header = cells("problem | rcmd | gap | peer | its time | certifies | rcmd/peer | goal")
    section = Section("others", "Other problems, to a certified gap of 1e-6", header)
    if small:
        section.notes.append("a tenth of the rows, for which the goals were not set")
    try:
        for duel in duels(seed, small, folder):
            duel.measure(section, repeats)
    except (Absent, FileError) as reason:
        section.notes.append(f"the rest is left out: {reason}")
    return section
