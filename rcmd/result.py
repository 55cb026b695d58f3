"""What a run leaves behind: checkpoints, the reason it stopped, the certified pair."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from rcmd.certificate import Certificate
from rcmd.description import Summary

if TYPE_CHECKING:
    from rcmd.plotting.runs import Axis

Array = npt.NDArray[Any]


class StopReason(enum.Enum):
    """Why a run ended.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, tol=1e-3).stop is StopReason.TOLERANCE
    True
    >>> solve(problem, tol=0.0, max_iterations=5).stop.value
    'the iteration budget is used up'
    """

    TOLERANCE = "the certified gap reached the tolerance"
    ITERATIONS = "the iteration budget is used up"
    GRADIENTS = "the gradient budget is used up"
    SECONDS = "the time budget is used up"
    CALLBACK = "the caller asked to stop"
    INTERRUPTED = "interrupted by Ctrl-C or a signal"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """One line of the history.

    Attributes
    ----------
    iteration
        Steps taken.
    gradients, oracle_calls
        Stochastic gradients (rows touched) and linear minimizations of the method itself;
        certificates are not counted.
    seconds
        Wall-clock time since the start, certificates included.
    primal, dual, gap
        The best certified pair so far.
    bound
        The theorem's bound on the expected gap at this iteration, NaN where none applies.
    phase
        ``"plain"`` for steps of the algorithm, ``"corrective"`` for rounds of corrections.
    """

    iteration: int
    gradients: int
    oracle_calls: int
    seconds: float
    primal: Any
    dual: Any
    gap: Any
    bound: float
    phase: str


@dataclass(frozen=True, eq=False)
class State(Checkpoint):
    """What callbacks and ``rcmd.iterate`` see: a checkpoint and the iterates behind it.

    Attributes
    ----------
    certificate
        The best certified pair so far.
    s, w, d
        Copies of the engine's mirror variable, dual variable and substitute gradient.
    beta_average, w_average
        β̄ and w̄ of this iteration.
    """

    certificate: Certificate
    s: Array
    w: Array
    d: Any
    beta_average: Any
    w_average: Array

    def __repr__(self) -> str:
        return f"State({repr(self.checkpoint()).removeprefix('Checkpoint(')}"

    def checkpoint(self) -> Checkpoint:
        """The numbers alone."""
        return Checkpoint(*(getattr(self, field.name) for field in fields(Checkpoint)))


class History(Sequence[Checkpoint]):
    """The checkpoints of a run, by index or as columns.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> history = solve(problem, tol=0.0, max_iterations=4, checkpoints=[1, 2, 4]).history
    >>> len(history), history[-1].iteration, history.column("iteration")
    (3, 4, array([1, 2, 4]))
    """

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._checkpoints = tuple(checkpoints)

    def __len__(self) -> int:
        return len(self._checkpoints)

    @overload
    def __getitem__(self, index: int) -> Checkpoint: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Checkpoint]: ...

    def __getitem__(self, index: int | slice) -> Checkpoint | Sequence[Checkpoint]:
        return self._checkpoints[index]

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self._checkpoints)

    def __repr__(self) -> str:
        return f"History({len(self)} checkpoints, the last {self[-1] if self else None})"

    def column(self, name: str) -> Array:
        """One column, such as ``history.column("gap")``."""
        known = [field.name for field in fields(Checkpoint)]
        if name not in known:
            raise ValueError(f"history has no column {name!r}; expected one of {', '.join(known)}")
        return np.array([getattr(row, name) for row in self._checkpoints])

    def as_dicts(self) -> list[dict[str, Any]]:
        """Every checkpoint as a dictionary of plain numbers, ready for JSON."""
        numbers = (asdict(row) for row in self._checkpoints)
        return [
            {
                name: value if isinstance(value, int | str) else float(value)
                for name, value in row.items()
            }
            for row in numbers
        ]


@dataclass(frozen=True, eq=False)
class Result:
    """The certified pair a run ends with; ``x``, ``fun``, ``nit``, … as in SciPy.

    Attributes
    ----------
    certificate
        The best certified pair (β, w).
    history
        The checkpoints.
    stop
        Why the run ended.
    note
        What the geometry of the run means for its bounds.
    about
        What was solved, in words and numbers; the data are not kept.
    options
        How: the method, the rows per step, the tolerance, …

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

    @property
    def beta(self) -> Any:
        """The primal solution β."""
        return self.certificate.beta

    @property
    def w(self) -> Array:
        """The dual solution w."""
        return self.certificate.w

    @property
    def primal(self) -> Any:
        """P(β)."""
        return self.certificate.primal

    @property
    def dual(self) -> Any:
        """D(w)."""
        return self.certificate.dual

    @property
    def gap(self) -> Any:
        """The certified gap P(β) − D(w), an upper bound of P(β) − P*."""
        return self.certificate.gap

    @property
    def x(self) -> Any:
        """β, by SciPy's name."""
        return self.beta

    @property
    def fun(self) -> Any:
        """P(β), by SciPy's name."""
        return self.primal

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

    def plot(self, x: Axis = "gradients", axes: Any = None) -> Any:
        """P and D beside each other, and the certified gap with the theorem's bound over it.

        Parameters
        ----------
        x
            What the run spent: ``"gradients"``, ``"iterations"``, ``"oracle_calls"`` or
            ``"seconds"``.
        axes
            Axes to draw the gap into; without them, a figure with both panels.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; ``figure.savefig("run.pdf")`` keeps it.

        Examples
        --------
        >>> from rcmd import Box, LeastSquares, Problem, solve
        >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
        >>> figure = solve(problem, tol=1e-2).plot(x="iterations")
        >>> [axes.get_xlabel() for axes in figure.axes]
        ['iterations', 'iterations']
        """
        from rcmd.plotting.runs import run

        return run(self, x, axes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file that ``rcmd.load_result`` and ``rcmd show`` read.

        It is checked by a checksum and holds no code; the file takes its name only when it is
        whole.
        """
        from rcmd.saved_results import save_result

        save_result(self, path)

    def __repr__(self) -> str:
        return (
            f"Result(primal={float(self.primal):.9g}, dual={float(self.dual):.9g}, "
            f"gap={float(self.gap):.3g}, stop={self.stop.name}, nit={self.nit})"
        )

    def _repr_html_(self) -> str:
        from rcmd.notebook import result_html

        return result_html(self)

    def _repr_latex_(self) -> str | None:
        from rcmd.latex import summary_latex

        return None if self.about is None else summary_latex(self.about)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
