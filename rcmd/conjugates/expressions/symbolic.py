"""Between formulas and SymPy's expressions, both ways, and the rewriting that keeps digits."""

import ast
import operator
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.expressions import intervals
from rcmd.conjugates.expressions.language import FUNCTIONS, ExpressionError, written

S = sp.Symbol("s", real=True)
Y = sp.Symbol("y", real=True)
R = sp.Symbol("r", real=True)
"""The argument of a core: a function of one number, without label and parameters."""
W = sp.Symbol("w", real=True)
"""The argument of a core's conjugate."""

_FIELD = "field_"


def field_symbols(names: Sequence[str], positive: Container[str] = ()) -> dict[str, Any]:
    """The symbols of fields, whose names no other variable of generated code has."""
    assumed = {name: True if name in positive else None for name in names}
    return {name: sp.Symbol(_FIELD + name, real=True, positive=assumed[name]) for name in names}


def name_of(symbol: Any) -> str:
    """A symbol as it is written in the formula."""
    return str(symbol.name.removeprefix(_FIELD))


def scales(expression: Any) -> set[str]:
    """The fields in arguments of logarithms that do not merely shift an exponent there."""

    def unshifted(exponent: Any) -> Any:
        parts = sp.Add.make_args(sp.expand(exponent))
        return sp.exp(sp.Add(*(part for part in parts if S in part.free_symbols)))

    inside = (part.args[0].replace(sp.exp, unshifted) for part in expression.atoms(sp.log))
    found = set().union(*(part.free_symbols for part in inside)) - {S, Y}
    return {name_of(symbol) for symbol in found}


SWITCHES = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Piecewise)


# ---- the functions of the table ----------------------------------------------------------------


class normcdf(sp.Function):  # type: ignore[misc]
    """Φ, which SymPy's erfc would write as a difference from 1 that loses all digits."""

    is_positive = True

    @classmethod
    def eval(cls, x: Any) -> Any:
        return {sp.oo: sp.S.One, -sp.oo: sp.S.Zero}.get(x)

    def _eval_evalf(self, prec: int) -> Any:
        digits = int(prec * 0.31) + 5
        with mpmath.workdps(digits):
            return sp.Float(mpmath.ncdf(number(self.args[0], digits)), digits)

    def fdiff(self, argindex: int = 1) -> Any:
        """The normal density."""
        return sp.exp(-(self.args[0] ** 2) / 2) / sp.sqrt(2 * sp.pi)


class Stable(sp.Function):  # type: ignore[misc]
    """A function that keeps its digits, and so do its derivatives."""

    def fdiff(self, argindex: int = 1) -> Any:
        return SLOPES[type(self).__name__](*self.args)


stable = SimpleNamespace(
    **{name: type(name, (Stable,), {}) for name, row in FUNCTIONS.items() if row.slope}
)
"""The stable functions of the table as SymPy's classes, by name."""


