"""Algebra that always ends: limits, quotients of polynomials, solutions, smooth pieces.

SymPy's general solvers and limits may take any time, so they are not used. Each rule here is a
fixed number of steps on polynomials of bounded degree; where none applies the answer is None,
and numbers decide.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.expressions.language import ExpressionError
from rcmd.conjugates.expressions.symbolic import SWITCHES, R, W, in_many_digits, number

MAX_PIECES = 24
MAX_DEGREE = 24
# Before common factors are cancelled.
_MAX_RAW_DEGREE = 80
_MAX_OPERATIONS = 200
T = sp.Symbol("t", positive=True)


# ---- limits ------------------------------------------------------------------------------------


def exact_limit(expression: Any, end: Any) -> Any:
    """The limit of a smooth function of r at ``end``, or None where these rules do not reach.

    By continuity; at infinity, products of powers of polynomials by their leading coefficients.
    """
    found = expression.subs(R, end)
    if _is_limit(found):
        return found
    factors = power_factors(expression) if not end.is_finite else None
    found = None if factors is None else _at_infinity(*factors, end)
    if found is None and expression.is_Add:
        parts = [exact_limit(part, end) for part in expression.args]
        total = sp.nan if None in parts else sp.Add(*parts)
        found = total if _is_limit(total) else None
    return found


def _is_limit(found: Any) -> bool:
    real = found in (sp.oo, -sp.oo) or found.is_finite
    return bool(real) and not found.has(sp.nan, sp.zoo, sp.I)


def _at_infinity(value: Any, powers: list[tuple[Any, Any]], end: Any) -> Any:
    """The limit of value·Π p^e at ±∞ from the leading coefficients, or None if not real."""
    degree = sp.S.Zero
    for polynomial, exponent in powers:
        sign = -1 if end == -sp.oo and polynomial.degree() % 2 else 1
        degree += polynomial.degree() * exponent
        value *= (sign * polynomial.LC()) ** exponent
    if not value.is_real:
        return None
    return sp.S.Zero if degree < 0 else value * (sp.oo if degree > 0 else 1)


def power_factors(expression: Any) -> tuple[Any, list[tuple[Any, Any]]] | None:
    """(c, [(p, e), …]) with ``expression`` = c·Π p^e, p polynomials in r, e numbers; or None."""
    radicals = {p.base for p in expression.atoms(sp.Pow) if not p.exp.is_Integer}
    if expression.atoms(sp.Function) or len(radicals) > 1:
        return None
    if max(_degrees(expression, R)) > _MAX_RAW_DEGREE:
        return None
    constant, powers = sp.S.One, []
    for factor in sp.Mul.make_args(factored(sp.together(expression))):
        base, exponent = factor.as_base_exp()
        if R not in factor.free_symbols:
            constant *= factor
            continue
        if R in exponent.free_symbols or not base.is_polynomial(R):
            return None
        polynomial = sp.Poly(base, R)
        if polynomial.domain not in (sp.ZZ, sp.QQ) or polynomial.degree() > MAX_DEGREE:
            return None
        powers.append((polynomial, exponent))
    return constant, powers


def factored(expression: Any) -> Any:
    """A product where one is found soon.

    Functions stand for themselves: as powers of one exponential they may have any degree, and so
    may roots of a high order.
    """
    orders = [p.exp.q for p in expression.atoms(sp.Pow) if p.exp.is_Rational]
    if max(orders, default=1) > MAX_DEGREE or sp.count_ops(expression) > _MAX_OPERATIONS:
        return expression
    names = {part: sp.Dummy(real=True) for part in expression.atoms(sp.Function)}
    found = sp.factor(expression.xreplace(names))
    return found.xreplace({name: part for part, name in names.items()})


def far_limit(expression: Any, end: Any, inwards: int) -> Any:
    """The function at ±10³², or 10⁻¹²⁸ from a finite end, if it stands still there, or None."""
    function = in_many_digits(R, expression)
    values = []
    with mpmath.workdps(400 if end.is_finite else 120):
        for step in (16, 32):
            try:
                if end.is_finite:
                    at = number(end, 400) + inwards * mpmath.mpf(10) ** (-4 * step)
                else:
                    at = -inwards * mpmath.mpf(10) ** step
                values.append(mpmath.mpf(function(at)))
            except (ArithmeticError, ValueError, TypeError):
                return None
    middle, far = values
    return far if abs(far - middle) <= 1e-7 * (1 + abs(far)) else None


# ---- quotients of polynomials ------------------------------------------------------------------


@dataclass(frozen=True)
class Quotient:
    """numerator/denominator, polynomials in ``variable``, where variable = ``inner``(r).

    With t = exp(u), u a multiple of r up to a shift, logistic-like losses have a derivative that
    is a quotient of polynomials in t; others are rational in r itself.
    """

    numerator: Any
    denominator: Any
    variable: Any
    inner: Any
    outer: Any
    """r as a function of the variable."""

    def at(self, value: Any) -> Any:
        """The quotient at a value of the variable, or its limit there at infinity."""
        top, bottom = self.numerator, self.denominator
        if value.is_finite:
            return (top.as_expr() / bottom.as_expr()).subs(self.variable, value)
        return _at_infinity(sp.S.One, [(top, 1), (bottom, -1)], value)


def quotient_of(expression: Any) -> Quotient | None:
    """``expression`` as a quotient of polynomials with rational coefficients, in r or exp."""
    functions = [part for part in expression.atoms(sp.Function) if R in part.free_symbols]
    for part in functions:
        inner = part.args[0]
        linear = inner.is_polynomial(R) and sp.degree(inner, R) == 1
        if not linear or not isinstance(part, sp.exp | sp.tanh | sp.sinh | sp.cosh):
            return None
    if not functions:
        return _fraction(expression, R, R, R)
    expression = expression.rewrite([sp.tanh, sp.sinh, sp.cosh], sp.exp)
    exponentials = [part for part in expression.atoms(sp.exp) if R in part.free_symbols]
    # A set has no order of its own, and the first one decides the form of what follows.
    exponentials.sort(key=str, reverse=True)
    exponents = [part.args[0] for part in exponentials]
    slope, shift = sp.Poly(exponents[0], R).all_coeffs()
    ratios = [sp.Poly(a, R).LC() / slope for a in exponents]
    if not all(ratio.is_Rational for ratio in ratios):
        return None
    unit = slope / math.lcm(*(int(ratio.q) for ratio in ratios))
    shift = shift * unit / slope
    inner, outer = sp.exp(unit * R + shift), (sp.log(T) - shift) / unit
    moved = expression
    for part in exponentials:
        exponent = sp.expand(part.args[0].subs(R, (R - shift) / unit))
        power = sp.Poly(exponent, R).LC()
        rest = sp.expand(exponent - power * R)
        moved = moved.subs(part, sp.exp(rest) * T**power)
    return None if R in moved.free_symbols else _fraction(moved, T, inner, outer)


def _fraction(expression: Any, variable: Any, inner: Any, outer: Any) -> Quotient | None:
    small = max(_degrees(expression, variable)) <= _MAX_RAW_DEGREE
    if not small or not expression.is_rational_function(variable):
        return None
    top, bottom = sp.fraction(sp.cancel(sp.together(expression)))
    try:
        polynomials = [sp.Poly(part, variable) for part in (top, bottom)]
    except sp.PolynomialError:
        return None
    if any(p.domain not in (sp.ZZ, sp.QQ) or p.degree() > MAX_DEGREE for p in polynomials):
        return None
    return Quotient(polynomials[0], polynomials[1], variable, inner, outer)


def _degrees(expression: Any, variable: Any) -> tuple[float, float]:
    """Bounds of the degrees of numerator and denominator, over the product of denominators."""
    if expression.is_Add:
        parts = [_degrees(part, variable) for part in expression.args]
        bottom = sum(below for _, below in parts)
        return max(above - below for above, below in parts) + bottom, bottom
    if expression.is_Mul:
        parts = [_degrees(part, variable) for part in expression.args]
        return sum(above for above, _ in parts), sum(below for _, below in parts)
    if expression.is_Pow and expression.exp.is_number:
        above, below = _degrees(expression.base, variable)
        size = math.ceil(abs(expression.exp))
        top, bottom = (below, above) if expression.exp.is_negative else (above, below)
        return top * size, bottom * size
    return float(variable in expression.free_symbols), 0.0


def roots(polynomial: Any) -> list[Any]:
    """The real roots of a polynomial with rational coefficients, each once."""
    return list(dict.fromkeys(sp.real_roots(polynomial))) if polynomial.degree() > 0 else []


# ---- solutions ---------------------------------------------------------------------------------


def solutions(function: Any, level: Any) -> list[Any]:
    """Candidates for r with function(r) = level; some may be wrong, and some missing."""
    rules = (unwrapped, _rational_solutions, _radical_solutions)
    return [found for rule in rules for found in rule(function, level)]


def unwrapped(function: Any, level: Any) -> list[Any]:
    """All r, where r occurs once, by undoing one operation after the other; or an empty list."""
    while function != R:
        if function.is_Add or function.is_Mul:
            constant, rest = function.as_independent(R, as_Add=function.is_Add)
            if rest.func == function.func:
                return []
            level = level - constant if function.is_Add else level / constant
            function = rest
        elif function.is_Pow and not function.exp.has(R):
            function, exponent = function.args
            found = unwrapped(function, level ** (1 / exponent))
            even = exponent.is_Rational and exponent.p % 2 == 0
            opposite = -level if not even else level
            return found + unwrapped(function, -(opposite ** (1 / exponent)))
        elif function.func is sp.cosh:
            (function,) = function.args
            return [r for a in (1, -1) for r in unwrapped(function, a * sp.acosh(level))]
        elif hasattr(function, "inverse"):
            level, (function,) = function.inverse()(level), function.args
        else:
            return []
    return [level]


def _rational_solutions(function: Any, level: Any) -> list[Any]:
    """For a function rational in r or in exp(r): the roots of a polynomial of degree ≤ 3."""
    quotient = quotient_of(function)
    if quotient is None:
        return []
    top, bottom, variable = quotient.numerator, quotient.denominator, quotient.variable
    polynomial = sp.Poly(top.as_expr() - level * bottom.as_expr(), variable)
    if polynomial.degree() == 3 and variable == R:
        # Without the assumption that r and w are real, which leads to case distinctions.
        free, any_level = sp.Dummy("r"), sp.Dummy("w")
        cubic = sp.Poly(polynomial.as_expr().subs({R: free, W: any_level}), free)
        return [root.subs(any_level, W) for root in sp.roots(cubic)]
    if not 1 <= polynomial.degree() <= 2:
        return []
    *leading, linear, constant = polynomial.all_coeffs()
    if not leading:
        found = [-constant / linear]
    else:
        # Both forms of each root: the denominator's leading coefficient may vanish.
        root = sp.sqrt(sp.factor(linear**2 - 4 * leading[0] * constant))
        found = [(-linear + sign * root) / (2 * leading[0]) for sign in (1, -1)]
        found += [2 * constant / (-linear + sign * root) for sign in (1, -1)]
    replaced = (sp.factor(root) if variable == T else root for root in found)
    return [quotient.outer.subs(variable, root) for root in replaced]


def _radical_solutions(function: Any, level: Any) -> list[Any]:
    """For r/√(a·r² + b): r = level·√(b/(1 − a·level²))."""
    quotient = quotient_of((R / function) ** 2)
    if quotient is None or quotient.denominator.degree() or quotient.numerator.degree() != 2:
        return []
    a, linear, b = (each / quotient.denominator.LC() for each in quotient.numerator.all_coeffs())
    return [level * sp.sqrt(sp.factor(b / (1 - a * level**2)))] if linear == 0 else []


def real_zeros(function: Any) -> list[Any]:
    """All real zeros of a function of r, exactly."""
    if R not in function.free_symbols:
        return []
    quotient = quotient_of(function)
    if quotient is not None:
        found = roots(quotient.numerator)
        if quotient.variable == R:
            return found
        return [quotient.outer.subs(T, root) for root in found if number(root) > 0]
    function = sp.factor_terms(function)
    if function.is_Mul:
        return [zero for factor in function.args for zero in real_zeros(factor)]
    if function.is_Pow and not function.exp.is_positive:
        return []
    found = unwrapped(function, sp.S.Zero)
    if not found and function.is_polynomial(R) and sp.degree(function, R) == 2:
        a, b, c = sp.Poly(function, R).all_coeffs()
        found = [(-b + sign * sp.sqrt(b**2 - 4 * a * c)) / (2 * a) for sign in (1, -1)]
    if found:
        return [zero for zero in found if sp.N(zero, 30).is_real]
    raise ExpressionError(
        f"where {function} changes sign was not found (r stands for s, s - y or y*s); expected "
        "max, min, abs, sign and where to switch at points that can be solved for"
    )


# ---- smooth pieces -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """f = ``value`` on [low, high], smooth inside.

    ``stable`` is f in a form that keeps its digits; ``inverse`` is r with f'(r) = w, and
    ``conjugate`` is f*(w), or None where a general rule must do. ``derivation`` finds them.
    """

    low: Any
    high: Any
    value: Any
    stable: Any = None
    inverse: Any = None
    conjugate: Any = None

    @cached_property
    def slope(self) -> Any:
        """f'."""
        return self.value.diff(R)

    @cached_property
    def curvature(self) -> Any:
        """f'', a number where the piece is quadratic or linear."""
        curvature = self.value.diff(R, 2)
        if not curvature.is_number and self.value.is_polynomial(R):
            curvature = sp.expand(curvature)
        return curvature

    def limit(self, expression: Any, end: Any) -> Any:
        """The limit of ``expression`` at an end of the piece, None if none was found."""
        found = exact_limit(expression, end)
        if found is None:
            far = far_limit(expression, end, 1 if end == self.low else -1)
            found = None if far is None else sp.Float(far, 100)
        return found


