"""What the dual method's steps cost: a batch of gradients and one oracle call each."""

from __future__ import annotations

from rcmd.engine.sampling import Sampler


class EvenCosts:
    """The counts of an engine with ``iteration`` steps done and a ``sampler``."""

    iteration: int
    sampler: Sampler

    @property
    def gradients(self) -> int:
        """Rows touched so far."""
        return self.iteration * self.sampler.batch

    @property
    def oracle_calls(self) -> int:
        """Linear minimizations so far, one a step."""
        return self.iteration

    @property
    def step_gradients(self) -> int:
        """Rows that a step touches."""
        return self.sampler.batch
