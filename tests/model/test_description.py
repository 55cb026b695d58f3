import re

import numpy as np
import pytest

from rcmd import (
    RCMD,
    Box,
    ExactProx,
    L1Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    SeparableConjugate,
    Simplex,
    load_result,
    solve,
)
from rcmd.methods import Quartz
from rcmd.model import bounds

X = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])
Y = np.array([1.0, -1.0, 1.0])


def test_formulas_and_constants_are_shown():
    text = Problem(X, Y, Logistic(), L1Ball(5.0)).describe(batch=2)
    for piece in (
        "min over β ∈ R^2 of  1/n Σ_j l(x_jᵀβ; y_j) + R(β),  n = 3",
        "l(s; y) = log(1 + exp(−ys))",
        "indicator of ‖β‖₁ ≤ 5",
        "holds, γ = 0.25",
        "holds, |x_jᵀβ| ≤ 10",
        "batches of 2 out of 3 rows",
        "Theorem 3.1's schedule",
    ):
        assert piece in text


@pytest.mark.parametrize(("oracle", "verdict"), [(L1Ball(1.0), "holds"), (Simplex(), "fails")])
def test_zero_in_the_domain_gets_its_verdict(oracle, verdict):
    (line,) = [
        line
        for line in Problem(X, Y, LeastSquares(), oracle).describe().splitlines()
        if "(3) 0 ∈ dom R" in line
    ]
    assert verdict in line


def test_strong_convexity_selects_the_linear_theorem_and_its_valid_bounds():
    problem = Problem(X, Y, Logistic(), Ridge(0.5))
    text = problem.describe()
    assert "Theorem 3.2's schedule" in text
    assert "σ_b" in text
    refuted = [b.name for b in bounds.all_bounds() if b.verdict is bounds.Verdict.REFUTED]
    assert refuted
    assert not any(name in text for name in refuted)


@pytest.mark.parametrize(
    ("method", "theorem", "words"),
    [(Quartz(), "quartz", "Quartz"), (RCMD(prox=ExactProx()), "exact", "Theorem I")],
)
def test_the_bounds_are_those_of_the_run(method, theorem, words):
    problem = Problem(X, Y, Logistic(), Ridge(0.5))
    text = problem.describe(2, theorem)
    run = method.start(problem, 2, np.random.default_rng(0))
    run.advance(15)  # ten passes
    bound, value = run.best_bound
    assert re.search(
        rf"{words}.*after 10 passes, [^\n]* {value:.4g}  \({bound.name}\)", text, re.DOTALL
    )
    assert "Theorem 3.2" not in text


def test_fields_show_in_the_formulas(tmp_path):
    loss = SeparableConjugate.from_expression("k*(s - y - tau)**2/2", fields=["tau", "k"])
    fields = {"k": [1.0, 2.0, 3.0], "tau": [0.0, 1.0, 2.0]}
    problem = Problem(X, Y, loss, L1Ball(1.0), fields=fields, offset=[1.0, 0.0, 0.0])
    text = problem.describe()
    assert "1/n Σ_j l(x_jᵀβ + o_j; y_j, tau_j, k_j) + R(β)" in text
    assert "\n     l(s; y, tau, k) = k*(s - y - tau)**2/2\n" in text
    page = problem._repr_html_()
    assert "; y<sub>j</sub>, tau<sub>j</sub>, k<sub>j</sub>)" in page
    assert "<i>l</i>(s; y, tau, k) = " in page
    result = solve(problem, tol=1e-6)
    result.save(tmp_path / "run.rcmd")
    assert load_result(tmp_path / "run.rcmd").about == result.about
    assert result.about.fields == ("tau", "k")


def test_weights_show_in_the_formula():
    weighted = Problem(X, Y, LeastSquares(), Box(-1.0, 1.0), weights=[1.0, 2.0, 3.0])
    assert "ω_j l(x_jᵀβ; y_j)" in weighted.describe()
    assert "γ     3 " in weighted.describe()
