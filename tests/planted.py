"""Bugs planted into losses, oracles and proxes, which a check has to find."""

from typing import Any


def planted(kind: type[Any], *arguments: Any, **methods: Any) -> Any:
    """An object of the class ``kind``, but for some wrong methods."""
    return type(f"Wrong{kind.__name__}", (kind,), methods)(*arguments)
