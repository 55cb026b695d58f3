"""The cost model of steps on several ranks, on planted prices; no clocks."""

import json

import numpy as np
import pytest

from rcmd.bench.mpi import command, worker
from rcmd.bench.mpi.model import PRICES, Case, Prices, fit, relative_errors
from rcmd.bench.mpi.paying import Forecast, Workload, forecasts, the_one_that_pays
from rcmd.distributed import Alone

PLANTED = Prices(
    tuple(1e-9 * np.array([8e4, 9.0, 40.0, 2.0, 3.0, 1.0, 12.0, 30.0, 7e3, 5e4, 0.3])), cores=2
)
CASES = [
    Case(ranks, p, z, b, exchange)
    for ranks in (1, 2, 4)
    for p in command.COLUMNS
    for z in command.ROW_ENTRIES
    for b in command.BATCHES
    for exchange in ("sparse", "dense")
]


def test_planted_prices_are_found():
    found = fit(CASES, [PLANTED.seconds(case) for case in CASES], cores=2)
    np.testing.assert_allclose(found.values, PLANTED.values, rtol=1e-6)


def test_a_few_disturbed_times_change_little():
    rng = np.random.default_rng(0)
    times = np.array([PLANTED.seconds(case) for case in CASES])
    disturbed = rng.random(len(CASES)) < 0.1
    found = fit(CASES, (times * np.where(disturbed, 10.0, 1.0)).tolist(), cores=2)
    calm = [case for case, odd in zip(CASES, disturbed, strict=True) if not odd]
    errors = relative_errors(found, calm, times[~disturbed].tolist())
    assert disturbed.any()
    assert np.median(errors) < 0.03


def test_prices_are_never_negative_and_what_is_not_used_has_none():
    rng = np.random.default_rng(0)
    alone = [case for case in CASES if case.ranks == 1]
    found = fit(alone, [PLANTED.seconds(case) * rng.uniform(0.5, 2) for case in alone], cores=2)
    prices = dict(zip(PRICES, found.values, strict=True))
    assert min(found.values) >= 0
    assert prices["message"] == prices["crowded"] == prices["byte"] == 0


def test_amounts_by_hand():
    dense = Case(ranks=4, columns=100, row_entries=5, batch=8, exchange="dense").amounts(cores=2)
    # f = 2 ranks a core; 2 messages of 2 stages; 16·100 bytes, of which 3/4 come from others.
    assert dense.tolist() == [2, 16, 4, 20, 100, 200, 0, 0, 0, 4, 2 * 1600 * 3 / 4]
    sparse = Case(ranks=2, columns=100, row_entries=5, batch=8, exchange="sparse").amounts(cores=2)
    assert sparse.tolist() == [1, 8, 4, 20, 100, 0, 40, 8, 2, 0, 12 * 40 / 2]


def measured(prices, skewed=1.0):
    """In the place of mpirun: the model's own times, those held out ``skewed``."""

    def answer(ranks, seconds, seed):
        rows = []
        for case in (case for case in CASES if case.ranks == ranks):
            held_out = case.batch in command.HELD_OUT
            time = prices.seconds(case) * (skewed if held_out else 1.0)
            row = {"case": case, "seconds": time, "times": [time], "held_out": held_out}
            rows.append(row | {"difference": 0.0, "one_process": [time / 2]})
        return rows

    return answer


def test_the_command_tells_a_model_that_foretells_from_one_that_does_not(
    monkeypatch, capsys, tmp_path
):
    file = tmp_path / "mpi.json"
    monkeypatch.setattr(command, "_measured", measured(PLANTED))
    assert command.run_mpi([1, 2, 4], 0.1, 3e-5, 1.25e9, 0, str(file)) == 0
    text = capsys.readouterr().out
    assert "64 machines: batches of" in text
    tables = json.loads(file.read_text())
    assert {"times", "one_process", "prices", "errors", "cluster_p10000"} <= set(tables)
    assert max(row["error"] for row in tables["times"]) < 1e-6
    monkeypatch.setattr(command, "_measured", measured(PLANTED, skewed=1.5))
    assert command.run_mpi([1, 2, 4], 0.1, 3e-5, 1.25e9, 0, None) == 1
    assert "MISSED" in capsys.readouterr().out


def test_held_out_cases_are_not_fitted():
    rows = measured(PLANTED, skewed=10.0)(2, 0, 0)
    seen = [row for row in rows if not row["held_out"]]
    prices = fit([row["case"] for row in seen], [row["seconds"] for row in seen], cores=2)
    cases, times = [row["case"] for row in rows], [row["seconds"] for row in rows]
    errors = relative_errors(prices, cases, times)
    assert all((error > 0.8) == row["held_out"] for row, error in zip(rows, errors, strict=True))


def test_slower_networks_ask_for_larger_batches():
    work = Workload(rows=10**8, columns=10**4, row_entries=100)
    batches = command.FORECAST_BATCHES
    fast = the_one_that_pays(forecasts(PLANTED.on_cluster(1e-6, 1e11), work, 64, batches))
    slow = the_one_that_pays(forecasts(PLANTED.on_cluster(1e-3, 1e8), work, 64, batches))
    assert fast.case.batch < slow.case.batch
    assert fast.pass_seconds < slow.pass_seconds


def test_the_exchange_is_that_of_the_engine():
    work = Workload(rows=10**6, columns=1000, row_entries=10)
    assert work.case(2, 133).exchange == "sparse"
    assert work.case(2, 134).exchange == "dense"


def test_the_smallest_batch_near_the_best_pays():
    cases = [Case(2, 10, 1, b, "dense") for b in (1, 2, 4)]
    passes = [Forecast(c, 0.0, s) for c, s in zip(cases, (1.11, 1.0, 1.2), strict=True)]
    assert the_one_that_pays(passes).case.batch == 2


def test_rows_are_the_same_for_every_share():
    case = Case(1, columns=50, row_entries=5, batch=8, exchange="dense")
    X, y = worker.generated(case, 0, 0, 5000)
    for first, last in ((0, 1), (700, 2500), (1024, 2048), (4999, 5000)):
        rows, labels = worker.generated(case, 0, first, last)
        assert (rows != X[first:last]).nnz == 0
        assert labels.tolist() == y[first:last].tolist()


@pytest.mark.parametrize("exchange", ["sparse", "dense"])
def test_a_measurement_compares_with_one_process(exchange, monkeypatch):
    monkeypatch.setattr(worker, "ROWS", 2048)
    case = Case(1, columns=100, row_entries=5, batch=256, exchange=exchange)
    found = worker.measure(Alone(), case, seconds=0.0, seed=0)
    assert found["difference"] <= 1e-12
    assert len(found["times"]) == len(found["one_process"]) == worker.LEAST_SLICES
