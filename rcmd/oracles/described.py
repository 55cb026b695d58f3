"""What an oracle says of itself to compiled loops and to corrections, beside its own methods.

A loop that reads ``blocks``, ``vertex_rule`` or ``shape``, ``mass`` and ``scale`` never asks
``argmin``. So whoever trusts a class compares the two.
"""

from typing import Any

import numpy as np

from rcmd.oracles.base import (
    FEASIBILITY,
    CoordinateRule,
    Coordinatewise,
    LinearMinOracle,
    blocks_of,
    coordinate_rule_of,
    describes_argmin,
    writes_atom,
)
from rcmd.oracles.writing import disagreement
from rcmd.rows.validation import Array

ROUNDING = 1e-8
"""By this share of its terms, cᵀβ + R(β) may differ at two minimizers."""


def acts_coordinatewise(oracle: LinearMinOracle) -> bool:
    """Whether ``shape``, ``mass`` and ``scale`` say what the atom is."""
    return (
        isinstance(oracle, Coordinatewise)
        and oracle.alike
        and describes_argmin(oracle, "shape", "mass", "scale")
    )


def described_atom(oracle: LinearMinOracle, c: Array) -> Array | None:
    """The atom by ``blocks`` and vertex rules; ``None`` where the class has neither."""
    blocks, found = blocks_of(oracle, len(c)), np.full(len(c), np.nan)
    rules = [
        block.oracle.vertex_rule() if describes_argmin(block.oracle, "vertex_rule") else None
        for block in blocks
    ]
    if len(blocks) == 1 and blocks[0].oracle is oracle and rules[0] is None:
        return None
    for (inner, start, stop, factor, shift), rule in zip(blocks, rules, strict=True):
        part = factor * np.asarray(c[start:stop], dtype=float)
        if rule is None:
            atom = inner.argmin(part).dense(part)
        else:
            keys, atom = -part if rule.positive else abs(part), 0 * part
            k = int(keys.argmax())
            if keys[k] > rule.threshold:
                atom[k] = rule.size if rule.positive else -rule.size * np.sign(part[k])
        found[start:stop] = shift + factor * atom
    return found


def fault_of_atoms(oracle: LinearMinOracle, c: Array) -> str:
    """How what a compiled loop does at c differs from ``argmin``; nothing where it does not."""
    for block in blocks_of(oracle, len(c)):
        compiled, part = writes_atom(block.oracle), c[block.start : block.stop]
        # A loop compiles shape, mass and scale by themselves.
        if (compiled or acts_coordinatewise(block.oracle)) and (
            told := disagreement(block.oracle, part, compiled=compiled)
        ):
            return told
    if (found := described_atom(oracle, c)) is None:
        return ""
    right = oracle.argmin(c).dense(0.0 * c)
    words, miss = "the atom of blocks or vertex_rule", float(oracle.violation(found))
    if not miss <= FEASIBILITY:
        return f"{words} misses dom R by {miss:.3g}"
    penalties = oracle.penalty(found), oracle.penalty(right)
    apart = float(c @ (found - right) + penalties[0] - penalties[1])
    size = float(abs(c) @ (abs(found) + abs(right)) + sum(map(abs, penalties)))
    if oracle.exact_atoms and not abs(apart) <= ROUNDING * size:
        return f"cᵀβ + R(β) at {words} differs by {apart:.3g} from that at the one of argmin"
    return ""


def fault_of_rule(oracle: LinearMinOracle, point: Array, penalty: Any) -> str:
    """How ``coordinate_rule`` contradicts R at a point of dom R; nothing where it does not."""
    rule = coordinate_rule_of(oracle, len(point))
    if rule is None:
        return ""
    rule = CoordinateRule(*rule.table(len(point)).T)
    room = FEASIBILITY * (1 + abs(point).max())
    if not ((rule.lower - room <= point) & (point <= rule.upper + room)).all():
        return "the point is beyond lower or upper"
    said = float(rule.l1 @ abs(point) + rule.l2 @ (point * point) / 2)
    if not abs(said - float(penalty)) <= ROUNDING * (abs(said) + abs(float(penalty))):
        return f"R(β) would be {said:.10g}, and penalty has {float(penalty):.10g}"
    return ""
