"""What is rcmd's own, as it was written, and what is not: that is checked before it is trusted."""

from __future__ import annotations

import sys
from functools import cached_property
from operator import is_
from typing import Any

import numpy as np

from rcmd.rows.validation import of_rcmd, unwrapped

GROUNDS = ("proved", "sampled", "unchecked")
"""What a certificate can rest on, the best first."""

DATA = frozenset({float, int, bool, str, type(None), np.ndarray, np.float64})
"""Types of fields that hold no methods, looked at no further."""


def foreign(part: Any) -> list[Any]:
    """What is not rcmd's own: ``part``, or objects and functions that it holds in its fields.

    Examples
    --------
    >>> from rcmd import L1Ball, Product
    >>> class Mine(L1Ball): pass
    >>> foreign(Product((L1Ball(1.0), Mine(2.0)), (1, 1)))
    [Mine(radius=2.0)]
    """
    kind = type(part)
    if kind in DATA:
        return []
    if isinstance(part, tuple | list):
        return [found for item in part for found in foreign(item)]
    if not is_own(part) or callable(part):
        ours = any(base.__module__.partition(".")[0] == "rcmd" for base in kind.__mro__)
        return [part] if ours or (callable(part) and kind is not type) else []
    fields = getattr(kind, "__dataclass_fields__", None)
    names = [name for name in vars(part) if name[0] != "_" and (fields is None or name in fields)]
    return foreign([vars(part)[name] for name in names])


def is_own(part: Any) -> bool:
    """Whether a module of rcmd has the class under its name, and it is ``unaltered``.

    So subclasses and generated classes are not.
    """
    kind = type(part)
    return kind.__module__.partition(".")[0] == "rcmd" and _in_module(kind) and unaltered(part)


def unaltered(part: Any) -> bool:
    """Whether all methods are rcmd's: none was put into the class or the object later.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> ball = L1Ball(1.0)
    >>> object.__setattr__(ball, "minimum", lambda c: 0.0)
    >>> unaltered(L1Ball(1.0)), unaltered(ball)
    (True, False)
    """
    members, ours = _of_class(type(part))
    return ours and not _patched(part, members)


def patched(part: Any) -> bool:
    """Whether the object has methods that its class does not have."""
    return _patched(part, _of_class(type(part))[0])


def _patched(part: Any, members: dict[str, Any]) -> bool:
    fields = getattr(part, "__dataclass_fields__", None)
    return any(
        name[0] != "_"
        and (callable(value) if fields is None else name not in fields)
        and not isinstance(members[name], cached_property)
        for name, value in getattr(part, "__dict__", {}).items()
        if name in members
    )


def _in_module(kind: Any) -> bool:
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def _of_class(kind: Any) -> tuple[dict[str, Any], bool]:
    """The members of a class, inherited ones included, and whether all its methods are rcmd's.

    Those of a class in a module are remembered until one of its members is another.
    """
    order, held, found = _CLASSES.get(kind, (None, (), None))
    if order is kind.__mro__ and all(map(_same, map(vars, order), held)):
        return found
    members = {name: a for base in kind.__mro__[::-1] for name, a in vars(base).items()}
    methods = (unwrapped(a) for name, a in members.items() if name[:2] != "__")
    found = members, all(map(of_rcmd, methods))
    if _in_module(kind):
        _CLASSES[kind] = kind.__mro__, [dict(vars(base)) for base in kind.__mro__], found
    return found


_CLASSES: dict[Any, Any] = {}
"""Of a class its ancestors, their members, and what was found."""


def _same(now: Any, before: Any) -> bool:
    """Whether two mappings hold the very same objects under the same names, in the same order."""
    named = len(now) == len(before) and all(map(is_, now, before))
    return named and all(map(is_, now.values(), before.values()))


def names(parts: list[Any]) -> str:
    """What ``foreign`` found, in words."""
    each = (getattr(part, "__name__", type(part).__name__) for part in parts)
    return " and ".join(dict.fromkeys(each))
