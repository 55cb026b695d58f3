"""The module that a loss becomes: scalar functions of (self, s, y) as text, which numba compiles.

Each core gets its value, slope, curvature, inverse, conjugate and Fenchel–Young gap; the loss's
own methods put the label around them.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pycode import PythonCodePrinter

from rcmd.conjugates import scalars
from rcmd.conjugates.expressions.algebra import Piece
from rcmd.conjugates.expressions.branches import Branch, Tree, derivative
from rcmd.conjugates.expressions.derivation import AnyCore, Core, OpenCore
from rcmd.conjugates.expressions.language import FUNCTIONS
from rcmd.conjugates.expressions.loss import SUFFIXES
from rcmd.conjugates.expressions.symbolic import R, W, Y, merged, stabilised

ROOM = 2.0**-50
"""By what an integral of l'' may miss the difference of values that it stands for, of their sizes:
no more than certificates take differences to round."""

# ---- expressions as code -----------------------------------------------------------------------


class Unusable(Exception):
    """Code that cannot be written for an expression, or does not do what it says, at a point."""


class ScalarPrinter(PythonCodePrinter):  # type: ignore[misc]
    """SymPy's printer, with float literals, x*x for squares and the table's functions.

    ``names`` has code for whole parts of an expression.
    """

    def __init__(self, names: dict[Any, str] | None = None) -> None:
        known = {name: row.code for name, row in FUNCTIONS.items() if row.code}
        super().__init__({"user_functions": known, "order": "none"})
        self.names = names or {}

    def _print(self, expr: Any, **options: Any) -> str:
        if expr in self.names:
            return self.names[expr]
        if isinstance(expr, sp.Expr) and expr.is_number:
            return literal(expr)
        return str(super()._print(expr, **options))

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        # Constants last: the leading part then never starts with a sign of its own.
        return sorted(expr.args, key=lambda part: (part.is_number, str(part)))

    def _print_Mul(self, expr: Any) -> str:
        factor, rest = expr.as_coeff_Mul()
        if abs(factor.p if factor.is_Rational else 0) == 1 and factor.q != 1:
            # x/3 and not 0.333…·x: one rounding instead of two.
            below = sp.Pow(factor.q, -1, evaluate=False)
            expr = sp.Mul(factor.p, *sp.Mul.make_args(rest), below, evaluate=False)
        return str(super()._print_Mul(expr))

    def _print_Pow(self, expr: Any, **options: Any) -> str:
        base, exponent = expr.args
        if not exponent.is_number:
            raise Unusable(str(expr))
        if exponent.is_negative:
            return f"1.0 / {self.parenthesize(base**-exponent, PRECEDENCE['Pow'])}"
        if exponent == 2:
            return f"square({self._print(base)})"
        root = f"math.sqrt({self._print(base)})"
        wrapped = self.parenthesize(base, PRECEDENCE["Pow"])
        if exponent.is_Rational and exponent.q == 2:
            return root if exponent.p == 1 else f"({wrapped} ** {exponent.p // 2} * {root})"
        return f"{wrapped} ** {exponent if exponent.is_Integer else literal(exponent)}"

    def _print_not_supported(self, expr: Any) -> str:
        raise Unusable(str(expr))


def code(expression: Any, names: dict[Any, str] | None = None) -> str:
    """``expression`` as one Python expression of floats."""
    return str(ScalarPrinter(names).doprint(expression))


def literal(value: Any) -> str:
    """A constant as a float literal."""
    exact = sp.N(value, 30)
    if exact in (sp.oo, -sp.oo):
        return "math.inf" if exact == sp.oo else "-math.inf"
    if not exact.is_real:
        raise Unusable(str(value))
    return repr(float(exact))


def _statements(expression: Any) -> list[str]:
    """Lines that compute ``expression``, common parts once, the last one returning it."""
    shared, (result,) = sp.cse([merged(expression)], symbols=sp.numbered_symbols("part"))
    return [*(f"{name} = {code(part)}" for name, part in shared), f"return {code(result)}"]


# ---- the module --------------------------------------------------------------------------------


def module_text(
    title: str, cores: Sequence[AnyCore], fields: Sequence[Any], gamma: float, reach: float
) -> str:
    """The source of the loss; ``reach`` says up to which distance l'' is integrated for gaps."""
    parts: list[str] = []
    bodies: list[dict[str, str]] = []
    arguments = [Y, *fields]
    for core in cores:
        parts += [_own(text, core) for text in _core_functions(core, gamma, reach)]
        frame = core.frame
        line = ", ".join(code(part) for part in (frame.offset, frame.tilt, frame.constant))
        parts.append(core_function(core, "core_frame", arguments, [f"return ({line})"]))
        bodies.append({name: _own(text, core, True) for name, text in _method_bodies(core).items()})
    if math.isfinite(gamma):
        parts.append(_function("gamma(self)", [f"return {gamma!r}"]))
    for name, first in _ARGUMENTS.items():
        lines = bodies[0][name].splitlines()
        if len(bodies) == 2:
            lines = ["if y > 0.0:", *_indented(lines), *bodies[1][name].splitlines()]
        names = ", ".join(["self", *first, *(each.name for each in arguments)])
        parts.append(_function(f"{name}({names})", lines))
    body = "\n\n".join(parts)
    called = sorted(set(re.findall(r"(?<![\w.])(\w+)\(", body)) & vars(scalars).keys())
    imports = f"\nfrom {scalars.__name__} import {', '.join(called)}\n" if called else ""
    return f'"""The loss {title}, generated by rcmd."""\n\nimport math\n{imports}\n\n{body}'


_ARGUMENTS = {
    "value": "s", "derivative": "s", "second_derivative": "s", "conjugate": "w",
    "conjugate_derivative": "w", "conjugate_domain": "", "fenchel_young": "sw",
}  # fmt: skip


def core_function(core: AnyCore, name: str, arguments: Sequence[Any], lines: list[str]) -> str:
    """A function of one core in labels and fields."""
    return _own(_function(f"{name}({', '.join(each.name for each in arguments)})", lines), core)


def _own(text: str, core: AnyCore, outside: bool = False) -> str:
    """``text`` with the names of this core's functions, and its parameters in place of ``§``.

    From outside these may be NumPy's numbers, which warn of 0·∞.
    """
    names = (each.name for each in core.frame.parameters)
    more = "".join(f", float({name})" if outside else f", {name}" for name in names)
    suffix = SUFFIXES[core.frame.side]
    return re.sub(r"\bcore_\w+", rf"\g<0>{suffix}", text).replace("§", more)


def _core_functions(core: AnyCore, gamma: float, reach: float) -> list[str]:
    functions = []
    for name, order in (("core_value", 0), ("core_slope", 1), ("core_curvature", 2)):
        functions.append(_function(f"{name}(r§)", _derivative(core, order)))
    if not core.closed:
        functions.append(_NEWTON)
    if isinstance(core, OpenCore):
        functions.append(_OPEN)
    else:
        functions.append(_function("core_inverse(w)", _inverse(core)))
        functions.append(_function("core_conjugate(w)", _conjugate(core)))
    return [*functions, _SEGMENT, _function("core_gap(r, w§)", _gap(core, gamma, reach))]


def _derivative(core: AnyCore, order: int) -> list[str]:
    """Lines that return a derivative of the core, or its value."""
    if isinstance(core, OpenCore):
        return _cases(derivative(core.tree, order))
    lines = []
    for piece in core.pieces:
        lines += _until(piece.high, "r", _statements(piece.stable.diff((R, order))))
    return lines


def _cases(tree: Tree) -> list[str]:
    if not isinstance(tree, Branch):
        return _statements(tree)
    sign = "<" if tree.strict else "<="
    yes = _indented(_cases(tree.yes))
    return [f"if {code(tree.below)} {sign} 0.0:", *yes, *_cases(tree.no)]


def _inverse(core: Core) -> list[str]:
    lines = []
    for end, sign, relation in ((core.low, "-", "<="), (core.high, "", ">=")):
        if end.slope.is_finite:
            edge = literal(end.slope)
            if end.attained is not None:
                lines += [f"if w == {edge}:", f"    return {literal(end.attained)}"]
            lines += [f"if w {relation} {edge}:", f"    return {sign}math.inf"]
    for edge, piece in _curved(core):
        block = ["return core_newton(w)"]
        if piece.inverse is not None:
            block = [f"return {code(stabilised(piece.inverse), _linear_parts(piece.inverse))}"]
        lines += _until(edge, "w", block)
    return lines


def _linear_parts(inverse: Any) -> dict[Any, str]:
    """a·w + b written as a·(w + b/a): exact next to the end −b/a of the domain."""
    names = {}
    for part in inverse.atoms(sp.Add):
        slope = part.diff(W)
        if slope.is_number and slope not in (0, 1) and not part.subs(W, 0).has(W):
            root = sp.expand(part / slope) - W
            names[part] = f"({literal(slope)} * (w + {literal(root)}))"
    return names


def _conjugate(core: Core) -> list[str]:
    lines = _outside(core)
    curved = _curved(core)
    for end, (_, piece) in ((core.low, curved[0]), (core.high, curved[-1])):
        # A form of its own holds at the end too.
        if end.slope.is_finite and piece.conjugate is None:
            lines += [f"if w == {literal(end.slope)}:", f"    return {literal(end.conjugate)}"]
    general = ["r = core_inverse(w)", "return w * r - core_value(r)"]
    for edge, piece in curved:
        own = general if piece.conjugate is None else _statements(piece.conjugate)
        lines += _until(edge, "w", own)
    return lines


def _curved(core: Core) -> list[tuple[Any, Piece]]:
    """(largest w, piece) for each piece with curvature, the last one without a bound."""
    pieces = [piece for piece in core.pieces if piece.curvature != 0]
    edges = [piece.slope.subs(R, piece.high) for piece in pieces[:-1]]
    return list(zip([*edges, sp.oo], pieces, strict=True))


def _gap(core: AnyCore, gamma: float, reach: float) -> list[str]:
    """The Fenchel–Young gap of (r, w): an integral of l'' where q = l*'(w) is near."""
    plain = "return core_value(r§) + core_conjugate(w§) - w * r"
    lines, pieces = ([], []) if isinstance(core, OpenCore) else (_outside(core), core.pieces[:-1])
    if reach > 0:
        near = "abs(q) < math.inf" if reach == math.inf else f"abs(r - q) <= {reach!r}"
        lines += ["q = core_inverse(w§)", f"if {near}:"]
        lines += ["    a, end = min(q, r), max(q, r)", "    total = 0.0"]
        for piece in pieces:
            lines.append(f"    b = min(max({literal(piece.high)}, a), end)")
            lines.append("    total += core_segment(a, b, r§)")
            lines.append("    a = b")
        lines.append("    total += core_segment(a, end, r§)")
        if reach == math.inf:
            return [*lines, "    return total", plain]
        # Five points may miss what is narrow in l''; differences of values do not, but round, as
        # do the terms of values that nearly vanish. In doubt it is the larger one, but at most the
        # double of the integral.
        lines.append("    at_r, at_q = core_value(r§), core_value(q§)")
        lines.append("    size = abs(at_r) + abs(at_q) + abs(w) * (abs(r) + abs(q))")
        lines.append("    apart = at_r - at_q - w * (r - q) - total")
        lines.append(f"    if abs(apart) <= {ROOM!r} * size:")
        lines.append("        return total")
        largest = gamma if math.isfinite(gamma) else "max(core_curvature(r§), core_curvature(q§))"
        lines.append(f"    if abs(apart) <= 1e-12 * size + 1e-14 * {largest}:")
        lines.append("        return total + min(max(apart, 0.0), total)")
    return [*lines, plain]


