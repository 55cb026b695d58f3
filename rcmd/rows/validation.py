"""Input is checked once, where it enters; faults are sentences."""

import dataclasses
import inspect
import math
import sys
import warnings
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DISTRIBUTION = "rcmd-opt"
"""The name of this package for pip: on the package index, rcmd is another one."""

LONGEST = 300
"""Characters of an error that are told in another one."""


class Late:
    """A package that is imported when it is first used, and not to be fingerprinted."""

    def __init__(self, name: str) -> None:
        self._name = self.fingerprint = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            package = import_module(self._name)
        except ImportError:
            raise ImportError(
                f"this needs the package {self._name}, which is not installed; expected it to be: "
                f"pip install {self._name}"
            ) from None
        return getattr(package, attribute)


cp = Late("cvxpy")
"""CVXPY, which takes a second to import and is needed for ground truth alone."""

sp: Any = Late("scipy.sparse")
"""SciPy's sparse matrices, which take as long to import as all of rcmd; dense data need none."""


def is_sparse(value: Any) -> bool:
    """Whether this is a sparse matrix or array, which nobody has before they were imported."""
    return "scipy.sparse" in sys.modules and bool(sp.issparse(value))


class FileError(ValueError):
    """A file that cannot be used: absent, damaged, forged, or not of the kind that is expected.

    All that reads files raises it (data sets, folders of rows, results, checkpoints); its message
    says which file, what is wrong with it and what to do.
    """


def pip_install(extra: str) -> str:
    """The command that installs what an optional part needs.

    >>> print(pip_install("plot"))
    pip install 'rcmd-opt[plot]'
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def visible(text: object) -> str:
    r"""``text`` with control characters escaped: what a file holds must not rule a terminal.

    >>> print(visible("red: \x1b[31m"))
    red: \x1b[31m
    """
    return "".join(c if c.isprintable() or c in "\n\xa0" else ascii(c)[1:-1] for c in str(text))


def one_line(fault: object) -> str:
    """What an error says, in one line of a length that can be read."""
    text = visible(" ".join(str(fault).split()))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def checked_numbers(
    name: str,
    array: Array,
    *,
    csr: Any = None,
    remedy: str = "drop or impute the missing values first",
) -> Array:
    """``array`` if it holds finite real numbers (or fractions), else a ``ValueError``.

    Integers among objects become fractions: a quotient of two Python integers is a float. With
    ``csr``, they are the stored entries of that matrix, and errors name row and column.
    """
    if array.ndim == 0:
        number = array.item()
        size: Any = abs(number) if isinstance(number, Real) else math.inf
        if not size < math.inf:
            raise ValueError(f"{name} is {number!r}; expected a finite number")
    variable = name.partition(" of ")[0]  # its name in the caller's code
    if array.dtype == object:
        if _all(Fraction, array):
            return array
        if _all(Rational, array):
            exact = [Fraction(int(e.numerator), int(e.denominator)) for e in array.flat]
            return np.array(exact, dtype=object).reshape(array.shape)
        odd = next(entry for entry in array.flat if not isinstance(entry, Rational))
        raise ValueError(
            f"{name} has dtype object and holds {odd!r} of type {type(odd).__name__}; expected "
            f"real numbers (or fractions.Fraction throughout, for exact runs): convert it with "
            f"{variable}.astype(float)"
        )
    if array.dtype.kind not in "biuf":
        way = "real" if array.dtype.kind == "c" else "astype(float)"
        raise ValueError(
            f"{name} has dtype {array.dtype}; expected real numbers: {variable}.{way} makes "
            "them, where they are"
        )
    # Minimum and maximum show NaN and infinity alike, without a mask as long as the data.
    if array.dtype.kind == "f" and array.size and not np.isfinite([array.min(), array.max()]).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name} holds {array[where]} at position {_place(where, csr)}; expected finite "
            f"numbers: {remedy}"
        )
    return array


def _all(kind: type, array: Array) -> bool:
    return all(isinstance(entry, kind) for entry in array.flat)


def _place(where: tuple[Any, ...], csr: Any) -> tuple[int, ...]:
    """The position in plain numbers: that of a stored entry is its row and column."""
    if csr is not None:
        row = np.searchsorted(csr.indptr, where[0], side="right") - 1
        where = row, csr.indices[where[0]]
    return tuple(int(i) for i in where)


def as_doubles(name: str, array: Array, *, csr: Any = None) -> Array:
    """A copy in double precision; longer numbers beyond its range are refused."""
    with np.errstate(over="ignore"):
        doubles = array.astype(float)
    if array.dtype.itemsize > 8 and not np.isfinite(doubles).all():
        where = tuple(np.argwhere(np.isinf(doubles))[0])
        raise ValueError(
            f"{name} holds {array[where]!s} at position {_place(where, csr)}, beyond the range of "
            f"double precision; expected numbers below 1.8e308: divide {name} by a power of ten"
        )
    return doubles


def positive(name: str, value: Any, owner: str, *, bounded: bool = True) -> None:
    """Refuse a parameter that is not a positive finite number.

    ``bounded`` says that it bounds dom R, which is then the reason given for finiteness.
    """
    if type(value) is float and 0 < value < math.inf:
        return
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} of {owner} is {value!r}; expected a positive number")
    if math.isnan(value) or value <= 0 or (math.isinf(value) and not bounded):
        finite = "" if bounded else " finite"
        raise ValueError(f"{name} of {owner} is {value!r}; expected a positive{finite} number")
    if math.isinf(value):
        raise ValueError(
            f"{name} of {owner} is infinite, so dom R would be unbounded; expected a finite "
            "number (Assumption 1.1 needs a bounded domain)"
        )


def as_array(name: str, values: Any) -> Array:
    """``values`` as an array; ragged and masked ones are refused."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array with missing entries; expected every number to be there: "
            "drop or impute them first"
        )
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} cannot be read as an array; expected numbers in rows of equal length"
        ) from error


