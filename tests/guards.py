"""What is said of all must be said of some: in tests, nothing is checked over nothing."""

import builtins
from collections.abc import Iterable
from typing import Any


def some(values: Iterable[Any]) -> list[Any]:
    """The values as a list, of which there is one at least."""
    found = list(values)
    assert found, "there is nothing to check here"
    return found


def all_of_some(values: Iterable[Any]) -> bool:
    """``all``, which conftest makes the one of every test file: none of nothing holds."""
    return builtins.all(some(values))
