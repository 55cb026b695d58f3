"""The contract of a sampler: batches of different rows, each row as likely as it says."""

import copy
import math

import numpy as np

from rcmd.engine.sampling import Sampler, drawn
from rcmd.testing.report import Cause, Faults, Inspection, Report, Skip, identity

FALSE_ALARMS = 1e-6
"""Probability at most that a uniform sampler fails."""

BIAS = 0.1
"""A row that is drawn so much too often or too seldom fails, but for the same probability."""

LARGEST = 100
"""Rows up to which that is sampled."""


def check_sampler(sampler: Sampler, n: int | None = None) -> Report:
    """Check the batches of a sampler of n rows; a ``ContractError`` lists all failures.

    It uses up what the sampler draws. Row j is in a batch of b with probability b/n, or with the
    sampler's own ``probabilities``, p_j: of m batches it is in μ = mb/n or mp_j, and by more than
    √(3μ·log(2n/10⁻⁶)) away from that with probability below 10⁻⁶/n (Chernoff). m is chosen so that
    a row drawn 10 % too often is seen as surely, but for rows that are rarer than 1/10 of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from rcmd.engine.sampling import UniformSampler
    >>> check_sampler(UniformSampler(5, 1, np.random.default_rng(0))).ok
    True
    """
    return inspect_sampler(sampler, n).checked()


def inspect_sampler(sampler: Sampler, n: int | None = None) -> Report:
    """The report of ``check_sampler``, also where something fails.

    Examples
    --------
    >>> from rcmd.engine.sampling import UniformSampler
    >>> class First(UniformSampler):
    ...     def draw(self, steps): return 0 * super().draw(steps)
    >>> inspect_sampler(First(5, 1, np.random.default_rng(0))).ok
    False
    """
    rows = n or getattr(sampler, "n", None)
    if rows is None:
        raise ValueError(f"n of {type(sampler).__name__} is not known; expected n=…, the rows")
    return SamplerInspection(sampler, int(rows)).run()


class SamplerInspection(Inspection):
    """One sampler under inspection."""

    def __init__(self, sampler: Sampler, n: int) -> None:
        super().__init__(f"{type(sampler).__name__}, {sampler.batch} of {n} rows")
        self.sampler, self.n = sampler, n

    @identity("draw gives batches of different rows, of the shape asked for")
    def batches(self) -> Faults:
        for steps in (1, 7, 100):
            try:
                drawn(self.sampler, steps, self.n)
            except (ValueError, IndexError) as fault:
                expected = f"{steps} batches of {self.sampler.batch} different rows"
                yield {"steps": steps}, str(fault), expected, Cause.WRONG_TYPE

    @identity("every row is as likely as it should be, to 10 %")
    def uniformity(self) -> Faults:
        if self.n > LARGEST or not self.report.ok:
            raise Skip(f"n = {self.n} is above {LARGEST}" if self.report.ok else "draw is wrong")
        doubt = math.log(2 * self.n / FALSE_ALARMS)
        uniform = np.full(self.n, self.sampler.batch / self.n)
        likely = np.asarray(getattr(self.sampler, "probabilities", uniform), dtype=float)
        rarest = max(likely[likely > 0].min(), 0.1 / self.n)
        pieces = math.ceil(12 * doubt / BIAS**2 / rarest / 10_000)
        counts = np.zeros(self.n)
        for _ in range(pieces):
            counts += np.bincount(self.sampler.draw(10_000).ravel(), minlength=self.n)
        means = pieces * 10_000 * likely
        excess = abs(counts - means) - np.sqrt(3 * means * doubt)
        worst = int(excess.argmax())
        if excess[worst] > 0:
            found = f"{counts[worst]:.0f} times"
            remedy = "the theorems take every row to be as likely as the sampler says"
            yield {"row": worst}, found, f"about {means[worst]:.0f}", Cause.BIASED, remedy

    @identity("with its state loaded it draws the same again")
    def repeatable(self) -> Faults:
        if not (hasattr(self.sampler, "state") and hasattr(self.sampler, "load_state")):
            raise Skip("it has no state and load_state, so that runs cannot be resumed")
        state = copy.deepcopy(self.sampler.state())
        first = self.sampler.draw(5)
        self.sampler.load_state(state)
        if not np.array_equal(second := self.sampler.draw(5), first):
            yield {}, second, first, Cause.CHANGES, "load_state must restore all that draw uses"
