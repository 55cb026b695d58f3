"""``rcmd list``: complete, true, and readable."""

import importlib
import inspect
import json
import math
import pkgutil
import re
from itertools import permutations, product

import numpy as np
import pytest

import rcmd.conjugates
import rcmd.oracles
from rcmd import LeastSquares, LinearMinOracle, Problem, SeparableConjugate
from rcmd import oracles as o
from rcmd.cli.list import losses, oracles
from rcmd.cli.main import main
from rcmd.conjugates.base import has_curvature_bound
from rcmd.engine.compiled import OracleLoop, loop_for
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.model.specs import LOSSES, ORACLES, parse_loss
from rcmd.oracles.decorators import Decorated


def shipped_oracles():
    """Every oracle of the package, exported or not, but for what families share (On…)."""
    found = set()
    for module in pkgutil.iter_modules(rcmd.oracles.__path__, "rcmd.oracles."):
        for cls in vars(importlib.import_module(module.name)).values():
            if isinstance(cls, type) and issubclass(cls, LinearMinOracle):
                found.add(cls)
    names = {cls.__name__ for cls in found if not inspect.isabstract(cls)}
    return {name for name in names if not name.startswith("On")} - {Decorated.__name__}


def shipped_losses():
    exported = (getattr(rcmd.conjugates, name) for name in rcmd.conjugates.__all__)
    classes = {cls for cls in exported if issubclass(cls, SeparableConjugate)}
    return {cls.__name__ for cls in classes} - {SeparableConjugate.__name__}


def test_every_oracle_and_every_loss_is_listed():
    exported = {
        name
        for name in rcmd.oracles.__all__
        if issubclass(getattr(rcmd.oracles, name), LinearMinOracle)
    }
    assert exported - {"LinearMinOracle"} <= shipped_oracles()
    assert {row["class"] for row in oracles()} == shipped_oracles()
    assert {row["class"] for row in losses()} == shipped_losses()


@pytest.mark.parametrize("row", list(losses()), ids=lambda row: row["class"])
def test_gamma_is_true(row):
    form = row["write"].replace("[", "").replace("]", "")
    for number in ("0.4", "0.7"):
        loss = parse_loss(re.sub("[A-Z]+", number, form))
        if has_curvature_bound(type(loss)):
            assert loss.gamma == math.inf
            continue
        told = eval(row["gamma"].replace("·", "*"), vars(loss))
        assert told == pytest.approx(float(loss.gamma))


SAMPLES = {
    "l1": o.L1Ball(3.0),
    "l2": o.L2Ball(3.0),
    "linf": o.LInfBall(3.0),
    "lp": o.LpBall(3.0, 1.7),
    "box": o.Box(-1.0, 2.0),
    "simplex": o.Simplex(3.0),
    "capped-simplex": o.CappedSimplex(2.5, 1.0),
    "k-sparse": o.KSparseBall(2, 3.0),
    "k-support": o.KSupportBall(2, 3.0),
    "group-l2": o.GroupL2Ball([0, 1, 0, 1], 3.0),
    "owl": o.OWLBall([2.0, 1.0, 1.0, 0.5], 3.0),
    "ellipsoid": o.Ellipsoid([1.0, 2.0, 3.0, 4.0], 3.0),
    "ridge": o.Ridge(0.5, 3.0),
    "box-ridge": o.BoxRidge(-1.0, 2.0, 0.5),
    "l1-penalty": o.L1Penalty(0.5, 3.0),
    "elastic-net": o.ElasticNet(0.2, 0.5, 3.0),
    "group-lasso": o.GroupLasso([0, 1, 0, 1], 0.5, 3.0),
    "entropy": o.EntropySimplex(0.5, 3.0),
    "hull": o.Hull([[0.0, 1.0, 2.0, 3.0], [1.0, -1.0, 0.0, 2.0]]),
    "nuclear": o.NuclearBall((2, 2), 3.0),
    "nuclear-penalty": o.NuclearPenalty(0.5, (2, 2), 3.0),
    "spectrahedron": o.Spectrahedron(2, 3.0),
    "cur": o.CurSet((2, 2), 3.0),
}


def square(x):
    return x.reshape(2, 2)


def top(x):
    return np.sort(abs(x))[::-1]


