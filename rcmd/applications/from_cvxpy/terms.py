"""A convex CVXPY expression as a sum: losses of samples, linear terms, other terms, a constant."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rcmd.applications.from_cvxpy.affine import Affine, constant, flat, links, read
from rcmd.applications.from_cvxpy.formulas import (
    STEEP,
    NotElementwise,
    aligned,
    elementwise,
    exponent,
)
from rcmd.rows.validation import Array


class Samples(NamedTuple):
    """Σ_j weights_j · f(u_j, …), f a formula in the affine ``leaves``, which are {0}, … in it."""

    formula: str
    leaves: list[Affine]
    weights: Array
    expression: Any


class Term(NamedTuple):
    """Σ_j weights_j · e_j for the entries e_j of a convex (or −concave) expression."""

    weights: Array
    expression: Any


@dataclass
class Terms:
    """What an expression is the sum of."""

    constant: float = 0.0
    linear: list[tuple[Affine, Array]] = field(default_factory=list)
    samples: list[Samples] = field(default_factory=list)
    others: list[Term] = field(default_factory=list)
    inside: list[Any] = field(default_factory=list)
    finite: list[Any] = field(default_factory=list)
    """Expressions that must be finite, which their formulas or weights, perhaps 0, do not ask."""


def gather(expression: Any, weights: Array, found: Terms) -> None:
    """Add Σ_j weights_j e_j, over the entries of the expression, to what was found."""
    kind = type(expression).__name__
    if expression.is_constant():
        found.constant += float(weights @ flat(constant(expression)))
    elif expression.is_affine() and kind not in SPLIT and not _functional(expression):
        found.linear.append((read(expression), weights))
    elif kind == "indicator":
        found.inside += expression.args
    elif parts := links(expression):
        for link in parts:
            gather(link.argument, link.backward(weights), found)
    else:
        try:
            if kind not in COMPOUND or not COMPOUND[kind](expression, weights, found):
                _add_samples(expression, weights, found)
        except NotElementwise:
            found.others.append(Term(weights, expression))


SPLIT = {"AddExpression", "NegExpression", "multiply", "DivExpression", "Sum", "Promote"}
"""Affine atoms that are looked into, for labels that are multiplied with predictions."""


def _functional(expression: Any) -> bool:
    """Whether it is a number yᵀ(Xβ), of which Xβ may be the predictions of a loss with labels y."""
    inner = [a for a in expression.args if not a.is_constant()]
    product = type(expression).__name__ == "MulExpression" and expression.size == 1
    return product and bool(inner) and bool(inner[0].args)


def _add_samples(expression: Any, weights: Array, found: Terms) -> None:
    """A term for each entry, as a formula."""
    varying = [argument for argument in expression.args if not argument.is_constant()]
    if type(expression).__name__ in ON_VARIABLES and all(selected(a) is not None for a in varying):
        found.others.append(Term(weights, expression))
        return
    leaves: list[Affine] = []
    formula = elementwise(expression, leaves)
    found.samples += signed(formula, leaves, weights, expression)
    if not weights.all() or "floor" not in formula:
        found.finite.append(expression)


def signed(formula: str, leaves: list[Affine], weights: Array, expression: Any) -> list[Samples]:
    """The samples with positive and those with negative weights, which become positive."""
    made = []
    for sign in (1, -1):
        kept = np.flatnonzero(sign * weights > 0)
        if len(kept):
            part = [leaf.taken(kept) for leaf in leaves]
            text = formula if sign > 0 else f"-({formula})"
            made.append(Samples(text, part, abs(weights[kept]), expression))
    return made


ON_VARIABLES = {"abs", "entr", "maximum", "minimum"}
"""Atoms that are penalties where they are of the variables themselves."""


def selected(expression: Any) -> Any:
    """Which entries of variables an expression consists of, if of nothing else."""
    return read(expression).selection() if expression.is_affine() else None


def _squares(expression: Any, weights: Array, found: Terms) -> bool:
    """quad_over_lin(x, d) with a constant d: Σ x²/d."""
    argument, divisor = expression.args
    if not divisor.is_constant() or expression.size > 1:
        return False
    each = np.full(argument.size, weights[0] / flat(constant(divisor))[0])
    return _add_squares(argument, each, expression, found)


def _add_squares(argument: Any, weights: Array, expression: Any, found: Terms) -> bool:
    """Σ weights·x²; a number where x is constant, as where a mask leaves entries out."""
    leaves: list[Affine] = []
    formula = elementwise(argument, leaves)
    if formula == "{0}":
        fixed = np.ones(argument.size, dtype=bool)
        for t, _ in leaves[0].parts.values():
            fixed &= np.broadcast_to(t == 0, fixed.shape)
        found.constant += float(weights[fixed] @ leaves[0].offset[fixed] ** 2)
        weights = np.where(fixed, 0.0, weights)
    found.samples += signed(f"square({formula})", leaves, weights, expression)
    return True


def _divergence(expression: Any, weights: Array, found: Terms) -> bool:
    """x log(x/u), and − x + u for ``kl_div``, of constants x: logarithms with the weights x."""
    first, second = expression.args
    if not first.is_constant() or not second.is_affine():
        return False
    x = np.broadcast_to(flat(constant(first)), weights.shape)
    leaf = read(second)
    if second.size < len(x):
        leaf = leaf.taken(np.zeros(len(x), dtype=int))
    if not x.all():
        found.finite.append(expression)
    found.constant += float(weights @ (x * np.log(np.where(x > 0, x, 1.0))))
    found.samples += signed(STEEP["log"], [leaf], -weights * x, expression)
    if type(expression).__name__ == "kl_div":
        found.constant -= float(weights @ x)
        found.linear.append((leaf.mapped(weights[None]), np.ones(1)))
    return True


def _quadratic(expression: Any, weights: Array, found: Terms) -> bool:
    """xᵀPx = Σ (root·x)² for P = rootᵀ·root."""
    argument, P = expression.args[0], constant(expression.args[1])
    P = P.toarray() if hasattr(P, "toarray") else np.asarray(P, dtype=float)
    if (np.diag(np.diag(P)) == P).all():
        values, root = np.diag(P), np.eye(len(P))
    else:
        values, root = np.linalg.eigh((P + P.T) / 2)
        root = root.T
    kept = abs(values) > 1e-14 * abs(values).max()
    leaf = read(argument).mapped(root[kept])
    found.samples += signed("square({0})", [leaf], weights[0] * values[kept], expression)
    return True


def _squared_norm(expression: Any, weights: Array, found: Terms) -> bool:
    """‖x‖₂² written as a power of a norm."""
    norm = expression.args[0]
    euclidean = type(norm).__name__ in NORMS and norm.size == 1 and float(norm.p) == 2
    if not (euclidean and exponent(expression) == 2):
        return False
    return _add_squares(norm.args[0], np.full(norm.args[0].size, weights[0]), expression, found)


def _sum_of_norms(expression: Any, weights: Array, found: Terms) -> bool:
    """The l1 norm of convex terms that are ≥ 0, their sum."""
    argument = expression.args[0]
    if argument.is_affine() or not argument.is_nonneg() or expression.size > 1:
        return False
    gather(argument, np.full(argument.size, weights[0]), found)
    return True


def _pairs(formula: str) -> Any:
    """An atom of two stacked vectors, entry by entry, which is a formula of both."""

    def rule(expression: Any, weights: Array, found: Terms) -> bool:
        stack = expression.args[0]
        across = {"Vstack": 0, "Hstack": 1}.get(type(stack).__name__)
        if across is None or not stack.is_affine():
            return False
        if expression.axis != across and expression.size > 1:
            return False
        leaves = [read(argument) for argument in stack.args]
        if len(leaves) != 2 or any(leaf.offset.size != expression.size for leaf in leaves):
            return False
        if not aligned(leaves):
            return False
        found.samples += signed(formula, leaves, weights, expression)
        return True

    return rule


def _norm_of_pairs(expression: Any, weights: Array, found: Terms) -> bool:
    return float(expression.p) == 2 and _pairs("sqrt(({0})**2 + ({1})**2)")(
        expression, weights, found
    )


NORMS = ("Pnorm", "PnormApprox")

COMPOUND: dict[str, Any] = {
    "quad_over_lin": _squares,
    "QuadForm": _quadratic,
    "Power": _squared_norm,
    "PowerApprox": _squared_norm,
    "norm1": _sum_of_norms,
    "kl_div": _divergence,
    "rel_entr": _divergence,
    "log_sum_exp": _pairs("logaddexp({0}, {1})"),
} | dict.fromkeys(NORMS, _norm_of_pairs)
"""Atoms that are sums of samples although they are not elementwise; False where they are not."""
