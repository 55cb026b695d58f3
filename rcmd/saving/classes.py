"""The classes whose objects come and go within a run, and which reading may therefore make."""

from __future__ import annotations

from rcmd.certificate import Certificate, DualPoint, PrimalPoint
from rcmd.corrective.atom_columns import EntryColumns, PredictedColumns
from rcmd.corrective.atom_weights import AtomWeights
from rcmd.corrective.ball import BallCorrection
from rcmd.corrective.corrected import Corrected
from rcmd.corrective.damping import Damping
from rcmd.corrective.phase import HullCorrection
from rcmd.lowrank import LowRank
from rcmd.methods.active_set import ActiveSet
from rcmd.methods.epochs import Snapshot
from rcmd.oracles.atoms import DenseAtom, RankOneAtom, SparseAtom
from rcmd.result import Checkpoint

CLASSES: dict[str, type] = {
    f"{kind.__module__}.{kind.__qualname__}": kind
    for kind in (
        ActiveSet,
        AtomWeights,
        BallCorrection,
        Certificate,
        Checkpoint,
        Corrected,
        Damping,
        DenseAtom,
        DualPoint,
        EntryColumns,
        HullCorrection,
        LowRank,
        PredictedColumns,
        PrimalPoint,
        RankOneAtom,
        Snapshot,
        SparseAtom,
    )
}
