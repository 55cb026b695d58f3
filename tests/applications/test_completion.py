"""Matrix completion from end to end, and runs that go on from earlier ones."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_problems import data

from rcmd import (
    L1Ball,
    LeastSquares,
    Logistic,
    LowRank,
    MatrixEntries,
    NuclearBall,
    Problem,
    RankOneAtom,
    solve,
    truth,
)
from rcmd.applications.completion import Completion, complete


def sampled(shape: tuple[int, int], rank: int, count: int, noise: float) -> dict[str, Any]:
    """Noisy entries of a random matrix, some more without noise, and its nuclear norm."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((shape[0], rank)), rng.standard_normal((shape[1], rank))
    drawn = rng.choice(shape[0] * shape[1], count + count // 2, replace=False)
    i, k = np.divmod(drawn, shape[1])
    values = np.einsum("tr,tr->t", left[i], right[k])
    noisy = values + noise * rng.standard_normal(len(values))
    core = np.linalg.qr(left)[1] @ np.linalg.qr(right)[1].T
    return {
        "entries": (i[:count], k[:count], noisy[:count]),
        "held_out": (i[count:], k[count:], values[count:]),
        "radius": float(np.linalg.norm(core, "nuc")),
    }


def held_out_error(done: Completion, case: dict[str, Any]) -> float:
    i, k, values = case["held_out"]
    return float(np.linalg.norm(done.predict(i, k) - values) / np.linalg.norm(values))


# ---- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "count"), [((12, 9), 60), pytest.param((50, 40), 800, marks=pytest.mark.slow)]
)
def test_completion_agrees_with_cvxpy(shape: tuple[int, int], count: int) -> None:
    case = sampled(shape, 2, count, 0.1)
    done = complete(case["entries"], shape, 0.8 * case["radius"], tol=1e-3)
    optimum = truth.solve(done.problem)
    assert optimum.residuals["gap"] <= 1e-7
    assert -1e-9 <= done.result.primal - optimum.primal <= done.result.gap <= 1e-3
    assert done.result.dual <= optimum.primal + 1e-9


def test_held_out_entries_and_rank() -> None:
    case = sampled((60, 50), 2, 900, 0.05)
    done = complete(case["entries"], (60, 50), case["radius"], tol=1e-3)
    assert done.result.success
    assert held_out_error(done, case) < 0.2
    assert 2 <= done.rank() <= 6
    assert done.rank(0.5) <= done.rank() <= done.rank(0.999)
    assert isinstance(done.matrix, LowRank)
    assert done.matrix.nuclear_norm() <= case["radius"] * (1 + 1e-10)
    assert done.certificate is done.result.certificate
    assert repr(done).startswith("Completion(shape=(60, 50), rank=")


def test_another_loss() -> None:
    i, k, values = sampled((20, 15), 1, 150, 0.0)["entries"]
    signs = np.where(values > 0, 1.0, -1.0)
    done = complete((i, k, signs), (20, 15), 30.0, loss=Logistic(), tol=5e-2)
    assert np.mean(np.sign(done.predict(i, k)) == signs) > 0.95
    assert done.problem.loss == Logistic()


def test_options_given_are_those_taken() -> None:
    case = sampled((6, 5), 1, 15, 0.0)
    options: dict[str, Any] = {"tol": 0.0, "max_iterations": 3}
    marked, usual, single = (
        complete(case["entries"], (6, 5), case["radius"], **options, **other)
        for other in ({"record_at": [2, 3]}, {}, {"batch": 1})
    )
    assert [record.iteration for record in marked.result.history] == [2, 3]
    assert usual.result.gap != single.result.gap
    assert usual.problem.loss == LeastSquares()


