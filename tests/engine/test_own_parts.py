"""What users' classes must not hand to machine code, and what it must not leave out of them."""

import numpy as np
import pytest

from rcmd import (
    RCMD,
    ConjugateProx,
    DenseAtom,
    L1Ball,
    LeastSquares,
    Problem,
    RankOneAtom,
    Ridge,
    Scaled,
    SparseAtom,
    iterate,
    solve,
    trace,
)
from rcmd.engine.reference import gsfw
from rcmd.engine.sampling import UniformSampler
from rcmd.methods import NAMED
from rcmd.model.schedules import SublinearSchedule
from rcmd.rows import DenseRows

N, P = 6, 4


def started(engine, sampler=None, oracle=None):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(N, P)), random.normal(size=N)
    problem = Problem(X, y, "least-squares", oracle or L1Ball(1.0), verify=False)
    return iterate(problem, method=RCMD(engine=engine, sampler=sampler), record_at=[1])


class Drawing(UniformSampler):
    """A subclass, so nothing is known of what it draws."""

    def __init__(self, draw, batch=2):
        super().__init__(N, batch, np.random.default_rng(0))
        self.given = draw

    def draw(self, steps):
        return self.given(steps)


BATCHES = [
    (lambda steps: np.full((steps, 2), [0, N]), IndexError, f"rows from 0 to {N}; expected 0 to"),
    (lambda steps: np.full((steps, 2), [-1, 2]), IndexError, "rows from -1 to 2; expected 0 to 5"),
    (lambda steps: np.full((steps, 2), [3, 3]), ValueError, "names a row twice; expected"),
    (lambda steps: np.full((steps, 1), 3), ValueError, r"of shape \(1, 2\)"),
    (lambda steps: np.full((steps + 1, 2), [0, 3]), ValueError, r"shape \(2, 2\); expected whole"),
    (lambda steps: np.full((steps, 2), [0.0, 3.0]), ValueError, "an array of float64"),
]


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(("draw", "error", "told"), BATCHES)
def test_batches_that_are_none(engine, draw, error, told):
    with pytest.raises(error, match=f"of Drawing returned .*{told}"):
        next(iter(started(engine, Drawing(draw))))


@pytest.mark.parametrize(("draw", "error", "told"), BATCHES)
def test_batches_that_are_none_elsewhere(draw, error, told):
    """Algorithm 1, and the trace of a proof."""
    small = Problem(np.eye(N), np.ones(N), LeastSquares(), L1Ball(1.0))
    runs = (
        lambda: next(gsfw(small, SublinearSchedule(3.0), Drawing(draw))),
        lambda: trace(small, steps=1, sampler=Drawing(draw), w=np.zeros(N)),
    )
    for run in runs:
        with pytest.raises(error, match=f"of Drawing returned .*{told}"):
            run()


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_batches_of_a_subclass_are_taken_where_they_are_batches(engine):
    state = next(iter(started(engine, Drawing(lambda steps: np.full((steps, 2), [0, 3])))))
    assert np.flatnonzero(state.s).tolist() == [0, 3]


class Far(np.random.Generator):
    """A generator whose numbers are none below 1, and no rows."""

    def random(self, *shape):
        return 1e9 + super().random(*shape)

    def choice(self, *of, **given):
        return 10**9 + super().choice(*of, **given)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_sampler_that_was_altered_ends_no_process(engine, batch):
    sampler = UniformSampler(N, batch, np.random.default_rng(0))
    sampler.draw = lambda steps: np.full((steps, batch), 10**12)
    with pytest.raises(IndexError, match=f"rows from {10**12} to {10**12}; expected 0 to 5"):
        next(iter(started(engine, sampler)))
    with pytest.raises((IndexError, ValueError), match=r"(draw|random) of .*; expected"):
        next(iter(started(engine, UniformSampler(N, batch, Far(np.random.PCG64(0))))))


@pytest.mark.parametrize("method", sorted(NAMED))
def test_a_generator_that_was_altered_ends_no_process(method):
    X = np.random.default_rng(0).normal(size=(30, 4))
    problem = Problem(X, X[:, 0], LeastSquares(), Ridge(1.0))
    options = {"method": method, "max_iterations": 40, "seed": Far(np.random.PCG64(0))}
    if method in ("fw", "away", "pairwise", "bpcg"):  # which draw nothing
        problem = problem.with_oracle(L1Ball(1.0))
        assert solve(problem, **options).gap >= 0
    else:
        if method == "corrected":
            options["batch"] = 1  # plain steps first
        with pytest.raises((IndexError, ValueError), match="; expected"):
            solve(problem, **options)


