"""Frank–Wolfe over active atoms: away steps, pairwise steps, and blended pairwise steps."""

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.methods.frank_wolfe import FullGradient
from rcmd.methods.step_rules import SearchRule, Segment, check_rule
from rcmd.model.problem import Problem
from rcmd.oracles.vectors import first_largest
from rcmd.rows.atoms import Atom, atom_key
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array


class Move(NamedTuple):
    """Weight taken from ``source`` and given to ``target``, α ≤ ``limit`` of it.

    ``None`` stands for β, that is for all atoms in proportion: without a source this is a
    Frank–Wolfe step, without a target an away step, with both a pairwise one.
    """

    source: Atom | None
    target: Atom | None
    limit: Any


class ActiveSet:
    """β = Σ_i λ_i a_i with λ_i > 0 and Σ_i λ_i = 1, each atom held once.

    Examples
    --------
    >>> from rcmd import SparseAtom
    >>> active = ActiveSet(SparseAtom((0,), (1.0,)))
    >>> active.apply(Move(None, SparseAtom((1,), (1.0,)), 1), 0.25)
    >>> active.point(np.zeros(2))
    array([0.75, 0.25])
    >>> active.apply(Move(SparseAtom((0,), (1.0,)), None, 3.0), 3.0)
    >>> active.atoms
    [SparseAtom(indices=(1,), values=(1.0,))]
    """

    def __init__(self, *atom: Atom) -> None:
        self._held: dict[Hashable, tuple[Atom, Any]] = {atom_key(a): (a, 1) for a in atom}

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        held = list(self._held.values())
        return {"atoms": [atom for atom, _ in held], "weights": [weight for _, weight in held]}

    def load_state(self, state: dict[str, Any]) -> None:
        """Hold those atoms instead."""
        weights = state["weights"]
        if weights and not (min(weights) > 0 and abs(sum(weights) - 1) < 1e-6):
            raise ValueError(f"weights are {weights}; expected positive ones that add up to 1")
        held = zip(state["atoms"], weights, strict=True)
        self._held = {atom_key(atom): (atom, weight) for atom, weight in held}

    @property
    def atoms(self) -> list[Atom]:
        """The atoms, in the order in which they came."""
        return [atom for atom, _ in self._held.values()]

    def weight(self, atom: Atom) -> Any:
        """λ of an atom that is held."""
        return self._held[atom_key(atom)][1]

    def extremes(self, slope: Array) -> tuple[Atom, Atom]:
        """The atoms with the smallest and the largest slopeᵀa, the oldest among equals.

        After an exact line search between two atoms they *are* equal, but for rounding.
        """
        values = np.array([inner(slope, atom) for atom in self.atoms], dtype=slope.dtype)
        return self.atoms[first_largest(-values)], self.atoms[first_largest(values)]

    def point(self, zero: Array) -> Array:
        """β, added up from ``zero``."""
        for atom, weight in self._held.values():
            atom.add_to(zero, weight)
        return zero

    def apply(self, move: Move, share: Any) -> None:
        """Move ``share`` of weight; an atom that gives all it has is dropped."""
        emptied = share == move.limit
        scale = 1 + share * ((move.target is None) - (move.source is None))
        held = {key: (atom, scale * weight) for key, (atom, weight) in self._held.items()}
        if move.source is None and emptied:
            held = {}
        if move.source is not None:
            left = held[atom_key(move.source)][1] - share
            held[atom_key(move.source)] = (move.source, 0 if emptied else max(left, 0))
        if move.target is not None:
            _, before = held.get(atom_key(move.target), (None, 0))
            held[atom_key(move.target)] = (move.target, before + share)
        total = sum(weight for _, weight in held.values())
        # Rounding must not let the sum of the weights drift; fractions add up to 1.
        self._held = {
            key: (atom, weight if total == 1 else weight / total)
            for key, (atom, weight) in held.items()
            if weight > 0
        }


def inner(slope: Array, atom: Atom) -> Any:
    """slopeᵀa."""
    return atom.predict(slope[None])[0]


class ActiveSetProgress(FullGradient):
    """A run that holds β as an ``ActiveSet``; the method chooses the moves.

    The first iteration goes to the atom for ∇f(β⁰). β is added up from its atoms after every
    step, so that no rounding builds up in it.
    """

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self.active = ActiveSet()

    def move(self, w: Array, slope: Any, atom: Atom) -> None:
        problem = self.problem
        if not self.active.atoms:
            self.active = ActiveSet(atom)
            self.beta = self.active.point(problem.rows.zero())
            self.predictions = problem.rows.matvec(self.beta)
            return
        chosen = self.method.choose(self.active, slope, self.beta, atom)
        direction = self._point(chosen.target) - self._point(chosen.source)
        along = problem.rows.matvec(direction)
        segment = Segment(problem, self.s, w, along, lambda: direction, limit=chosen.limit)
        share = self.searched(segment)
        if share > 0:
            self.active.apply(chosen, share)
            self.beta = self.active.point(problem.rows.zero())
            self.predictions = self.predictions + share * along

    def _point(self, atom: Atom | None) -> Array:
        return self.beta if atom is None else atom.dense(self.beta)