RUN = """
import json, sys
from pathlib import Path
sys.path[:0] = ["tests", "tests/applications"]
from test_completion import complete, held_out_error, sampled
case = sampled((1000, 800), 5, 40_000, 0.2)
done = complete(case["entries"], (1000, 800), case["radius"], tol=0.01)
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak = int(status["VmHWM"].split()[0]) / 1024  # ru_maxrss would count the parent before exec
print(json.dumps({"error": held_out_error(done, case), "gap": done.result.gap, "peak": peak}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads its peak from Linux")
def test_1000_by_800_from_one_entry_in_twenty() -> None:
    command = [sys.executable, "-c", RUN]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    measured = json.loads(done.stdout)
    print(measured)
    assert measured["error"] < 0.2
    assert measured["gap"] <= 0.01
    assert measured["peak"] < 500


def test_no_matrix_is_ever_formed() -> None:
    """Of 9 · 10⁸ entries, which would take 7 GB."""
    shape, limit = (45_000, 20_000), 240 * 2**20
    rng = np.random.default_rng(0)
    i, k = rng.integers(0, shape[0], 3000), rng.integers(0, shape[1], 3000)
    tracemalloc.start()
    try:
        done = complete((i, k, rng.standard_normal(3000)), shape, 5.0, max_iterations=2)
        assert done.result.history[-1].phase == "corrective"
        assert tracemalloc.get_traced_memory()[1] < limit
        RankOneAtom(np.ones(1), np.ones(20_000_000)).dense(np.empty(20_000_000))
        assert tracemalloc.get_traced_memory()[1] > limit  # not even a 45th would go unseen
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("entries", "shape", "message"),
    [
        (([0], [0]), (2, 2), "entries is no triple; expected"),
        (([0, 1], [0, 1], [1.0]), (2, 2), "y has shape"),
        (([0], [5], [1.0]), (2, 2), "columns of MatrixEntries runs from 5 to 5"),
        (([0], [0], [np.nan]), (2, 2), "y holds nan"),
        (([0], [0], [1.0]), 4, "shape of MatrixEntries is 4; expected 2 positive whole"),
    ],
)
def test_refusals(entries: Any, shape: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        complete(entries, shape, 1.0)


# ---- warm starts -------------------------------------------------------------------------------


def test_a_warm_start_helps_and_never_hurts() -> None:
    case = sampled((40, 30), 2, 500, 0.05)

    def run(factor: float, steps: int, start: Any = None) -> Any:
        radius, options = factor * case["radius"], {"max_iterations": steps, "warm_start": start}
        return complete(case["entries"], (40, 30), radius, tol=0.0, **options).result

    earlier = run(0.9, 200)
    for factor in (0.9, 1.0):
        warm = run(factor, 40, earlier)
        assert warm.gap < run(factor, 40).gap / 2
        assert warm.primal <= earlier.primal * (1 + 1e-14)  # summed anew
        assert np.isnan(warm.history[-1].bound)
    assert run(0.9, 1, earlier).gap <= earlier.gap


def test_warm_starts_of_vectors_go_to_larger_sets_and_other_data() -> None:
    X, y, _ = data(40, 6)
    earlier = solve(Problem(X, y, LeastSquares(), L1Ball(0.5)), max_iterations=4000, tol=0.0)
    larger = Problem(X, y, LeastSquares(), L1Ball(0.6))
    fewer = Problem(X[:30], y[:30], LeastSquares(), L1Ball(0.5))
    for case in (larger, fewer):
        warm, cold = (
            solve(case, batch=5, max_iterations=100, tol=0.0, warm_start=start)
            for start in (earlier, None)
        )
        assert warm.gap < cold.gap
        assert warm.primal - truth.solve(case).primal <= warm.gap + 1e-9


def test_warm_starts_that_do_not_fit_are_refused() -> None:
    X, y, _ = data(40, 6)
    earlier = solve(Problem(X, y, LeastSquares(), L1Ball(0.5)), max_iterations=40, tol=0.0)
    smaller = Problem(X, y, LeastSquares(), L1Ball(0.1))
    narrower = Problem(X[:, :5], y, LeastSquares(), L1Ball(0.5))
    matrix = Problem(MatrixEntries([0], [0], (2, 3)), [1.0], LeastSquares(), NuclearBall((2, 3), 1))
    for case, words in (
        (smaller, r"β outside dom R, .* go from smaller sets to larger ones"),
        (narrower, r"β of shape \(6,\); expected \(5,\), that of this"),
        (matrix, r"β of shape \(6,\); expected \(2, 3\)"),
    ):
        with pytest.raises(ValueError, match=words):
            solve(case, warm_start=earlier)
    with pytest.raises(TypeError, match="warm_start is of type ndarray; expected the Result"):
        solve(smaller, warm_start=earlier.beta)
