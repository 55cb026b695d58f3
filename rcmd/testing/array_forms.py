"""Whether the array forms of a loss, where its class has some, are its scalar methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.testing.causes import Comparison, Sample
from rcmd.testing.report import Call, Failure

IDENTITY = "array forms have the values of the scalar methods"

ROUNDING = 1e-14
"""Difference allowed, relative to numbers above one."""

Points = list[dict[str, float]]


def array_form_failures(
    loss: SeparableConjugate, states: Callable[[float], list[float]], labels: list[float]
) -> Iterator[Failure]:
    """What differs, at ``states(y)`` for every label y, at the slopes there, and where l* ends."""
    forms = vars(type(loss)).get("arrays")
    primal, dual, both = [], [], []
    for y in labels:
        mirror = states(y)
        ends = [end for end in loss.conjugate_domain(y) if np.isfinite(end)]
        slopes = [*(loss.derivative(s, y) for s in mirror), *ends]
        primal += [{"s": s, "y": y} for s in mirror]
        dual += [{"w": w, "y": y} for w in slopes]
        both += [{"s": s, "w": w, "y": y} for s, w in product(mirror[::3], slopes[::3])]
    bounds = [{"bound": abs(point["s"])} for point in primal]
    points: dict[str, Points] = dict.fromkeys(("value", "derivative", "second_derivative"), primal)
    points |= {"conjugate": dual, "fenchel_young": both, "bregman_radius": bounds}
    for name, where in points.items():
        form = getattr(forms, name, None)
        if form is not None:
            yield from _different(form, getattr(loss, name), where)
    together: dict[str, tuple[Points, list[Callable[..., Any]]]] = {
        "expansion": (primal, [loss.value, loss.derivative, loss.second_derivative]),
        "duality": (both, [lambda s, w, y: loss.conjugate(w, y), loss.fenchel_young]),
    }
    for name, (where, methods) in together.items():
        form = getattr(forms, name, None)
        for k, method in enumerate(methods if form is not None else []):
            yield from _different(lambda *columns, f=form, k=k: f(*columns)[k], method, where)


def _different(form: Any, method: Callable[..., Any], points: Points) -> list[Failure]:
    columns = (np.array([point[name] for point in points]) for name in points[0])
    samples = []
    for point, found in zip(points, form(*columns), strict=True):
        expected = method(*point.values())
        samples.append(
            Sample(point, Call(float(found)), expected, ROUNDING * max(1, abs(expected)))
        )
    return Comparison(IDENTITY, samples, axis=next(iter(points[0]))).failures()
