"""Losses and oracles from words: every form, and what is said of wrong ones."""

import numpy as np
import pytest

from rcmd import RCMD, Corrected, Problem, oracles, solve, truth
from rcmd.model.specs import (
    LOSSES,
    ORACLES,
    Spec,
    Waiting,
    for_columns,
    parse_batch,
    parse_loss,
    parse_oracle,
)

MODULE = """\
import cvxpy as cp
def disc(beta):
    return 0, [cp.norm2(beta) <= 2, beta >= 0]
def wrong(beta):
    return beta.nothing
five = 5
"""

# Of nine variables, by name; @ stands for the folder of the files below.
EXAMPLES = {
    "l1": "l1:3",
    "l2": "l2:2",
    "linf": "linf:1",
    "lp": "lp:2:1.5",
    "box": "box:@/column:1",
    "simplex": "simplex:3",
    "capped-simplex": "capped-simplex:3:1",
    "k-sparse": "k-sparse:3:1",
    "k-support": "k-support:3:2",
    "group-l2": "group-l2:3:2",
    "owl": "owl:@/falling.npy:5",
    "ellipsoid": "ellipsoid:@/positive:1.5",
    "box-ridge": "box-ridge:-1:2:0.1",
    "ridge": "ridge:0.1",
    "l1-penalty": "l1-penalty:0.1",
    "elastic-net": "elastic-net:0.01:0.1",
    "group-lasso": "group-lasso:@/labels:0.1",
    "entropy": "entropy:0.1:3",
    "hull": "hull:@/points.csv",
    "polytope": "polytope:@/A.csv:@/b",
    "flow": "flow:@/edges:0:5:2",
    "cvxpy": "cvxpy:@/mine.py:disc",
    "nuclear": "nuclear:3x3:3",
    "nuclear-penalty": "nuclear-penalty:3x3:0.1",
    "spectrahedron": "spectrahedron:3:3",
    "birkhoff": "birkhoff:3",
    "cur": "cur:3x3:2",
    "scaled": "scaled:2:group-l2:3:1",
    "translated": "translated:@/column:ridge:0.1",
    "product": "product:3:l1:1,6:group-l2:2:1",
    "caching": "caching:1e-3:polytope:@/A.csv:@/b",
    "counting": "counting:l1:3",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("specs"), np.random.default_rng(0)
    np.savetxt(path / "column", np.full(9, 0.1))
    np.save(path / "falling.npy", np.linspace(2, 1, 9))
    np.savetxt(path / "positive", np.linspace(1, 2, 9)[None])
    np.savetxt(path / "points.csv", rng.standard_normal((20, 9)), delimiter=",")
    np.savetxt(path / "A.csv", np.vstack([np.eye(9), -np.eye(9), np.ones((1, 9))]), delimiter=",")
    np.savetxt(path / "b", np.append(np.ones(18), 2.5))
    (path / "labels").write_text("a, a, a\nb b b\nc c c\n")
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 5), (4, 5), (3, 4)]
    np.savetxt(path / "edges", edges, fmt="%d")
    (path / "mine.py").write_text(MODULE)
    return path


@pytest.mark.parametrize("name", ORACLES)
def test_every_oracle_is_reached_by_name_and_right(folder, name):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 9))
    y = X @ (np.arange(9) % 3 == 0) + 0.1 * rng.standard_normal(40)
    problem = Problem(X, y, "least-squares", EXAMPLES[name].replace("@", str(folder)))
    plain = RCMD(batch=10, engine="reference")  # compiled ones are tested with the engine
    result = solve(problem, method=Corrected(plain), tol=1e-2)
    assert result.success
    assert abs(result.primal - truth.solve(problem).primal) <= result.gap + 1e-6


@pytest.mark.parametrize("name", ORACLES)
def test_examples_are_what_their_forms_say(folder, name):
    oracle = for_columns(parse_oracle(EXAMPLES[name].replace("@", str(folder))), 9)
    assert type(oracle) is ORACLES[name].makes


def test_parameters_reach_the_arguments_they_are_named_after(folder):
    assert parse_oracle("lp:2:1.5") == oracles.LpBall(2.0, 1.5)
    assert parse_oracle("capped-simplex:3:0.5") == oracles.CappedSimplex(total=3.0, cap=0.5)
    assert parse_oracle("elastic-net:1:2:3") == oracles.ElasticNet(1.0, 2.0, 3.0)
    penalty = parse_oracle("nuclear-penalty:5x4:0.1")
    assert (penalty.shape, penalty.strength, penalty.radius) == ((5, 4), 0.1, None)
    box = parse_oracle(f"box:{folder}/column:2")
    assert np.array_equal(box.lower, np.full(9, 0.1))
    assert box.upper == 2.0
    flow = parse_oracle(f"flow:{folder}/edges:0:5:2")
    assert (flow.edges[3].tolist(), flow.source, flow.sink, flow.flow) == ([1, 3], 0, 5, 2.0)
    lazy = parse_oracle("caching:0.1:scaled:2:l1:5")
    assert lazy.tolerance == 0.1
    assert lazy.oracle == oracles.Scaled(oracles.L1Ball(5.0), 2.0)


