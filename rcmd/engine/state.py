"""The state of a run as plain values, for checkpoints."""

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
    if in_place and isinstance(held, np.ndarray):
        if held.shape != np.shape(saved):
            raise ValueError(f"{name} has shape {np.shape(saved)}; expected {held.shape}")
        held[...] = saved
    else:
        setattr(owner, name, _loaded(held, saved))


def _loaded(held: Any, saved: Any) -> Any:
    """The inverse of ``plain``; objects with a state are those that are held already."""
    if isinstance(held, np.random.Generator):
        held.bit_generator.state = saved
        return held
    if hasattr(held, "load_state"):
        held.load_state(saved)
        return held
    if isinstance(held, dict) and isinstance(saved, dict):
        return {key: _loaded(held.get(key), item) for key, item in saved.items()}
    both = isinstance(held, tuple | list) and isinstance(saved, tuple | list)
    if both and len(held) == len(saved):
        return type(saved)(_loaded(one, item) for one, item in zip(held, saved, strict=True))
    return saved
