"""What a sampler or an oracle of the user must not hand to machine code."""

import numpy as np
import pytest

from rcmd import (
    RCMD,
    DenseAtom,
    L1Ball,
    LeastSquares,
    Problem,
    RankOneAtom,
    SparseAtom,
    iterate,
    trace,
)
from rcmd.engine.reference import gsfw
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import SublinearSchedule

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
