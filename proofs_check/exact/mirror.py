"""Algorithm 2 as it is printed, with w as its state: coordinate mirror steps on the dual."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import mpmath

from proofs_check.exact.losses import Softplus, Squared
from proofs_check.exact.problem import Loss, Small, Vector, dot
from proofs_check.exact.schedules import Steps


def conjugate_slope(loss: Any, w: Any) -> Any:
    """l*'(w), the s with l'(s) = w, for the losses of ``exact.losses``."""
    if isinstance(loss, Squared):
        return w / loss.gamma + loss.y
    if isinstance(loss, Softplus):
        v = -w / mpmath.mpf(loss.y)
        return mpmath.log((1 - v) / v) / loss.y
    slope = w - loss.tilt
    inside = slope / loss.gamma
    if abs(inside) <= loss.width:
        return inside
    return (slope - loss.width if slope > 0 else slope + loss.width) / loss.curvature


@dataclass(frozen=True)
class MirrorRun:
    """w^0 … w^k, β̃^0 … β̃^{k−1} and the coordinate subgradients g̃^0 … g̃^{k−1}."""

    w: tuple[Vector, ...]
    atoms: tuple[Vector, ...]
    subgradients: tuple[Vector, ...]


def solved_step(loss: Loss, w: Any, subgradient: Any, eta: Any, n: int) -> Any:
    """argmin_v −η g̃_j v + D_{l*/n}(v, w): stationary where l*'(v) = l*'(w) + n η g̃_j."""
    return loss.derivative(conjugate_slope(loss, w) + n * eta * subgradient)


def mirror_run(
    problem: Small,
    steps: Steps,
    indices: Iterable[int],
    update: Callable[[Loss, Any, Any, Any, int], Any] = solved_step,
) -> MirrorRun:
    """Algorithm 2 along the rows ``indices``, started at w^0 with l*'(w^0) = 0."""
    zero = 0 * problem.rows[0][0]
    w = problem.response((zero,) * problem.n)
    points, atoms, subgradients = [w], [], []
    for i, j in enumerate(indices):
        atom = problem.atom(w)
        loss = problem.losses[j]
        slope = (dot(problem.rows[j], atom) - conjugate_slope(loss, w[j])) / problem.n
        new = update(loss, w[j], slope, steps.eta(i), problem.n)
        w = tuple(new if k == j else v for k, v in enumerate(w))
        points.append(w)
        atoms.append(atom)
        subgradients.append(tuple(slope if k == j else zero for k in range(problem.n)))
    return MirrorRun(tuple(points), tuple(atoms), tuple(subgradients))
