"""A problem whose rows are spread over the ranks of a group, and its oracle, which rank 0 has."""

import math
import pickle
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.samples import SampleLosses
from rcmd.distributed.engine import ShardedEngine
from rcmd.distributed.exchange import ExchangeName, sum_rows, sum_terms
from rcmd.engine.base import checked_atom
from rcmd.engine.kernels.batch import column_peaks
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.sampling import Sampler
from rcmd.model.fingerprint import fingerprint
from rcmd.model.ownership import GROUNDS, foreign
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx, ConjugateProx
from rcmd.model.schedules import Schedule
from rcmd.model.specs import Waiting
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.decorators import Decorated
from rcmd.rows.atoms import Atom
from rcmd.rows.base import largest_eigenvalue
from rcmd.rows.processes import (
    Group,
    SharedError,
    abort_on_error,
    cancellable,
    refuse_differences,
    same_bytes,
    shared_errors,
)
from rcmd.rows.validation import Array


class ShardedProblem(Problem):
    """(P) and (D) with a share of the rows on each rank; rank r's rows follow those of rank r−1.

    What belongs to rows (s, w, y, Xβ, the bounds M_j) is this rank's share; what is summed over
    rows (P, D, φ, Xᵀw/n, the constants) is everyone's, so that ``rcmd.model.certificate.certify``
    holds as it stands. ``n`` counts all rows. All methods that sum are collective.

    Parameters
    ----------
    X, y, loss, oracle, weights, offset, fields, intercept, verify
        As for ``Problem``: X, y, weights, offset and fields of this rank's rows only.
    group
        The ranks, such as ``rcmd.distributed.world()``.
    exchange
        How the change of d travels: ``"sparse"``, ``"dense"``, or by default whichever has fewer
        bytes (see ``rcmd.distributed.exchange``).

    Attributes
    ----------
    starts
        The first row of each rank, and n behind them.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares
    >>> from rcmd.distributed import rehearse
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 0.0, 2.0])
    >>> def primal(group):
    ...     mine = slice(0, 1) if group.rank == 0 else slice(1, 3)
    ...     problem = ShardedProblem(X[mine], y[mine], LeastSquares(), Box(-1.0, 1.0), group=group)
    ...     return problem.primal(np.ones(1))
    >>> rehearse(2, primal), Problem(X, y, LeastSquares(), Box(-1.0, 1.0)).primal(np.ones(1))
    ([1.3333333333333333, 1.3333333333333333], np.float64(1.3333333333333333))
    """

    spread: ClassVar[bool] = True

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: SeparableConjugate | str,
        oracle: LinearMinOracle | Waiting | str,
        *,
        group: Group,
        weights: Any = None,
        offset: Any = None,
        fields: Any = None,
        intercept: Any = None,
        verify: bool = True,
        exchange: ExchangeName = "auto",
    ) -> None:
        self.group, self.exchange = group, exchange
        with shared_errors(group):
            own = {"weights": weights, "offset": offset, "fields": fields}
            super().__init__(X, y, loss, oracle, intercept=intercept, verify=verify, **own)
            layout = rows_tuple(self.rows)
            if layout is None:
                raise TypeError(
                    f"X are {type(self.rows).__name__}; expected a dense or a sparse matrix of "
                    "floats, which can be spread over ranks"
                )
        self._layout = layout
        self._refuse_disagreement()
        same = {"loss": self.loss, "oracle": oracle, "intercept": intercept, "verify": verify}
        same["layout of X"] = type(self.rows).__name__
        with shared_errors(group):
            hashes = {name: fingerprint(value) for name, value in same.items()}
        refuse_differences(group, hashes, "problem")
        peaks = np.zeros(self.p)
        column_peaks(layout, self.rows.n, peaks)
        self._peaks = group.largest(peaks)
        counts = [int(part[0]) for part in group.gather(np.array([self.rows.n]))]
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        vars(self).update(n=int(self.starts[-1]), losses=_SharedLosses(self))
        with abort_on_error(group):  # ``bind`` of an oracle may communicate
            self._regularize(oracle)
        self._vet()

    def _regularize(self, oracle: LinearMinOracle | Waiting | str) -> None:
        """Bind the oracle to everyone's data; while rows are still being checked, wait."""
        if not hasattr(self, "starts"):
            return
        # Some oracles choose their radius by the slope Xᵀw/n, which they form as
        # rows.rmatvec(w) / rows.n with this rank's n: here it is everyone's.
        mine, shared = self.rows, copy(self.rows)
        vars(shared)["rmatvec"] = lambda w: self.gradient(w) * mine.n
        vars(self).update(rows=shared)
        try:
            super()._regularize(oracle)
        except (ValueError, TypeError) as error:
            if foreign(self.regularizer):  # which may fail on one rank alone
                raise
            raise SharedError(str(error)) from error  # sizes and types, the same everywhere
        finally:
            vars(self).update(rows=mine)
        vars(self).update(oracle=AtFirst(self.oracle, self.group))
        # Here, as a cached property would hold its lock while it waits for the other ranks.
        sizes = self.group.largest(self._find_row_sizes())
        vars(self).update(row_sizes=sizes, peak=sizes[0])

    def _vet(self) -> None:
        """On every rank, at its own rows; what certificates rest on is the worst of all."""
        if not hasattr(self, "starts"):
            return
        shared = self.oracle
        vars(self).update(oracle=shared.oracle)
        try:
            with shared_errors(self.group):
                super()._vet()
        finally:
            vars(self).update(oracle=shared)
        parts = self.group.gather(np.frombuffer(self.ground_text.encode(), np.uint8))
        texts = [part.tobytes().decode() for part in parts]
        self.ground_text = max(texts, key=lambda text: GROUNDS.index(text.partition(":")[0]))

    def engine(
        self, schedule: Schedule, sampler: Sampler, prox: BregmanProx, start: Any, accounting: Any
    ) -> ShardedEngine:
        """The engine that runs on it, with the paper's prox and from scratch."""
        if type(prox) is not ConjugateProx or start is not None or accounting:
            raise SharedError(
                "prox, warm_start or accounting is given for rows on several ranks; expected none "
                "of them: the paper's own steps from scratch are all that runs there"
            )
        return ShardedEngine(self, schedule, sampler)

    def generator(self, seed: int | np.random.Generator) -> np.random.Generator:
        """Rank 0's generator, on every rank: in the same state, all draw the same batches."""
        rng = np.random.default_rng(seed)
        state = same_bytes(self.group, pickle.dumps(rng.bit_generator.state))
        rng.bit_generator.state = pickle.loads(state)
        return rng

    def gathered(self, values: Any) -> Any:
        """The numbers of all rows, on rank 0; its own on every other."""
        return _joined(self.group.collect, values)

    def shared(self, values: Any) -> Any:
        """The numbers of all rows, on every rank."""
        return _joined(self.group.gather, values)

    def total(self, part: Callable[[], Any]) -> Any:
        """The sum of everyone's; no rank may end alone meanwhile, so that none is asked to."""
        with cancellable(lambda: False):
            own = np.asarray(part())
        return self.group.sum(own)

    @property
    def bound_oracle(self) -> Any:
        """The oracle that rank 0 is asked."""
        return self.oracle.oracle

    def thinned(self, stride: int) -> Problem | None:
        """With every rank's share of these samples, if it has one."""
        firsts = -self.starts[:-1] % stride
        counts = -(-(np.diff(self.starts) - firsts) // stride)
        first = int(firsts[self.group.rank])
        rows = self.rows.thinned(stride, first)
        if rows is None or counts.min() < 1:
            return None
        other: Any = self._thinned(rows, slice(first, None, stride))
        starts = np.concatenate([[0], np.cumsum(counts)])
        vars(other).update(n=int(starts[-1]), starts=starts, _layout=rows_tuple(rows))
        sizes = {"row_sizes": self.row_sizes, "peak": self.peak}  # still bounds
        vars(other).update(losses=_SharedLosses(other), **sizes)
        return other

    def own_part(self, values: Any) -> Any:
        rank = self.group.rank
        return values[self.starts[rank] : self.starts[rank + 1]]

    def fingerprint(self) -> dict[str, str]:
        """The same for any number of ranks.

        X, y and the weights are known by their products with fixed random numbers, one for each
        row: sums that have the same bits however the rows are spread.
        """
        losses, stream = self.losses, np.random.PCG64(0)
        stream.advance(int(self.starts[self.group.rank]))
        numbers = np.random.Generator(stream).random(self.rows.n)
        weights = np.zeros(0) if losses.weights is None else losses.weights
        own = self._own_data().items()
        return {
            "X": fingerprint(self.gradient(numbers)),
            "y": fingerprint(self.mean(numbers * losses.y)),
            "weights": fingerprint(self.mean(numbers[: len(weights)] * weights)),
            "loss": fingerprint(losses.loss),
            **{name: fingerprint(self.mean(numbers * part)) for name, part in own},
            "oracle": fingerprint((self.regularizer, self.intercept)),
        }

    def gradient(self, w: Array) -> Array:
        return self.slope_and_peaks(w)[0]

    def products(self, beta: Array, w: Array) -> tuple[Array, Array]:
        return self.rows.matvec(beta), self.gradient(w)

    def slope_and_peaks(self, w: Array) -> tuple[Array, Array]:
        """Xᵀw/n, and a bound of |w_j x_jk|/n for every column k."""
        return sum_rows(self.group, self._layout, self._peaks, w / self.n, self.n)

    def mean(self, values: Array) -> float:
        return sum_terms(self.group, values, self.n) / self.n

    def saddle(self, beta: Array, w: Array) -> Any:
        """φ(β, w) = wᵀXβ/n − (1/n) Σ_j l_j*(w_j) + R(β)."""
        coupling = self.mean(w * self.rows.matvec(beta))
        return coupling - self.mean(self.losses.conjugate(w)) + self.oracle.value(beta)

    @property
    def spectral_energy(self) -> float:
        """‖diag(√γ) X‖₂² as ``Rows.spectral_energy`` finds it, on the side of the columns.

        The Lanczos iteration is rank 0's; the others answer its questions Σ_j γ_j x_j x_jᵀv.
        """
        if not self.group.largest(np.array([self.rows.square_norms().max()]))[0] > 0:
            return 0.0
        gammas, words = self.losses.gammas, np.zeros(1 + self.p)  # whether to answer, and v

        def gram(v: Array) -> Array:
            return self.gradient(gammas * self.rows.matvec(v)) * self.n

        def ask(v: Array) -> Array:
            words[0], words[1:] = 1, v
            return gram(self.group.broadcast(words)[1:])

        if self.group.rank == 0:
            try:
                top = largest_eigenvalue(ask, self.p)
            except ValueError:
                top = math.nan
            words[0], words[1] = 0, top
            self.group.broadcast(words)
        else:
            while self.group.broadcast(words)[0]:
                gram(words[1:])
        if math.isnan(words[1]):
            raise SharedError("ARPACK found no largest eigenvalue of XᵀX, which σ needs")
        return float(words[1])

    def _refuse_disagreement(self) -> None:
        """All ranks must have the same number of columns, and weights or none, offsets likewise."""
        given = {"weights": self.weights, "an offset": self.offset}
        own = np.array([self.p, *(part is None for part in given.values())])
        widths, *without = zip(*(part.tolist() for part in self.group.gather(own)), strict=True)
        if len(set(widths)) > 1:
            raise SharedError(
                f"the ranks have rows of {', '.join(map(str, widths))} columns; expected the same "
                "number on every rank"
            )
        for name, missing in zip(given, without, strict=True):
            if len(set(missing)) > 1:
                raise SharedError(
                    f"some ranks have {name} and some have none; expected all or none"
                )


def _joined(join: Callable[[Array], list[Array] | None], values: Any) -> Any:
    """Everyone's rows below each other, as ``join`` brings them together; one's own without it."""
    if sp.issparse(values):
        parts = values.data, np.int64(values.indices), np.int64(np.diff(values.indptr))
        data, columns, lengths = (_joined(join, part) for part in parts)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return sp.csr_array((data, columns, offsets), shape=(len(lengths), values.shape[1]))
    found = join(values.ravel())
    return values if found is None else np.concatenate(found).reshape(-1, *values.shape[1:])


class _SharedLosses(SampleLosses):
    """The losses of this rank's rows, with means over all rows."""

    def __init__(self, problem: ShardedProblem) -> None:
        own = problem.losses
        parts = own.weights, own.unit_gammas, own.offset, own.fields
        super().__init__(own.loss, own.y, *parts)
        self._mean = problem.mean

    def largest_descent(self, start: Array | None = None) -> Any:
        return self._mean(self._descents(start))

    def bregman_radius(self, bounds: Array) -> Any:
        return self._mean(self._weighted(self._radii(bounds)))


def _asked(name: str) -> Any:
    """The method of ``AtFirst`` for that method of its oracle, which returns a number."""
    return lambda self, *at: self._ask(lambda: float(getattr(self.oracle, name)(*at)))


@dataclass(frozen=True, eq=False)
class AtFirst(Decorated):
    """``oracle``, asked on rank 0 of ``group`` and answering everywhere.

    So all ranks go on with the same atom, whatever the oracle remembers from call to call and
    whatever the last digits on another machine would have been; and nothing expensive is done
    twice.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> from rcmd.distributed import rehearse
    >>> rehearse(2, lambda group: AtFirst(L1Ball(3.0), group).argmin(np.array([1.0, -2.0])))
    [SparseAtom(indices=(1,), values=(3.0,)), SparseAtom(indices=(1,), values=(3.0,))]
    """

    oracle: LinearMinOracle
    group: Group = field(repr=False)

    def argmin(self, c: Array) -> Atom:
        return self._ask(lambda: checked_atom(self.oracle, c))

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return self._ask(lambda: self.oracle.best_atoms(c, count))

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        return self._ask(lambda: self.oracle.decompose(beta))

    minimum, violation, penalty = _asked("minimum"), _asked("violation"), _asked("penalty")
    value, fenchel_young = _asked("value"), _asked("fenchel_young")
    feasible_share = _asked("feasible_share")

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What rank 0 answers; its error, raised everywhere, where it has one."""
        data, fault = b"", None
        if self.group.rank == 0:
            try:
                data = pickle.dumps((question(), ""))
            except Exception as error:
                fault = error
                data = pickle.dumps((None, f"{type(error).__name__}: {error}"))
        answer, sentence = pickle.loads(same_bytes(self.group, data))
        if sentence:
            raise SharedError(sentence) from fault
        return answer