ATOMS = [
    SparseAtom((P,), (1.0,)),
    SparseAtom((-1,), (1.0,)),
    SparseAtom((1, 2), (0.5,)),
    DenseAtom(np.zeros(P + 1)),
    DenseAtom(np.zeros((1, P))),
    RankOneAtom(np.zeros(2), np.zeros(3)),
]


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("atom", ATOMS, ids=repr)
def test_atoms_of_another_length(engine, atom):
    class Answering(L1Ball):
        def argmin(self, c):
            return atom

    with pytest.raises(ValueError, match=f"argmin of Answering .* does not have p = {P} entries"):
        next(iter(started(engine, oracle=Answering(1.0))))


class ShortSteps(SublinearSchedule):
    def step(self, i):
        return super().step(i) / 2


class LastWeighsMore(SublinearSchedule):
    """c_i = 2^i."""

    def mixing(self, i):
        return 1 / (2 - 0.5**i)

    def growth(self, i, base):
        return (2.0 ** (i + 1) - 1) / (2.0 ** (base + 1) - 1)


class OwnStep(ConjugateProx):
    def step(self, losses, bounds, batch, s, gap, eta):
        return s + eta * gap / 2


class Shifted(ConjugateProx):
    """Its centre is not s = 0."""

    def mirror(self, loss, s, y, weight):
        return s - 0.25

    def inverse(self, loss, m, s, y, weight, bound):
        return m + 0.25


class FirstRows(UniformSampler):
    def __init__(self, *given):
        super().__init__(*given)
        self.fill = self.fill_first

    def fill_first(self, uniforms, taken, batches):
        batches[:] = np.arange(batches.shape[1])


class Opposite(L1Ball):
    """Another ``argmin``, and the vertex rule of its base class."""

    def argmin(self, c):
        return super().argmin(-c)


class Doubled(DenseRows):
    def row(self, j):
        return 2 * super().row(j)

    def matvec(self, beta):
        return 2 * super().matvec(beta)

    def rmatvec(self, w):
        return 2 * super().rmatvec(w)

    def predict(self, batch, atom):
        return 2 * super().predict(batch, atom)

    def scatter(self, batch, coefficients, total):
        super().scatter(batch, 2 * coefficients, total)


@pytest.mark.filterwarnings("ignore:running on the slower reference engine")
@pytest.mark.parametrize(
    "part",
    [
        {"schedule": ShortSteps(N / 2)},
        {"schedule": LastWeighsMore(N / 2)},
        {"prox": OwnStep()},
        {"prox": Shifted()},
        {"sampler": FirstRows},
        {"oracle": Scaled(Opposite(1.0), 2.0)},
        {"oracle": Opposite(1.0)},
        {"rows": Doubled},
    ],
    ids=lambda part: str(next(iter(part.values()))).partition("(")[0],
)
def test_no_shortcut_of_the_base_class_stands_for_a_subclass(part):
    """The engine that is chosen makes the steps of the reference engine, and not those without."""

    def states(engine, part):
        random = np.random.default_rng(0)
        X, y = random.normal(size=(N, P)), random.normal(size=N)
        rows, oracle = part.get("rows", DenseRows)(X), part.get("oracle", L1Ball(1.0))
        problem = Problem(rows, y, "least-squares", oracle, verify=False)
        sampler = part.get("sampler", UniformSampler)(N, 2, np.random.default_rng(1))
        own = {name: part[name] for name in ("prox", "schedule") if name in part}
        method = RCMD(engine=engine, sampler=sampler, **own)
        state = list(iterate(problem, method=method, record_at=[7], max_iterations=7))[-1]
        return state.s, state.w_average, state.beta_average

    found, right, plain = states("auto", part), states("reference", part), states("auto", {})
    assert all(np.allclose(a, b, rtol=1e-13, atol=1e-15) for a, b in zip(found, right, strict=True))
    assert any(not np.allclose(a, b, atol=1e-3) for a, b in zip(found, plain, strict=True))
