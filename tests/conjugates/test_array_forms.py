"""Array forms: the same numbers as the scalar methods, for whom they are used."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcmd import RCMD, Corrected, L1Ball, Logistic, Problem, SampleLosses, solve
from rcmd.conjugates import logistic
from rcmd.conjugates.logistic import LogisticArrays
from rcmd.conjugates.samples import BLOCK
from rcmd.testing import check_conjugate
from rcmd.testing.losses import ARRAY_FORMS, LossInspection


def forms(**replaced: Any) -> Any:
    names = ("value", "derivative", "second_derivative", "conjugate", "fenchel_young")
    more = ("bregman_radius", "expansion", "duality")
    return SimpleNamespace(
        **{name: getattr(LogisticArrays, name) for name in (*names, *more)} | replaced
    )


def changed(form: Any, part: int, change: Any) -> Any:
    """``form`` with one of its results changed."""

    def wrong(*arguments: Any) -> Any:
        results = list(form(*arguments))
        results[part] = change(results[part])
        return tuple(results)

    return wrong


def with_forms(arrays: Any) -> Any:
    return dataclass(frozen=True)(type("Planted", (Logistic,), {"arrays": arrays}))()


def test_the_contract_covers_them() -> None:
    for loss in (Logistic(), with_forms(forms())):
        assert ARRAY_FORMS in check_conjugate(loss).identities


PLANTED: dict[str, Any] = {
    "value": lambda s, y: LogisticArrays.value(-s, y),
    "derivative": lambda s, y: -LogisticArrays.derivative(s, y),
    "second_derivative": lambda s, y: 2 * LogisticArrays.second_derivative(s, y),
    "conjugate": lambda w, y: np.where(abs(w) == 1, 1e-9, LogisticArrays.conjugate(w, y)),
    "fenchel_young": lambda s, w, y: LogisticArrays.fenchel_young(s, w, y) + 1e-12,
    "bregman_radius": lambda bound: bound**2 / 8,
}


for name, part in (
    ("expansion", 0),
    ("expansion", 1),
    ("expansion", 2),
    ("duality", 0),
    ("duality", 1),
):
    for factor in (-1.0, 1.001):
        form = changed(getattr(LogisticArrays, name), part, lambda x, factor=factor: factor * x)
        PLANTED[f"{name} {part} times {factor}"] = form
PLANTED["duality 2 plus 1e-12"] = changed(LogisticArrays.duality, 2, lambda x: x + 1e-12)


@pytest.mark.parametrize("bug", PLANTED)
def test_a_wrong_form_is_found(bug: str) -> None:
    wrong = with_forms(forms(**{bug.split()[0]: PLANTED[bug]}))
    assert any(LossInspection(wrong, [1.0, -1.0]).array_forms())


@pytest.mark.parametrize("compiled", [True, False])
def test_several_at_once_are_the_same_numbers(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short arrays go the other way; what is compiled says the same as Python."""
    if not compiled:
        monkeypatch.setattr(logistic, "_compiled", lambda function: function)
    rng = np.random.default_rng(0)
    s = np.concatenate([rng.standard_normal(3000) * 5, [0.0, -0.0, 800.0, -800.0]])
    y = np.where(rng.random(len(s)) < 0.5, 1.0, -1.0)
    w = -y * np.concatenate([rng.random(len(s) - 4), [0.0, 1.0, 0.0, 1.0]])
    names = ("value", "derivative", "second_derivative")
    for name, found in zip(names, LogisticArrays.expansion(s, y), strict=True):
        np.testing.assert_allclose(found, getattr(LogisticArrays, name)(s, y), rtol=1e-15)
    values, conjugates, terms = LogisticArrays.duality(s, w, y)
    assert np.array_equal(values, LogisticArrays.value(s, y))
    assert np.array_equal(conjugates, LogisticArrays.conjugate(w, y))
    np.testing.assert_allclose(terms, LogisticArrays.fenchel_young(s, w, y), rtol=1e-14)
    values, *outside = LogisticArrays.duality(s, w + 2.0, y)
    assert np.array_equal(values, LogisticArrays.value(s, y))
    assert np.isinf(outside).all()


def test_far_out_and_at_the_ends_nothing_overflows() -> None:
    s = np.array([-1e300, -800.0, -0.0, 800.0, 1e300])
    one = np.ones(5)
    with np.errstate(all="raise", under="ignore"):
        assert LogisticArrays.value(s, one).tolist() == [1e300, 800.0, np.log(2), 0.0, 0.0]
        assert LogisticArrays.derivative(s, one)[[0, -1]].tolist() == [-1.0, 0.0]
        assert LogisticArrays.conjugate(np.array([-1.0, 0.0]), one[:2]).tolist() == [0.0, 0.0]
        ends = LogisticArrays.fenchel_young(s[[0, 4]], np.array([-1.0, 0.0]), one[:2])
        assert ends.tolist() == [0.0, 0.0]
    outside = np.array([-1.5, 0.5])
    assert np.isinf(LogisticArrays.conjugate(outside, one[:2])).all()
    assert np.isinf(LogisticArrays.fenchel_young(outside, outside, one[:2])).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_join_and_weights_enter(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcmd.conjugates.samples.FUSED_BLOCK", BLOCK)
    rng = np.random.default_rng(0)
    n = BLOCK + 5
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    weights = rng.uniform(0.5, 2.0, n) if weighted else None
    s = rng.standard_normal(n)
    fast, slow = (SampleLosses(loss, y, weights) for loss in (Logistic(), with_forms(None)))
    w = slow.derivative(s)
    for name, arguments in (
        ("value", (s,)),
        ("derivative", (s,)),
        ("second_derivative", (s,)),
        ("conjugate", (w,)),
        ("fenchel_young", (s[::-1].copy(), w)),
        ("bregman_radius", (abs(s),)),
    ):
        expected = getattr(slow, name)(*arguments)
        assert getattr(fast, name)(*arguments) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    back = s[::-1].copy()
    values, *duality = fast.duality(back, w)
    together = [*fast.expansion(s), values, *duality]
    none, *apart = slow.duality(back, w)
    assert none is None
    for found, expected in zip(
        together, [*slow.expansion(s), slow.value(back), *apart], strict=True
    ):
        assert found == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_a_subclass_does_not_inherit_them() -> None:
    @dataclass(frozen=True)
    class Doubled(Logistic):
        def value(self, s: Any, y: Any) -> Any:
            return 2 * super().value(s, y)

    y = np.ones(3)
    assert SampleLosses(Doubled(), y).value(np.zeros(3)) == pytest.approx(2 * np.log(2))


def test_steps_never_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines must step by the scalar method, or they would part by a rounding."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 4))
    problem = Problem(X, np.where(X[:, 0] > 0, 1.0, -1.0), Logistic(), L1Ball(2.0))
    monkeypatch.setattr(Logistic, "arrays", forms(derivative=lambda s, y: 0 * s))
    options: Any = {"batch": 3, "max_iterations": 40, "tol": 0.0}
    runs = [
        solve(problem, method=Corrected(RCMD(engine=engine)), **options)
        for engine in ("compiled", "reference")
    ]
    monkeypatch.undo()
    right = solve(problem, method=Corrected(RCMD(engine="compiled")), **options)
    for run in runs:
        assert run.beta == pytest.approx(right.beta, rel=1e-12, abs=1e-14)
