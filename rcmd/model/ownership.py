"""What is rcmd's own, as it was written, and what is not: that is checked before it is trusted."""

from __future__ import annotations

import sys
from functools import cached_property
from operator import is_
from typing import Any, NamedTuple

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
        return [part] if _of_rcmd(kind) or (callable(part) and kind is not type) else []
    fields = getattr(kind, "__dataclass_fields__", None)
    held = [(name, a) for name, a in vars(part).items() if type(a) not in DATA and name[0] != "_"]
    return foreign([a for name, a in held if fields is None or name in fields]) if held else []


def is_own(part: Any) -> bool:
    """Whether a module of rcmd has the class under its name, and it is ``unaltered``.

    So subclasses and generated classes are not.
    """
    return _of_class(type(part)).in_rcmd and unaltered(part)


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
    found = _of_class(type(part))
    if not found.ours or patched(part, found):
        return False
    forms = getattr(part, "arrays", None)  # of a loss, by which its certificates are computed
    kind = forms if isinstance(forms, type) else type(forms)
    return forms is None or (_of_class(kind).ours and (kind is forms or not patched(forms)))


def patched(part: Any, found: _Class | None = None) -> bool:
    """Whether the object has methods that its class does not have."""
    found = _of_class(type(part)) if found is None else found
    held = getattr(part, "__dict__", {})
    if found.members.isdisjoint(held):
        return False
    plain = not hasattr(part, "__dataclass_fields__")  # which may hold numbers of its own
    return any(name in found.members and not (plain and not callable(held[name])) for name in held)


class _Class(NamedTuple):
    """A class: its ancestors, and the names and values in each, as they were looked at.

    ``members`` are the names that no object has in itself, ``ours`` says whether all methods are
    rcmd's, and ``in_rcmd`` whether a module of rcmd has the class under its name.
    """

    order: tuple[type, ...]
    names: list[tuple[str, ...]]
    values: list[tuple[Any, ...]]
    members: frozenset[str]
    ours: bool
    in_rcmd: bool


_CLASSES: dict[type, _Class] = {}


def _of_class(kind: type) -> _Class:
    """The class ``kind``; those in modules are remembered until one of their members is another."""
    known = _CLASSES.get(kind)
    if known is not None and known.order is kind.__mro__:
        for base, names, values in zip(*known[:3], strict=True):
            now = vars(base)
            if (*now,) != names or not all(map(is_, now.values(), values)):
                break
        else:
            return known
    members = {name: a for base in kind.__mro__[::-1] for name, a in vars(base).items()}
    methods = (unwrapped(a) for name, a in members.items() if name[:2] != "__")
    fields = members.get("__dataclass_fields__", ())
    in_module = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
    found = _Class(
        kind.__mro__,
        [(*vars(base),) for base in kind.__mro__],
        [(*vars(base).values(),) for base in kind.__mro__],
        frozenset(
            name
            for name, a in members.items()
            if name[0] != "_" and name not in fields and not isinstance(a, cached_property)
        ),
        all(map(of_rcmd, methods)),
        in_module and _of_rcmd(kind, 1),
    )
    if in_module:
        _CLASSES[kind] = found
    return found


def _of_rcmd(kind: type, depth: int | None = None) -> bool:
    """Whether one of the first ``depth`` of its ancestors is a class of rcmd's."""
    return any(base.__module__.partition(".")[0] == "rcmd" for base in kind.__mro__[:depth])


def names(parts: list[Any]) -> str:
    """What ``foreign`` found, in words."""
    each = (getattr(part, "__name__", type(part).__name__) for part in parts)
    return " and ".join(dict.fromkeys(each))
