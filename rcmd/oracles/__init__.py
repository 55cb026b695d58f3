"""Sets and regularizers as linear minimization oracles."""

from rcmd.oracles.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.box import Box
from rcmd.oracles.capped_simplex import CappedSimplex
from rcmd.oracles.elastic_net import ElasticNet
from rcmd.oracles.ellipsoid import Ellipsoid
from rcmd.oracles.entropy import EntropySimplex
from rcmd.oracles.groups import GroupL2Ball, GroupLasso
from rcmd.oracles.l1 import L1Ball, L1Penalty
from rcmd.oracles.l2 import L2Ball, Ridge
from rcmd.oracles.linf import LInfBall
from rcmd.oracles.lp import LpBall
from rcmd.oracles.owl import OWLBall
from rcmd.oracles.simplex import Simplex
from rcmd.oracles.sparse_balls import KSparseBall, KSupportBall
from rcmd.oracles.translated import Translated

__all__ = [
    "Atom",
    "Box",
    "CappedSimplex",
    "DenseAtom",
    "ElasticNet",
    "Ellipsoid",
    "EntropySimplex",
    "GroupL2Ball",
    "GroupLasso",
    "KSparseBall",
    "KSupportBall",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "LInfBall",
    "LinearMinOracle",
    "LpBall",
    "OWLBall",
    "RankOneAtom",
    "Ridge",
    "Simplex",
    "SparseAtom",
    "Translated",
]
