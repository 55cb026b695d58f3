"""Algorithm 2 in machine code: the iterates of the reference engine, fast.

A run is cut into chunks of a millisecond or so. For each, the batches are drawn and the
schedule is tabulated, and one compiled call takes the steps, in one of four loops for four kinds
of oracle. Averages are kept lazily (see ``rcmd.engine.accounting`` for the summation by parts).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.samples import SampleLoss
from rcmd.engine.accounting import RESCALE_ABOVE, Accounting, Step
from rcmd.engine.base import checked_atom, next_refresh, not_finite, step_size
from rcmd.engine.kernels.batch import fill_compiled, predict_dense, predict_pairs, step_batch
from rcmd.engine.kernels.blocks import run_blocks
from rcmd.engine.kernels.coordinatewise import CoordinateLoop
from rcmd.engine.kernels.layout import (
    DUAL,
    LAG,
    MIRROR,
    new_samples,
    rows_tuple,
    substitute_gradient,
)
from rcmd.engine.kernels.vertex import (
    BOTH_SIGNS,
    POSITIVE,
    incremental_pays,
    level_offsets,
    run_vertex,
    tighten_all,
)
from rcmd.engine.sampling import Sampler, drawn, fill_with_subsets
from rcmd.engine.state import Stateful
from rcmd.jit.scalars import (
    METHOD_ARITY,
    CannotCompile,
    Jittable,
    Scalar,
    record_of,
    sample_reader,
)
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx, ConjugateProx
from rcmd.model.schedules import Schedule, StepState
from rcmd.oracles.base import (
    Block,
    VertexRule,
    blocks_of,
    describes_argmin,
    writes_atom,
)
from rcmd.oracles.described import acts_coordinatewise
from rcmd.oracles.writing import compiled_writer, form_of, wrong_entries
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.validation import Array, warn_caller

SMALLEST_MASS, LARGEST_MASS = 1e-250, 1e280
"""Between them a sum of masses neither overflows nor loses digits to subnormal numbers."""

CHUNK_SAMPLES, CHUNK_ENTRIES = 16384, 2**20
"""Work of one compiled call, in rows and in nonzeros: about a millisecond."""


class CompiledEngine(Stateful):
    """The contract of ``ReferenceEngine``: same batches in, same iterates out.

    Raises
    ------
    CannotCompile
        Where the loss or the prox is not scalar code that numba understands, or the rows
        are of a layout without kernels.
    """

    changing: ClassVar[tuple[str, ...]] = (
        "iteration", "sampler", "_samples", "_loop", "_base", "_total", "_past", "_refresh_at",
        "_fault",
    )  # fmt: skip

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        sampler: Sampler,
        prox: BregmanProx,
        start: Any = None,
        accounting: Sequence[Accounting] = (),
    ) -> None:
        rows = rows_tuple(problem.rows)
        if rows is None:
            raise CannotCompile(f"{type(problem.rows).__name__} have no compiled layout")
        self.problem, self.schedule, self.sampler = problem, schedule, sampler
        self.accounting = tuple(accounting)
        if self.accounting:
            vars(self)["changing"] = (*self.changing, "accounting")
        if getattr(sampler, "fill", None) is fill_with_subsets:
            vars(sampler)["fill"] = fill_compiled
        self.iteration = 0
        problem.oracle.reset()
        self._rows = rows
        self._functions, self._scalars, s = _compiled_functions(problem, prox)
        self._start, self._past = start, float(1 - schedule.mixing(0))
        if start is not None:
            s = problem.rows.matvec(start)
        labels = problem.losses.labels
        self._samples = new_samples(s, self._scalars[0](s, labels), labels)
        weights = problem.losses.weights
        self._gain = np.full(1, 1 / problem.n) if weights is None else weights / problem.n
        self._mask = np.uint64(0 if weights is None else 2**63 - 1)
        if schedule.sees_run:
            self._loop: Any = SeenLoop(self)
        else:
            self._loop = loop_for(problem, sampler.batch, rows)
        self._loop.refresh(self._gradient())
        self._base, self._total, self._fault = 0, 1.0, ""
        self._refresh_at = next_refresh(0, problem.n, sampler.batch)
        self._take(np.empty((0, sampler.batch), np.uint64), (np.empty(0),) * 3)  # compiles
        entries = max(1, rows[0].size // problem.n)
        self._chunk = max(1, min(CHUNK_SAMPLES, CHUNK_ENTRIES // entries) // sampler.batch)

    @property
    def s(self) -> Array:
        return self._samples[:, MIRROR]

    @property
    def w(self) -> Array:
        return self._weighted(self._samples[:, DUAL])

    @property
    def d(self) -> Array:
        return self._loop.d

    def averages(self) -> tuple[Array, Array]:
        if self.iteration == 0:
            start = np.zeros(self.problem.p) if self._start is None else self._start.copy()
            return start, self.w
        w = self._samples[:, DUAL] - self._samples[:, LAG] / self._total
        total = self._loop.primal_sum()
        if self._start is not None:
            total = total + self._past * self._start
        return total / self._total, self._weighted(w)

    def advance(self, steps: int) -> None:
        if self._fault:
            raise FloatingPointError(self._fault)
        end = self.iteration + steps
        while self.iteration < end:
            chunk = 1 if self.accounting else self._chunk
            numbers = self._tabulate(
                self.iteration, min(end, self.iteration + chunk, self._refresh_at)
            )
            take = self._take_reported if self.accounting else self._take
            take(self._draw(len(numbers[0])), numbers)
            if self.iteration == self._refresh_at:
                self._loop.refresh(self._gradient())
                self._refresh_at = next_refresh(self.iteration, self.problem.n, self.sampler.batch)

    def _draw(self, steps: int) -> Array:
        batches = np.require(drawn(self.sampler, steps, self.problem.n), np.int64, ["C", "W"])
        return batches.view(np.uint64)

    def _take(self, batches: Array, numbers: tuple[Array, Array, Array]) -> None:
        shared = (self._samples, self._gain, self._mask, self._functions)
        health = self._loop.run(self._rows, batches, numbers, *shared)
        self.iteration += len(batches)
        self._total = numbers[2][-1] if len(batches) else self._total
        if not np.isfinite(health):
            self._fault = not_finite(self.problem, self.iteration)
            raise FloatingPointError(self._fault)

    def _take_reported(self, batches: Array, numbers: tuple[Array, Array, Array]) -> None:
        """One step, of which accounting hears what the reference engine would say."""
        i, batch, d, loop = self.iteration, batches[0].view(np.int64), self.d.copy(), self._loop
        w = self._weighted(self._samples[batch, DUAL], batch)
        self._take(batches, numbers)
        change = self._weighted(self._samples[batch, DUAL], batch) - w
        # An oracle that is called is not called twice, as it may remember its calls.
        atom = loop.atom if isinstance(loop, OracleLoop) else checked_atom(self.problem.oracle, d)
        step = Step(i, atom, batch, change)
        for listener in self.accounting:
            listener.record(step)

    def _tabulate(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """η_i, c_i and C_i in units of C_base, up to where the base has to move."""
        first = self.schedule.growth(start, self._base)
        if first > RESCALE_ABOVE:
            self._samples[:, LAG] /= first
            self._loop.rescale(1 / first)
            self._past /= first
            self._base = start
        # Arrays that must not be written would be of another type, and the loop compiled anew.
        table = self.schedule.table(start, stop, self._base)
        eta, weights, total = (np.require(part, requirements="W") for part in table)
        if total[-1] <= RESCALE_ABOVE:
            return eta, weights, total
        count = int(np.argmax(total > RESCALE_ABOVE))
        return eta[:count], weights[:count], total[:count]

    def _gradient(self) -> Array:
        d = np.empty(self.problem.p)
        substitute_gradient(self._rows, self._samples, self._gain, self._mask, d)
        return d

    def _weighted(self, w: Array, batch: Any = slice(None)) -> Array:
        weights = self.problem.losses.weights
        return w.copy() if weights is None else w * weights[batch]


def _compiled_functions(
    problem: Problem, prox: BregmanProx
) -> tuple[tuple[int, ...], tuple[Scalar, ...], Array]:
    """The addresses of loss and prox for ``layout.mirror_step``, their owners, and s⁰."""
    losses = problem.losses
    derivative = losses.scalar("derivative")
    if type(prox) is ConjugateProx:  # a subclass may have another step
        addresses = (derivative.address, derivative.theta, 0, 0, *derivative.table)
        return addresses, (derivative,), 0 * losses.y
    for name in ("step", "centre"):
        if getattr(type(prox), name) not in (
            getattr(BregmanProx, name),
            getattr(ConjugateProx, name),
        ):
            raise CannotCompile(
                f"{type(prox).__name__} has its own {name}, which is not made of mirror and inverse"
            )
    seen, bounds = prox.losses(problem).weights, prox.bounds(problem)
    weights = np.ones(problem.n) if seen is None else seen
    table, own = np.stack([weights, bounds], axis=1), losses.one(0) is not losses.loss
    records = [record_of(losses.loss), record_of(prox)]
    if own:
        gammas = np.ones(problem.n) * losses.unit_gamma
        table = np.hstack([losses.table, gammas[:, None], table])
    make_step, make_centre = _makers(table.shape[1])
    step = Scalar(records, make_step, arity=5, table=table)
    centre = Scalar(records, make_centre, arity=METHOD_ARITY, table=table if own else ())
    labels = np.arange(problem.n) if own else losses.y
    addresses = (derivative.address, derivative.theta, step.address, step.theta, *derivative.table)
    return addresses, (derivative, step), centre(labels, weights, bounds)


@cache
def _makers(width: int) -> tuple[Any, Any]:
    """Makers of a step and of s⁰, for a table in whose rows weight and bound come last.

    Samples with data of their own have ``SampleLosses.table`` and γ before them: there, and not
    among the arguments, is their label, in the place of which comes their number.
    """

    def sample(read_loss: Any, table: int) -> Jittable:
        """A compiled-side function from θ and y to the loss and the label."""
        if width == 2:
            return Jittable(lambda theta, y: (read_loss(theta), y))
        read = sample_reader(SampleLoss, read_loss, table, width, width - 5, gamma=True)
        return Jittable(lambda theta, y: (read(theta, y), theta[table + width * int(y)]))

    def make_step(read_loss: Any, read_prox: Any, table: int) -> Any:
        read = sample(read_loss, table)

        def step(theta: Any, s: float, gap: float, eta: float, y: float, j: float) -> Any:
            # Where γ_j alone is a sample's own, ``SampleLosses.labels`` are y_j and no numbers.
            (loss, label), prox = read(theta, y if width == 2 else j), read_prox(theta)
            end = table + width * (int(j) + 1)
            weight, bound = theta[end - 2], theta[end - 1]
            m = prox.mirror(loss, s, label, weight) + eta * gap
            return prox.inverse(loss, m, s, label, weight, bound)

        return step

    def make_centre(read_loss: Any, read_prox: Any, table: int) -> Any:
        read = sample(read_loss, table)

        def centre(theta: Any, y: float, weight: float, bound: float) -> Any:
            loss, label = read(theta, y)
            return read_prox(theta).inverse(loss, 0.0, 0.0, label, weight, bound)

        return centre

    return make_step, make_centre


class SummingLoop(Stateful):
    """Loops that keep d, and β's sum as a vector."""

    d: Array

    def __init__(self, p: int) -> None:
        self._sum = np.zeros(p)

    def refresh(self, d: Array) -> None:
        """Continue with ``d``, computed from scratch."""
        self.d = d

    def rescale(self, factor: float) -> None:
        """Multiply all weights so far by ``factor``."""
        self._sum *= factor

    def primal_sum(self) -> Array:
        """Σ_i c_i β̃^i."""
        return self._sum


