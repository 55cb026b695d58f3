"""Affine CVXPY expressions as sparse maps of the variables, read from their trees.

Every linear atom is a list of ``Link``s to its arguments, from the table ``LINKS``: read forwards
they give the map of an affine expression, read backwards the weights that a sum of convex terms
gives to each term. Nothing is differentiated, and no data matrix is copied that enters as it is.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.rows.validation import Array


class Link(NamedTuple):
    """How a linear atom depends on one argument: entrywise, by picking entries, or by a matrix."""

    argument: Any
    scale: Any = None
    places: Any = None
    matrix: Any = None

    def forward(self, inner: "Affine") -> "Affine":
        """The map of the atom, of which this argument's is ``inner``."""
        if self.scale is not None:
            if inner.offset.size < np.size(self.scale):
                inner = inner.taken(np.zeros(np.size(self.scale), dtype=int))
            return inner.scaled(self.scale)
        return inner.taken(self.places) if self.matrix is None else inner.mapped(self.matrix)

    def backward(self, weights: Array) -> Array:
        """The weights of the argument's entries in a weighted sum of the atom's."""
        size = self.argument.size
        if self.scale is not None:
            weights = weights * self.scale
            return weights if weights.size == size else np.array([weights.sum()])
        if self.matrix is not None:
            return np.asarray(self.matrix.T @ weights)
        kept = self.places >= 0
        return np.bincount(self.places[kept], weights[kept], minlength=size)


class Affine(NamedTuple):
    """u = Σ_k diag(t_k) A_k x_k + b, for variables x_k and u stacked column by column.

    ``parts`` has (t_k, A_k) for the id of each variable; the matrix ``None`` is the identity.
    """

    parts: dict[int, tuple[Any, Any]]
    offset: Array

    def scaled(self, factor: Any) -> "Affine":
        parts = {k: (factor * t, A) for k, (t, A) in self.parts.items()}
        return Affine(parts, factor * self.offset)

    def taken(self, places: Array) -> "Affine":
        """The entries at these places; 0 at −1."""
        if len(places) == self.offset.size and (places == np.arange(len(places))).all():
            return self
        whole, rows = np.flatnonzero(places >= 0), places[places >= 0]
        offset = np.zeros(len(places))
        offset[whole] = self.offset[rows]
        pick = sp.csr_array(
            (np.ones(len(rows)), (whole, rows)), shape=(len(places), self.offset.size)
        )
        all_kept, parts = len(rows) == len(places), {}
        for k, (t, A) in self.parts.items():
            scale = t
            if np.ndim(t):
                scale = np.zeros(len(places))
                scale[whole] = t[rows]
            dense = isinstance(A, np.ndarray) and all_kept
            parts[k] = scale, pick if A is None else A[rows] if dense else pick @ sp.csr_array(A)
        return Affine(parts, offset)

    def mapped(self, matrix: Any) -> "Affine":
        """matrix · u."""
        parts = {}
        for k, (t, A) in self.parts.items():
            plain = A is None and not np.ndim(t)
            parts[k] = (t, matrix) if plain else (1.0, product(matrix, weighted(t, A)))
        return Affine(parts, np.asarray(matrix @ self.offset))

    def plus(self, other: "Affine") -> "Affine":
        parts = dict(self.parts)
        for k, (t, A) in other.parts.items():
            if k not in parts:
                parts[k] = t, A
            elif same(parts[k][1], A):
                parts[k] = parts[k][0] + t, parts[k][1]
            else:
                size = other.offset.size
                parts[k] = 1.0, weighted(*parts[k], size) + weighted(t, A, size)
        return Affine(parts, self.offset + other.offset)

    def selection(self) -> tuple[Array, Array, Array] | None:
        """(variables' ids, entries, factors) where every u_i is a multiple of another entry."""
        ids, entries, factors = [], [], []
        size = self.offset.size
        rows = []
        for k, (t, A) in self.parts.items():
            if A is not None and (isinstance(A, np.ndarray) and A.shape[1] > 1):
                return None
            matrix = sp.coo_array(weighted(t, A, size))
            matrix.eliminate_zeros()
            rows.append(matrix.row)
            entries.append(matrix.col)
            factors.append(matrix.data)
            ids.append(np.full(matrix.nnz, k))
        if not rows or sum(map(len, rows)) != size:
            return None
        order = np.argsort(np.concatenate(rows), kind="stable")
        if (np.concatenate(rows)[order] != np.arange(size)).any():
            return None
        found = tuple(np.concatenate(part)[order] for part in (ids, entries, factors))
        distinct = np.unique(np.stack(found[:2]), axis=1).shape[1] == size
        return found if distinct else None  # type: ignore[return-value]


