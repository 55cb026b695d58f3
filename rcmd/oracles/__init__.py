"""Sets and regularizers as linear minimization oracles."""

from rcmd.oracles.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.birkhoff import Birkhoff
from rcmd.oracles.box import Box
from rcmd.oracles.caching import Caching
from rcmd.oracles.capped_simplex import CappedSimplex
from rcmd.oracles.counting import Counting
from rcmd.oracles.cur import CurSet
from rcmd.oracles.cvxpy_oracle import CvxpyOracle
from rcmd.oracles.elastic_net import ElasticNet
from rcmd.oracles.ellipsoid import Ellipsoid
from rcmd.oracles.entropy import EntropySimplex
from rcmd.oracles.flow import FlowPolytope
from rcmd.oracles.groups import GroupL2Ball, GroupLasso
from rcmd.oracles.hull import Hull
from rcmd.oracles.l1 import L1Ball, L1Penalty
from rcmd.oracles.l2 import L2Ball, Ridge
from rcmd.oracles.linf import LInfBall
from rcmd.oracles.lp import LpBall
from rcmd.oracles.nuclear import NuclearBall, NuclearPenalty
from rcmd.oracles.owl import OWLBall
from rcmd.oracles.polytope import Polytope
from rcmd.oracles.product import Product
from rcmd.oracles.scaled import Scaled
from rcmd.oracles.simplex import Simplex
from rcmd.oracles.sparse_balls import KSparseBall, KSupportBall
from rcmd.oracles.spectrahedron import Spectrahedron
from rcmd.oracles.translated import Translated

__all__ = [
    "Atom",
    "Birkhoff",
    "Box",
    "Caching",
    "CappedSimplex",
    "Counting",
    "CurSet",
    "CvxpyOracle",
    "DenseAtom",
    "ElasticNet",
    "Ellipsoid",
    "EntropySimplex",
    "FlowPolytope",
    "GroupL2Ball",
    "GroupLasso",
    "Hull",
    "KSparseBall",
    "KSupportBall",
    "L1Ball",
    "L1Penalty",
    "L2Ball",
    "LInfBall",
    "LinearMinOracle",
    "LpBall",
    "NuclearBall",
    "NuclearPenalty",
    "OWLBall",
    "Polytope",
    "Product",
    "RankOneAtom",
    "Ridge",
    "Scaled",
    "Simplex",
    "SparseAtom",
    "Spectrahedron",
    "Translated",
]
