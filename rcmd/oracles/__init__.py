"""Sets and regularizers as linear minimization oracles.

Begin with ``base``, the contract ``LinearMinOracle`` and what follows from a norm and its dual,
``writing``, atoms in compiled code, and ``l1``, the shortest family; ``described`` compares what
compiled loops read of a class with its ``argmin``. The families of norms are ``l1``, ``l2``,
``ellipsoid``, ``lp`` (with boxes, and ridge on them), ``groups``, ``sparse_balls`` and ``matrices``
(with ``leading`` for eigenvalues). Polytopes are ``simplex``, ``combinatorial`` (assignments and
flows), and, as linear programmes on HiGHS (``linear_programmes``), ``polytope`` (with hulls of
vertices) and ``cur``. ``decorators`` and ``product`` are built from other oracles; ``cvxpy_oracle``
takes any set that CVXPY can express.
"""

from rcmd.oracles.base import LinearMinOracle
from rcmd.oracles.combinatorial import Birkhoff, FlowPolytope
from rcmd.oracles.cur import CurSet
from rcmd.oracles.cvxpy_oracle import CvxpyOracle
from rcmd.oracles.decorators import Caching, Counting, Scaled, Translated
from rcmd.oracles.ellipsoid import Ellipsoid
from rcmd.oracles.groups import GroupL2Ball, GroupLasso
from rcmd.oracles.l1 import L1Ball, L1Penalty
from rcmd.oracles.l2 import ElasticNet, L2Ball, Ridge
from rcmd.oracles.lp import Box, BoxRidge, LInfBall, LpBall
from rcmd.oracles.matrices import NuclearBall, NuclearPenalty, Spectrahedron
from rcmd.oracles.polytope import Hull, Polytope
from rcmd.oracles.product import Product
from rcmd.oracles.simplex import CappedSimplex, EntropySimplex, Simplex
from rcmd.oracles.sparse_balls import KSparseBall, KSupportBall, OWLBall
from rcmd.rows.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom

__all__ = [  # noqa: RUF022 (the order of `rcmd list`)
    "L1Ball", "L2Ball", "LInfBall", "LpBall", "Box", "Simplex", "CappedSimplex",
    "KSparseBall", "KSupportBall", "GroupL2Ball", "OWLBall", "Ellipsoid",
    "Ridge", "BoxRidge", "L1Penalty", "ElasticNet", "GroupLasso", "EntropySimplex",
    "Hull", "Polytope", "FlowPolytope", "CvxpyOracle",
    "NuclearBall", "NuclearPenalty", "Spectrahedron", "Birkhoff", "CurSet",
    "Scaled", "Translated", "Product", "Caching", "Counting",
    "Atom", "DenseAtom", "LinearMinOracle", "RankOneAtom", "SparseAtom",
]  # fmt: skip
