"""Sets and regularizers as linear minimization oracles."""

from rcmd.oracles.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.box import Box
from rcmd.oracles.l1 import L1Ball, L1Penalty
from rcmd.oracles.l2 import L2Ball, Ridge
from rcmd.oracles.simplex import Simplex
from rcmd.oracles.translated import Translated

__all__ = [
    "Atom",
    "Box",
    "DenseAtom",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "LinearMinOracle",
    "RankOneAtom",
    "Ridge",
    "Simplex",
    "SparseAtom",
    "Translated",
]