@dataclass(frozen=True)
class ActiveSetMethod(Method):
    """A method that moves weight between atoms; α is chosen by ``rule``, as for ``FrankWolfe``."""

    rule: SearchRule = "exact"
    random = False

    def __post_init__(self) -> None:
        check_rule(self, SearchRule)

    @abstractmethod
    def choose(self, active: ActiveSet, slope: Array, beta: Array, atom: Atom) -> Move:
        """The move where the gradient is ``slope`` and ``atom`` minimizes slopeᵀβ."""

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        name = type(self).__name__
        if not problem.oracle.indicator:
            raise ValueError(
                f"{name} is a method for sets while R(β) = {problem.oracle.describe()} is a "
                "penalty; expected the indicator of a polytope, such as L1Ball(5.0): FrankWolfe() "
                "takes penalties"
            )
        if isinstance(problem.rows.zero(), LowRank):
            raise ValueError(
                f"{name} is a method for polytopes of vectors while β is a low-rank matrix; "
                "expected rows of numbers: FrankWolfe() takes matrices"
            )
        return ActiveSetProgress(self, problem, batch, rng)


@dataclass(frozen=True)
class AwayStep(ActiveSetMethod):
    """Towards the best atom, or away from the worst active one, whichever descends more steeply.

    With β = Σ_i λ_i a_i, β̃ a minimizer of ∇f(β)ᵀβ over the set and a_v the active atom with the
    largest ∇f(β)ᵀa_v: where ∇f(β)ᵀ(β − β̃) ≥ ∇f(β)ᵀ(a_v − β) the direction is β̃ − β with α ≤ 1,
    else β − a_v with α ≤ λ_v/(1 − λ_v), at which a_v is dropped (Guélat & Marcotte 1986;
    Lacoste-Julien & Jaggi 2015). α is chosen by ``rule``, as for ``FrankWolfe``.

    On a polytope with f strongly convex P(β^k) − P* falls by a constant factor in at least half
    of the iterations.

    Examples
    --------
    >>> from rcmd import LeastSquares, Problem, Simplex, solve
    >>> problem = Problem(np.eye(3), [0.6, 0.3, -1.0], LeastSquares(), Simplex())
    >>> for method in (AwayStep(), Pairwise(), BlendedPairwise()):
    ...     print(solve(problem, method=method, tol=1e-12).beta.round(6))
    [0.65 0.35 0.  ]
    [0.65 0.35 0.  ]
    [0.65 0.35 0.  ]
    """

    note = "Away-step Frank-Wolfe: linear on polytopes where f is strongly convex; no bound printed"

    def choose(self, active: ActiveSet, slope: Array, beta: Array, atom: Atom) -> Move:
        here = slope @ beta
        _, worst = active.extremes(slope)
        # A single atom is β itself, and away from it leads nowhere.
        if len(active.atoms) == 1 or here - inner(slope, atom) >= inner(slope, worst) - here:
            return Move(None, atom, 1)
        weight = active.weight(worst)
        return Move(worst, None, weight / (1 - weight))


@dataclass(frozen=True)
class Pairwise(ActiveSetMethod):
    """β ← β + α (β̃ − a_v), 0 ≤ α ≤ λ_v: from the worst active atom to the best of all.

    a_v is the active atom with the largest ∇f(β)ᵀa_v and λ_v its weight (Lacoste-Julien & Jaggi
    2015). α is chosen by ``rule``, as for ``FrankWolfe``. Linear on polytopes with f strongly
    convex, but for swaps: steps that move all of a_v's weight to an atom that was not active. For
    m atoms in all, the theory allows 3·m! of them for every step that makes progress.
    """

    note = "Pairwise Frank-Wolfe: linear on polytopes where f is strongly convex; no bound printed"

    def choose(self, active: ActiveSet, slope: Array, beta: Array, atom: Atom) -> Move:
        _, worst = active.extremes(slope)
        return Move(worst, atom, active.weight(worst))


@dataclass(frozen=True)
class BlendedPairwise(ActiveSetMethod):
    """Weight moved among the active atoms while that promises as much as a Frank–Wolfe step.

    With a_v and a_u the active atoms with the largest and the smallest ∇f(β)ᵀa: where
    ∇f(β)ᵀ(a_v − a_u) ≥ ∇f(β)ᵀ(β − β̃), β ← β + α (a_u − a_v) with 0 ≤ α ≤ λ_v, else a Frank–Wolfe
    step to β̃ (Tsuji, Tanaka & Pokutta 2022). No swaps to new atoms: linear on polytopes with f
    strongly convex. α is chosen by ``rule``, as for ``FrankWolfe``.
    """

    note = "Blended pairwise conditional gradients: linear on polytopes where f is strongly convex"

    def choose(self, active: ActiveSet, slope: Array, beta: Array, atom: Atom) -> Move:
        best, worst = active.extremes(slope)
        if inner(slope, worst) - inner(slope, best) >= slope @ beta - inner(slope, atom):
            return Move(worst, best, active.weight(worst))
        return Move(None, atom, 1)
