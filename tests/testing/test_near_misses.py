"""Every identity of every checker sees a fault of one per cent, in a part that is right otherwise.

A table a checker: the name of the check, and parts that it must refuse by itself, whatever the
other checks say. A check without an entry fails, so that a new one cannot be forgotten.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from planted import planted

from rcmd import (
    ConjugateProx,
    DenseAtom,
    EpsilonInsensitive,
    EuclideanProx,
    Huber,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LogCosh,
    Logistic,
    Poisson,
    Ridge,
    Simplex,
    SparseAtom,
)
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import LinearSchedule, SublinearSchedule
from rcmd.oracles.base import VertexRule
from rcmd.rows import DenseRows
from rcmd.testing import check_oracle, oracles, proxes, rows, samplers, schedules
from rcmd.testing.losses import LossInspection, accepted_labels


def times(factor: float, name: str, kind: Any, *given: Any) -> Any:
    """An object of ``kind`` with one method multiplied by ``factor``."""
    right = getattr(kind, name)

    def wrong(*arguments: Any) -> Any:
        found = right(*arguments)
        return [factor * one for one in found] if isinstance(found, tuple) else factor * found

    return planted(kind, *given, **{name: wrong})


# ---- losses ------------------------------------------------------------------------------------


def squares(**methods: Any) -> Any:
    return planted(LeastSquares, **methods)


def half(s: float, y: float) -> float:
    return (s - y) ** 2 / 2


def bent(s: float, y: float) -> float:
    """A derivative that is a little steeper on one side."""
    return (s - y) * (1.005 if s > y else 0.995)


def logistic_arrays(name: str) -> Any:
    right = getattr(Logistic.arrays, name)
    wrong = staticmethod(lambda *given: right(*given) * (1 + 1e-12))
    return planted(Logistic, arrays=type("Off", (Logistic.arrays,), {name: wrong}))


LOSSES: dict[str, list[Any]] = {
    "stability": [
        squares(
            value=lambda _, s, y: half(s, y) * (1 + 0.01 * math.sin(1e3 * (s - y)) * (y > 1e6))
        ),
        planted(LogCosh, value=lambda o, s, y: LogCosh.value(o, s, y) * (1 + 0.01 * (s > 1.5e6))),
    ],
    "convexity": [
        squares(value=lambda _, s, y: half(s, y) * (1 + 0.01 * math.exp(-(((s - 100) / 0.3) ** 2))))
    ],
    "slopes": [times(1 + 1e-6, "derivative", LeastSquares)],
    "smoothness": [
        squares(gamma=0.99),
        times(0.99, "curvature_bound", Poisson),
    ],
    "domain": [planted(Huber, conjugate_domain=lambda *_: (-1.01, 1.01))],
    "conjugate_values": [
        times(1 + 1e-6, "conjugate", LeastSquares),
        planted(Logistic, conjugate=lambda *_: math.nan),
        squares(
            derivative=lambda _, s, y: (1 + 1e-6) * (s - y),
            conjugate=lambda _, w, y: 1.01 * (w * w / 2 + w * y),
        ),
    ],
    "conjugate_slopes": [
        times(1 + 1e-6, "conjugate_derivative", LeastSquares),
        # Of the many s with slope ±width, one without it.
        planted(Huber, conjugate_derivative=lambda _, w, y: w * (1 - 0.01 * (abs(w) == 1)) + y),
    ],
    "fenchel_young_pairs": [times(factor, "conjugate", LeastSquares) for factor in (0.99, 1.01)],
    "fenchel_young_form": [
        times(1 + 1e-6, "fenchel_young", Logistic),
        squares(fenchel_young=lambda _, s, w, y: half(s - w, y) + 0.01 * w * w * (y > 1e6)),
    ],
    "beyond_the_domain": [
        planted(Huber, conjugate=lambda _, w, y: w * w / 2 + w * y if abs(w) < 1.01 else math.inf),
        planted(Huber, fenchel_young=lambda h, s, w, y: Huber.fenchel_young(h, s, w / 1.01, y)),
    ],
    "strong_convexity": [squares(conjugate=lambda _, w, y: 0.99 * w * w / 2 + w * y)],
    "bregman_radius": [times(0.99, "bregman_radius", LeastSquares)],
    "descent_bound": [times(0.99, "descent_bound", LeastSquares)],
    "flags": [
        planted(EpsilonInsensitive, 0.3, 0.5, strictly_convex=True),
        planted(Huber, 0.01, strictly_convex=True),
        squares(
            value=lambda _, s, y: (s - y) * bent(s, y) / 2, derivative=lambda _, s, y: bent(s, y)
        ),
    ],
    "array_forms": [logistic_arrays("value"), logistic_arrays("derivative")],
    "cvxpy_form": [times(1.01, "cvxpy_form", LeastSquares)],
}


# ---- oracles -----------------------------------------------------------------------------------


def ball(**methods: Any) -> Any:
    return planted(L1Ball, 1.0, **methods)


def answering(atom: Any) -> Any:
    """A ball with the ``argmin`` that ``atom`` makes of c and the right vector."""
    return ball(argmin=lambda o, c: atom(c, L1Ball.argmin(o, c).dense(np.zeros(len(c)))))


class Lying(SparseAtom):
    def gather(self, indices: Any) -> Any:
        return 1.01 * super().gather(indices)


class Tired(L1Ball):
    """Every other answer is one per cent less, and no state tells which one is next."""

    asked = 0

    def argmin(self, c: Any) -> Any:
        type(self).asked += 1
        factor = 0.99 if self.asked % 2 else 1.0
        return DenseAtom(factor * super().argmin(c).dense(np.zeros(len(c))))


class HalfRestoring(Tired):
    """A reset that works, and a state that is not loaded."""

    def state(self) -> Any:
        return self.asked

    def load_state(self, state: Any) -> None:
        type(self).asked = 0 if state is None else self.asked


class Reusing(L1Ball):
    buffer = np.zeros(5)

    def argmin(self, c: Any) -> Any:
        self.buffer[:] = super().argmin(c).dense(c)
        return DenseAtom(self.buffer)


def writing(oracle: Any, c: Any) -> Any:
    atom = L1Ball.argmin(oracle, c)
    c *= 1.01
    return atom


def heuristic(kind: Any, factor: float, *given: Any) -> Any:
    """Inexact, and ``minimum`` is its own value: ``factor`` of the true one, like its atoms."""
    return planted(
        kind,
        *given,
        exact_atoms=False,
        argmin=lambda o, c: DenseAtom(factor * kind.argmin(o, c).dense(np.zeros(len(c)))),
        minimum=lambda o, c: factor * kind.minimum(o, c),
        fenchel_young=lambda o, beta, c: c @ beta - factor * kind.minimum(o, c),
    )


def careful(factor: float) -> Any:
    """Inexact, with right atoms and ``factor`` of the true minimum."""
    return planted(
        L1Ball,
        1.0,
        exact_atoms=False,
        minimum=lambda o, c: factor * L1Ball.minimum(o, c),
        fenchel_young=lambda o, beta, c: c @ beta - factor * L1Ball.minimum(o, c),
    )


def several(factor: float, first: int = 0, more: int = 1) -> Any:
    """``more`` times as many vertices as asked for, times ``factor``, from place ``first`` on."""

    def best_atoms(_: Any, c: Any, count: int) -> Any:
        order = np.argsort(-abs(c))[first : first + more * count]
        return [SparseAtom((int(k),), (-factor * float(np.sign(c[k])),)) for k in order]

    return ball(best_atoms=best_atoms)


def parts(*shares: tuple[float, float]) -> Any:
    """β as factors of itself, with these weights."""
    return ball(decompose=lambda _, beta: [(w, DenseAtom(factor * beta)) for w, factor in shares])


def violation(radius: float) -> Any:
    return ball(violation=lambda _, beta: L1Ball.violation(L1Ball(radius), beta))


def uneven(_: Any, beta: Any) -> Any:
    return 0.8 * abs(beta).sum() * (1 + 0.01 * (np.count_nonzero(beta) > 1))


ORACLES: dict[str, list[Any]] = {
    "returns": [ball(argmin=lambda _, c: SparseAtom((5,), (1.0,)))],
    "memory": [
        ball(argmin=writing),
        ball(violation=lambda o, beta: L1Ball.violation(o, beta.__imul__(0.99))),
        Reusing(1.0),
    ],
    "repeatability": [Tired(1.0), HalfRestoring(1.0)],
    "feasible_atoms": [
        answering(lambda c, vertex: DenseAtom(1.01 * vertex)),
        ball(argmin=lambda o, c: Lying(*vars(L1Ball.argmin(o, c)).values())),
        heuristic(Simplex, 0.99, 1.0),
    ],
    "attained_minimum": [times(1.01, "minimum", L1Ball, 1.0)],
    "optimal_atoms": [answering(lambda c, vertex: DenseAtom((1 - 0.01 * (c[0] > 0)) * vertex))],
    "lower_bound": [times(0.99, "minimum", L1Ball, 1.0), careful(0.99)],
    "indicator": [
        ball(minimum=lambda o, c: L1Ball.minimum(o, c) * (1 + 0.01 * (abs(c).max() > 2)))
    ],
    "convexity": [
        ball(violation=lambda _, beta: 0.01 * (np.count_nonzero(beta) > 1)),
        planted(L1Penalty, 0.8, 2.0, penalty=uneven),
    ],
    "search": [violation(1.019), heuristic(L1Ball, 0.99, 1.0), heuristic(L2Ball, 0.99, 2.0)],
    "strong_convexity": [planted(Ridge, 0.5, mu=0.505)],
    "fenchel_young_form": [times(1.01, "fenchel_young", L1Ball, 1.0)],
    "best_atoms": [several(1.01), several(0.99), several(1.0, first=1), several(1.0, more=3)],
    "decompose": [
        parts((0.5, 1.0), (0.51, 0.5 / 0.51)),
        parts((1.01, 1.0), (-0.01, 1.0)),
        parts((1.0, 1.0), (0.0, 1.01)),
        parts((0.5, 0.99), (0.5, 0.99)),
    ],
    "prediction_range": [
        times(0.99, "prediction_range", L1Ball, 1.0),
        times(0.99, "prediction_range", Ridge, 0.5, 2.0),
        times(0.99, "prediction_range", Ridge, 1e9, 2.0),
    ],
    # It looks a tenth beyond: nearer points are those of "search" and "leaving_rays".
    "outside_points": [ball(violation=lambda _, beta: max(math.sqrt(beta @ beta) - 1.0, 0.0))],
    "leaving_rays": [violation(1.019)],
    "cvxpy_form": [ball(cvxpy_form=lambda _, beta: L1Ball(1.01).cvxpy_form(beta))],
    "descriptions": [ball(vertex_rule=lambda _: VertexRule(0.99))],
}


# ---- proxes, schedules, rows, samplers ---------------------------------------------------------


class Long(ConjugateProx):
    def step(self, losses: Any, bounds: Any, batch: Any, s: Any, gap: Any, eta: Any) -> Any:
        return super().step(losses, bounds, batch, s, gap, 1.01 * eta)


PROXES: dict[str, list[Any]] = {
    "mirror_grows": [planted(ConjugateProx, mirror=lambda _, loss, s, *at: s - 0.21 * (s == 0.2))],
    "inverse": [planted(ConjugateProx, inverse=lambda _, loss, m, *at: 1.01 * m)],
    "centre": [planted(ConjugateProx, centre=lambda _, losses, bounds: 0 * losses.y + 0.01)],
    "step": [Long()],
    "divergence": [times(1.01, "divergence", EuclideanProx)],
}


class Forgetful(SublinearSchedule):
    asked = 0

    def step(self, i: Any) -> Any:
        type(self).asked += 1
        return super().step(i) * 0.99 ** (self.asked > 11)


PAPERS = SublinearSchedule, 3.0
SCHEDULES: dict[str, list[Any]] = {
    "steps": [
        planted(LinearSchedule, 1.0, 1.0, step=lambda _, i: 1.01),
        planted(*PAPERS, step=lambda _, i: 0.0),
        planted(*PAPERS, step=lambda _, i: math.nan),
    ],
    "weights": [
        planted(*PAPERS, mixing=lambda _, i: 1.01),
        times(-1, "mixing", *PAPERS),
        times(-1, "growth", *PAPERS),
    ],
    "shares": [times(1.01, "mixing", *PAPERS)],
    "ratios": [times(1.01, "growth", *PAPERS)],
    "arrays": [times(1.01, "table", *PAPERS)],
    "repeatable": [Forgetful(3.0)],
}


def matrix() -> Any:
    rng = np.random.default_rng(1)
    return rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.6)


def scattered(self: Any, batch: Any, coefficients: Any, total: Any) -> None:
    DenseRows.scatter(self, batch, 1.01 * coefficients, total)


def doubling(self: Any, beta: Any) -> Any:
    beta *= 2
    return DenseRows.matvec(self, beta / 2)


def one_off(part: int) -> Any:
    def products(self: Any, beta: Any, w: Any) -> Any:
        found = [*DenseRows.products(self, beta, w)]
        found[part] = 1.01 * found[part]
        return found

    return products


def off(name: str) -> Any:
    return times(1.01, name, DenseRows, matrix())


ROWS: dict[str, list[Any]] = {
    "row": [planted(DenseRows, matrix(), row=lambda self, j: self.array[j, :4])],
    "products": [
        *(off("matvec"), off("rmatvec"), planted(DenseRows, matrix(), matvec=doubling)),
        *(planted(DenseRows, matrix(), products=one_off(part)) for part in (0, 1)),
    ],
    "predictions": [off("predict"), off("predict_at")],
    "scatter": [planted(DenseRows, matrix(), scatter=scattered)],
    "constants": [
        *map(off, ("square_norms", "max_norms", "box_range", "entry_range", "reduce")),
        *(times(factor, "spectral_energy", DenseRows, matrix()) for factor in (0.99, 1.01)),
    ],
    "thinned": [
        planted(DenseRows, matrix(), thinned=lambda self, k: DenseRows(self.array[1::k])),
        planted(DenseRows, matrix(), thinned=lambda self, k: DenseRows(1.01 * self.array[::k])),
    ],
    "matrix": [off("as_matrix")],
}


class Drawn(UniformSampler):
    """Row 0 is drawn 3 % of the time in place of others, 12 % too often."""

    def draw(self, steps: int) -> Any:
        batches = super().draw(steps)
        batches[self.rng.random(steps) < 0.03] = np.arange(self.batch)
        return batches


def sampler(kind: Any, batch: int = 1, **methods: Any) -> Any:
    return planted(kind, 5, batch, np.random.default_rng(3), **methods)


SAMPLERS: dict[str, list[Any]] = {
    "batches": [
        sampler(UniformSampler, draw=lambda self, steps: np.zeros((2, 1), dtype=int)),
        sampler(UniformSampler, 2, draw=lambda self, steps: np.zeros((steps, 2), dtype=int)),
    ],
    "uniformity": [sampler(Drawn)],
    "repeatable": [sampler(UniformSampler, load_state=lambda self, state: None)],
}


# ---- all of them -------------------------------------------------------------------------------


def of_loss(loss: Any) -> Any:
    return LossInspection(loss, accepted_labels(loss, None))


def of_oracle(oracle: Any) -> Any:
    inspection = oracles.OracleInspection(oracle, 5, np.random.default_rng(0))
    list(inspection.returns())  # comes first, and asks every method once
    return inspection


def of_prox(prox: Any) -> Any:
    return proxes.ProxInspection(prox, Logistic(), [1.0, -1.0])


def of_rows(one: Any) -> Any:
    return rows.RowsInspection(one, np.random.default_rng(0))


def of_sampler(one: Any) -> Any:
    return samplers.SamplerInspection(one, 5)


CHECKERS: list[tuple[Any, Any, dict[str, list[Any]]]] = [
    (LossInspection, of_loss, LOSSES),
    (oracles.OracleInspection, of_oracle, ORACLES),
    (proxes.ProxInspection, of_prox, PROXES),
    (schedules.ScheduleInspection, schedules.ScheduleInspection, SCHEDULES),
    (rows.RowsInspection, of_rows, ROWS),
    (samplers.SamplerInspection, of_sampler, SAMPLERS),
]


@pytest.mark.parametrize(
    ("kind", "inspected", "near"), CHECKERS, ids=lambda v: getattr(v, "__name__", "")
)
def test_every_check_sees_its_near_misses(kind: Any, inspected: Any, near: Any) -> None:
    checks = {name: check for name, check in vars(kind).items() if hasattr(check, "identity")}
    assert checks.keys() == near.keys()
    with np.errstate(all="ignore"):
        for name, check in checks.items():
            for number, wrong in enumerate(near[name]):
                found = list(itertools.islice(check(inspected(wrong)), 1))
                assert found, f"{name} does not see number {number}: {wrong!r}"


def test_the_same_without_a_fault_is_right() -> None:
    right = [several(1.0), parts((0.5, 1.0), (0.5, 1.0)), Ridge(1e9, 2.0)]
    right += [heuristic(L1Ball, 1.0, 1.0), heuristic(L2Ball, 1.0, 2.0)]
    right.append(careful(2.0))  # an inexact oracle may say too little, but not too much
    for oracle in right:
        assert check_oracle(oracle).ok
