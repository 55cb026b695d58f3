"""Losses, oracles and batches from the words of a command line."""

from rcmd.specs.batches import parse_batch
from rcmd.specs.forms import Form, made
from rcmd.specs.kinds import Waiting
from rcmd.specs.losses import LOSSES, REFUSED, parse_loss
from rcmd.specs.oracles import ORACLES, parse_oracle

__all__ = [
    "LOSSES",
    "ORACLES",
    "REFUSED",
    "Form",
    "Waiting",
    "made",
    "parse_batch",
    "parse_loss",
    "parse_oracle",
]