class VertexLoop(SummingLoop):
    """Oracles that are a ``VertexRule``; β's sum gains one entry a step."""

    changing = ("d", "_sum", "_bounds")

    def __init__(self, rule: VertexRule, p: int, touched: float, dense: bool) -> None:
        super().__init__(p)
        self._signs = signs_of(rule)
        self._rule = (float(rule.size), *self._signs, float(rule.threshold))
        self._offsets = level_offsets(p)
        incremental = not dense and incremental_pays(p, touched)
        self._bounds = np.zeros(int(self._offsets[-1]) if incremental else 0)

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        """Take the steps; returns a finite number if all numbers were finite."""
        search = (self._rule, self._bounds, self._offsets)
        return float(run_vertex(rows, batches, numbers, *shared, self.d, self._sum, *search))

    def refresh(self, d: Array) -> None:
        super().refresh(d)
        if self._bounds.size:
            tighten_all(d, *self._signs, self._bounds, self._offsets)


class BlockLoop(SummingLoop):
    """Oracles that write their atoms, and products of such and of vertex rules."""

    changing = ("d", "_sum", "_bounds", "_running")

    def __init__(self, problem: Problem, blocks: list[Block], touched: float, dense: bool) -> None:
        p = problem.p
        super().__init__(p)
        self._blocks = blocks
        rules = [rule_of(block) for block in blocks]
        calls = np.zeros((len(blocks), 3), np.int64)
        for call, block, rule in zip(calls, blocks, rules, strict=True):
            if rule is None:
                writer = compiled_writer(block.oracle)
                call[:] = writer.address, writer.theta, form_of(block.oracle) == "write_atom"
        known = [rule or VertexRule(0.0) for rule in rules]
        ends = np.array([(block.start, block.stop) for block in blocks])
        self._tables = (
            ends,
            calls,
            np.array([float(block.factor) for block in blocks]),
            np.array([(float(rule.size), float(rule.threshold)) for rule in known]),
            np.array([signs_of(rule) for rule in known]),
        )
        # The widest block with a rule is searched incrementally where that pays.
        widths = np.where(calls[:, 0] == 0, ends[:, 1] - ends[:, 0], 0)
        self._place = int(widths.argmax())
        self._searched, self._signs = slice(*ends[self._place]), signs_of(known[self._place])
        self._offsets = level_offsets(max(widths.max(), 1))
        incremental = not dense and incremental_pays(int(widths.max()), touched)
        self._bounds = np.zeros(int(self._offsets[-1]) if incremental else 0)
        self._shift = np.concatenate([np.zeros(b.stop - b.start) + b.shift for b in blocks])
        shifted = self._shift.any()
        self._moved = (
            problem.rows.matvec(self._shift) if shifted else np.zeros(1),
            np.uint64(2**63 - 1 if shifted else 0),
        )
        self._work = (np.zeros(p), np.zeros(p), np.zeros(p, np.int64), np.zeros(p))
        self._running = np.zeros(2)

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        search = (self._bounds, self._offsets, self._place)
        own = (self.d, self._sum, self._tables, search, self._moved, self._work, self._running)
        health = float(run_blocks(rows, batches, numbers, *shared, *own))
        if self._running[1]:
            block = self._blocks[int(self._running[1]) - 1]
            raise ValueError(wrong_entries(block.oracle, block.stop - block.start))
        return health

    def refresh(self, d: Array) -> None:
        super().refresh(d)
        if self._bounds.size:
            tighten_all(d[self._searched], *self._signs, self._bounds, self._offsets)

    def rescale(self, factor: float) -> None:
        super().rescale(factor)
        self._running[0] *= factor

    def primal_sum(self) -> Array:
        return self._sum + self._running[0] * self._shift


