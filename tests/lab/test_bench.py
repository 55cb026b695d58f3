import json
import math
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from rcmd import ConjugateProx, FileError, L1Ball, Logistic, Problem
from rcmd.cli.main import main
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.lab.bench import contenders, packages, workloads
from rcmd.lab.bench import engine as bench
from rcmd.lab.bench.contenders import RADIUS, Settings
from rcmd.lab.bench.timing import Absent, Contender, race
from rcmd.model.schedules import SublinearSchedule
from rcmd.reporting.tables import write_json

SMALL = {"zipf_p": (120, 700), "zipf_n": (60, 90), "dense": (20, 70)}
TINY = Settings(repeats=2, seconds=1e-4, **SMALL)

needs_compiler = pytest.mark.skipif(
    contenders.compiler_version() is None, reason="no C compiler on this machine"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a tiny a9a and mushrooms, and no w8a."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name in ("a9a", "mushrooms"):
        X, y = workloads.zipf(120, 30, 5, rng)
        dump_svmlight_file(X, (3 + y) / 2, str(folder / name), zero_based=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RCMD_DATA", raising=False)
        patch.setitem(sys.modules, "pooch", None)  # nothing is downloaded
        yield folder


@pytest.fixture(scope="module")
def report(folder):
    heard = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "tell", heard.append)
        report = bench.bench_engine(replace(TINY, data=str(folder)))
    assert "a9a, batch 1" in heard
    assert heard[-1] == ""
    return report


@pytest.fixture
def fresh_build():
    """The C loop is compiled anew, and the one of this test is forgotten."""
    contenders._built.cache_clear()
    yield
    contenders._built.cache_clear()


def sections(report):
    return {section["name"]: section for section in report.as_dict()["sections"]}


def test_json_says_where_and_how_it_was_made_and_tables_fit_the_page(report, tmp_path):
    write_json(report.as_dict(), tmp_path / "bench.json")
    read = json.loads((tmp_path / "bench.json").read_text())
    assert {"date", "command", "seed", "settings", "machine", "versions", "sections"} == set(read)
    assert {"cpu", "cores", "system", "load"} == set(read["machine"])
    assert read["versions"]["numba"] is not None
    assert read["settings"]["repeats"] == TINY.repeats
    names = [section.__name__ for section in bench.SECTIONS]
    assert [s["name"] for s in read["sections"]] == names
    assert all(s["rows"] and s["title"] for s in read["sections"])
    lines = report.text().splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("a9a ") for line in lines)


def test_ratios_are_those_of_the_times(report):
    made = sections(report)
    for row in made["gradients"]["rows"] + made["growth"]["rows"]:
        best = {name: time["best_ns"] for name, time in row["times"].items()}
        for time in row["times"].values():
            assert time["best_ns"] == min(time["samples_ns"]) > 0
            assert 2 <= len(time["samples_ns"]) <= TINY.repeats
        if "C" in best:
            assert row["ratios"]["rcmd/C"] == best["rcmd"] / best["C"]
        if "COPT" in best:
            assert row["ratios"]["COPT/rcmd"] == best["COPT"] / best["rcmd"]
        for name, target in row["targets"].items():
            assert target["value"] == row["ratios"][name]
            limit = target.get("at_most", math.inf)
            assert target["met"] == (target.get("at_least", 0) <= target["value"] <= limit)
    grown = made["growth"]["rows"]
    for regularizer in ("l1 ball", "ridge"):
        rows = [row for row in grown if row["regularizer"] == regularizer]
        first = rows[0]["times"]["rcmd"]["best_ns"]
        for row in rows:
            assert row["ratios"]["rcmd/first"] == row["times"]["rcmd"]["best_ns"] / first


def test_every_size_and_data_set_is_there(report):
    made = sections(report)
    batches = [(row["data"], row["batch"]) for row in made["gradients"]["rows"]]
    assert batches == [("a9a", 1), ("mushrooms", 1)]  # 1 % of 120 rows is one row
    assert any("w8a is left out" in note for note in made["gradients"]["notes"])
    sizes = [(row["n"], row["p"]) for row in made["growth"]["rows"]]
    assert sizes == 2 * [(60, 120), (60, 700), (90, 120)]
    assert len(made["dense"]["rows"]) == 2


