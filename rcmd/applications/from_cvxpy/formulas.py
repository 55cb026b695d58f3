"""Elementwise CVXPY expressions as formulas of one prediction for each sample."""

from typing import Any

import numpy as np

from rcmd.applications.from_cvxpy.affine import Affine, constant, flat, read, same
from rcmd.rows.validation import Array


class NotElementwise(Exception):
    """An expression is no formula of one number for each sample."""


def elementwise(expression: Any, leaves: list[Affine]) -> str:
    """The formula of an expression, entry by entry; its leaves are appended."""
    kind = type(expression).__name__
    if expression.is_constant():
        values = flat(constant(expression))
        if (values == values[0]).all():
            return repr(float(values[0]))
    if expression.is_affine():
        leaves.append(read(expression))
        return f"{{{len(leaves) - 1}}}"
    atom = ATOMS.get(kind)
    if kind in STEEP and expression.args[0].is_affine():
        atom = STEEP[kind]
    if atom is None:
        raise NotElementwise
    parts = [_part(argument, expression, leaves) for argument in expression.args]
    if kind in ("maximum", "minimum"):
        parts.sort(key=lambda part: "{" not in part)  # numbers last
    return atom.format(*parts) if isinstance(atom, str) else str(atom(expression, *parts))


def _part(argument: Any, whole: Any, leaves: list[Affine]) -> str:
    if argument.size not in (1, whole.size):
        raise NotElementwise
    before = len(leaves)
    found = elementwise(argument, leaves)
    if argument.size < whole.size:
        repeated = np.zeros(whole.size, dtype=int)
        leaves[before:] = [leaf.taken(repeated) for leaf in leaves[before:]]
    return found


def exponent(expression: Any) -> float:
    """That of a power."""
    power = expression.get_data()[0]
    return float(getattr(power, "value", power))


def _power(expression: Any, base: str) -> str:
    power = exponent(expression)
    if power == 2:
        return f"square({base})"
    argument = expression.args[0]
    if (power > 1 and power % 2 == 0) or argument.is_nonneg():
        return f"({base})**{power!r}"
    if not argument.is_affine():
        raise NotElementwise
    if power > 1:  # its domain is a constraint
        return f"max({base}, 0.0)**{power!r}"
    slope, bend = f"{power}*{{0}}**{power - 1}", f"{power * (power - 1) / 2}*{{0}}**{power - 2}"
    return continued(f"{{0}}**{power!r}", slope, bend).format(f"({base})")


def continued(value: str, slope: str, bend: str) -> str:
    """A formula from ``floor`` to 1/floor, and beyond a parabola and a line that touch it there.

    ``bend`` is half its second derivative. What is in «» is for a loss of this formula alone, which
    must not flatten out.
    """
    top = "(1/floor)"
    line = f"{value.format(top)} + ({slope.format(top)})*({{0}} - {top})"
    parabola = (
        f"{value.format('floor')} + ({slope.format('floor')})*({{0}} - floor)"
        f" + ({bend.format('floor')})*({{0}} - floor)**2"
    )
    value = f"«where({{0}} > {top}, {line}, »{value}«)»"
    return f"where({{0}} > floor, {value}, {parabola})"


HUBER = "where(abs({0}) <= {1}, square({0}), 2*{1}*abs({0}) - {1}**2)"
"""CVXPY's, which is twice that of rcmd."""


ATOMS: dict[str, Any] = {
    "AddExpression": lambda expression, *parts: f"({' + '.join(parts)})",
    "NegExpression": "(-({0}))",
    "multiply": "({0})*({1})",
    "DivExpression": "({0})/({1})",
    "logistic": "softplus({0})",
    "exp": "exp({0})",
    "abs": "abs({0})",
    "huber": lambda expression, base: HUBER.format(base, flat(constant(expression.M))[0]),
    "Power": _power,
    "PowerApprox": _power,
    "maximum": lambda expression, *parts: f"max({', '.join(parts)})",
    "minimum": lambda expression, *parts: f"min({', '.join(parts)})",
    "log": "log({0})",
    "entr": "-({0})*log({0})",
}
"""CVXPY's elementwise atoms, as formulas that ``SeparableConjugate.from_expression`` reads."""

STEEP = {
    "log": continued("log({0})", "1/{0}", "-0.5/{0}**2"),
    "entr": continued("-{0}*log({0})", "-log({0}) - 1", "-0.5/{0}"),
}
"""What is infinite, or infinitely steep, at 0: continued below a small number."""


def aligned(leaves: list[Affine]) -> bool:
    """Whether all leaves are functions of one prediction for each sample."""
    try:
        directions(leaves)
    except NotElementwise:
        return False
    return True


def directions(leaves: list[Affine]) -> tuple[Affine, list[Array]]:
    """The first leaf with a variable, and the ratio of each leaf's predictions to its own."""
    first = next((leaf for leaf in leaves if leaf.parts), None)
    if first is None:
        raise NotElementwise
    size, ratios = first.offset.size, []
    for leaf in leaves:
        ratio = np.zeros(size)
        if leaf.parts:
            if leaf.parts.keys() != first.parts.keys():
                raise NotElementwise
            each = []
            for k, (t, A) in leaf.parts.items():
                base, B = first.parts[k]
                base, top = np.broadcast_to(base, size), np.broadcast_to(t, size)
                if not same(A, B) or (top[base == 0] != 0).any():
                    raise NotElementwise
                each.append(np.divide(top, base, out=np.zeros(size), where=base != 0))
            ratio = np.ones(size) if leaf is first else each[0]
            if leaf is not first and any((other != ratio).any() for other in each):
                raise NotElementwise
        ratios.append(ratio)
    return first, ratios