def signs_of(rule: VertexRule) -> tuple[np.uint64, np.uint64]:
    """The keys of a rule, as masks."""
    return POSITIVE if rule.positive else BOTH_SIGNS


def rule_of(block: Block) -> VertexRule | None:
    """The rule by which a block's part of the atom, less its shift, is found in d itself."""
    rule = block.oracle.vertex_rule()
    if rule is None or not describes_argmin(block.oracle, "vertex_rule"):
        return None
    size, threshold = block.factor * rule.size, rule.threshold / block.factor
    return rule._replace(size=size, threshold=threshold)


class OracleLoop(SummingLoop):
    """Any other oracle: called from Python between compiled batch steps."""

    changing = ("d", "_sum")
    atom: Atom

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.p)
        self._problem = problem

    def run(self, rows: Any, batches: Array, numbers: Any, *shared: Any) -> float:
        health = 0.0
        for t, (batch, eta, weight, total) in enumerate(zip(batches, *numbers, strict=True)):
            self.atom = checked_atom(self._problem.oracle, self.d)
            health += self._move(rows, t, batch, eta, total, *shared)
            self.atom.add_to(self._sum, weight)
            if not math.isfinite(health):  # before the oracle sees it
                break
        return health

    def _move(self, rows: Any, t: int, batch: Array, eta: Any, total: Any, *shared: Any) -> Any:
        """Move the samples of the t-th batch towards the atom, and d with them."""
        return step_batch(rows, batch, self._predict(rows, batch), eta, total, *shared, self.d)

    def _predict(self, rows: Any, batch: Array) -> Array:
        atom, out = self.atom, np.empty(len(batch))
        if isinstance(atom, DenseAtom):
            predict_dense(rows, batch, np.asarray(atom.vector, dtype=float), out)
        elif isinstance(atom, SparseAtom):
            indices = np.array(atom.indices, dtype=np.uint64)
            predict_pairs(rows, batch, indices, np.array(atom.values, dtype=float), out)
        else:
            out[:] = self._problem.rows.predict(batch.view(np.int64), atom)
        return out


