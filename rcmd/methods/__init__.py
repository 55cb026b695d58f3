"""Methods in their own words, under the contract of ``rcmd.solve(problem, method=…)``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rcmd.methods.apcg import Apcg
    from rcmd.methods.away_steps import AwayStep
    from rcmd.methods.base import Method, Progress
    from rcmd.methods.frank_wolfe import FrankWolfe
    from rcmd.methods.online import OnlineFrankWolfe
    from rcmd.methods.pairwise import BlendedPairwise, Pairwise
    from rcmd.methods.sag_sfw import SagFrankWolfe
    from rcmd.methods.sarah_fw import SarahFrankWolfe
    from rcmd.methods.scgm import SCGM
    from rcmd.methods.scgs import SCGS
    from rcmd.methods.sdca import Sdca
    from rcmd.methods.sfw import SFW
    from rcmd.methods.storc import STORC
    from rcmd.methods.svrf import SVRF

PLACES = {
    "Apcg": "apcg",
    "AwayStep": "away_steps",
    "BlendedPairwise": "pairwise",
    "FrankWolfe": "frank_wolfe",
    "Method": "base",
    "OnlineFrankWolfe": "online",
    "Pairwise": "pairwise",
    "Progress": "base",
    "SCGM": "scgm",
    "SCGS": "scgs",
    "SFW": "sfw",
    "STORC": "storc",
    "SVRF": "svrf",
    "SagFrankWolfe": "sag_sfw",
    "SarahFrankWolfe": "sarah_fw",
    "Sdca": "sdca",
}

__all__ = [
    "SCGM",
    "SCGS",
    "SFW",
    "STORC",
    "SVRF",
    "Apcg",
    "AwayStep",
    "BlendedPairwise",
    "FrankWolfe",
    "Method",
    "OnlineFrankWolfe",
    "Pairwise",
    "Progress",
    "SagFrankWolfe",
    "SarahFrankWolfe",
    "Sdca",
]


def __getattr__(name: str) -> Any:
    """Import a method when it is first asked for."""
    if name in PLACES:
        return getattr(import_module(f"rcmd.methods.{PLACES[name]}"), name)
    raise AttributeError(f"module 'rcmd.methods' has no attribute {name!r}")
