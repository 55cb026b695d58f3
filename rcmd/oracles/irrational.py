"""Oracles that leave the fractions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rcmd.oracles.base import Array, LinearMinOracle

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class Irrational(LinearMinOracle):
    """An oracle of roots, powers or exponentials, which exact runs cannot follow."""

    def bind(
        self, rows: Rows, losses: SampleLosses, offset: Array | None = None
    ) -> LinearMinOracle:
        if rows.exact:
            raise ValueError(
                f"{type(self).__name__} needs irrational numbers while X holds fractions; expected "
                "an oracle of rational functions, such as L1Ball, or floats: X.astype(float)"
            )
        return self
