"""Faults of what a part returns, writes, keeps and forgets, and near misses of 1 %: all found."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import planted
from scipy.sparse.linalg import aslinearoperator

from rcmd import (
    BilinearRows,
    DenseAtom,
    L1Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    MatrixEntries,
    NuclearBall,
    OperatorRows,
    Ridge,
    SeparableConjugate,
    SparseAtom,
    testing,
)
from rcmd.cli.main import main
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import LinearSchedule, Resumed, SublinearSchedule, UnitStepSchedule
from rcmd.rows import as_rows

# ---- losses ------------------------------------------------------------------------------------


def overflowing(gamma: float) -> Any:
    """A logistic loss for label 1 whose derivative is NaN for s < −709."""

    def derivative(_: Any, s: float, y: float) -> float:
        e = math.exp(-s) if s > -700.0 else math.inf
        return -e / (1 + e)

    return planted(Logistic, gamma=gamma, derivative=derivative)


LIPSCHITZ = "derivative is γ-Lipschitz"


@pytest.mark.parametrize("gamma", [0.1, 0.2475])
def test_gamma_too_small_is_seen_beside_an_overflow(gamma: float) -> None:
    report = testing.inspect_conjugate(overflowing(gamma), labels=[1.0])
    (failure,) = report.identities[LIPSCHITZ]
    assert failure.expected == pytest.approx(0.25, rel=1e-6)


def test_a_derivative_that_overflows_is_not_called_lipschitz() -> None:
    report = testing.inspect_conjugate(overflowing(0.3), labels=[1.0])
    assert LIPSCHITZ not in report.identities
    assert report.unchecked[LIPSCHITZ].startswith("derivative is not finite around s = -")
    assert not any("γ" in note for note in report.notes)
    assert "ok    " + LIPSCHITZ not in report.lines()
    assert report.causes == ["unstable form"]


def test_what_rests_on_a_wrong_derivative_is_not_checked() -> None:
    wrong = planted(LeastSquares, derivative=lambda _, s, y: 1.01 * (s - y))
    report = testing.inspect_conjugate(wrong)
    left = [name for name, why in report.unchecked.items() if why == "derivative is wrong"]
    assert len(left) == 7, left
    assert not any(name in report.identities for name in left)


@pytest.mark.parametrize("width", [1.0, 0.2])
def test_a_bump_between_the_scales_is_seen(width: float) -> None:
    """At r = 137.7, where points six per cent apart step over it."""

    def bump(_: Any, s: float, y: float) -> float:
        return (s - y) ** 2 / 2 + 3 * width**2 * math.exp(-(((s - y - 137.7) / width) ** 2))

    report = testing.inspect_conjugate(planted(LeastSquares, value=bump), labels=[0.0])
    assert "not convex" in report.causes


# Digits cancel in the first two; the others have large numbers and conjugates by Newton's method.
FORMULAS = [
    "log(1 + exp(s)) - y*s",
    "1000*(softplus(s - y) + softplus(y - s) - 2*log(2))",
    "1e6*softplus(-y*s)",
    "log(1 + exp(-y*s)) + s**2/10",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_generated_losses_keep_the_contract(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcmd.testing.losses.LossInspection.cvxpy_form", lambda self: iter(()))
    loss = SeparableConjugate.from_expression(formula)
    assert testing.check_conjugate(loss, labels=[1.0, -1.0]).ok
    right = type(loss).conjugate
    wrong = planted(type(loss), conjugate=lambda self, w, y: right(loss, w, y) * (1 + 1e-6))
    vars(wrong).update(vars(loss))
    assert not testing.inspect_conjugate(wrong, labels=[1.0]).ok


# ---- oracles: what methods return ---------------------------------------------------------------


def ball(**methods: Any) -> Any:
    return planted(L1Ball, 1.0, **methods)


def returning(name: str, value: Any) -> Any:
    return ball(**{name: lambda *_: value})


NUMBER, PAIR = "a finite number", "(low, high), each an array of 6 numbers"
ATOM = "an Atom such as DenseAtom(values), of 5 finite numbers"
PARTS = "a list of (weight, atom) pairs"
WRONG_RETURNS = [
    ("argmin", np.zeros(5), "an ndarray", ATOM),
    ("argmin", None, "None", ATOM),
    ("argmin", (1.0, 2.0), "a tuple", ATOM),
    ("argmin", DenseAtom(np.zeros(4)), "an atom that does not fit p = 5", ATOM),
    ("argmin", SparseAtom((5,), (1.0,)), "an atom that does not fit p = 5", ATOM),
    ("argmin", SparseAtom((0,), (math.nan,)), "an atom [nan", ATOM),
    ("minimum", None, "None", NUMBER),
    ("minimum", math.nan, "nan", NUMBER),
    ("minimum", np.zeros(1), "an ndarray", NUMBER),
    ("violation", (0.0, 1.0), "a tuple", NUMBER),
    ("violation", math.nan, "nan", NUMBER),
    ("penalty", "0", "a str", NUMBER),
    ("penalty", math.inf, "inf", NUMBER),
    ("prediction_range", None, "None", PAIR),
    ("prediction_range", (np.zeros(5), np.zeros(6)), "an ndarray of shape (5,)", PAIR),
    ("prediction_range", (np.zeros(6), np.full(6, math.nan)), "[nan", PAIR),
    ("best_atoms", [], "an empty list", f"a list, each in it {ATOM}"),
    ("best_atoms", [np.zeros(5)], "an ndarray", f"a list, each in it {ATOM}"),
    ("decompose", [DenseAtom(np.zeros(5))], "a list with a DenseAtom in it", PARTS),
    ("decompose", None, "None", PARTS),
]


@pytest.mark.parametrize(("name", "value", "found", "expected"), WRONG_RETURNS)
def test_a_wrong_return_is_named(name: str, value: Any, found: str, expected: str) -> None:
    report = testing.inspect_oracle(returning(name, value))
    (failure,) = report.failures
    assert failure.found.startswith(found), failure
    assert failure.found.endswith(f" from {name}")
    assert (failure.expected, failure.cause) == (expected, "wrong type")
    assert len(report.unchecked) == 18


def test_what_a_method_raises_is_a_failure() -> None:
    none = planted(Ridge, 0.5, prediction_range=LinearMinOracle.prediction_range)
    (failure,) = testing.inspect_oracle(none).failures
    assert failure.cause == "an exception"
    assert "NotImplementedError: WrongRidge is no indicator" in failure.found
    assert "from prediction_range" in failure.found


def broken(report: Any) -> list[str]:
    return [name for name, failures in report.identities.items() if failures]


def test_a_sized_oracle_has_its_own_p() -> None:
    assert testing.check_oracle(NuclearBall((2, 3), 1.0)).ok
    with pytest.raises(ValueError, match="is for 6 variables; expected p = 4"):
        testing.check_oracle(NuclearBall((2, 3), 1.0), p=4)


# ---- schedules, rows, samplers ------------------------------------------------------------------


SCHEDULES = [
    SublinearSchedule(3.0),
    SublinearSchedule(Fraction(3)),
    LinearSchedule(3.0, 2.0),
    UnitStepSchedule(3.0, 2.0),
    Resumed(LinearSchedule(3.0, 2.0), 4),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_shipped_schedules_keep_the_contract(schedule: Any) -> None:
    assert testing.check_schedule(schedule).ok


def matrix() -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.6)


LAYOUTS: dict[str, Any] = {
    "dense": lambda: as_rows(matrix()),
    "single": lambda: as_rows(matrix().astype(np.float32)),
    "sparse": lambda: as_rows(sp.csr_array(matrix())),
    "operator": lambda: OperatorRows(aslinearoperator(matrix())),
    "operator with rows": lambda: OperatorRows(aslinearoperator(matrix()), lambda j: matrix()[j]),
    "entries": lambda: MatrixEntries([0, 1, 1, 0], [2, 0, 1, 2], (2, 3)),
    "bilinear": lambda: BilinearRows(matrix()[:3, :2], matrix()[:4, 2:]),
    "exact": lambda: as_rows(np.array([[Fraction(1, 3), 2], [0, Fraction(1, 7)]], dtype=object)),
    "one number": lambda: as_rows([[2.0]]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_shipped_rows_keep_the_contract(name: str) -> None:
    assert testing.check_rows(LAYOUTS[name]()).ok


def test_large_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at most 1000000"):
        testing.check_rows(as_rows(sp.eye_array(2000, format="csr")))


def test_samplers() -> None:
    for batch in (1, 5):
        assert testing.check_sampler(UniformSampler(5, batch, np.random.default_rng(3))).ok
    with pytest.raises(ValueError, match="n of Sized is not known"):
        testing.check_sampler(type("Sized", (), {"batch": 1, "draw": None})())


# ---- the command --------------------------------------------------------------------------------


PARTS_OF_A_FILE = """
import numpy as np
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import SublinearSchedule
from rcmd.rows import DenseRows