class SeenLoop(OracleLoop):
    """Any oracle and a schedule that sees the run, asked from Python between compiled steps."""

    def __init__(self, engine: CompiledEngine) -> None:
        super().__init__(engine.problem)
        self._engine = engine

    def _move(self, rows: Any, t: int, batch: Array, eta: Any, total: Any, *shared: Any) -> Any:
        engine, own, predictions = self._engine, batch.view(np.int64), self._predict(rows, batch)
        s, w = (shared[0][own, part] for part in (MIRROR, DUAL))
        w = engine._weighted(w, own)
        seen = self._problem, self.d, self.atom, own, s, w, predictions, lambda: engine.w
        eta = step_size(engine.schedule, engine.iteration + t, partial(StepState, *seen))
        if np.ndim(eta) == 0:
            return step_batch(rows, batch, predictions, float(eta), total, *shared, self.d)
        alone = zip(batch[:, None], predictions[:, None], eta.tolist(), strict=True)
        return sum(step_batch(rows, *one, total, *shared, self.d) for one in alone)


def loop_for(
    problem: Problem, batch: int, rows: Any
) -> VertexLoop | CoordinateLoop | BlockLoop | OracleLoop:
    """The fastest loop that fits the oracle."""
    dense, touched = len(rows) == 2, batch * rows[0].size / problem.n
    blocks = blocks_of(problem.oracle, problem.p)
    whole = blocks[0] if len(blocks) == 1 and not np.any(blocks[0].shift) else None
    if whole and (rule := rule_of(whole)):
        return VertexLoop(rule, problem.p, touched, dense)
    if whole and whole.factor == 1 and summed(problem, whole):
        try:
            return CoordinateLoop(whole.oracle, problem.p, dense)
        except CannotCompile as reason:
            warn_caller(f"calling the oracle from Python, because {reason}")
            return OracleLoop(problem)
    if all(compiles(problem, block) for block in blocks):
        return BlockLoop(problem, blocks, touched, dense)
    return OracleLoop(problem)


def compiles(problem: Problem, block: Block) -> bool:
    """Whether compiled code finds a block's part of the atom."""
    if rule_of(block):
        return True
    described = writes_atom(block.oracle) or summed(problem, block)
    return described and compiled_writer(block.oracle) is not None


def summed(problem: Problem, block: Block) -> bool:
    """Whether ``shape``, ``mass`` and ``scale`` say what the atom is, to all digits."""
    return acts_coordinatewise(block.oracle) and masses_fit(problem, block)


def masses_fit(problem: Problem, block: Block) -> bool:
    """Whether running sums of ``mass``, usually squares of slopes, keep their digits."""
    low, high = problem.losses.domain
    start = abs(problem.losses.derivative(0 * problem.losses.y))
    reached = start + problem.losses.gammas * problem.prediction_bounds
    steepest = np.minimum(reached, np.maximum(abs(low), abs(high))).max()
    largest = problem.rows.max_norms().max()
    sizes = (float(largest * steepest), float(largest * start.max()) / problem.n)
    masses = [float(block.oracle.mass(block.factor * size)) for size in sizes if size > 0]
    return all(mass == 0.0 or SMALLEST_MASS < mass < LARGEST_MASS for mass in masses)
