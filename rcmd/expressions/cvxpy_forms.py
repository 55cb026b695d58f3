"""Recipes read by CVXPY."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


def loss_form(
    recipes: list[Any], module: ModuleType, by_label: bool, predictions: Any, y: Any
) -> Any:
    """The vector of losses as a CVXPY expression, one recipe for each core of the loss."""
    import cvxpy as cp

    y = np.asarray(y, dtype=float)
    if len(recipes) == 1:
        return _framed(recipes[0], module.core_frame, by_label, predictions, y)
    sides = [module.core_frame_plus, module.core_frame_minus]
    plus, minus = (
        _framed(recipe, frame, by_label, predictions, y)
        for recipe, frame in zip(recipes, sides, strict=True)
    )
    return cp.multiply((y > 0).astype(float), plus) + cp.multiply((y <= 0).astype(float), minus)


def _framed(recipe: Any, frame: Any, by_label: bool, predictions: Any, y: Any) -> Any:
    import cvxpy as cp

    parts = np.array([frame(label) for label in y.ravel()], dtype=float).reshape(-1, 3)
    offset, tilt, constant = (part.reshape(y.shape) for part in parts.T)
    r = (cp.multiply(y, predictions) if by_label else predictions) - offset
    total = cp.multiply(tilt, r) + constant
    for name, factor, slope, shift, extra in recipe:
        total = total + factor * _function(name, slope * r + shift, extra)
    return total


def _function(name: str, x: Any, extra: float) -> Any:
    import cvxpy as cp

    if name == "line":
        return x
    if name == "square":
        return cp.square(x)
    if name == "half_square":
        return cp.square(cp.pos(x))
    if name == "huber":
        return cp.huber(x, extra)
    if name == "softplus":
        return cp.logistic(x)
    return cp.norm(cp.vstack([x, np.full(x.shape, extra)]), 2, axis=0)