def pieces_of(core: Any) -> list[Piece]:
    """The smooth pieces of ``core`` from left to right, equal neighbours joined.

    It is cut where max, abs, where and their like switch.
    """
    waiting, done = [Piece(-sp.oo, sp.oo, core)], []
    while waiting:
        piece = waiting.pop()
        parts = sp.postorder_traversal(piece.value)  # the innermost first
        switches = (p for p in parts if isinstance(p, SWITCHES) and R in p.free_symbols)
        switch = next(switches, None)
        if switch is None:
            done.append(piece)
            continue
        if len(waiting) + len(done) > MAX_PIECES:
            raise ExpressionError(f"the loss has more than {MAX_PIECES} pieces; expected fewer")
        first, last = number(piece.low), number(piece.high)
        cases = switch.rewrite(sp.Piecewise)
        comparisons = cases.atoms(sp.core.relational.Relational)
        zeros = {zero for each in comparisons for zero in real_zeros(each.lhs - each.rhs)}
        points = [at for at in sorted(zeros, key=number) if first < number(at) < last]
        ends = [piece.low, *points, piece.high]
        for low, high in zip(ends[-2::-1], ends[:0:-1], strict=True):
            at = _sample(low, high)
            chosen = next(value for value, case in cases.args if case.subs(R, at) == sp.true)
            waiting.append(Piece(low, high, piece.value.subs(switch, chosen)))
    joined: list[Piece] = []
    for piece in done:
        if joined and sp.expand(joined[-1].value - piece.value) == 0:
            joined[-1] = replace(joined[-1], high=piece.high)
        else:
            joined.append(piece)
    return joined


def _sample(low: Any, high: Any) -> Any:
    """A rational number inside (low, high)."""
    if not low.is_finite:
        return sp.floor(high) - 1 if high.is_finite else sp.Rational(1, 3)
    if not high.is_finite:
        return sp.ceiling(low) + 1
    return sp.Rational(str(sp.N((low + high) / 2, 40)))