def test_what_depends_on_the_data_waits_for_them(folder):
    waiting = parse_oracle("scaled:2:group-l2:2:1")
    assert isinstance(waiting, Waiting)
    assert for_columns(waiting, 5).oracle.groups.tolist() == [0, 0, 1, 1, 2]
    assert for_columns(parse_oracle("nuclear:auto:3"), 6, (2, 3)).shape == (2, 3)
    labelled = parse_oracle(f"group-l2:{folder}/labels:1")
    assert labelled.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    parts = parse_oracle("product:4:group-l2:2:1,2:simplex")
    assert parts.oracles[0].groups.tolist() == [0, 0, 1, 1]
    assert parts.sizes == (4, 2)


FAULTS = {
    "nucleus:5": "oracle 'nucleus:5' is unknown; did you mean nuclear:SHAPE:RADIUS? `rcmd list or",
    "zzzz": "oracle 'zzzz' is unknown; `rcmd list oracles` shows all of them",
    "scaled:2:l7:1": "oracle 'l7:1' is unknown",
    "simplex:1:2": "oracle 'simplex:1:2' has 2 parameter(s); expected simplex[:RADIUS]",
    "scaled:2": "has 1 parameter(s); expected scaled:FACTOR:ORACLE",
    "k-sparse:1.5:2": "holds '1.5'; expected a whole number (its K)",
    "nuclear:50:3": "holds '50'; expected rows x columns, such as 50x40, or auto for those of the",
    "hull:@/none": "/none': @/none cannot be read: No such file or directory",
    "hull:@/labels": "VERTICES of oracle 'hull:@/labels': @/labels cannot be read as numbers (",
    "owl:3:1": "holds '3'; expected a file of numbers (its WEIGHTS)",
    "owl:@/points.csv:1": "points.csv holds 20 × 9 numbers; expected one column of them",
    "box:@/none:1": "LOWER of oracle 'box:@/none:1': @/none cannot be read",
    "group-l2:4.5:1": "holds '4.5'; expected a file with a label for each variable, or the size",
    "group-l2:0:1": "holds '0'; expected a file with a label",
    "group-l2:@/none:1": "GROUPS of oracle 'group-l2:@/none:1': @/none cannot be read: No such",
    "flow:@/column:0:5": "edges of FlowPolytope has shape (9, 1)",
    "flow:@/edges:5:0": "FlowPolytope has no path from source 5 to sink 0",
    "cvxpy:mine": "holds 'mine'; expected a function of a Python file (its FILE.py:NAME)",
    "cvxpy:@/mine.py:five": "mine.py:five'; expected a function of a Python file",
    "cvxpy:@/mine.py:none": "mine.py has no none",
    "cvxpy:@/mine.py:wrong": "wrong raises AttributeError: 'Variable' object has no attribute",
    "cvxpy:@/none.py:f": "none.py cannot be read; expected a Python file",
    "product:3:l1:1,simplex": "part 'simplex' holds 'simplex'; expected a whole number (its SIZE)",
    "nuclear:auto:3": "the data are 9 features and not a matrix; expected a shape such as 50x40",
}


@pytest.mark.parametrize("text", FAULTS)
def test_wrong_oracles_are_told_in_a_sentence(folder, text):
    with pytest.raises(ValueError, match=r"expected|unknown|cannot|no |raises") as fault:
        for_columns(parse_oracle(text.replace("@", str(folder))), 9)
    assert FAULTS[text].replace("@", str(folder)) in str(fault.value)


def test_wrong_losses_and_batches_are_told_in_a_sentence():
    with pytest.raises(ValueError, match=r"did you mean huber\[:WIDTH\].*`rcmd list losses`"):
        parse_loss("hubber:1")
    with pytest.raises(ValueError, match=r"loss 'huber:1:2' has 2 parameter"):
        parse_loss("huber:1:2")
    with pytest.raises(ValueError, match=r"batch 'x%' holds 'x'; expected a number"):
        parse_batch("x%")


def test_every_oracle_has_an_example():
    assert set(EXAMPLES) == set(ORACLES)
    assert all(spec.text.startswith(name) for name, spec in LOSSES.items())


def test_a_spec_that_names_no_argument_is_refused():
    class Misspelt(oracles.L1Ball):
        spec = "misspelt:RADUIS"

    with pytest.raises(TypeError, match=r"is none of its arguments; expected some of RADIUS"):
        Spec(Misspelt)
