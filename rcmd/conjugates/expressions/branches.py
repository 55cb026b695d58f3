"""Cores that keep parameters: trees of comparisons with smooth leaves, and where leaves meet.

Where a label or a field cannot be separated from s, the points at which a core switches move with
it, so that there is no list of pieces but a tree: at each node a comparison of r and the
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import sympy as sp

from rcmd.conjugates.expressions.algebra import MAX_PIECES, unwrapped
from rcmd.conjugates.expressions.language import ExpressionError
from rcmd.conjugates.expressions.symbolic import SWITCHES, R, interval_text, interval_texts


@dataclass(frozen=True)
class Branch:
    """``yes`` where ``below`` < 0, or ≤ 0 if not ``strict``, and ``no`` elsewhere."""

    below: Any
    strict: bool
    yes: Tree
    no: Tree


Tree = Any
"""A ``Branch``, or a smooth function of r and the parameters."""


def tree_of(core: Any) -> Tree:
    """``core`` with every max, abs, where and their like as a comparison."""
    tree = _tree(core)
    if sum(1 for _ in leaves(tree)) > MAX_PIECES:
        raise ExpressionError(f"the loss has more than {MAX_PIECES} cases; expected fewer")
    return tree


def _tree(core: Any) -> Tree:
    parts = sp.postorder_traversal(core)  # the innermost first
    switch = next((part for part in parts if isinstance(part, SWITCHES)), None)
    if switch is None:
        return core
    (value, condition), *rest = switch.rewrite(sp.Piecewise).args
    yes = core.subs(switch, value)
    no = core.subs(switch, sp.Piecewise(*rest) if rest else sp.nan)
    return _branched(condition, yes, no)


def _branched(condition: Any, yes: Any, no: Any) -> Tree:
    """The tree of ``yes`` where ``condition`` holds, else of ``no``, by single comparisons."""
    if condition in (sp.true, sp.false):
        return _tree(yes if condition == sp.true else no)
    if isinstance(condition, sp.And | sp.Or):
        first, *rest = condition.args
        others = condition.func(*rest)
        inner = _branched(others, yes, no)
        if isinstance(condition, sp.And):
            return _joined(first, inner, _tree(no))
        return _joined(first, _tree(yes), inner)
    return _joined(condition, _tree(yes), _tree(no))


def _joined(relation: Any, yes: Tree, no: Tree) -> Tree:
    below = sp.expand(relation.lts - relation.gts)
    return Branch(below, isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan), yes, no)


def mapped(tree: Tree, change: Callable[[Any], Any]) -> Tree:
    """The tree with every leaf changed."""
    if not isinstance(tree, Branch):
        return change(tree)
    yes, no = mapped(tree.yes, change), mapped(tree.no, change)
    return Branch(tree.below, tree.strict, yes, no)


def derivative(tree: Tree, order: int) -> Tree:
    """The tree of ∂ᵏ/∂rᵏ, leaf by leaf."""
    return mapped(tree, lambda leaf: leaf.diff((R, order)))


def leaves(tree: Tree) -> Iterator[tuple[Any, list[Any]]]:
    """Each leaf, with what is at most 0 wherever the tree leads to it."""
    if not isinstance(tree, Branch):
        yield tree, []
        return
    for sign, below in ((1, tree.yes), (-1, tree.no)):
        for leaf, conditions in leaves(below):
            yield leaf, [sign * tree.below, *conditions]


def interval_form(tree: Tree, word: str) -> str:
    """The tree as ``intervals`` reads it, its comparisons as calls of ``word``."""
    parts: list[Any] = []

    def collect(tree: Tree) -> None:
        if isinstance(tree, Branch):
            parts.append(tree.below)
            collect(tree.yes)
            collect(tree.no)
        else:
            parts.append(tree)

    collect(tree)
    lines, texts = interval_texts(parts)
    rest = iter(texts)

    def written(tree: Tree) -> str:
        if not isinstance(tree, Branch):
            return next(rest)
        return f"{word}({next(rest)}, {tree.strict}, {written(tree.yes)}, {written(tree.no)})"

    return "\n".join([*lines, written(tree)])


def joints(tree: Tree, above: tuple[Any, ...] = ()) -> list[tuple[str, ...]] | None:
    """What must be positive, one of each, for the core to be smooth where it switches.

    Two leaves that do not meet smoothly may still never meet: wherever one of their conditions
    fails strictly. None where nothing is known.
    """
    if not isinstance(tree, Branch):
        return []
    found: list[tuple[str, ...]] = []
    for inner, sign in ((tree.yes, 1), (tree.no, -1)):
        more = joints(inner, (*above, sign * tree.below))
        if more is None:
            return None
        found += more
    if R not in tree.below.free_symbols:
        return found
    places = _zeros(tree.below)
    if not places:
        return None
    for at, (yes, here), (no, there) in product(places, leaves(tree.yes), leaves(tree.no)):
        rest = yes - no
        if all(part.subs(R, at).equals(0) for part in (rest, rest.diff(R))):
            continue
        apart = [sp.expand(part.subs(R, at)) for part in (*above, *here, *there)]
        if not any(part.is_positive for part in apart):
            found.append(tuple(map(interval_text, apart)))
    return found


def _zeros(function: Any) -> list[Any]:
    if function.is_polynomial(R) and sp.degree(function, R) == 1:
        slope, rest = sp.Poly(function, R).all_coeffs()
        return [-rest / slope]
    return unwrapped(function, sp.S.Zero)
