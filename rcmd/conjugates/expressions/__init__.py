"""A loss from one formula: parsed, differentiated, conjugated, generated, verified, cached.

Begin with ``loss``: ``loss_from_expression`` checks its arguments, looks into the ``cache`` and
otherwise has ``generation`` called, which takes a formula through all steps in order:
``language`` (what may be written, and the table of functions) → ``symbolic`` (SymPy, stable
forms) → ``derivation`` (label, ``algebra`` of smooth pieces, γ by ``curvature``, the inverse of
l') → ``source`` (scalar code) → verification in many digits, all of that in the process of
``worker``. Where labels or fields cannot be separated from s, ``branches`` are in place of pieces.
``intervals`` prove convexity and γ; ``recipes`` are for CVXPY.
"""

from rcmd.conjugates.expressions.language import ExpressionError
from rcmd.conjugates.expressions.loss import ExpressionLoss, loss_from_expression

__all__ = ["ExpressionError", "ExpressionLoss", "loss_from_expression"]
