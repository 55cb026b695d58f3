"""From a tree to a verified module and a record of what is known about the loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rcmd.expressions.curvature import NUMERICAL, PROVED
from rcmd.expressions.deadline import deadline
from rcmd.expressions.derivation import CLOSED, NEWTON, Core, derive
from rcmd.expressions.frames import SIGNS, frames_of
from rcmd.expressions.grammar import Tree
from rcmd.expressions.pieces import number
from rcmd.expressions.recipes import Recipe, evaluate, recipe_of
from rcmd.expressions.source import module_text
from rcmd.expressions.symbolic import R, expression_of
from rcmd.expressions.verification import Disagreement, Verification, gap_is_accurate
from rcmd.expressions.words import ExpressionError

PATIENCE = 20.0
"""Seconds after which an expression is given up."""

# Distances up to which l'' is integrated for the Fenchel–Young gap, tried in turn.
_REACHES = (1.0, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 4096)


def generate(
    tree: Tree, numbers: Mapping[str, float], labels: str | None, title: str
) -> tuple[str, dict[str, Any]]:
    """The module's text, and a record of plain values; refused if it is not a loss."""
    expression = expression_of(tree, numbers)
    cores, kind = _understood(expression, labels)
    gamma = max(_rounded_up(core.smoothness.gamma) for core in cores)
    cores, text, lost = _first_verified(expression, kind, title, cores, gamma)
    proved = all(core.smoothness.origin == PROVED for core in cores)
    record = {
        "labels": kind,
        "gamma": gamma,
        "gamma_origin": PROVED if proved else NUMERICAL,
        "conjugate_origin": CLOSED if all(c.origin == CLOSED for c in cores) else NEWTON,
        "strictly_convex": all(core.smoothness.strictly_convex for core in cores),
        "quadratic": all(core.smoothness.quadratic for core in cores),
        "lost_digits": lost,
        "by_label": cores[0].frame.by_label,
        "recipes": _recipes(cores),
    }
    return text, record


def _understood(expression: Any, labels: str | None) -> tuple[list[Core], str]:
    try:
        with deadline(PATIENCE):
            frames, kind = frames_of(expression, labels)
            return [derive(frame) for frame in frames], kind
    except ExpressionError:
        raise
    except Exception as fault:  # computer algebra fails in many ways, none of use to a reader
        raise ExpressionError(
            f"computer algebra could not work with the expression ({type(fault).__name__}); "
            "expected a simpler one"
        ) from fault
    raise ExpressionError(
        f"the expression could not be understood within {PATIENCE:g} s; expected a simpler one"
    )


def _first_verified(
    expression: Any, labels: str, title: str, cores: list[Core], gamma: float
) -> tuple[list[Core], str, str]:
    """The most explicit of three versions of the code that passes its verification."""
    fault = Disagreement()
    for version in (cores, [c.by_definition() for c in cores], [c.by_newton() for c in cores]):
        try:
            return version, *_verified(expression, labels, title, version, gamma)
        except Disagreement as found:
            fault = found
    raise ExpressionError(
        f"the code generated for this loss failed its verification: {fault}; write the "
        "expression in stable words such as softplus, expit, logcosh, log1p or expm1"
    )


def _verified(
    expression: Any, labels: str, title: str, cores: list[Core], gamma: float
) -> tuple[str, str]:
    """The text with the longest reach that keeps digits, and what verification has to say."""
    joints = [float(number(piece.high)) for core in cores for piece in core.pieces[:-1]]
    text = module_text(title, cores, gamma, [0.0] * len(cores))
    lost = Verification(namespace(text), expression, labels, joints).run()
    y = 1.0 if labels == SIGNS else 0.0
    quadratic = all(piece.curvature.is_number for core in cores for piece in core.pieces)
    for reach in (math.inf,) if quadratic else _REACHES:
        better = module_text(title, cores, gamma, [reach] * len(cores))
        if gap_is_accurate(namespace(better), expression, y, min(reach, 2.0)):
            return better, lost
    return text, lost


def namespace(text: str, filename: str = "<generated loss>") -> dict[str, Any]:
    """The names that a generated module defines."""
    names: dict[str, Any] = {"__name__": "generated_loss"}
    exec(compile(text, filename, "exec"), names)
    return names


def _recipes(cores: list[Core]) -> list[Recipe] | None:
    """Recipes for CVXPY, each checked against its core; None if one is missing."""
    recipes = []
    for core in cores:
        recipe = recipe_of(core)
        if recipe is None:
            return None
        for piece in core.pieces:
            for at in (-30.0, -1.2, -0.4, 0.0, 0.3, 0.9, 1.6, 25.0):
                if piece.low <= at <= piece.high:
                    wanted = float(number(piece.value.subs(R, at)))
                    if abs(evaluate(recipe, at) - wanted) > 1e-9 * (1 + abs(wanted)):
                        return None
        recipes.append(recipe)
    return recipes


def _rounded_up(gamma: Any) -> float:
    exact = number(gamma)
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)
