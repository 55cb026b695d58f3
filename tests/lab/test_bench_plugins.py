"""``rcmd bench plugins``: the loop by hand does the engine's work, and goals are what they say."""

import json

import numpy as np
import pytest

from rcmd import ConjugateProx, L1Ball, oracles
from rcmd.cli.main import main
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import Replay
from rcmd.lab.bench import plugins
from rcmd.lab.bench.contenders import Settings
from rcmd.lab.bench.timing import race
from rcmd.model.schedules import SublinearSchedule
from rcmd.model.specs import ORACLES
from rcmd.oracles.writing import FORMS, written_atom
from rcmd.reporting.tables import Target


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(plugins, "N", 40)
    monkeypatch.setattr(plugins, "P", 30)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "name", ["ordered box", pytest.param("permutahedron", marks=pytest.mark.slow)]
)
def test_the_loop_by_hand_takes_the_engine_s_steps(name):
    p, levels = 30, np.linspace(1.0, -1.0, 30)
    oracle, write = plugins.written(levels)[name]
    data = plugins.layouts(p, np.random.default_rng(0))["CSR"]
    hand = plugins.ByHand(data, write, levels, seed=3)
    hand.advance(60)
    order = np.random.default_rng(3).integers(40, size=60)
    problem = plugins.engine(data, oracle, 0).problem
    replay = Replay(order[:, None])
    engine = CompiledEngine(problem, SublinearSchedule(40.0), replay, ConjugateProx())
    engine.advance(60)
    s, w, _, d, beta, _ = hand._state
    weights = 80.0 + np.arange(60)
    for ours, theirs in ((s, engine.s), (w, engine.w), (d, engine.d)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(beta / weights.sum(), engine.averages()[0], rtol=1e-12, atol=1e-12)


def test_the_set_in_python_is_the_same_set():
    for c in np.random.default_rng(0).standard_normal((5, 12)):
        vector = plugins.InPython().argmin(c).vector
        np.testing.assert_array_equal(vector, written_atom(plugins.OrderedBox(), c).vector)


def test_goals_are_three_l1_steps_or_half_more_than_the_atom():
    found = {"l1": 100.0, "step": 299.0, "atom": 10.0}
    assert plugins._targets(found) == {"step/l1": Target(3)}
    assert plugins._targets(found | {"step": 301.0}) == {"step/atom": Target(1.5)}
    assert plugins._targets({"l1": 1.0, "step": 4.0}) == {"step/l1": Target(3)}


def test_atoms_alone_are_written_where_the_run_is(monkeypatch):
    data = plugins.layouts(30, np.random.default_rng(0))["CSR"]
    run, written = plugins.engine(data, plugins.OrderedBox(), 0), []
    monkeypatch.setattr(plugins, "DIFFERENT", 3)
    monkeypatch.setattr(plugins, "write_often", lambda *given: written.append(given[2].copy()))
    (alone,) = plugins.writing(run)
    race([alone], repeats=2, seconds=0.0)
    assert run.iteration == 9  # once to find out how much work is to be done, then each turn
    np.testing.assert_array_equal(written[-1][-1], run.d)
    assert not np.array_equal(written[-1], written[0])


def test_the_table_has_what_is_compiled():
    shown = plugins.shipped(plugins.P, np.random.default_rng(0)).values()
    blocks = [block for oracle in shown for block in oracle.blocks(plugins.P)]
    names = {type(block.oracle).__name__ for block in blocks}
    written = {spec.makes.__name__ for spec in ORACLES.values() if any(forms(spec.makes))}
    assert written - names == {"LInfBall", "Ridge", "ElasticNet"}  # as the l2 ball


def forms(kind):
    return [getattr(kind, form) is not None for form in FORMS]


@pytest.mark.usefixtures("small")
def test_command_prints_and_writes(monkeypatch, capsys, tmp_path):
    chosen = {"box of vectors": oracles.Box(-np.ones(30), 1.0), "l1 ball": L1Ball(2.0)}
    monkeypatch.setattr(plugins, "shipped", lambda p, rng: chosen)
    first = {"ordered box": plugins.written(np.ones(1))["ordered box"]}
    monkeypatch.setattr(plugins, "written", lambda levels: first)
    monkeypatch.setattr(Settings, "quick", lambda self: Settings(repeats=2, seconds=1e-5))
    path = tmp_path / "plugins.json"
    assert main(["bench", "plugins", "--quick", "--json", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 100
    sets, every = json.loads(path.read_text())["sections"]
    assert [(row["rows"], row["p"]) for row in sets["rows"]] == [
        ("CSR", 30), ("dense", 30), ("CSR", 10), ("dense", 10)
    ]  # fmt: skip
    own = ["l1 ball, intercept", "l1 ball, offset", "l1 ball, offset, field"]
    for row in sets["rows"]:
        best = {who: time["best_ns"] for who, time in row["times"].items()}
        assert row["ratios"]["compiled/hand"] == best["compiled"] / best["hand"]
        assert row["targets"]["compiled/hand"]["at_most"] == 3
    fifty = [row for row in sets["rows"] if "Python/compiled" in row["targets"]]
    assert [row["p"] for row in fifty] == [10, 10]
    assert [row["oracle"] for row in every["rows"]] == 2 * [*own, *chosen]
