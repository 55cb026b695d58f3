"""The state of a run as plain values, for checkpoints."""

from numbers import Number
from typing import Any, ClassVar

import numpy as np


class Stateful:
    """An object whose attributes named in ``changing`` change in a run.

    Values may be numbers, text, arrays, atoms, lists and dictionaries of them, generators, and
    objects that are ``Stateful`` themselves.

    Examples
    --------
    >>> class Counter(Stateful):
    ...     changing = ("count",)
    ...     count = 0
    >>> first, second = Counter(), Counter()
    >>> first.count = 3
    >>> second.load_state(first.state())
    >>> second.count
    3
    """

    changing: ClassVar[tuple[str, ...]] = ()
    """The names of these attributes; a resumed run rebuilds the others."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {name: plain(getattr(self, name)) for name in self.changing}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue exactly as the object that gave ``state`` would have."""
        for name in self.changing:
            load_attribute(self, name, state[name])


def plain(value: Any) -> Any:
    """The state of an object that has one, also within lists and dictionaries; else the value."""
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if hasattr(value, "load_state"):
        return value.state()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def load_attribute(owner: Any, name: str, saved: Any, *, in_place: bool = True) -> None:
    """Load a saved value; with ``in_place``, into the array that is there."""
    held: Any = getattr(owner, name, None)
    loaded = _loaded(held, saved, name)
    if in_place and isinstance(held, np.ndarray):
        held[...] = loaded
    else:
        setattr(owner, name, loaded)


def _loaded(held: Any, saved: Any, name: str) -> Any:
    """The inverse of ``plain``; objects with a state are those that are held already.

    Numbers and arrays must be of the kind, and arrays of the shape, that a new run has there: a
    file may hold anything, and compiled code looks at nothing.
    """
    if isinstance(held, np.ndarray):
        _check_like(held, saved, name)
    kind: Any = next((k for k in (bool, Number, str) if isinstance(held, k)), object)
    if not isinstance(saved, kind):
        raise ValueError(f"{name} is {saved!r}; expected a {kind.__name__}")
    if isinstance(held, np.random.Generator):
        held.bit_generator.state = saved
        return held
    if hasattr(held, "load_state"):
        held.load_state(saved)
        return held
    if isinstance(held, dict) and isinstance(saved, dict):
        return {key: _loaded(held.get(key), item, name) for key, item in saved.items()}
    both = isinstance(held, tuple | list) and isinstance(saved, tuple | list)
    if both and (len(held) == len(saved) or any(hasattr(one, "load_state") for one in held)):
        pairs = zip(held, saved, strict=True)
        return type(saved)(_loaded(one, item, name) for one, item in pairs)
    return saved


def _check_like(held: Any, saved: Any, name: str) -> None:
    kind = getattr(saved, "dtype", None), np.shape(saved)
    if kind != (held.dtype, held.shape):
        raise ValueError(f"{name} is of {kind}; expected {held.dtype, held.shape}")
    if held.dtype.kind == "f" and np.isfinite(held).all() and not np.isfinite(saved).all():
        raise ValueError(f"{name} holds numbers that are not finite")
