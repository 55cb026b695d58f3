"""Oracles that act on every coordinate alike, up to one common factor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Coordinatewise(ABC):
    """An oracle whose atom is scale(Σ_k mass(c_k)) · shape(c_k) in coordinate k.

    The methods are scalar code. A compiled loop that knows them walks no vector of length p:
    where few entries of c change, few of shape(c) do, and the sum follows.
    """

    @abstractmethod
    def shape(self, c: Any) -> Any:
        """The atom's coordinate, but for the common factor."""

    def mass(self, c: Any) -> Any:
        """What a coordinate adds to the sum that the factor depends on."""
        return 0.0

    def scale(self, total: Any) -> Any:
        """The common factor."""
        return 1.0