BOUNDS = {
    "radius·‖x‖_∞": lambda R, x: R.radius * abs(x).max(),
    "radius·‖x‖₂": lambda R, x: R.radius * np.linalg.norm(x),
    "radius·‖x‖₁": lambda R, x: R.radius * abs(x).sum(),
    "radius·‖x‖_q, 1/q = 1 − 1/order": lambda R, x: (
        R.radius * np.linalg.norm(x, 1 / (1 - 1 / R.order))
    ),
    "at a corner": lambda R, x: max(
        abs(x @ corner) for corner in product((R.lower, R.upper), repeat=4)
    ),
    "at a vertex": lambda R, x: max(abs(x @ v) for v in permutations((1.0, 1.0, 0.5, 0.0))),
    "radius·(sum of the k largest |x_i|)": lambda R, x: R.radius * top(x)[: R.k].sum(),
    "radius·(norm of the k largest |x_i|)": lambda R, x: R.radius * np.linalg.norm(top(x)[: R.k]),
    "radius·max_g ‖x_g‖₂": lambda R, x: R.radius * np.linalg.norm(square(x), axis=0).max(),
    "radius·max_k Σ_{i≤k}|x|_(i) / Σ_{i≤k}w_i": lambda R, x: (
        R.radius * (top(x).cumsum() / R.weights.cumsum()).max()
    ),
    "radius·√(xᵀAx)": lambda R, x: R.radius * np.sqrt(x @ np.diag(R.matrix) @ x),
    "max_v |xᵀv|": lambda R, x: abs(R.vertices @ x).max(),
    "radius·σ₁(x)": lambda R, x: R.radius * np.linalg.norm(square(x), 2),
    "trace·max |λ(x)|": lambda R, x: (
        R.trace * abs(np.linalg.eigvalsh(square(x) + square(x).T)).max() / 2
    ),
    "≤ radius·(row or column sum of |x|)": lambda R, x: (
        R.radius * min(abs(square(x)).sum(axis=axis).max() for axis in (0, 1))
    ),
}
ROWS = dict(zip(ORACLES, oracles(), strict=True))


def sample_problem(oracle):
    rng = np.random.default_rng(3)
    return Problem(rng.standard_normal((6, 4)), rng.standard_normal(6), LeastSquares(), oracle)


def bounds_are(words, oracle):
    problem = sample_problem(oracle)
    expected = [BOUNDS[words](oracle, x) for x in problem.rows.as_matrix()]
    return problem.prediction_bounds == pytest.approx(expected)


def mu_is(words, oracle):
    return eval(words.replace("·", "*"), dict(vars(oracle))) == pytest.approx(float(oracle.mu))


def test_rows_stand_in_the_order_of_the_names():
    assert all(row["write"].startswith(name) for name, row in ROWS.items())


@pytest.mark.parametrize("name", SAMPLES)
def test_constants_are_true(name):
    assert mu_is(ROWS[name]["mu"], SAMPLES[name])
    assert bounds_are(ROWS[name]["bound"], SAMPLES[name])


def fused(oracle):
    problem = sample_problem(oracle)
    return type(loop_for(problem, 1, rows_tuple(problem.rows))) is not OracleLoop


@pytest.mark.parametrize("name", SAMPLES)
def test_the_mark_says_what_the_engine_does(name):
    assert fused(SAMPLES[name]) == ROWS[name]["compiled"]


def test_marks_that_depend_on_parameters_are_explained():
    assert ROWS["scaled"]["compiled"] is ROWS["translated"]["compiled"] is None
    assert ROWS["product"]["compiled"] is None
    assert fused(o.Scaled(SAMPLES["k-sparse"], 2.0))
    assert not fused(o.Scaled(o.Counting(SAMPLES["l1"]), 2.0))


def test_tables_fit_and_hold_every_form(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert not any(line != line.rstrip() for line in out.splitlines())
    for spec in (*LOSSES.values(), *ORACLES.values()):
        first = spec.text.partition(":")[0].rstrip("[")
        assert re.search(rf"^{re.escape(first)}(\W|$)", out, re.MULTILINE)


def test_one_list_only_and_json(capsys):
    assert main(["list", "losses"]) == 0
    assert "--oracle" not in capsys.readouterr().out
    assert main(["list", "oracles", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert list(data) == ["oracles"]
    assert data["oracles"][0] == {
        "section": "Sets",
        "write": "l1:RADIUS",
        "class": "L1Ball",
        "formula": "‖β‖₁ ≤ radius",
        "bound": "radius·‖x‖_∞",
        "mu": "0",
        "cost": "O(p)",
        "compiled": True,
    }