def test_command_prints_and_writes(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(Settings, "quick", lambda self: TINY)
    monkeypatch.setattr(bench, "SECTIONS", (bench.gradients,))
    monkeypatch.delenv("RCMD_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    path = tmp_path / "out.json"
    assert main(["bench", "engine", "--quick", "--json", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Time per stochastic gradient" in out
    assert "a9a is left out: a9a (plain, .bz2, .xz or .gz) is not in" in out
    assert err == ""
    (section,) = json.loads(path.read_text())["sections"]
    assert section["name"] == "gradients"


@needs_compiler
@pytest.mark.parametrize("batch", [1, 7, 60])
@pytest.mark.parametrize("p", [110, 3000])
def test_plain_c_and_the_engine_do_the_same_work(p, batch):
    data = workloads.zipf(60, p, 50, np.random.default_rng(1))
    steps = 400
    batches = UniformSampler(60, batch, np.random.default_rng(2)).draw(steps)
    problem = Problem(data.X, data.y, Logistic(), L1Ball(RADIUS))
    schedule = SublinearSchedule(60 / batch)
    engine = CompiledEngine(problem, schedule, Replay(batches), ConjugateProx())
    loop = contenders.PlainC(data.X, data.y, batch)
    for part in np.split(batches, [150]):
        engine.advance(len(part))
        loop.advance(len(part), part)
    np.testing.assert_allclose(loop.s, engine.s, rtol=0, atol=1e-10)
    np.testing.assert_allclose(loop.d, engine.d, rtol=0, atol=1e-10)
    total = steps * (4 * 60 / batch + steps - 1) / 2  # the weights of the average
    averages = loop.beta_sum / total, loop.w - loop.lag / total
    for theirs, mine in zip(averages, engine.averages(), strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-10)


@needs_compiler
def test_plain_c_draws_uniform_batches_of_its_own():
    data = workloads.zipf(12, 100, 50, np.random.default_rng(1))
    loop = contenders.PlainC(data.X, data.y, 5)
    counts, pairs = np.zeros(12), 0
    for _ in range(6000):
        loop.advance(1)
        rows = set(loop._buffer.tolist())
        assert len(rows) == 5
        counts[list(rows)] += 1
        pairs += {0, 1} <= rows
    # Means 2500 and 6000·(5·4)/(12·11) = 909; four standard deviations.
    assert abs(counts - 2500).max() < 4 * math.sqrt(6000 * 5 / 12 * 7 / 12)
    assert abs(pairs - 909) < 4 * math.sqrt(909)
    assert not loop._taken.any()


@pytest.mark.usefixtures("fresh_build")
def test_without_a_compiler_the_column_is_left_out(monkeypatch, folder):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    section = bench.gradients(replace(TINY, data=str(folder)))
    assert "C" not in section.rows[0]["times"]
    assert "no plain C: no C compiler was found (CC, cc, gcc, clang)" in section.notes


@pytest.mark.usefixtures("fresh_build")
def test_compiler_that_fails_is_no_compiler(monkeypatch):
    failed = subprocess.CompletedProcess((), 1, "", "sorry\nmore")
    monkeypatch.setenv("CC", sys.executable)
    monkeypatch.setattr(contenders.subprocess, "run", lambda words, **_: failed)
    with pytest.raises(Absent, match=r"does not compile baseline\.c: sorry"):
        contenders._built()


def test_zipf_rows_have_so_many_different_columns_and_common_ones():
    X, y = workloads.zipf(3000, 1000, 50, np.random.default_rng(0))
    assert set(np.diff(X.indptr)) == {50}
    assert X.has_canonical_format
    assert set(y) == {-1.0, 1.0}
    counts = np.sort(np.bincount(X.indices, minlength=1000))[::-1]
    assert counts[0] > 2900
    assert counts[500] < 200
    with pytest.raises(ValueError, match="p is 60; expected at least twice the 50 nonzeros"):
        workloads.zipf(3, 60, 50, np.random.default_rng(0))


def test_data_are_found_by_folder_and_by_variable(folder, monkeypatch):
    assert workloads.load("a9a", folder).X.shape == (120, 30)
    assert set(workloads.load("a9a", folder).y) == {-1.0, 1.0}
    monkeypatch.setenv("RCMD_DATA", str(folder))
    assert workloads.load("mushrooms", None).X.shape == (120, 30)
    with pytest.raises(FileError, match=r"w8a \(plain, \.bz2, \.xz or \.gz\) is not in"):
        workloads.load("w8a", None)


def test_work_grows_to_the_time_asked_for_and_slow_contenders_sit_out():
    amounts = []

    def work(amount):
        amounts.append(amount)
        return sum(range(amount * 100_000)) and amount

    times = race([Contender("slow", work, limit=1)], repeats=9, seconds=1e-4, budget=1e-9)
    assert len(times["slow"]) == 2
    assert set(amounts) == {1}
    race([Contender("quick", work)], repeats=1, seconds=5e-2)
    assert amounts[-1] > 1


@pytest.mark.skipif(find_spec("copt") is None, reason="COPT is not installed")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("batch", "part"), [(1, True), (1, False), (4, False)])
def test_copt_counts_its_gradients(batch, part):
    data = workloads.zipf(12, 100, 50, np.random.default_rng(1))
    work, limit = packages.copt_lf(data.X, data.y, batch, 5.0, part=part)
    assert work(2) == (2 if part else 24)
    assert limit >= 2
