"""Formulas that lose digits, replaced by functions that keep them.

The functions here differentiate into each other, so that a derivative of a stable form is
stable too: softplus' = expit, expit' = expit(x)·expit(−x), logcosh' = tanh, and so on.
"""

from __future__ import annotations

from typing import Any

import sympy as sp


class Stable(sp.Function):  # type: ignore[misc]
    """A function that generated code takes from ``rcmd.expressions.stable`` or ``math``."""


class expit(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return expit(self.args[0]) * expit(-self.args[0])


class softplus(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return expit(self.args[0])


class sech2(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return -2 * sech2(self.args[0]) * tanh(self.args[0])


class tanh(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return sech2(self.args[0])


class logcosh(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return tanh(self.args[0])


class cosh_entropy(Stable):  # noqa: D101
    pass


class negative_entropy(Stable):  # noqa: D101
    pass


class log1p(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return 1 / (1 + self.args[0])


class expm1(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return sp.exp(self.args[0])


class log1p_gap(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return self.args[0] / (1 + self.args[0])


class sqrt_gap(Stable):  # noqa: D101
    def fdiff(self, argindex: int = 1) -> Any:
        return 1 / (2 * sp.sqrt(self.args[1] + self.args[0]))


def stabilised(expression: Any) -> Any:
    """An equal expression in stable functions, from the innermost part outwards."""
    if not expression.args or expression.is_number:
        return expression
    parts = [stabilised(part) for part in expression.args]
    if isinstance(expression, sp.log):
        return _log(parts[0], expression.args[0])
    if isinstance(expression, sp.tanh):
        return tanh(parts[0])
    if isinstance(expression, sp.Pow) and expression.exp == -1:
        return _reciprocal(expression.base, parts[0])
    result = expression.func(*parts)
    if isinstance(result, sp.Add):
        return _sum(result)
    return _product(result) if isinstance(result, sp.Mul) else result


def _log(argument: Any, original: Any) -> Any:
    number, rest = original.as_coeff_Mul()
    if isinstance(rest, sp.cosh) and number.is_positive:
        return sp.log(number) + logcosh(stabilised(rest.args[0]))
    terms = _exponential_terms(original)
    if terms is not None:
        return _log_sum_exp(terms)
    constant, rest = argument.as_coeff_Add()
    if constant.is_positive and rest != 0:
        return sp.log(constant) + log1p(rest / constant)
    return sp.log(argument)


def _exponential_terms(total: Any) -> list[tuple[Any, Any]] | None:
    """(k, a) with ``total`` = Σ k·exp(a), all k > 0, at least one a not a number."""
    terms = []
    wide = total.replace(
        lambda part: isinstance(part, sp.cosh | sp.sinh), lambda part: part.rewrite(sp.exp)
    )
    for part in sp.Add.make_args(sp.expand(wide, power_exp=False)):
        factor, rest = part.as_coeff_Mul()
        factors = [] if rest == 1 else sp.Mul.make_args(rest)
        if not all(isinstance(each, sp.exp) for each in factors) or not factor.is_positive:
            return None
        terms.append((factor, sp.Add(*(each.args[0] for each in factors))))
    return terms if len(terms) > 1 and any(not a.is_number for _, a in terms) else None


def _log_sum_exp(terms: list[tuple[Any, Any]]) -> Any:
    """The logarithm of Σ k·exp(a), numbers first so that log(1 + exp x) is softplus(x)."""
    terms = sorted(terms, key=lambda term: not term[1].is_number)
    (factor, first), *rest = terms
    shifted = sp.log(factor) + stabilised(first)
    if not rest:
        return shifted
    return shifted + softplus(sp.expand(_log_sum_exp(rest) - shifted))


def _reciprocal(original: Any, base: Any) -> Any:
    """1/(k + m·exp x) = expit(log(k/m) − x)/k."""
    terms = _exponential_terms(original)
    if terms is None or len(terms) != 2:
        return 1 / base
    (k, a), (m, b) = sorted(terms, key=lambda term: not term[1].is_number)
    return expit(sp.expand(a - b + sp.log(k / m))) * sp.exp(-a) / k


def _product(product: Any) -> Any:
    """exp(x)·expit(−x) = expit(x)."""
    for part in product.atoms(expit):
        other = sp.exp(-part.args[0])
        if part in product.args and other in product.args:
            return product / part / other * expit(-part.args[0])
    return product


def _sum(total: Any) -> Any:
    """Differences that cancel: x − log(1 + x), √(c + x) − √c, exp(x) − 1."""
    for part in total.args:
        factor, rest = part.as_coeff_Mul()
        if isinstance(rest, log1p) and -factor * rest.args[0] in total.args:
            x = rest.args[0]
            return _sum(total - part + factor * x) - factor * log1p_gap(x)
        if isinstance(rest, sp.Pow) and rest.exp == sp.Rational(1, 2):
            c, x = rest.base.as_coeff_Add()
            if c.is_positive and -factor * sp.sqrt(c) in total.args:
                return _sum(total - part + factor * sp.sqrt(c)) + factor * sqrt_gap(x, c)
        if isinstance(rest, sp.exp) and -factor in total.args:
            return _sum(total - part + factor) + factor * expm1(rest.args[0])
    return total