def _functions(part: str, names: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    texts = {name: (row.parameters, getattr(row, part)) for name, row in FUNCTIONS.items()}
    return {name: eval(f"lambda {at}: {text}", names) for name, (at, text) in texts.items() if text}


FORMS = _functions("form", {**vars(sp), "normcdf": normcdf})
"""The definitions of the table's functions, by name."""
SLOPES = _functions("slope", {**vars(sp), **vars(stable)})
"""The derivatives of the stable ones, in stable functions."""

# ---- from a formula ----------------------------------------------------------------------------

_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def expression_of(
    text: str,
    tree: ast.expr,
    numbers: Mapping[str, float],
    fields: Mapping[str, Any] | None = None,
) -> Any:
    """The SymPy expression of a parsed text; numbers are the decimals they are written as."""
    values = {"s": S, "y": Y, "pi": sp.pi, **(fields or {})}
    values |= {name: sp.Rational(repr(float(value))) for name, value in numbers.items()}

    def convert(node: Any) -> Any:
        return _rewritten(converted(node))

    def converted(node: Any) -> Any:
        match node:
            case ast.Constant():
                return sp.Rational(written(text, node))
            case ast.Name(name):
                return values[name]
            case ast.UnaryOp(operation, operand):
                return _OPERATIONS[type(operation)](convert(operand))
            case ast.BinOp(left, operation, right):
                return _OPERATIONS[type(operation)](convert(left), convert(right))
            case ast.Compare():
                return sp.Piecewise((1, condition(node)), (0, True))
            case ast.Call(ast.Name("where"), [compared, *cases]):
                return FORMS["where"](condition(compared), *map(convert, cases))
        return FORMS[node.func.id](*map(convert, node.args))

    def condition(node: Any) -> Any:
        parts = [convert(part) for part in (node.left, *node.comparators)]
        # Differences, so that s < y is seen to depend on s − y alone.
        signs = (_OPERATIONS[type(sign)] for sign in node.ops)
        pairs = zip(signs, pairwise(parts), strict=True)
        return sp.And(*(sign(sp.expand(left - right), 0) for sign, (left, right) in pairs))

    expression = convert(tree)
    if expression.has(sp.I, sp.zoo, sp.nan, sp.oo):
        raise ExpressionError(
            f"the expression is {expression} for every s; expected a finite real number"
        )
    return expression


def _rewritten(whole: Any) -> Any:
    """An equal expression whose digits do not cancel: 1 − Φ(x), 1 − expit x, and logarithms."""
    if isinstance(whole, sp.log):
        return _opened(_rewritten(whole.args[0]))
    constant, rest = whole.as_coeff_Add()
    factor, part = rest.as_coeff_Mul()
    if isinstance(part, normcdf) and constant == -factor:
        return constant * normcdf(-part.args[0])
    x = _logit(part)
    return constant / (1 + sp.exp(x)) if x is not None and constant == -factor else whole


def _opened(argument: Any) -> Any:
    """The logarithm of expit x, of exp x − 1 and of expit x − expit z, without what cancels."""
    x = _logit(argument)
    if x is not None:
        return -sp.log(1 + sp.exp(-x))
    constant, rest = argument.as_coeff_Add()
    if constant == -1 and isinstance(rest, sp.exp) and rest.args[0].is_positive:
        return rest.args[0] + sp.log(1 - sp.exp(-rest.args[0]))
    parts = [part.as_coeff_Mul() for part in sp.Add.make_args(argument)]
    logits = [(_logit(part), factor) for factor, part in sorted(parts, key=lambda each: -each[0])]
    match logits:
        case [[x, k], [z, m]] if x is not None and z is not None and k == -m:
            gap = sp.log(1 - sp.exp(sp.expand(z - x)))
            return sp.log(k) + gap - sp.log(1 + sp.exp(-x)) - sp.log(1 + sp.exp(z))
    return sp.log(argument)


def _logit(part: Any) -> Any:
    """The x of expit x = 1/(1 + exp(−x)), or None."""
    if isinstance(part, sp.Pow) and part.exp == -1 and isinstance(part.base - 1, sp.exp):
        return -(part.base - 1).args[0]
    return None


def text_of(expression: Any) -> str:
    """A SymPy expression as a formula, still to be parsed."""
    if expression.has(sp.Piecewise):
        expression = expression.replace(sp.Piecewise, _where)
    for kind, name in ((sp.Abs, "abs"), (sp.Max, "max"), (sp.Min, "min")):
        expression = expression.replace(kind, sp.Function(name))
    return str(sp.sstr(expression.xreplace({sp.E: sp.Symbol("exp(1)")}), full_prec=True))


def _where(*cases: Any) -> Any:
    (value, condition), *rest = cases
    if condition == sp.true:
        return value
    if not rest:
        raise ExpressionError(
            f"{sp.Piecewise(*cases)} is undefined for some s; expected a case with True last"
        )
    return sp.Function("where")(condition, value, _where(*rest))


# ---- numbers -----------------------------------------------------------------------------------


def number(expression: Any, digits: int = 40) -> Any:
    """A constant, or ±∞, as a high-precision number."""
    if expression in (sp.oo, -sp.oo):
        return mpmath.inf if expression == sp.oo else -mpmath.inf
    with mpmath.workdps(digits):
        return mpmath.mpmathify(sp.N(expression, digits))


# Beyond this, an exponential costs mpmath minutes for no information.
_HUGE = mpmath.mpf(10) ** 300


def _exp(x: Any) -> Any:
    if abs(x) < _HUGE:
        return mpmath.exp(x)
    if mpmath.re(x) < 0:
        return mpmath.mpf(0)
    raise OverflowError


def _expm1(x: Any) -> Any:
    if abs(x) > 1:
        return _exp(x) - 1
    return mpmath.expm1(x) if abs(x) > mpmath.eps else x


def _log_1p(x: Any) -> Any:
    return mpmath.log(1 + x) if abs(x) > mpmath.mpf(10) ** -9 else mpmath.log1p(x)


_BOUNDED = {
    "exp": _exp,
    "cosh": lambda x: mpmath.cosh(x) if abs(x) < _HUGE else _exp(abs(x)),
    "sinh": lambda x: mpmath.sinh(x) if abs(x) < _HUGE else _exp(abs(x)),
    "tanh": lambda x: mpmath.tanh(x) if abs(x) < _HUGE else mpmath.sign(x),
    "normcdf": mpmath.ncdf,
    "expm1": _expm1,
    "log1p": _log_1p,
}


def in_many_digits(arguments: Any, expression: Any) -> Any:
    """``expression`` as a function that works in mpmath's current precision."""
    expression = expression.replace(_is_power_gap, _power_gap).replace(sp.log, _log1p)
    return sp.lambdify(arguments, expression, [_BOUNDED, "mpmath"], cse=True)


def _is_power_gap(part: Any) -> bool:
    constant, rest = part.as_coeff_Add() if part.is_Add else (0, part)
    return constant != 0 and _exponent(-rest / constant) is not None


def _exponent(power: Any) -> Any:
    """The x of exp x, also where it is a power of 1 + exp z; or None."""
    if isinstance(power, sp.exp):
        return power.args[0]
    if power.is_Pow and isinstance(power.base - 1, sp.exp):
        return power.exp * sp.log(power.base)
    return None


def _power_gap(part: Any) -> Any:
    """c − c·exp(x) = −c·expm1(x), where no number of digits would be enough."""
    constant, rest = part.as_coeff_Add()
    return -constant * sp.Function("expm1")(_exponent(-rest / constant))


def _log1p(x: Any) -> Any:
    """The logarithm of 1 + u with all digits of u."""
    return sp.Function("log1p")(x - 1) if x.is_Add and x.as_coeff_Add()[0] == 1 else sp.log(x)


# ---- texts for interval arithmetic -------------------------------------------------------------


def interval_text(expression: Any) -> str:
    """``expression`` as ``intervals`` reads it: exact numbers, common parts once, a line each."""
    lines, (result,) = interval_texts([expression])
    return "\n".join([*lines, result])


def interval_texts(expressions: list[Any]) -> tuple[list[str], list[str]]:
    """The lines that name what several expressions have in common, and each of them."""
    shared, results = sp.cse(expressions, symbols=sp.numbered_symbols("part"))
    return [f"{name} = {_interval(part)}" for name, part in shared], [*map(_interval, results)]


def _interval(e: Any) -> str:
    if e.is_Symbol or e.is_Integer or e is sp.pi:
        return f"({e})"
    if e in (sp.oo, -sp.oo):
        return "inf" if e == sp.oo else "(-inf)"
    if isinstance(e, sp.CRootOf):
        return f"({_interval(e.eval_rational(sp.Rational(1, 10**30)))} + root)"
    if e.is_Rational:
        return f"iv({e.p}, {e.q})"
    if e.is_Add or e.is_Mul:
        return f"({(' + ' if e.is_Add else ' * ').join(map(_interval, e.args))})"
    if e.is_Pow:
        base, (p, q) = _interval(e.base), e.exp.as_numer_denom()
        if not e.exp.is_Rational:
            return f"exp(log({base}) * {_interval(e.exp)})"
        if q <= 2:
            return f"{base if q == 1 else f'sqrt({base})'} ** ({p})"
        return f"power({base}, {abs(p)}, {q}) ** ({sp.sign(p)})"
    name = "exp" if e is sp.E else e.func.__name__
    if name in intervals.NAMES:
        return f"{name}({_interval(e.args[0]) if e.args else 1})"
    return _interval(FORMS[name](*e.args)) if isinstance(e, Stable) else "unknown"


# ---- forms that keep their digits --------------------------------------------------------------


def stabilised(expression: Any) -> Any:
    """An equal expression in stable functions, from the innermost part outwards."""
    if not expression.args or expression.is_number:
        return expression
    parts = [stabilised(part) for part in expression.args]
    if isinstance(expression, sp.log):
        return _log(parts[0], expression.args[0])
    if isinstance(expression, sp.tanh):
        return stable.tanh(parts[0])
    if isinstance(expression, sp.Pow) and expression.exp == -1:
        return _reciprocal(expression.base, parts[0])
    result = expression.func(*parts)
    if isinstance(result, sp.Add):
        return _sum(result)
    return _product(result) if isinstance(result, sp.Mul) else result


def _log(argument: Any, original: Any) -> Any:
    factor, rest = original.as_coeff_Mul()
    if isinstance(rest, sp.cosh) and factor.is_positive:
        return sp.log(factor) + stable.logcosh(stabilised(rest.args[0]))
    if isinstance(argument, stable.softplus):
        return stable.log_softplus(argument.args[0])
    if isinstance(rest, normcdf) and factor.is_positive:
        return sp.log(factor) + stable.log_normcdf(stabilised(rest.args[0]))
    if _is_power_gap(original) and original.as_coeff_Add()[0].is_positive:
        factor, power = original.as_coeff_Add()
        size = sp.factor_terms(sp.expand(-_exponent(-power / factor)))
        constant, moving = size.as_independent(S, R, W, as_Add=False)
        if moving.is_positive and not constant.is_negative:  # of fields: where it is positive
            logs = (sp.log(part) for part in (constant, *sp.Mul.make_args(moving)))
            return sp.log(factor) + stable.cloglog(sp.Add(*map(stabilised, logs)))
    terms = _exponential_terms(original)
    if terms is not None:
        return _log_sum_exp(terms)
    constant, rest = argument.as_coeff_Add()
    if constant.is_positive and rest != 0:
        return sp.log(constant) + stable.log1p(rest / constant)
    return sp.log(argument)


def _exponential_terms(total: Any) -> list[tuple[Any, Any]] | None:
    """(k, a) with ``total`` = Σ k·exp(a), all k > 0, at least one a not a number."""
    terms = []
    wide = total.rewrite([sp.cosh, sp.sinh], sp.exp)
    for part in sp.Add.make_args(sp.expand(wide, power_exp=False)):
        powers = [each for each in sp.Mul.make_args(part) if isinstance(each, sp.exp)]
        factor = sp.Mul(*(each for each in sp.Mul.make_args(part) if each not in powers))
        if not factor.is_positive or factor.free_symbols & {S, R, W}:
            return None
        terms.append((factor, sp.Add(*(each.args[0] for each in powers))))
    return terms if len(terms) > 1 and any(not a.is_number for _, a in terms) else None


def _log_sum_exp(terms: list[tuple[Any, Any]]) -> Any:
    """The logarithm of Σ k·exp(a), numbers first so that log(1 + exp x) is softplus(x)."""
    (factor, first), *rest = sorted(terms, key=lambda term: not term[1].is_number)
    shifted = sp.log(factor) + stabilised(first)
    if not rest:
        return shifted
    return shifted + stable.softplus(sp.expand(_log_sum_exp(rest) - shifted))


def _reciprocal(original: Any, base: Any) -> Any:
    """1/(k + m·exp x) = expit(log(k/m) − x)/k."""
    terms = _exponential_terms(original)
    if terms is None or len(terms) != 2:
        return 1 / base
    (k, a), (m, b) = sorted(terms, key=lambda term: not term[1].is_number)
    return stable.expit(sp.expand(a - b + sp.log(k / m))) * sp.exp(-a) / k


def _product(product: Any) -> Any:
    """exp(x)·expit(−x) = expit(x)."""
    for part in product.atoms(stable.expit):
        other = sp.exp(-part.args[0])
        if part in product.args and other in product.args:
            return product / part / other * stable.expit(-part.args[0])
    return product


def merged(expression: Any) -> Any:
    """Exponentials of exponentials multiplied as one: of two, one may vanish, one overflow."""
    return expression.replace(_is_nested, lambda part: sp.powsimp(part, combine="exp"))


def _is_nested(part: Any) -> bool:
    powers = [each for each in part.args if isinstance(each, sp.exp)] if part.is_Mul else []
    return len(powers) > 1 and any(each.args[0].has(sp.exp) for each in powers)


def _sum(total: Any) -> Any:
    """Differences that cancel: x − log(1 + x), √(c + x) − √c, exp(x) − 1."""
    for part in total.args:
        factor, rest = part.as_coeff_Mul()
        if isinstance(rest, stable.log1p) and -factor * rest.args[0] in total.args:
            x = rest.args[0]
            return _sum(total - part + factor * x) - factor * stable.log1p_gap(x)
        if isinstance(rest, sp.Pow) and rest.exp == sp.Rational(1, 2):
            c, x = rest.base.as_coeff_Add()
            if c.is_positive and -factor * sp.sqrt(c) in total.args:
                return _sum(total - part + factor * sp.sqrt(c)) + factor * stable.sqrt_gap(x, c)
        if isinstance(rest, sp.exp) and -factor in total.args:
            return _sum(total - part + factor) + factor * stable.expm1(rest.args[0])
    return total
