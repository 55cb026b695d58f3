"""What both engines say when a class given to them misbehaves in the middle of a run."""

from __future__ import annotations

from typing import Any

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import LinearMinOracle
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


def not_finite(problem: Problem, iteration: int) -> str:
    """The sentence for a dual variable that is no number."""
    return (
        f"the dual variable became NaN or infinite before iteration {iteration}; expected finite "
        f"numbers from the derivative of {problem.loss!r} and the atoms of {problem.oracle!r}: "
        "check them at very large and very small arguments"
    )
