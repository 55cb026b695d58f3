"""What both engines say when a class given to them misbehaves in the middle of a run."""

from __future__ import annotations

from typing import Any

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.problem import Problem


def checked_atom(oracle: LinearMinOracle, d: Any) -> Atom:
    """The oracle's atom at d, which must be one."""
    atom = oracle.argmin(d)
    if not isinstance(atom, Atom):
        raise TypeError(
            f"argmin of {type(oracle).__name__} returned a {type(atom).__name__}; expected an "
            "Atom: wrap a vector as rcmd.oracles.DenseAtom(vector)"
        )
    return atom


def refuse_infeasible_atoms(oracle: LinearMinOracle, d: Any, zero: Any) -> None:
    """What to say when P is infinite because atoms lie outside dom R."""
    miss = oracle.violation(checked_atom(oracle, d).dense(zero))
    if not miss <= FEASIBILITY:
        raise ValueError(
            f"argmin of {oracle!r} returned a point that misses dom R by {float(miss):.3g} of its "
            "size, by the oracle's own violation; expected a point of dom R: "
            "rcmd.testing.check_oracle tells which of the two is wrong"
        )


def not_finite(problem: Problem, iteration: int) -> str:
    """The sentence for a dual variable that is no number."""
    return (
        f"the dual variable became NaN or infinite before iteration {iteration}; expected finite "
        f"numbers from the derivative of {problem.loss!r} and the atoms of {problem.oracle!r}: "
        "check them at very large and very small arguments"
    )