def weighted(t: Any, A: Any, size: int | None = None) -> Any:
    """diag(t) A, with the identity for ``None``; A itself where t is 1."""
    if A is None:
        size = np.size(t) if size is None or np.ndim(t) else size
        return sp.diags_array(np.broadcast_to(np.asarray(t, dtype=float), size).copy()).tocsr()
    if not np.ndim(t):
        return A if t == 1 else A * t
    return sp.diags_array(t) @ A if sp.issparse(A) else t[:, None] * A


def product(left: Any, right: Any) -> Any:
    """A product of two matrices, sparse only if both are."""
    if sp.issparse(left) and not sp.issparse(right):
        return np.asarray(left @ right)
    return left @ right


def same(one: Any, other: Any) -> bool:
    """Whether two constants are the same matrix."""
    if one is other:
        return True
    if one is None or other is None or one.shape != other.shape:
        return False
    if sp.issparse(one) or sp.issparse(other):
        return sp.issparse(one) and sp.issparse(other) and (one != other).nnz == 0
    return np.array_equal(one, other)


def constant(expression: Any) -> Any:
    """The value of a constant expression, parameters included."""
    for parameter in expression.parameters():
        if parameter.value is None:
            raise ValueError(
                f"the parameter {parameter.name()} has no value; expected one before the problem "
                f"is read: {parameter.name()}.value = …"
            )
    value = expression.value
    numbers = value.data if sp.issparse(value) else np.asarray(value)
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)].flat[0]
        raise ValueError(
            f"the constant {shown(expression)} holds {wrong}; expected finite numbers: impute "
            "missing values, and leave out bounds that are infinite"
        )
    return value


def flat(value: Any) -> Array:
    """A constant's entries, column by column."""
    dense = value.toarray() if sp.issparse(value) else np.asarray(value)
    return np.asarray(dense, dtype=float).ravel(order="F")


def read(expression: Any) -> Affine:
    """The map of an affine expression."""
    if expression.is_constant():
        return Affine({}, flat(constant(expression)))
    if type(expression).__name__ == "Variable":
        return Affine({expression.id: (1.0, None)}, np.zeros(expression.size))
    found = links(expression)
    total = found[0].forward(read(found[0].argument))
    for link in found[1:]:
        total = total.plus(link.forward(read(link.argument)))
    return total


def links(expression: Any) -> list[Link]:
    """The links of a linear atom; none of any other."""
    rule = LINKS.get(type(expression).__name__)
    if rule is not None:
        return rule(expression)
    linear = getattr(expression, "is_atom_affine", lambda: False)
    return _probed(expression) if expression.args and linear() else []


def _added(expression: Any) -> list[Link]:
    """u₁ + u₂ + …, of which scalars stand for vectors of equal entries."""
    ones = np.ones(expression.size)
    return [Link(a, 1.0 if a.size == expression.size else ones) for a in expression.args]


def _entrywise(expression: Any) -> list[Link]:
    """A product or a quotient with a constant, entry by entry."""
    first, second = expression.args
    if second.is_constant():
        value = flat(constant(second))
        value = 1 / value if type(expression).__name__ == "DivExpression" else value
        varying = first
    elif first.is_constant() and type(expression).__name__ == "multiply":
        value, varying = flat(constant(first)), second
    else:
        return []
    if (value == value[0]).all() and varying.size == expression.size:
        return [Link(varying, float(value[0]))]
    return [Link(varying, np.broadcast_to(value, expression.size))]


def _matmul(expression: Any) -> list[Link]:
    """C U or U C, by vec(C U) = (I ⊗ C) vec U and vec(U C) = (Cᵀ ⊗ I) vec U."""
    first, second = expression.args
    if max(first.ndim, second.ndim) > 2 or not (first.is_constant() or second.is_constant()):
        return []
    left = first.is_constant()
    value = constant(first if left else second)
    if value.ndim == 1:
        value = value[None] if left else value[:, None]
    matrix, other = (value, second) if left else (value.T, first)
    copies = 1 if other.ndim == 1 else other.shape[1 if left else 0]
    if copies > 1:
        eye = sp.eye_array(copies)
        matrix = sp.kron(eye, matrix, "csr") if left else sp.kron(matrix, eye, "csr")
    return [Link(other, matrix=matrix)]


