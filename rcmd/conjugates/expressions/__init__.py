"""A loss from one formula: parsed, differentiated, conjugated, verified, generated, kept.

Begin with ``loss``: ``loss_from_expression`` checks what was asked, looks into the ``cache`` and
otherwise asks ``generation``. That is where the way of a formula can be read from top to bottom:
``language`` (what may be written, and the table of functions) → ``symbolic`` (SymPy, stable
forms) → ``derivation`` (label, ``algebra`` of smooth pieces, γ by ``curvature``, the inverse of
l') → ``source`` (scalar code) → verification in many digits. ``recipes`` are for CVXPY.
"""

from rcmd.conjugates.expressions.language import ExpressionError
from rcmd.conjugates.expressions.loss import ExpressionLoss, loss_from_expression

__all__ = ["ExpressionError", "ExpressionLoss", "loss_from_expression"]