def positive_counts(
    name: str, values: Any, owner: str, meaning: str, count: int = 1
) -> tuple[int, ...]:
    """So many positive whole numbers, or a sentence that says what they are the numbers of.

    Fractions without a denominator are among them: exact problems turn whole numbers into
    fractions.
    """
    found: list[Any] = np.atleast_1d(np.asarray(values, dtype=object)).ravel().tolist()
    whole = all(isinstance(n, Rational) and not isinstance(n, bool) for n in found)
    if not whole or len(found) != count or any(n.denominator != 1 or n < 1 for n in found):
        words = "a positive whole number" if count == 1 else f"{count} positive whole numbers"
        raise ValueError(f"{name} of {owner} is {values!r}; expected {words}, {meaning}")
    return tuple(int(n) for n in found)


def check_kind(name: str, value: Any, kind: Any, expected: str) -> None:
    """Refuse what is no object of ``kind``, above all a class instead of one of its objects."""
    if isinstance(value, kind):
        return
    if isinstance(value, type):
        raise TypeError(
            f"{name} is the class {value.__name__}; expected an object: {value.__name__}(…)"
        )
    raise TypeError(f"{name} is {value!r}; expected {expected}")


def check_seed(seed: Any, name: str = "seed") -> None:
    """Refuse what is neither a whole number ≥ 0 nor a generator."""
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if isinstance(seed, np.random.Generator) or (whole and seed >= 0):
        return
    raise (ValueError if whole else TypeError)(
        f"{name} is {seed!r}; expected a whole number ≥ 0, or a numpy.random.Generator such as "
        "numpy.random.default_rng(0)"
    )


def in_number_type(part: Any, exact: bool) -> Any:
    """A loss or oracle whose numbers are of the data's type.

    Beside floats, fractions become floats. Beside fractions, a float is refused: it would
    quietly end the exactness.
    """
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return part
    changes = {}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        try:
            numbers, ragged = np.asarray(value), False
        except ValueError:  # lists of different lengths, such as groups of variables
            numbers, ragged = np.asarray(list(_leaves(value))), True
        if dataclasses.is_dataclass(value):
            changes[field.name] = in_number_type(value, exact)
        elif exact and numbers.dtype.kind == "f":
            raise ValueError(
                f"{field.name} of {type(part).__name__} is the float {value!r} while X holds "
                "fractions; expected a fractions.Fraction"
            )
        elif ragged:
            continue  # their numbers stay as they are
        elif exact and numbers.dtype.kind in "iu":
            changes[field.name] = _each(Fraction, numbers, object)
        elif not exact and numbers.dtype == object and _all(Rational, numbers):
            changes[field.name] = _each(float, numbers, float)
    return dataclasses.replace(part, **changes) if changes else part


def _leaves(value: Any) -> Iterator[Any]:
    """What stands in nested lists, tuples and arrays."""
    if not isinstance(value, list | tuple | np.ndarray):
        yield value
        return
    for part in value:
        yield from _leaves(part)


def _each(convert: Any, numbers: Array, dtype: Any) -> Any:
    if numbers.ndim == 0:
        return convert(numbers.item())
    each = [convert(entry) for entry in numbers.ravel().tolist()]
    return np.array(each, dtype=dtype).reshape(numbers.shape)


def batch_size(batch: int | float, n: int) -> int:
    """Rows per step from a whole number of rows or a fraction of n."""
    if isinstance(batch, bool) or not isinstance(batch, Real):
        raise TypeError(f"batch is {batch!r}; expected a number of rows or a fraction of n")
    if isinstance(batch, Integral):
        if not 1 <= batch <= n:
            raise ValueError(
                f"batch is {batch}; expected between 1 and n = {n} rows, or a fraction of n as "
                "a float in (0, 1]"
            )
        return int(batch)
    if not 0 < batch <= 1:
        raise ValueError(
            f"batch is {batch}; as a float it is a fraction of n and expected in (0, 1]: use "
            "a whole number to give rows"
        )
    return max(1, round(float(batch) * n))


def warn_caller(message: str) -> None:
    """Warn, at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == "rcmd":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RuntimeWarning, stacklevel=level)


def takes(function: Any, count: int) -> bool:
    """Whether ``function`` can be called with so many arguments, as far as it says.

    >>> takes(lambda state: None, 1), takes(lambda: None, 1), takes(3, 1)
    (True, False, False)
    """
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # it does not say
        return callable(function)
    return True


def of_rcmd(member: Any) -> bool:
    """Whether a member of a class is no function, or one of rcmd's own."""
    origin = getattr(member, "__module__", None) if callable(member) else None
    return origin is None or origin.partition(".")[0] == "rcmd"


def unwrapped(member: Any) -> Any:
    """The function of a property, a static or a class method; else the member itself."""
    for name in ("fget", "func", "__func__"):
        member = getattr(member, name, member)
    return member