def _outside(core: Core) -> list[str]:
    ends = ((core.low, "<"), (core.high, ">"))
    tests = [f"w {relation} {literal(end.slope)}" for end, relation in ends if end.slope.is_finite]
    return [f"if {' or '.join(tests)}:", "    return math.inf"] if tests else []


def _until(edge: Any, name: str, block: list[str]) -> list[str]:
    if edge == sp.oo:
        return block
    return [f"if {name} <= {literal(edge)}:", *_indented(block)]


def _function(head: str, lines: list[str]) -> str:
    return "\n".join([f"def {head}:", *_indented(lines), ""])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _method_bodies(core: AnyCore) -> dict[str, str]:
    """The bodies of the loss's methods in its own s, w and y, from those of its core."""
    frame = core.frame
    offset, tilt, constant = (
        "" if part == 0 else f"({code(part)})"
        for part in (frame.offset, frame.tilt, frame.constant)
    )
    times = "y * " if frame.by_label else ""
    plus_tilt = f" + {tilt}" if tilt else ""
    r = f"{times}s" + (f" - {offset}" if offset else "")
    v = f"{times}w" + (f" - {tilt}" if tilt else "")
    if isinstance(core, OpenCore):
        first, last = "core_limit(-1.0§)", "core_limit(1.0§)"
        minus_first, minus_last = f"-{first}", f"-{last}"
    else:
        first, last = literal(core.low.slope), literal(core.high.slope)
        minus_first, minus_last = literal(-core.low.slope), literal(-core.high.slope)
        if core.low.slope.is_finite or core.high.slope.is_finite:
            v = f"nudged({v}, {first}, {last}, {tilt or 0.0})"
    slope = f"core_slope({r}§)"
    ends = f"return ({first}{plus_tilt}, {last}{plus_tilt})"
    if times:
        ends = f"if y > 0.0:\n    {ends}\nreturn ({minus_last}, {minus_first})"
    return {
        "value": f"return core_value({r}§)"
        + (f" + {tilt} * ({r})" if tilt else "")
        + (f" + {constant}" if constant else ""),
        "derivative": f"return {times}({slope}{plus_tilt})" if tilt else f"return {times}{slope}",
        "second_derivative": f"return core_curvature({r}§)",
        "conjugate": f"return core_conjugate({v}§)"
        + (f" + w * {offset}" if offset else "")
        + (f" - {constant}" if constant else ""),
        "conjugate_derivative": f"return {times}core_inverse({v}§)"
        + (f" + {offset}" if offset else ""),
        "conjugate_domain": ends,
        "fenchel_young": f"return core_gap({r}, {v}§)",
    }


