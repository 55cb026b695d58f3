"""``rcmd bench mpi``: what a rank measures, and the table, on planted times."""

import json

import pytest

from rcmd.cli.main import main
from rcmd.distributed import Alone
from rcmd.lab.bench import mpi
from rcmd.lab.bench.mpi import CASES, Case


def test_the_command_shows_the_least_slice_and_keeps_all(monkeypatch, capsys, tmp_path):
    asked = []

    def planted(ranks, seconds, seed):
        asked.append((ranks, seconds, seed))
        row = {"times": [3e-3 / ranks, 2e-3 / ranks]}
        return [row | ({"one_process": [5e-3, 1e-3]} if ranks == 1 else {})] * len(CASES)

    monkeypatch.setattr(mpi, "_measured", planted)
    file = tmp_path / "mpi.json"
    words = ["--ranks", "1", "4", "--seconds", "0.1", "--seed", "7", "--json", str(file)]
    assert main(["bench", "mpi", *words]) == 0
    assert asked == [(1, 0.1, 7), (4, 0.1, 7)]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["1,000", "10", "256", "sparse", "1,000", "2,000", "500"] in lines
    read = json.loads(file.read_text())
    assert read["settings"]["ranks"] == [1, 4]
    (section,) = read["sections"]
    assert len(section["rows"]) == len(CASES) == 72
    row = section["rows"][0]
    assert row["ranks"] == {"1": 2e-3, "4": 5e-4}
    assert row["samples"]["1"] == [3e-3, 2e-3]
    assert row["one_process"] == 1e-3


def test_without_one_rank_there_is_no_time_of_one_process():
    section = mpi._table({2: [{"times": [1e-3]}] * len(CASES)})
    assert section.cells[0][4:6] == ["", "1,000"]
    assert section.rows[0]["one_process"] is None


@pytest.mark.parametrize("exchange", ["sparse", "dense"])
def test_a_measurement_times_one_process_too(exchange, monkeypatch):
    monkeypatch.setattr(mpi, "ROWS", 2048)
    case = Case(columns=100, row_entries=5, batch=256, exchange=exchange)
    assert mpi.generated(case, seed=0)[0].shape == (2048, 100)
    found = mpi.measure(Alone(), case, seconds=0.0, seed=0)
    assert len(found["times"]) == len(found["one_process"]) == mpi.LEAST_SLICES