def _sum(expression: Any) -> list[Link]:
    axis, keep = expression.get_data()[:2]
    argument = expression.args[0]
    out = np.arange(expression.size).reshape(expression.shape, order="F")
    if axis is None:
        out = out.reshape((1,) * argument.ndim)
    elif not keep:
        out = np.expand_dims(out, axis)
    rows = np.broadcast_to(out, argument.shape).ravel(order="F")
    shape = expression.size, argument.size
    summing = sp.csr_array((np.ones(argument.size), (rows, np.arange(argument.size))), shape=shape)
    return [Link(argument, matrix=summing)]


def _picked(expression: Any) -> list[Link]:
    """An atom that rearranges entries: it says where to itself, when it is given their numbers."""
    ends = np.cumsum([1, *(argument.size for argument in expression.args)])
    numbers = [
        np.arange(start, stop).reshape(argument.shape, order="F")
        for argument, start, stop in zip(expression.args, ends, ends[1:], strict=False)
    ]
    found = expression.numeric(numbers)
    found = flat(found).astype(int)
    return [
        Link(argument, places=np.where((found >= start) & (found < stop), found - start, -1))
        for argument, start, stop in zip(expression.args, ends, ends[1:], strict=False)
    ]


def _probed(expression: Any) -> list[Link]:
    """Any other linear atom: its matrix, a column from each unit vector."""
    varying = [argument for argument in expression.args if not argument.is_constant()]
    if len(varying) != 1:
        return []
    values = [None if a is varying[0] else constant(a) for a in expression.args]

    def applied(vector: Array) -> Array:
        filled = vector.reshape(varying[0].shape, order="F")
        return flat(expression.numeric([filled if v is None else v for v in values]))

    columns = [sp.csc_array(applied(unit)[:, None]) for unit in np.eye(varying[0].size)]
    return [Link(varying[0], matrix=sp.hstack(columns, format="csr"))]


LINKS: dict[str, Callable[[Any], list[Link]]] = {
    "AddExpression": _added,
    "NegExpression": lambda expression: [Link(expression.args[0], -1.0)],
    "multiply": _entrywise,
    "DivExpression": _entrywise,
    "MulExpression": _matmul,
    "Sum": _sum,
} | dict.fromkeys(
    (
        "index", "special_index", "reshape", "transpose", "Vstack", "Hstack", "Concatenate",
        "diag_vec", "diag_mat", "upper_tri", "Promote", "broadcast_to", "squeeze", "conj",
    ),
    _picked,
)  # fmt: skip
"""The linear atoms of CVXPY, by the names of their classes."""


def shown(expression: Any, room: int = 90) -> str:
    """The expression in a line, its arrays by their shapes."""
    text = _text(expression)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _text(expression: Any) -> str:
    name, args = type(expression).__name__, getattr(expression, "args", [])
    if name == "Constant":
        if expression.size == 1:
            return f"{flat(expression.value)[0]:g}"
        return f"[{'×'.join(map(str, expression.shape))}]"
    if not args:
        return str(expression.name())
    inner = [_text(argument) for argument in args]
    if name in ("Promote", "broadcast_to"):
        return inner[0]
    if name == "index" and not args[0].args:
        return str(expression.name())
    if name == "NegExpression":
        return f"-{inner[0]}"
    if name in ("Equality", "Inequality"):
        return f" {'==' if name == 'Equality' else '<='} ".join(inner)
    joints = {"AddExpression": " + ", "MulExpression": " @ ", "DivExpression": " / "}
    if name in joints:
        text = joints[name].join(inner)
        return text if name == "MulExpression" else f"({text})"
    names = {"PnormApprox": "pnorm", "PowerApprox": "power", "Sum": "sum", "index": "index"}
    data = [getattr(d, "value", d) for d in expression.get_data() or []]
    plain = [f"{float(d):g}" for d in data if isinstance(d, Real) and not isinstance(d, bool)]
    plain = [text for text in plain if text != "1024"]  # denominators of powers
    return f"{names.get(name, name)}({', '.join([*inner, *plain])})"