rows = DenseRows(np.eye(3))
sampler = UniformSampler(4, 1, np.random.default_rng(0))
"""


def test_the_command_finds_every_kind_of_part(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "parts_for_check.py"
    file.write_text(PARTS_OF_A_FILE)
    for part, subject in (
        ("rows", "DenseRows, 3 × 3"),
        ("sampler", "UniformSampler, 1 of 4 rows"),
        ("SublinearSchedule(2.0)", "SublinearSchedule(blocks=2.0)"),
    ):
        assert main(["check", f"{file}:{part}"]) == 0
        assert capsys.readouterr().out.startswith(subject)


def test_p_and_labels_are_chosen(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcmd.testing.oracles.OracleInspection.cvxpy_form", lambda self: None)
    monkeypatch.setattr("rcmd.testing.losses.LossInspection.cvxpy_form", lambda self: None)
    assert main(["check", "l1:5", "--p", "8", "--json", "-"]) == 0
    assert not json.loads(capsys.readouterr().out)["not checked"]
    assert main(["check", "nuclear:2x3:1"]) == 0
    assert main(["check", "group-l2:2:1", "--p", "4"]) == 0
    assert main(["check", "logistic", "--labels=-1,1"]) == 0
    capsys.readouterr()
    for words, told in (
        (["logistic", "--labels", "3"], "the logistic loss expects -1 and +1"),
        (["logistic", "--p", "3"], "--p is given for Logistic(); expected it for an oracle"),
        (["l1:5", "--labels", "1"], "expected it for a loss or a prox alone"),
        (["nuclear:2x3:1", "--p", "4"], "is for 6 variables; expected p = 4"),
    ):
        assert main(["check", *words]) == 2
        assert told in capsys.readouterr().err
