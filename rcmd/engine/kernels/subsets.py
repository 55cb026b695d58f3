"""The sampler's loop, compiled."""

from __future__ import annotations

from typing import Any

from rcmd.compiling.caching import kernel
from rcmd.compiling.records import jittable
from rcmd.engine.sampling import fill_with_subsets


def _make_fill(stamp: str) -> Any:
    fill = jittable(fill_with_subsets)

    def fill_compiled(uniforms, taken, batches):
        """``rcmd.engine.sampling.fill_with_subsets``."""
        stamp
        fill(uniforms, taken, batches)

    return fill_compiled


fill_compiled = kernel(_make_fill)
