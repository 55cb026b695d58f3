"""``rcmd bench plugins``: what a researcher brings, beside what ships and beside a loop by hand.

Steps of the compiled engine at batch 1, logistic loss, drawing and tabulating included (see
``timing``). Sets such as a user writes are timed beside a plain numba loop of the same work and
beside the same set called from Python; every oracle that writes its atoms, beside the l1 ball and
beside the writing alone.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from rcmd import LinearMinOracle, Logistic, Problem, SeparableConjugate, oracles
from rcmd.engine.compiled import CompiledEngine
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import call_writer
from rcmd.lab.bench import workloads
from rcmd.lab.bench.contenders import RADIUS, Settings, engine_of, stepping
from rcmd.lab.bench.timing import Contender, add_timed, cells
from rcmd.oracles.writing import compiled_writer, form_of
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Report, Section, Target, about
from rcmd.rows.validation import Array

N, P, NONZEROS, SMALL_P = 20_000, 200, 50, 10
DIFFERENT = 2000
"""Costs at which an atom alone is written: so many that no processor learns them by heart."""
FASTER = 50
"""How many times faster than Python between steps a compiled set is to be where p is small."""

# ---- sets such as a user writes ------------------------------------------------------------------


@dataclass(frozen=True)
class OrderedBox(LinearMinOracle):
    """The set {0 ≤ β₁ ≤ … ≤ β_p ≤ 1}, whose corners are steps: zeros, then ones."""

    def write_atom(self, c: Any, out: Any) -> None:
        tail, least, start = 0, 0, len(c)
        for k in range(len(c) - 1, -1, -1):
            tail += c[k]
            if tail < least:
                least, start = tail, k
        for k in range(len(c)):
            out[k] = 1 if k >= start else 0

    def minimum(self, c: Array) -> Any:
        return min(np.cumsum(c[::-1]).min(), 0.0)

    def violation(self, beta: Array) -> Any:
        return max(-beta[0], beta[-1] - 1.0, -np.diff(beta).min(initial=0.0), 0.0)


@dataclass(frozen=True, eq=False)
class Permutahedron(LinearMinOracle):
    """The hull of all orders of ``levels``, which decrease: the cheapest variable has the first."""

    levels: Array

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        indices[:] = np.argsort(c, kind="mergesort")
        for k in range(len(c)):
            values[k] = self.levels[k]
        return len(c)

    def minimum(self, c: Array) -> Any:
        return np.sort(c) @ self.levels

    def violation(self, beta: Array) -> Any:
        over = np.cumsum(np.sort(beta)[::-1]) - np.cumsum(self.levels)
        return max(over.max(), abs(over[-1])) / abs(self.levels).max()


class InPython(OrderedBox):
    """The ordered box by NumPy, which is called between compiled steps."""

    def argmin(self, c: Array) -> oracles.DenseAtom:
        tails = np.append(np.cumsum(c[::-1])[::-1], 0.0)
        return oracles.DenseAtom((np.arange(len(c)) >= tails.argmin()) * 1.0)


# ---- the same by hand ----------------------------------------------------------------------------


@numba.njit
def ordered_by_hand(c: Any, levels: Any, atom: Any) -> None:
    """The atom of ``OrderedBox``."""
    tail, least, start = 0.0, 0.0, len(c)
    for k in range(len(c) - 1, -1, -1):
        tail += c[k]
        if tail < least:
            least, start = tail, k
    atom[:start] = 0.0
    atom[start:] = 1.0


@numba.njit
def permuted_by_hand(c: Any, levels: Any, atom: Any) -> None:
    """The atom of ``Permutahedron``."""
    atom[np.argsort(c, kind="mergesort")] = levels


@functools.cache
def loop_by_hand(write: Any) -> Any:
    """Algorithm 2 as the paper has it, with one row a step and this rule for its atom."""

    @kernel
    def steps(levels, rows, y, order, first, s, w, lag, d, beta, atom):
        values, columns, offsets = rows
        n = len(y)
        for i in range(len(order)):
            j, eta = order[i], 2.0 * n / (2.0 * n + first + i + 1.0)
            weight = 2.0 * n + first + i
            write(d, levels, atom)
            prediction = 0.0
            for e in range(offsets[j], offsets[j + 1]):
                prediction += values[e] * atom[columns[e]]
            s[j] += eta * (prediction - s[j])
            new = -y[j] / (1.0 + math.exp(y[j] * s[j]))
            change = new - w[j]
            w[j] = new
            lag[j] += weight * weight * change
            for e in range(offsets[j], offsets[j + 1]):
                d[columns[e]] += change / n * values[e]
            for k in range(len(beta)):
                beta[k] += weight * atom[k]

    return steps


class ByHand:
    """A run of that loop."""

    def __init__(self, data: workloads.Data, write: Any, levels: Array, seed: int) -> None:
        X = sp.csr_array(data.X)
        n, p = X.shape
        self._rows, self._steps, self._levels, self._y = X, loop_by_hand(write), levels, data.y
        self._rng, self.iteration = np.random.default_rng(seed), 0
        w = -data.y / 2
        self._state = np.zeros(n), w, np.zeros(n), X.T @ w / n, np.zeros(p), np.zeros(p)

    def advance(self, steps: int) -> None:
        """Take ``steps`` steps."""
        rows = self._rows.data, self._rows.indices, self._rows.indptr
        for start in range(0, steps, 4096):
            order = self._rng.integers(len(self._y), size=min(4096, steps - start))
            self._steps(self._levels, rows, self._y, order, self.iteration, *self._state)
            self.iteration += len(order)


# ---- tables --------------------------------------------------------------------------------------


def engine(
    data: workloads.Data, oracle: LinearMinOracle, seed: int, loss: Any = None, **own: Any
) -> CompiledEngine:
    """The compiled engine at batch 1; ``own`` is of the problem."""
    return engine_of(
        Problem(data.X, data.y, loss or Logistic(), oracle, verify=False, **own), 1, seed
    )


def layouts(p: int, rng: np.random.Generator) -> dict[str, workloads.Data]:
    """CSR and dense rows."""
    sparse = workloads.zipf(N, p, NONZEROS if p > 2 * NONZEROS else p // 2, rng)
    y = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    return {"CSR": sparse, "dense": workloads.Data(rng.uniform(-1.0, 1.0, (N, p)), y)}


def written(levels: Array) -> dict[str, tuple[LinearMinOracle, Any]]:
    """The sets of a user, each with the rule of its loop by hand."""
    return {
        "ordered box": (OrderedBox(), ordered_by_hand),
        "permutahedron": (Permutahedron(levels), permuted_by_hand),
    }


def sets(settings: Settings) -> Section:
    """Sets of a user beside the same by hand, and beside the same in Python."""
    title = f"Time per step of a set that a user wrote: n = {N:,}, batch 1"
    header = cells("set | rows | p | compiled | to hand |  | Python | ratio | ")
    columns = cells("compiled | compiled/hand |  | Python | Python/compiled | ")
    section = Section("sets", title, header)
    section.notes = [
        "to hand: beside a numba loop for this set and the logistic loss alone, on CSR rows",
        f"Python: the same set called between steps; the goal of {FASTER} times is for p = "
        f"{SMALL_P}, where the atom is no work to speak of",
    ]
    for p in (P, SMALL_P):
        levels = np.linspace(2.0, 1.0, p) / p
        for kind, data in layouts(p, np.random.default_rng(settings.seed)).items():
            for name, (oracle, write) in written(levels).items():
                tell(f"{name}, {kind}, p = {p}")
                runs: dict[str, Any] = {
                    "compiled": engine(data, oracle, settings.seed),
                    "hand": ByHand(data, write, levels, settings.seed),
                }
                targets = {"compiled/hand": Target(3)}
                if name == "ordered box":
                    runs["Python"] = engine(data, InPython(), settings.seed)
                    if p == SMALL_P:
                        targets["Python/compiled"] = Target(FASTER, at_least=True)
                times = settings.timed([stepping(who, run, 1) for who, run in runs.items()])
                row = {"set": name, "rows": kind, "n": N, "p": p, "batch": 1}
                add_timed(section, [name, kind, str(p)], columns, row, times, targets)
    return section


def shipped(p: int, rng: np.random.Generator) -> dict[str, LinearMinOracle]:
    """Oracles that write their atoms, and oracles made of others."""
    matrix = rng.standard_normal((p, p))
    return {
        "l1 ball, moved": oracles.Translated(oracles.L1Ball(RADIUS), rng.standard_normal(p)),
        "l1 ball, scaled": oracles.Scaled(oracles.L1Ball(1.0), RADIUS),
        "l1 ball × simplex": oracles.Product(
            (oracles.L1Ball(RADIUS), oracles.Simplex()), (p // 2, p - p // 2)
        ),
        "l2 ball × box": oracles.Product(
            (oracles.L2Ball(RADIUS), oracles.Box(-1.0, 1.0)), (p // 2, p - p // 2)
        ),
        "box of vectors": oracles.Box(-rng.random(p), rng.random(p)),
        "ridge on a box": oracles.BoxRidge(-1.0, 1.0, 0.5),
        "l2 ball": oracles.L2Ball(RADIUS),
        "group ball": oracles.GroupL2Ball(np.arange(p) // 10, RADIUS),
        "group lasso": oracles.GroupLasso(np.arange(p) // 10, 1e-4, RADIUS),
        "capped simplex": oracles.CappedSimplex(10.5, 1.0),
        "k-sparse ball": oracles.KSparseBall(10, 1.0),
        "k-support ball": oracles.KSupportBall(10, RADIUS),
        "sorted l1 ball": oracles.OWLBall(np.linspace(2.0, 1.0, p), RADIUS),
        "entropy": oracles.EntropySimplex(0.1),
        "hull of 20 points": oracles.Hull(rng.standard_normal((20, p))),
        "lp ball": oracles.LpBall(RADIUS, 1.5),
        "ellipsoid, diagonal": oracles.Ellipsoid(rng.uniform(1, 2, p)),
        "ellipsoid, full": oracles.Ellipsoid(matrix @ matrix.T / p + np.eye(p)),
        "ordered box": OrderedBox(),
    }


def every_oracle(settings: Settings) -> Section:
    """Every oracle that runs compiled, beside the l1 ball and beside the writing of its atom."""
    title = f"Time per step of every compiled oracle: n = {N:,}, p = {P}, batch 1"
    header = cells("oracle | rows | step | to l1 |  | to atom | ")
    columns = cells("step | step/l1 |  | step/atom | ")
    section = Section("oracles", title, header)
    section.notes = [
        "goal: at most 3 l1 steps (to l1), or at most 1.5 writings of the atom alone (to atom)",
        "an intercept is a product of the l1 ball with one variable more",
        "an offset and a field are numbers of each sample; the field is a in the formula softplus("
        "-a·y·s)",
    ]
    rng = np.random.default_rng(settings.seed)
    tilted = SeparableConjugate.from_expression("softplus(-a*y*s)", fields=["a"])
    for kind, data in layouts(P, rng).items():
        ball = oracles.L1Ball(RADIUS)
        l1 = stepping("l1", engine(data, ball, settings.seed), 1)
        runs = {"l1 ball, intercept": engine(data, ball, settings.seed, intercept=1.0)}
        own: dict[str, Any] = {"offset": rng.standard_normal(N)}
        runs["l1 ball, offset"] = engine(data, ball, settings.seed, **own)
        own |= {"loss": tilted, "fields": {"a": rng.uniform(0.5, 2.0, N)}}
        runs["l1 ball, offset, field"] = engine(data, ball, settings.seed, **own)
        for name, oracle in shipped(P, rng).items():
            tell(f"compiling {name}, {kind}")
            runs[name] = engine(data, oracle, settings.seed)
        for name, run in runs.items():
            tell(f"{name}, {kind}")
            contenders = [l1, stepping("step", run, 1), *writing(run)]
            times = settings.timed(contenders)
            targets = _targets({who: min(samples) for who, samples in times.items()})
            row = {"oracle": name, "rows": kind, "n": N, "p": P, "batch": 1}
            row["loop"] = type(run._loop).__name__
            add_timed(section, [name, kind], columns, row, times, targets)
    return section


def _targets(best: Mapping[str, float]) -> dict[str, Target]:
    """Whichever of the two goals is met, else the one that is nearer to its own cost."""
    if best["step"] <= 3 * best["l1"] or "atom" not in best:
        return {"step/l1": Target(3)}
    return {"step/atom": Target(1.5)}


def writing(run: CompiledEngine) -> list[Contender]:
    """The writing of atoms alone, where ``run`` is by then; nothing where no method writes them.

    A run that has come far has costs nearer to each other, and a selection among them takes longer.
    """
    oracle, p = run.problem.oracle, run.problem.p
    if not form_of(oracle):
        return []
    writer, seen = compiled_writer(oracle), np.empty((DIFFERENT, p))

    def prepare() -> None:
        for d in seen:
            run.advance(1)
            d[:] = run.d

    def work(times: int) -> int:
        write_often(writer.address, writer.theta, seen, np.empty(p, np.int64), np.empty(p), times)
        return times

    return [Contender("atom", work, prepare=prepare)]


@kernel
def write_often(address: int, theta: int, seen: Any, indices: Any, values: Any, times: int) -> None:
    """Write the atom at one c after the other."""
    for t in range(times):
        call_writer(address, theta, seen[t % len(seen)], indices, values)


def run(quick: bool, seed: int) -> Report:
    """Measure both sections."""
    settings = Settings(seed=seed)
    settings = settings.quick() if quick else settings
    done = [sets(settings), every_oracle(settings)]
    tell("")
    return Report(done, about(seed, None, repeats=settings.repeats, seconds=settings.seconds))