_NEWTON = """\
def core_newton(w§):
    # A bracket by doubling up to 2**100, then Newton's method that never leaves it.
    low, high, step = -1.0, 1.0, 1.0
    for _ in range(100):
        if core_slope(low§) <= w:
            break
        high, low, step = low, low - step, 2.0 * step
    else:
        return -math.inf
    for _ in range(100):
        if core_slope(high§) >= w:
            break
        low, high, step = high, high + step, 2.0 * step
    else:
        return math.inf
    r = (low + high) / 2.0
    for _ in range(200):
        gap = core_slope(r§) - w
        if gap > 0.0:
            high = r
        elif gap < 0.0:
            low = r
        else:
            return r
        bend = core_curvature(r§)
        new = r - gap / bend if bend > 0.0 else low
        if not low < new < high:
            new = (low + high) / 2.0
        if abs(new - r) <= 2e-16 * abs(r):
            return new
        r = new
    return r
"""

# Where parameters decide how far l' goes, its limits are found far out, and l* there beside them.
_OPEN = """\
def core_limit(sign§):
    r = sign * 2.0**50
    while abs(r) > 8.0 and not abs(core_slope(r§)) < 1e300:
        r /= 2.0
    end = core_slope(r§)
    if abs(end - core_slope(r / 4.0§)) <= 1e-9 * (1.0 + abs(end)):
        return end
    return sign * math.inf


def core_inverse(w§):
    first, last = core_limit(-1.0§), core_limit(1.0§)
    w = nudged(w, first, last, 0.0)
    if w > last:
        return math.inf
    return -math.inf if w < first else core_newton(w§)


def core_conjugate(w§):
    r = core_inverse(w§)
    sign = 1.0 if r > 0.0 else -1.0
    end = core_limit(sign§)
    beside = abs(w - end) <= 1e-15 * abs(w)
    if abs(r) < (2.0**40 if beside else math.inf):
        return w * r - core_value(r§)
    if not beside:
        return math.inf
    best, r = -core_value(0.0§), sign
    while abs(r) < 2.0**30:
        here = end * r - core_value(r§)
        if abs(r) > 1024.0 and here - best <= 2.0**-46 * abs(end * r):
            return best
        best, r = max(best, here), 2.0 * r
    return math.inf
"""

# ∫ |r − x| l''(x) dx by Gauss's rule with five points: a sum of products that cannot cancel.
_SEGMENT = """\
def core_segment(a, b, r§):
    m = (a + b) / 2.0
    h = (b - a) / 2.0
    total = 0.0
    x = m + 0.0 * h
    total += 0.5688888888888889 * abs(r - x) * core_curvature(x§)
    x = m + 0.5384693101056831 * h
    total += 0.47862867049936647 * abs(r - x) * core_curvature(x§)
    x = m + -0.5384693101056831 * h
    total += 0.47862867049936647 * abs(r - x) * core_curvature(x§)
    x = m + 0.906179845938664 * h
    total += 0.23692688505618908 * abs(r - x) * core_curvature(x§)
    x = m + -0.906179845938664 * h
    total += 0.23692688505618908 * abs(r - x) * core_curvature(x§)
    return h * total
"""
