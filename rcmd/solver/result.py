"""The result of a run: the certified pair and how it was found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from rcmd.model.certificate import Certificate
from rcmd.model.constants import Summary, coefficient_names
from rcmd.rows.validation import Array
from rcmd.solver.history import History, StopReason

if TYPE_CHECKING:
    from rcmd.plotting.figures import Axis


@dataclass(frozen=True, eq=False)
class Result:
    """The certified pair a run ends with; ``x``, ``fun``, ``nit``, … as in SciPy.

    Attributes
    ----------
    certificate
        The best certified pair (β, w).
    history
        The records.
    stop
        Why the run ended.
    note
        What the geometry of the run means for its bounds.
    about
        What was solved, in words and numbers; the data are not kept.
    options
        The method, the rows per step, the tolerance, …

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> result = solve(problem, tol=1e-6)
    >>> result.beta.round(3), result.success, bool(result.primal - result.dual <= 1e-6)
    (array([0.2]), True, True)
    """

    certificate: Certificate
    history: History
    stop: StopReason
    note: str
    about: Summary | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    beta = property(attrgetter("certificate.beta"), doc="The primal solution β.")
    primal = property(attrgetter("certificate.primal"), doc="P(β).")
    dual = property(attrgetter("certificate.dual"), doc="D(w).")
    gap = property(attrgetter("certificate.gap"), doc="The certified gap, at least P(β) − P*.")
    ground = property(attrgetter("certificate.ground"), doc="What the gap rests on, in a word.")
    x, fun = beta, primal  # SciPy's names

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each entry of β: the column's in a data frame, else β1, β2, …."""
        if self.about is None:
            return coefficient_names(len(self.beta), None, False)
        return self.about.names

    @property
    def w(self) -> Array:
        """The dual solution w."""
        return self.certificate.w

    @property
    def nit(self) -> int:
        """Steps taken."""
        return self.history[-1].iteration

    @property
    def passes(self) -> float:
        """Gradients per sample: how often the data were seen."""
        return self.history[-1].gradients / len(self.w)

    @property
    def success(self) -> bool:
        """Whether the tolerance was reached."""
        return self.stop is StopReason.TOLERANCE

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        last = self.history[-1]
        return (
            f"{self.stop.value}: certified gap {float(self.gap):.3g} after "
            f"{_counted(last.iteration, 'step')} and {_counted(last.gradients, 'gradient')} in "
            f"{last.seconds:.3g} s"
        )

    def plot(self, x: Axis = "gradients", axes: Any = None, *, y: str | None = None) -> Any:
        """P and D, the certified gap, and the theorem's pair with the bounds on its expectation.

        ``x`` is what the run spent: ``"gradients"``, ``"iterations"``, ``"oracle_calls"`` or
        ``"seconds"``; ``axes`` are for the gap alone. With ``y``, that column of the history, such
        as one of your own, is drawn instead. Returns the matplotlib figure:
        ``figure.savefig("run.pdf")`` keeps it.
        """
        from rcmd.plotting.figures import run

        return run(self, x, axes, y)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file that ``rcmd.load_result`` and ``rcmd show`` read.

        The file has a checksum and holds no code, and takes its name only when it is complete.
        """
        from rcmd.solver.saved_results import save_result  # which makes results

        save_result(self, path)

    def __repr__(self) -> str:
        return (
            f"Result(primal={float(self.primal):.9g}, dual={float(self.dual):.9g}, "
            f"gap={float(self.gap):.3g}, ground={self.ground}, stop={self.stop.name}, "
            f"nit={self.nit})"
        )

    def _repr_html_(self) -> str:
        from rcmd.plotting.notebook import result_html

        return result_html(self)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
